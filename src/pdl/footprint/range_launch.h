#pragma once

// The launch that tests of ranges give their kernels, and what is told of it.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pdl/footprint/access_ranges.h"
#include "pdl/footprint/address_binder.h"
#include "pdl/footprint/bound.h"
#include "pdl/test_support.h"
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

// The bytes of the only access of a kernel: "1 [256, 352)", or "unknown". `executed`: as
// AccessRanges has it.
inline std::string reach(const Footprint& footprint, std::uint64_t count,
                         std::vector<bool> executed = {}) {
  if (footprint.accesses.size() != 1) return "not one access";
  const DefinitionGraph graph(*footprint.code);
  const std::vector<GivenArgument> given = RangeLaunch::arguments(count);
  const auto found = AccessRanges(footprint, graph, given, RangeLaunch::kExtents,
                                  RangeLaunch::kNumber, std::move(executed))
                         .of(footprint.accesses[0]);
  if (!found) return "unknown";
  return fmt::format("{} [{}, {})", found->memory, static_cast<std::int64_t>(found->begin),
                     static_cast<std::int64_t>(found->end));
}
inline std::string reach(const std::string& body, std::uint64_t count = RangeLaunch::kCount,
                         const std::string& before = "") {
  return reach(footprint_of(body, before), count);
}
// Of what the launch executes.
inline std::string reach_of_executed(const std::string& body, std::uint64_t count) {
  const Footprint footprint = footprint_of(body);
  return reach(footprint, count,
               executed(footprint, RangeLaunch::arguments(count), RangeLaunch::kExtents.block,
                        RangeLaunch::kExtents.grid));
}

// Whether a limit of fewer than 32 bits is known.
inline bool is_bounded(const std::string& body, std::uint64_t count = RangeLaunch::kCount) {
  const std::string found = reach(body, count);
  return found != "unknown" && found.size() < 20;
}

}  // namespace baton::overlap
