#pragma once

#include <cuda.h>

#include <array>
#include <optional>

#include "launch/native_config.h"
#include "runtime/context.h"
#include "runtime/kernel_state.h"

namespace baton::launch {

// The end of every way to launch: opt-ins that are missing are raised, then the driver is called
// once. Gives the driver's result and throws nothing.
inline CUresult submit(const ResolvedKernel& kernel, const CUlaunchConfig& config,
                       std::uint64_t cluster, void* const* arguments) noexcept {
  CUresult result = kernel.allow_shared(config.sharedMemBytes);
  if (result == CUDA_SUCCESS) result = kernel.allow_cluster(cluster);
  if (result != CUDA_SUCCESS) return result;
  // The driver reads the arguments and never writes them.
  const auto call = [&] {
    return kernel.device().driver().cuLaunchKernelEx(&config, kernel.function(),
                                                     const_cast<void**>(arguments), nullptr);
  };
  if (!needs_context(config.hStream)) return call();
  try {
    ContextGuard guard(kernel.device());
    return call();
  } catch (const Error& failure) {
    return static_cast<CUresult>(failure.driver_result());
  }
}

inline std::optional<Dim3> compiled_cluster(const ResolvedKernel& kernel) {
  const auto& compiled = kernel.compiled_cluster();
  if (compiled[0] == 0) return std::nullopt;
  return Dim3(compiled[0], compiled[1], compiled[2]);
}

// The cluster of a launch: what it asks for, else what the kernel was compiled for.
inline std::optional<Dim3> cluster_of(const ResolvedKernel& kernel,
                                      const LaunchAttributes& attributes) {
  if (!attributes.empty()) {
    if (const std::optional<Dim3> asked = attributes.cluster()) return asked;
  }
  return compiled_cluster(kernel);
}

// Its blocks, at every launch: with nothing written to memory only to be read again at once.
inline std::uint64_t cluster_blocks(const ResolvedKernel& kernel,
                                    const LaunchAttributes& attributes) {
  const auto count = [](const std::array<std::uint32_t, 3>& blocks) {
    return std::uint64_t{blocks[0]} * blocks[1] * blocks[2];
  };
  if (!attributes.empty()) {
    if (const LaunchAttribute* asked = attributes.find(AttributeId::kCluster)) {
      return count(asked->as<std::array<std::uint32_t, 3>>());
    }
  }
  const auto& compiled = kernel.compiled_cluster();
  return compiled[0] == 0 ? 1 : count(compiled);
}

}  // namespace baton::launch
