#pragma once

#include <cuda.h>

#include <algorithm>
#include <array>
#include <optional>

#include "launch/native_config.h"
#include "runtime/kernel_state.h"

namespace baton::launch {

// The driver's call. It reads the arguments and never writes them.
inline CUresult call_driver(const ResolvedKernel& kernel, const CUlaunchConfig& config,
                            void* const* arguments) {
  return kernel.driver().cuLaunchKernelEx(&config, kernel.function(), const_cast<void**>(arguments),
                                          nullptr);
}

// The call with the device's context current.
CUresult submit_in_context(const ResolvedKernel& kernel, const CUlaunchConfig& config,
                           void* const* arguments) noexcept;

// A launch that needs more than that call: an opt-in raised, a note, or records of its blocks.
// `records`: where an instrumented kernel writes them, or 0.
CUresult submit_in_full(const ResolvedKernel& kernel, const CUlaunchConfig& config,
                        std::uint64_t cluster, void* const* arguments,
                        CUdeviceptr records = 0) noexcept;

// The end of every way to launch: opt-ins that are missing are raised, then the driver is called
// once. Gives the driver's result and throws nothing. What is rare is a call, so that not every
// launch saves registers for it.
inline CUresult submit(const ResolvedKernel& kernel, const CUlaunchConfig& config,
                       std::uint64_t cluster, void* const* arguments,
                       CUdeviceptr records = 0) noexcept {
  if (!kernel.allows(config.sharedMemBytes, cluster) || kernel.is_special()) {
    return submit_in_full(kernel, config, cluster, arguments, records);
  }
  if (needs_context(config.hStream)) return submit_in_context(kernel, config, arguments);
  return call_driver(kernel, config, arguments);
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

// The blocks of the largest cluster that the launch may run in, which decides the opt-in. Counted
// at every launch: with nothing written to memory only to be read again at once.
inline std::uint64_t cluster_blocks(const ResolvedKernel& kernel,
                                    const LaunchAttributes& attributes) {
  const auto count = [](const std::array<std::uint32_t, 3>& blocks) {
    return std::uint64_t{blocks[0]} * blocks[1] * blocks[2];
  };
  const auto asked = [&](AttributeId id) -> std::uint64_t {
    const LaunchAttribute* attribute = attributes.find(id);
    return attribute == nullptr ? 0 : count(attribute->as<std::array<std::uint32_t, 3>>());
  };
  const auto& compiled = kernel.compiled_cluster();
  std::uint64_t blocks = compiled[0] == 0 ? 1 : count(compiled);
  if (attributes.empty()) return blocks;
  if (const std::uint64_t own = asked(AttributeId::kCluster); own != 0) blocks = own;
  // A driver takes a preferred cluster beyond the portable size without the opt-in too (driver 580,
  // H200), but then cannot use it.
  return std::max(blocks, asked(AttributeId::kPreferredCluster));
}

// The same of the driver's own config.
inline std::uint64_t cluster_blocks(const ResolvedKernel& kernel, const CUlaunchConfig& config) {
  std::uint64_t own = 0, preferred = 0;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const auto id = static_cast<AttributeId>(config.attrs[i].id);
    if (id != AttributeId::kCluster && id != AttributeId::kPreferredCluster) continue;
    const auto& blocks = config.attrs[i].value.clusterDim;  // a preferred one lies alike
    (id == AttributeId::kCluster ? own : preferred) = std::uint64_t{blocks.x} * blocks.y * blocks.z;
  }
  if (own == 0) {
    const std::optional<Dim3> compiled = compiled_cluster(kernel);
    if (!compiled) return 1;  // no cluster is preferred where there is none
    own = compiled->count();
  }
  return std::max(own, preferred);
}

}  // namespace baton::launch
