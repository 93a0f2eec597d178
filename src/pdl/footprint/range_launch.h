#pragma once

// The launch that tests of ranges give their kernels.

#include <cstdint>
#include <string_view>
#include <vector>

#include "pdl/footprint/address_binder.h"
#include "pdl/verdict/certain_walk.h"

namespace baton::overlap {

// p0 to p2 are x, y and z.
struct RangeLaunch {
  static constexpr MemoryId kX = 1, kY = 2, kZ = 3, kVariable = 9;
  static constexpr LaunchExtents kExtents = {{8, 2, 1}, {3, 1, 1}};
  static constexpr std::uint64_t kCount = 20;  // p3

  static inline const VariableNumber kNumber = [](std::string_view, bool) { return kVariable; };

  static std::vector<GivenArgument> arguments(std::uint64_t count = kCount) {
    return {GivenArgument::pointer(kX, 256), GivenArgument::pointer(kY),
            GivenArgument::pointer(kZ, 64, 128), GivenArgument::scalar(count)};
  }
};

}  // namespace baton::overlap
