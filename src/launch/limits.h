#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "baton/launch.h"
#include "runtime/kernel_state.h"

namespace baton::launch {

// Whether a config breaks none of the kernel's and its device's limits: a dozen comparisons, fit
// for every launch. What takes questions to the driver is left to `broken_residency`.
bool fits(const ResolvedKernel& kernel, const LaunchConfig& config);

// Throws the limit that a config breaks, with both numbers; where it breaks none, nothing happens.
void require_fit(const KernelState& kernel, const ResolvedKernel& resolved,
                 const LaunchConfig& config);

// The limit that a config breaks, with both numbers, or nothing.
std::optional<Error> broken_limit(const KernelState& kernel, const ResolvedKernel& resolved,
                                  const LaunchConfig& config);

// More dynamic shared memory, in bytes, than the kernel can have on the device, or nothing.
std::optional<Error> broken_shared(const KernelState& kernel, const ResolvedKernel& resolved,
                                   std::uint32_t shared);

// Whether the clusters, or the whole grid of a cooperative launch, fit on the device at once: the
// limit that breaks, with both numbers, or nothing. Asks the driver.
std::optional<Error> broken_residency(const KernelState& kernel, const ResolvedKernel& resolved,
                                      const LaunchConfig& config);

// "(4, 1, 1)".
std::string to_string(const Dim3& extent);

template <typename... Args>
Error limit_error(const KernelState& kernel, fmt::format_string<Args...> format, Args&&... args) {
  return error(ErrorCode::kLimit, "kernel {}: {}", kernel.facts().name,
               fmt::format(format, std::forward<Args>(args)...));
}

inline std::array<std::uint32_t, 3> extents(const Dim3& extent) {
  return {extent.x, extent.y, extent.z};
}

// Zeros stand for an extent that the image does not fix.
inline bool is_fixed(const std::array<std::uint32_t, 3>& extent) {
  return extent[0] != 0;
}

}  // namespace baton::launch
