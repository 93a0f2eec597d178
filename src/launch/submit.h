#pragma once

#include <cuda.h>

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

// Blocks of the cluster that a launch asks for; 1 where it asks for none.
inline std::uint64_t cluster_blocks(const LaunchAttributes& attributes) {
  if (attributes.empty()) return 1;
  const std::optional<Dim3> cluster = attributes.cluster();
  return cluster ? cluster->count() : 1;
}

}  // namespace baton::launch
