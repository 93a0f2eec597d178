// How far accesses reach whose index a loop changes.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "pdl/footprint/range_launch.h"

namespace baton::overlap::loop_ranges_test {
namespace {

// Reads element %i of %a.
const std::string kRead = "mul.wide.s32 %e, %i, 4; add.s64 %e, %a, %e; ld.global.u32 %r3, [%e];\n";

std::string whole(const std::string& body) {
  return ".reg .b32 %i; .reg .b64 %e; .reg .pred %q;\n" + body;
}
// do { read(i); next; } while (condition)
std::string loop(const std::string& begin, const std::string& next, const std::string& condition) {
  return whole("mov.u32 %i, " + begin + ";\nL: " + kRead + next + " setp." + condition +
               "; @%q bra L;\n");
}

TEST(LoopRanges, MeetAnEndThatIsANumberOfStridesAway) {
  EXPECT_EQ(reach(loop("1", "add.s32 %i, %i, 3;", "ne.s32 %q, %i, 10")), "1 [260, 288)");
  EXPECT_FALSE(is_bounded(loop("1", "add.s32 %i, %i, 3;", "ne.s32 %q, %i, 8")));
  EXPECT_EQ(reach(loop("7", "add.s32 %i, %i, -3;", "ne.s32 %q, %i, 1")), "1 [272, 288)");
  EXPECT_FALSE(is_bounded(loop("8", "add.s32 %i, %i, -3;", "ne.s32 %q, %i, 1")));
}

// Numbers are equal with a sign if they are without.
TEST(LoopRanges, MeetAnEndFromBelowZero) {
  for (const char* const type : {"s32", "u32", "b32"}) {
    EXPECT_EQ(reach(loop("-5", "add.s32 %i, %i, 1;", "ne." + std::string(type) + " %q, %i, 10")),
              "1 [236, 296)")
        << type;
  }
}

TEST(LoopRanges, HaveNoStrideOfSeveralNumbers) {
  EXPECT_EQ(reach(loop("0", "add.s32 %i, %i, %r1;", "lt.s32 %q, %i, 20")), "1 [256, 336)");
}

TEST(LoopRanges, CountDownToZeroWithoutASign) {
  EXPECT_EQ(reach(whole("mov.u32 %i, %r1;\nL: " + kRead +
                        "setp.lt.u32 %q, %i, 1; @%q ret; add.s32 %i, %i, -1; bra L;")),
            "1 [256, 288)");
}

TEST(LoopRanges, FollowSumsOfSeveralInstructions) {
  const std::string copies = "add.s32 %r5, %i, 1; mov.u32 %i, %r5;";
  EXPECT_EQ(reach(loop("0", copies, "lt.s32 %q, %i, 10")), "1 [256, 296)");
  const std::string sums = "add.s32 %r5, %i, 1; add.s32 %i, %r5, 2;";
  EXPECT_EQ(reach(loop("0", sums, "lt.s32 %q, %i, 10")), "1 [256, 296)");
  const std::string swapped = "mov.u32 %r6, 8; add.s32 %i, %r6, %i;";
  EXPECT_EQ(reach(loop("0", swapped, "lt.s32 %q, %i, 20")), "1 [256, 324)");
}

// Products, and what is taken away from, may be anything after one turn.
TEST(LoopRanges, FollowNoOtherComputation) {
  for (const char* const next : {"mul.lo.s32 %i, %i, 5;", "shl.b32 %i, %i, 3;"}) {
    EXPECT_FALSE(is_bounded(loop("1", next, "lt.s32 %q, %i, 20"))) << next;
    EXPECT_FALSE(is_bounded(loop("1", next, "ne.s32 %q, %i, 19"))) << next;
  }
  EXPECT_EQ(reach(loop("3", "sub.s32 %i, %r1, %i;", "gt.s32 %q, %i, -5")), "1 [240, 304)")
      << "no more than the condition says";
}

// An addition that some turns leave out is one of another stride, too.
TEST(LoopRanges, CountAnAdditionWithAGuardForNone) {
  EXPECT_FALSE(is_bounded(whole("mov.u32 %i, 0; setp.lt.u32 %p1, %r1, 3;\nL: " + kRead +
                                "@%p1 add.s32 %i, %i, 1; add.s32 %i, %i, 1;\n"
                                "setp.lt.s32 %q, %i, 10; @%q bra L;")));
}

// The sum is one of what the register was before it began again. No condition bounds that.
TEST(LoopRanges, BoundNoSumOfAnEarlierValue) {
  EXPECT_FALSE(is_bounded(whole(
      "mov.u32 %i, 0;\nL: " + kRead +
      "mov.u32 %r5, %clock; setp.lt.u32 %p1, %r5, 9; add.s32 %r6, %i, 10; @%p1 bra K;\n"
      "mov.u32 %i, 0; K: setp.ge.s32 %q, %i, 5; @%q bra END; mov.u32 %i, %r6; bra L;\nEND:")));
}

// Of a value that the register had before the last addition.
std::string last_but_one(const std::string& before, const std::string& condition) {
  return whole("mov.u32 %i, " + before + "\nL: mul.wide.s32 %e, %i, 4; add.s32 %i, %i, 24; setp." +
               condition + "; @%p2 bra L;\nadd.s64 %e, %a, %e; ld.global.u32 %r3, [%e];\nEND:");
}

// Addresses differ by numbers, and yet an address that is added is none.
TEST(LoopRanges, CountNoAdditionOfAnAddress) {
  const auto of = [](const std::string& added) {
    return reach("mov.u64 %d1, 0;\nL: add.s64 %d2, %a, %d1; add.s64 %d1, %d1, " + added +
                 "; setp.lt.s64 %p1, %d1, 20; @%p1 bra L;\nld.global.u32 %r3, [%d2];");
  };
  EXPECT_EQ(of("8"), "1 [256, 287)");
  EXPECT_EQ(of("%b"), "unknown");
}

// An addition behind a condition that never holds gives nothing.
TEST(LoopRanges, LeaveOutAnAdditionThatNeverHappens) {
  EXPECT_EQ(reach(whole("mov.u32 %i, 9;\nL: " + kRead +
                        "setp.lt.s32 %q, %i, -5; @%q bra M; setp.lt.s32 %p2, %i, 1; @%p2 bra END;\n"
                        "add.s32 %i, %i, -1; bra L;\nM: add.s32 %i, %i, -1; bra L;\nEND:")),
            "1 [256, 296)");
}

// A comparison of the counter for equality does not always end its loop.
TEST(LoopRanges, TellAComparisonWithWhatTheRegisterNeverIs) {
  EXPECT_EQ(reach(whole("mov.u32 %i, 0;\nL: setp.eq.s32 %p1, %i, -5; mul.wide.s32 %e, %i, 4;\n"
                        "selp.b64 %d1, %b, %a, %p1; add.s64 %e, %e, %d1; ld.global.u32 %r3, [%e];\n"
                        "add.s32 %i, %i, 1; setp.lt.s32 %q, %i, 10; @%q bra L;")),
            "1 [256, 296)");
}

// A condition before the loop says where it begins, and not where it goes on.
TEST(LoopRanges, BeginWhereAConditionLetsThem) {
  const auto of = [](const std::string& comparison) {
    return reach(last_but_one("%r1; setp." + comparison + ".s32 %q, %i, 4; @%q bra L; bra END;",
                              "lt.s32 %p2, %i, 3"));
  };
  EXPECT_EQ(of("ge"), "1 [256, 384)");
  EXPECT_EQ(of("lt"), "1 [256, 368)");
}

TEST(LoopRanges, BeginAtANumberWithASign) {
  EXPECT_EQ(reach(last_but_one("%r0;", "lt.s32 %p2, %i, 3"), 0xFFFFFFFB), "1 [236, 364)");
}

// Operations that the launch does not execute begin no loop. They give no earlier value either.
TEST(LoopRanges, BeginWithWhatIsExecuted) {
  const std::string begin =
      "mov.u32 %i, 0; setp.lt.u32 %p1, %r0, 8; @%p1 bra L; mov.u32 %i, %clock;\nL: ";
  const std::string counts =
      whole(begin + kRead + "add.s32 %i, %i, 1; setp.lt.s32 %q, %i, 10; @%q bra L;");
  EXPECT_EQ(reach_of_executed(counts, 7), "1 [256, 296)");
  EXPECT_NE(reach_of_executed(counts, 8), "1 [256, 296)");
  const std::string computes =
      whole(begin +
            "mul.wide.u32 %e, %i, 4; add.s64 %e, %a, %e; sub.u32 %i, 100, %i;\n"
            "and.b32 %i, %i, 127; setp.lt.u32 %q, %i, 50; @%q bra L; ld.global.u32 %r3, [%e];");
  EXPECT_EQ(reach_of_executed(computes, 7), "1 [256, 660)");
  EXPECT_NE(reach_of_executed(computes, 8), "1 [256, 660)");
}

}  // namespace
}  // namespace baton::overlap::loop_ranges_test
