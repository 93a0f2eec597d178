#pragma once

#include "baton/launch.h"
#include "runtime/kernel_state.h"

namespace baton::launch {

// Raises what a launch with this config needs: shared memory beyond 48 KiB, clusters beyond eight
// blocks. Throws kLimit, with both numbers, for more shared memory than the device has.
void opt_in(const KernelState& kernel, const ResolvedKernel& resolved, const LaunchConfig& config);

// Raises the same for the kernel's functions in contexts of parts of the SMs, which are functions
// of their own. With the device's context current. Throws the driver's errors.
void allow_on_parts(const KernelState& kernel, const ResolvedKernel& resolved,
                    const LaunchConfig& config);

// The same for clusters of any size that the device has, whatever the config's.
void opt_in_to_any_cluster(const KernelState& kernel, const ResolvedKernel& resolved,
                           const LaunchConfig& config);

}  // namespace baton::launch
