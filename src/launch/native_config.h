#pragma once

#include <cuda.h>

#include <span>

#include "baton/launch.h"
#include "runtime/kernel_state.h"

namespace baton::launch {

// Attributes have the driver's own layout (attribute_table.cc holds that), so they are handed over
// where they stand. The driver writes to them for device-updatable nodes only, for which a launch
// makes a copy.
inline CUlaunchAttribute* native_attributes(std::span<const LaunchAttribute> attributes) {
  return reinterpret_cast<CUlaunchAttribute*>(const_cast<LaunchAttribute*>(attributes.data()));
}

// A config's grid counts blocks. The driver's does too, but for kernels whose launches count
// clusters (`__block_size__`, PTX .blocksareclusters): there an extent that is not a multiple of
// the cluster's becomes 0, which the driver refuses.
inline void set_grid(CUlaunchConfig& native, const Dim3& grid, const ResolvedKernel& kernel) {
  native.gridDimX = grid.x;
  native.gridDimY = grid.y;
  native.gridDimZ = grid.z;
  if (kernel.grid_in_clusters()) [[unlikely]] {
    const auto& cluster = kernel.required_cluster();
    const auto clusters = [](std::uint32_t blocks, std::uint32_t each) {
      return blocks % each == 0 ? blocks / each : 0;
    };
    native.gridDimX = clusters(grid.x, cluster[0]);
    native.gridDimY = clusters(grid.y, cluster[1]);
    native.gridDimZ = clusters(grid.z, cluster[2]);
  }
}

inline CUlaunchConfig native_config(const ResolvedKernel& kernel, const LaunchConfig& config,
                                    std::span<const LaunchAttribute> attributes) {
  CUlaunchConfig native{};
  set_grid(native, config.grid, kernel);
  native.blockDimX = config.block.x;
  native.blockDimY = config.block.y;
  native.blockDimZ = config.block.z;
  native.sharedMemBytes = config.shared;
  native.hStream = config.stream.native;
  native.attrs = attributes.empty() ? nullptr : native_attributes(attributes);
  native.numAttrs = static_cast<unsigned>(attributes.size());
  return native;
}

inline const DeviceIdentity& device_of(const LaunchConfig& config, const Device& home) {
  return config.stream.device != nullptr ? *config.stream.device : *home.identity();
}

// The default streams are those of the current context; every other stream names its own, and a
// launch into it needs none (measured on driver 580: CUDA_ERROR_INVALID_CONTEXT for the default
// streams, success for all others).
inline bool needs_context(CUstream stream) {
  return stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

// The handles that the driver wrote into the attributes of a launch that succeeded.
inline LaunchResult result_of(const LaunchAttributes& attributes) {
  using Value = decltype(CUlaunchAttributeValue::deviceUpdatableKernelNode);
  const LaunchAttribute* node = attributes.find(AttributeId::kDeviceUpdatableNode);
  return {node != nullptr ? node->as<Value>().devNode : nullptr};
}

}  // namespace baton::launch
