#pragma once

#include <optional>

#include "baton/device.h"

namespace baton::tools {

// The measured peak of a device, in floating-point operations per second: the fastest of some runs
// of kernels that only compute.
struct FlopCeiling {
  double f32 = 0;                 // fused multiply-adds of f32
  std::optional<double> f16_mma;  // mma.sync of f16 with sums of f32, from compute capability 8.0
};
FlopCeiling measure_flop_ceiling(const Device& device);

}  // namespace baton::tools
