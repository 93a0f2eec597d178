// How far accesses reach whose index a selection or the rest of a division gives.

#include <gtest/gtest.h>

#include <string>

#include "pdl/footprint/range_launch.h"

namespace baton::overlap::chosen_ranges_test {
namespace {

// %x is any number; reads element %i of %a.
std::string reads(const std::string& computes) {
  return ".reg .b32 %i, %x; .reg .b64 %e; .reg .pred %q; mov.u32 %x, %clock;\n" + computes +
         "\nmul.wide.s32 %e, %i, 4; add.s64 %e, %a, %e; ld.global.u32 %r3, [%e];\nEND:";
}
// %i = x - (sum & mask)
std::string rest(const std::string& sum, const std::string& mask = "-8") {
  return reads(sum + " and.b32 %r6, %r5, " + mask + "; sub.s32 %i, %x, %r6;");
}

TEST(ChosenRanges, AnOperandIsWhatConditionsAfterTheSelectionLeaveOfIt) {
  EXPECT_EQ(reach(reads("setp.lt.u32 %p1, %r0, 30; selp.b32 %i, %r1, 100, %p1;\n"
                        "setp.ge.s32 %q, %r1, 4; @%q bra END;")),
            "1 [256, 272)");
}

TEST(ChosenRanges, OneOfTwoComparisonsChoosesNothing) {
  const auto of = [](const std::string& other) {
    return reach(
        "mov.u32 %r5, %clock; setp.lt.u32 %p2, %r5, 9; @%p2 bra X;\n"
        "setp.lt.u32 %p1, %r0, 8; bra J;\nX: setp.lt.u32 %p1, %r1, " +
            other + ";\nJ: selp.b64 %d1, %a, %b, %p1; ld.global.u32 %r3, [%d1];",
        7);
  };
  EXPECT_EQ(of("4"), "unknown");
}

TEST(ChosenRanges, TheRestHasWhatIsAddedInAnyOrder) {
  EXPECT_EQ(reach(rest("add.s32 %r5, %x, 3;")), "1 [244, 276)");
  EXPECT_EQ(reach(rest("shr.s32 %r4, %x, 31; shr.u32 %r4, %r4, 29; add.s32 %r5, %r4, %x;")),
            "1 [228, 288)");
}

// What looks like a rest, but has other instructions or registers.
TEST(ChosenRanges, OtherComputationsAreNoRests) {
  EXPECT_TRUE(is_bounded(reads("and.b32 %r6, %x, -8; sub.s32 %i, %x, %r6;")));
  EXPECT_FALSE(is_bounded(reads("and.b32 %r6, %x, -8; add.s32 %i, %x, %r6;")));
  EXPECT_FALSE(is_bounded(reads("and.b32 %r6, %x, -8; min.s32 %i, %x, %r6;")));
  EXPECT_FALSE(is_bounded(reads("add.s32 %r6, %x, -8; sub.s32 %i, %x, %r6;")));
  EXPECT_FALSE(is_bounded(rest("min.s32 %r5, %x, 3;")));
  EXPECT_FALSE(is_bounded(rest("mov.u32 %r7, %clock; add.s32 %r5, %r1, %r7;")))
      << "a sum of others";
}

TEST(ChosenRanges, ARestOf64BitsHasAMaskOf64Bits) {
  const auto of = [](const std::string& added, const std::string& mask) {
    return reach(".reg .b64 %x, %e; mov.u32 %r4, %clock; mul.wide.u32 %x, %r4, %r4;\n" + added +
                 "and.b64 %d5, %d4, " + mask +
                 "; sub.s64 %d5, %x, %d5; add.s64 %e, %a, %d5; ld.global.u32 %r3, [%e];");
  };
  EXPECT_EQ(of("add.s64 %d4, %x, 0;", "-8"), "1 [256, 267)");
  EXPECT_EQ(of("add.s64 %d4, %x, 0;", "0xfffffff8"), "unknown") << "the upper bits stay";
  EXPECT_EQ(of("add.s64 %d4, %x, %a;", "-8"), "unknown") << "an address in place of a number";
}

}  // namespace
}  // namespace baton::overlap::chosen_ranges_test
