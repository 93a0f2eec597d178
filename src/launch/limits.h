#pragma once

#include <optional>
#include <string>

#include "baton/error.h"
#include "baton/launch.h"
#include "runtime/kernel_state.h"

namespace baton::launch {

// True where the config asks for nothing beyond what the kernel and its device allow. What every
// launch is held against: nothing here allocates or calls the driver.
bool fits(const ResolvedKernel& kernel, const DeviceLimits& device, const LaunchConfig& config);

// The first limit that the config breaks, as an Error with both numbers; nothing where it fits.
std::optional<Error> broken_limit(const KernelState& kernel, const LaunchConfig& config);

// "(4, 1, 1)".
std::string to_string(const Dim3& extent);

}  // namespace baton::launch
