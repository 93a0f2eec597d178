#pragma once

// Launches of small kernels, and the verdicts about them in a chain.

#include <gtest/gtest.h>

#include <deque>
#include <string>

#include "pdl/test_support.h"
#include "pdl/verdict/chain.h"

namespace baton::overlap {

using Kind = EdgeVerdict;
using Cause = EdgeCause;

inline constexpr MemoryId kX = 1, kY = 2, kZ = 3, kWeight = 9, kSlots = 10;

// Kernels that read %a and write %c. A wait before both, after both, or none.
inline constexpr char kGood[] =
    "griddepcontrol.wait;\nld.global.f32 %f1, [%a];\nst.global.f32 [%c], %f1;";
inline constexpr char kHasty[] =
    "ld.global.f32 %f1, [%a];\ngriddepcontrol.wait;\nst.global.f32 [%c], %f1;";
inline constexpr char kNever[] = "ld.global.f32 %f1, [%a];\nst.global.f32 [%c], %f1;";
inline constexpr char kEager[] =
    "griddepcontrol.launch_dependents;\ngriddepcontrol.wait;\nld.global.f32 %f1, [%a];\n"
    "st.global.f32 [%c], %f1;";
inline constexpr char kIdle[] = "mov.u32 %r3, 0;";
// Reads %b before the wait.
inline constexpr char kPrefetches[] =
    "ld.global.f32 %f2, [%b];\ngriddepcontrol.wait;\nld.global.f32 %f1, [%a];\n"
    "st.global.f32 [%c], %f1;";

// Acquires the tensor map at %a before the wait.
inline constexpr char kAcquiresEarly[] =
    "fence.proxy.tensormap::generic.acquire.gpu [%a], 128;\ngriddepcontrol.wait;";

class ChainTest : public testing::Test {
 protected:
  GivenArgument at(MemoryId memory, std::uint64_t offset = 0) const {
    return GivenArgument::pointer(memory, offset);
  }

  BoundLaunch launch(const std::string& body, GivenArgument a, GivenArgument b, GivenArgument c,
                     const std::string& before = "") {
    Footprint& footprint = footprints_.emplace_back(footprint_of(body, before));
    const GivenArgument given[] = {a, b, c, GivenArgument::scalar(100)};
    BoundLaunch bound =
        bind(footprint, given, {128, 1, 1}, {1, 1, 1}, [](std::string_view, bool) { return 77u; });
    bound.number = number_++;
    return bound;
  }
  BoundLaunch launch(const std::string& body, MemoryId a, MemoryId b, MemoryId c) {
    return launch(body, at(a), at(b), at(c));
  }

  // Another launch of the same kernel.
  BoundLaunch again(const BoundLaunch& old, GivenArgument a, GivenArgument b, GivenArgument c) {
    const GivenArgument given[] = {a, b, c, GivenArgument::scalar(100)};
    BoundLaunch bound = bind(*old.footprint, given, {128, 1, 1}, {1, 1, 1},
                             [](std::string_view, bool) { return 77u; });
    bound.number = number_++;
    return bound;
  }

  // Judges the launch and lets it follow early.
  Verdict next(const BoundLaunch& launched, bool programmatic = true) {
    const Verdict verdict = chain_.judge(launched);
    chain_.follow(launched, programmatic);
    return verdict;
  }
  void first(const BoundLaunch& launched) { chain_.follow(launched, false); }

  void expect(const Verdict& verdict, Kind kind, Cause cause) {
    EXPECT_EQ(to_string(verdict.kind), to_string(kind));
    EXPECT_EQ(to_string(verdict.cause), to_string(cause));
  }

  LaunchChain chain_{
      [](MemoryId id) { return id == kWeight; }, {}, [](MemoryId id) { return id == kSlots; }};

 private:
  std::deque<Footprint> footprints_;
  std::uint32_t number_ = 0;
};

}  // namespace baton::overlap
