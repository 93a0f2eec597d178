#pragma once

#include <cuda.h>

#include "baton/error.h"
#include "baton/launch.h"
#include "runtime/kernel_state.h"

namespace baton::launch {

// Why the driver refused a launch: the limit that broke, with both numbers, else the driver's own
// words with everything the launch was given. An error that earlier asynchronous work left behind
// is distinguished.
Error diagnose(const KernelState& kernel, const ResolvedKernel& resolved,
               const LaunchConfig& config, CUresult result);

// The config that the driver's own came from, as far as there is room for its attributes.
LaunchConfig config_of(const CUlaunchConfig& native, const ResolvedKernel& kernel);

}  // namespace baton::launch
