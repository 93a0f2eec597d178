#pragma once

#include <cuda.h>

#include <span>

#include "baton/launch.h"

namespace baton::launch {

// Attributes have the driver's own layout (attribute_table.cc holds that), so they are handed over
// where they stand. The driver writes to them for device-updatable nodes only, for which a launch
// makes a copy.
inline CUlaunchAttribute* native_attributes(std::span<const LaunchAttribute> attributes) {
  return reinterpret_cast<CUlaunchAttribute*>(const_cast<LaunchAttribute*>(attributes.data()));
}

inline CUlaunchConfig native_config(const LaunchConfig& config,
                                    std::span<const LaunchAttribute> attributes) {
  CUlaunchConfig native{};
  native.gridDimX = config.grid.x;
  native.gridDimY = config.grid.y;
  native.gridDimZ = config.grid.z;
  native.blockDimX = config.block.x;
  native.blockDimY = config.block.y;
  native.blockDimZ = config.block.z;
  native.sharedMemBytes = config.shared;
  native.hStream = config.stream.native;
  native.attrs = attributes.empty() ? nullptr : native_attributes(attributes);
  native.numAttrs = static_cast<unsigned>(attributes.size());
  return native;
}

inline const Device& device_of(const LaunchConfig& config, const Device& home) {
  return config.stream.device != nullptr ? *config.stream.device : home;
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
