#pragma once

#include <cuda.h>

#include "baton/error.h"
#include "baton/launch.h"
#include "runtime/kernel_state.h"

namespace baton::launch {

// Why the driver refused this launch: the limit that broke with both numbers, or an earlier
// kernel's failure, or else the driver's own words with kernel, grid, block and shared memory.
Error diagnose(const KernelState& kernel, const LaunchConfig& config, CUresult result);

}  // namespace baton::launch
