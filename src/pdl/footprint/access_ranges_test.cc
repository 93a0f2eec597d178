#include "pdl/footprint/access_ranges.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pdl/footprint/bound.h"
#include "pdl/footprint/range_launch.h"
#include "pdl/test_support.h"

namespace baton::overlap {
namespace {

// %i: the thread's index in the grid, 0 to 23; %e: its element of %a.
constexpr char kIndex[] =
    ".reg .b32 %i, %s; .reg .b64 %e; .reg .pred %q;\n"
    "mov.u32 %r8, %ctaid.x; mov.u32 %r9, %ntid.x; mad.lo.s32 %i, %r8, %r9, %r1;\n";
constexpr char kElement[] = "mul.wide.s32 %e, %i, 4; add.s64 %e, %a, %e;\n";
constexpr char kLoad[] = "ld.global.u32 %r3, [%e];\n";

std::string with_index(const std::string& rest) {
  return kIndex + rest;
}

TEST(AccessRanges, OfAllThreads) {
  EXPECT_EQ(reach("ld.global.u32 %r3, [%a];"), "1 [256, 260)");
  EXPECT_EQ(reach("ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%a+16];"), "1 [272, 288)");
  EXPECT_EQ(reach("ld.global.u8 %r3, [%a+-1];"), "1 [255, 256)");
  EXPECT_EQ(reach(with_index(std::string(kElement) + kLoad)), "1 [256, 352)");
  EXPECT_EQ(reach(with_index("shl.b32 %s, %i, 3; cvt.s64.s32 %e, %s; add.s64 %e, %e, %a;\n" +
                             std::string(kLoad))),
            "1 [256, 444)");
  EXPECT_EQ(reach("mov.u32 %r4, %tid.y; mul.wide.u32 %d1, %r4, 100; add.s64 %d2, %b, %d1;\n"
                  "st.global.u64 [%d2], %d1;"),
            "2 [0, 108)");
}

TEST(AccessRanges, OfShiftsAndProducts) {
  const auto of = [](const std::string& compute) {
    return with_index(compute + " mul.wide.u32 %e, %s, 4; add.s64 %e, %a, %e;\n" + kLoad);
  };
  EXPECT_EQ(reach(of("mul.hi.u32 %s, %i, 0x80000000;")), "1 [256, 304)");
  EXPECT_EQ(reach(of("shl.b32 %s, %i, 1;")), "1 [256, 444)");
  EXPECT_EQ(reach(of("shr.u32 %s, %i, 2;")), "1 [256, 280)");
  EXPECT_FALSE(is_bounded(of("shl.b32 %s, %i, %r1;")));
  EXPECT_FALSE(is_bounded(of("mov.u32 %r4, %clock; shl.b32 %s, %r4, 1;")));
  EXPECT_FALSE(is_bounded(of("mov.u32 %r4, %clock; mul.hi.s32 %s, %r4, %r4;")));
}

TEST(AccessRanges, OfBits) {
  const auto of = [](const std::string& compute) {
    return with_index("mov.u32 %r4, %clock; " + compute +
                      " mul.wide.u32 %e, %s, 4; add.s64 %e, %a, %e;\n" + kLoad);
  };
  EXPECT_EQ(reach(of("popc.b32 %s, %r4;")), "1 [256, 388)");
  EXPECT_EQ(reach(of("clz.b32 %s, %r4;")), "1 [256, 388)");
  EXPECT_EQ(reach(of("shr.u32 %s, %r4, 29; or.b32 %s, %s, 8;")), "1 [288, 320)");
  EXPECT_EQ(reach(of("shr.u32 %s, %r4, 29; xor.b32 %s, %s, 8;")), "1 [288, 320)");
  EXPECT_EQ(reach(of("shr.u32 %s, %r4, 28; xor.b32 %s, %s, 8;")), "1 [256, 320)");
  EXPECT_EQ(reach(of("shr.u32 %s, %r4, 28; xor.b32 %s, 40, %s;")), "1 [384, 448)");
  EXPECT_EQ(reach(of("shr.u32 %s, %r4, 29; or.b32 %s, %s, 20;")), "1 [336, 352)");
  EXPECT_EQ(reach(of("bfe.u32 %s, %r4, 7, 3;")), "1 [256, 288)");
  EXPECT_EQ(reach(of("bfe.u32 %s, %r4, 7, 0;")), "1 [256, 260)");
  EXPECT_EQ(reach(of("bfe.u32 %s, %r4, 7, 259;")), "1 [256, 288)") << "8 bits of it count";
  EXPECT_FALSE(is_bounded(of("bfe.u32 %s, %r4, 7, %r1;")));
  EXPECT_FALSE(is_bounded(of("bfe.s32 %s, %r4, 7, 3;")));
}

TEST(AccessRanges, OfScalars) {
  const char* row = "mul.wide.s32 %d1, %r0, 64; add.s64 %d2, %b, %d1; st.global.u32 [%d2], %r0;";
  EXPECT_EQ(reach(row, 3), "2 [192, 196)");
  EXPECT_EQ(reach(row, 0xFFFFFFFF), "2 [-64, -60)");
  const char* unsigned_row =
      "mul.wide.u32 %d1, %r0, 64; add.s64 %d2, %b, %d1; st.global.u32 [%d2], %r0;";
  EXPECT_EQ(reach(unsigned_row, 0xFFFFFFFF), "2 [274877906880, 274877906884)");
}

TEST(AccessRanges, OfVariables) {
  const char* table = ".global .align 8 .b8 table[256];\n";
  EXPECT_EQ(reach("mov.u64 %d1, table; ld.global.u32 %r3, [%d1];", 0, table), "9 [0, 4)");
  EXPECT_EQ(reach("mov.u64 %d1, table+64; ld.global.u32 %r3, [%d1+8];", 0, table), "9 [72, 76)");
}

TEST(AccessRanges, ConditionsOnTheWay) {
  const std::string access = std::string(kElement) + kLoad;
  EXPECT_EQ(reach(with_index("setp.ge.s32 %q, %i, %r0; @%q bra END;\n" + access + "END: ret;")),
            "1 [256, 336)");
  EXPECT_EQ(reach(with_index("setp.lt.u32 %q, %i, %r0; @!%q ret;\n" + access)), "1 [256, 336)");
  EXPECT_EQ(reach(with_index(kElement + std::string("setp.gt.s32 %q, %r0, %i;\n@%q ") + kLoad)),
            "1 [256, 336)");
  EXPECT_EQ(reach(with_index("setp.lt.s32 %q, %i, 4; @%q bra END;\nsetp.ge.s32 %p1, %i, 6; @%p1 "
                             "bra END;\n" +
                             access + "END: ret;")),
            "1 [272, 280)");
  EXPECT_EQ(reach(with_index("setp.lt.s32 %p1, %i, 4; setp.gt.s32 %p2, %i, 5;\n"
                             "or.pred %p3, %p1, %p2; @%p3 bra END;\n" +
                             access + "END: ret;")),
            "1 [272, 280)");
  EXPECT_EQ(reach(with_index("setp.ge.s32 %p1, %i, 4; setp.le.s32 %p2, %i, 5;\n"
                             "and.pred %p3, %p1, %p2; not.pred %p4, %p3; @%p4 bra END;\n" +
                             access + "END: ret;")),
            "1 [272, 280)");
  EXPECT_EQ(reach(with_index("setp.eq.s32 %q, %i, 7; @!%q bra END;\n" + access + "END: ret;")),
            "1 [284, 288)");
}

TEST(AccessRanges, ConditionsThatSayNothing) {
  const std::string access = std::string(kElement) + kLoad;
  const std::string whole = "1 [256, 352)";
  // Both ways lead to the access.
  EXPECT_EQ(reach(with_index("setp.ge.s32 %q, %i, %r0; @%q bra HERE;\nHERE:\n" + access)), whole);
  // One of two conditions suffices.
  EXPECT_EQ(reach(with_index("setp.lt.s32 %p1, %i, 4; setp.gt.s32 %p2, %i, 20;\n"
                             "or.pred %p3, %p1, %p2; @!%p3 bra END;\n" +
                             access + "END: ret;")),
            whole);
  // The register is another one by then.
  EXPECT_EQ(reach(with_index("setp.ge.s32 %q, %i, %r0; @%q bra END;\nadd.s32 %i, %i, 1;\n" +
                             access + "END: ret;")),
            "1 [260, 340)");
  // The predicate is another one by then.
  EXPECT_EQ(reach(with_index("setp.ge.s32 %q, %i, 2; setp.ge.s32 %q, %r1, 0; @!%q bra END;\n" +
                             access + "END: ret;")),
            whole);
  // The comparison is one of floats.
  EXPECT_EQ(reach(with_index("cvt.rn.f32.s32 %f1, %i; setp.ge.f32 %q, %f1, 0f40000000; @%q bra "
                             "END;\n" +
                             access + "END: ret;")),
            whole);
}

TEST(AccessRanges, Loops) {
  const auto loop = [](const std::string& next, const std::string& condition) {
    return with_index("LOOP: " + condition + "\n" + kElement + kLoad + next +
                      "\nbra LOOP;\nEND: ret;");
  };
  // for (i = index; i < n; i += 24)
  EXPECT_EQ(reach(loop("add.s32 %i, %i, 24;", "setp.ge.s32 %q, %i, %r0; @%q bra END;"), 100),
            "1 [256, 656)");
  EXPECT_EQ(reach(loop("add.s32 %i, %i, 24;", "setp.ge.u32 %q, %i, %r0; @%q bra END;"), 100),
            "1 [256, 656)");
  // Nothing bounds it, or the addition may wrap around.
  EXPECT_FALSE(
      is_bounded(loop("add.s32 %i, %i, 24;", "setp.eq.s32 %q, %i, %r0; @%q bra END;"), 100));
  EXPECT_FALSE(
      is_bounded(loop("add.s32 %i, %i, 24;", "setp.ge.s32 %q, %i, %r0; @%q bra END;"), 0x7FFFFFF0));
  EXPECT_FALSE(
      is_bounded(loop("add.s32 %i, %i, -24;", "setp.ge.s32 %q, %i, %r0; @%q bra END;"), 100));
  // do { } while ((i += 24) < n): the first element is touched in any case.
  EXPECT_EQ(reach(with_index("LOOP: " + std::string(kElement) + kLoad +
                             "add.s32 %i, %i, 24; setp.lt.s32 %q, %i, %r0; @%q bra LOOP;\n"),
                  20),
            "1 [256, 352)");
  // It begins at one of two elements, or in one of two memories.
  const auto begins = [&](const std::string& other) {
    return reach("mov.u64 %d2, %a; @%p2 bra ON; " + other +
                 " ON: add.s64 %d1, %a, 400;\n"
                 "LOOP: setp.ge.u64 %p1, %d2, %d1; @%p1 bra END;\n"
                 "ld.global.u32 %r3, [%d2]; add.s64 %d2, %d2, 16; bra LOOP;\nEND: ret;");
  };
  EXPECT_EQ(begins("add.s64 %d2, %a, 8;"), "1 [256, 659)");
  EXPECT_EQ(begins("mov.u64 %d2, %b;"), "unknown");
  // A pointer that moves on to an end.
  EXPECT_EQ(reach("add.s64 %d1, %a, 400; mov.u64 %d2, %a;\n"
                  "LOOP: setp.ge.u64 %p1, %d2, %d1; @%p1 bra END;\n"
                  "ld.global.u32 %r3, [%d2]; add.s64 %d2, %d2, 16; bra LOOP;\nEND: ret;"),
            "1 [256, 644)");
}

TEST(AccessRanges, WhatIsNotFollowed) {
  for (const char* body :
       {"ld.global.u64 %d1, [%a]; ld.global.u32 %r3, [%d1];",
        "and.b64 %d1, %a, -16; ld.global.u32 %r3, [%d1];",
        "shr.u64 %d1, %a, 1; add.s64 %d1, %d1, %d1; ld.global.u32 %r3, [%d1];",
        "add.s64 %d1, %a, %b; sub.s64 %d1, %d1, %b; ld.global.u32 %r3, [%d1];",
        "cvt.u32.u64 %r4, %a; cvt.u64.u32 %d1, %r4; ld.global.u32 %r3, [%d1];",
        "red.async.relaxed.cluster.global.mbarrier::complete_tx::bytes.add.u32 [%a], %r0, [%b];",
        "st.bulk.weak [%a], 1024, 0;"}) {
    const std::string found = reach(body);
    EXPECT_TRUE(found == "unknown" || found == "not one access") << body << ": " << found;
  }
  // The bits of a wider float are others.
  EXPECT_FALSE(
      is_bounded(".reg .f64 %x; mov.b32 %f1, 64; cvt.f64.f32 %x, %f1; mov.b64 %d1, %x;\n"
                 "add.s64 %d1, %a, %d1; ld.global.u32 %r3, [%d1];"));
  EXPECT_FALSE(
      is_bounded("mov.u32 %r4, %clock; mul.wide.u32 %d1, %r4, 4; add.s64 %d1, %a, %d1;\n"
                 "ld.global.u32 %r3, [%d1];"));
}

// The condition that is tested when a thread comes to a loop's end holds where it goes on, and not
// where the comparison itself comes next. Found by the programs below.
TEST(AccessRanges, AComparisonDoesNotDecideItself) {
  EXPECT_EQ(
      reach("mov.u32 %r4, %tid.y; mov.u32 %r5, 3; cvt.s64.s32 %d1, %r4; add.s64 %d2, %b, %d1;\n"
            "LOOP: add.s32 %r5, %r5, 5; setp.lt.s32 %p1, %r5, %r4; @%p1 bra LOOP;\n"
            "st.global.u32 [%d2], 1;"),
      "2 [0, 5)");
}

// What stays where a guard holds an operation back is not restricted by that guard.
TEST(AccessRanges, AGuardSaysNothingOfWhatStays) {
  EXPECT_EQ(reach("mov.u32 %r4, %r1; setp.lt.u32 %p1, %r4, 2; @%p1 mov.u32 %r4, 0;\n"
                  "mul.wide.u32 %d1, %r4, 4; add.s64 %d2, %b, %d1; st.global.u32 [%d2], 1;"),
            "2 [0, 32)");
}

TEST(AccessRanges, OfTheLeastAndTheGreatest) {
  const std::string access = "mul.wide.u32 %e, %s, 4; add.s64 %e, %a, %e;\n" + std::string(kLoad);
  EXPECT_EQ(reach(with_index("min.u32 %s, %i, 5;\n" + access)), "1 [256, 280)");
  EXPECT_EQ(reach(with_index("min.s32 %s, 5, %i;\n" + access)), "1 [256, 280)");
  EXPECT_EQ(reach(with_index("max.u32 %s, %i, 5;\n" + access)), "1 [276, 352)");
}

TEST(AccessRanges, ASelectionHoldsBoth) {
  const std::string access = "mul.wide.u32 %e, %s, 4; add.s64 %e, %a, %e;\n" + std::string(kLoad);
  const std::string unknown = "ld.shared.u32 %r4, [shared]; setp.eq.u32 %q, %r4, 0;\n";
  EXPECT_EQ(reach(with_index(unknown + "selp.b32 %s, 9, 2, %q;\n" + access)), "1 [264, 296)");
  EXPECT_EQ(reach(with_index(unknown + "selp.b32 %s, %r4, 2, %q;\n" + access)),
            reach(with_index(unknown + "mov.b32 %s, %r4;\n" + access)));
  EXPECT_EQ(reach(with_index(unknown + "selp.b32 %s, 2, %r4, %q;\n" + access)),
            reach(with_index(unknown + "mov.b32 %s, %r4;\n" + access)));
}

// A predicate that is combined with another one decides only for threads that pass there.
TEST(AccessRanges, ACombinationThatIsPassedByDecidesNothing) {
  const auto of = [](const std::string& over) {
    return reach(with_index("setp.lt.s32 %q, %i, 4; setp.eq.u32 %p3, %r0, 7;\n" + over +
                            "and.pred %p4, %q, %q; @!%p4 bra END;\nOVER:\n" +
                            std::string(kElement) + kLoad + "END:\n"));
  };
  EXPECT_EQ(of(""), "1 [256, 272)");
  EXPECT_EQ(of("@%p3 bra OVER;\n"), "1 [256, 352)");
}

// Of two halves, and of other types without a size of their own.
TEST(AccessRanges, AccessesOfUnknownSizeMayReachAnywhere) {
  EXPECT_EQ(reach("atom.global.add.u32 %r3, [%a], %r4;"), "1 [256, 260)");
  EXPECT_EQ(reach("atom.global.add.noftz.f16x2 %r3, [%a], %r4;"), "unknown");
}

// What was read before a register changed is no longer what it holds.
TEST(AccessRanges, AConditionOnALaterValueSaysNothingOfAnEarlierOne) {
  const auto of = [](const std::string& decides) {
    return reach(
        "mov.u32 %r4, 0;\n"
        "L: mul.wide.u32 %d1, %r4, 4; add.s64 %d1, %a, %d1;\n"
        "sub.u32 %r4, 100, %r4; and.b32 %r4, %r4, 127;\n" +
        decides + " @%p1 bra L;\nld.global.u32 %r3, [%d1];");
  };
  EXPECT_EQ(of("setp.lt.u32 %p1, %r4, 50;"), "1 [256, 660)");
  EXPECT_EQ(of("setp.ge.u32 %p1, %r4, 50;"), "1 [256, 768)");
}

// Below 0, numbers with a sign have another order than those without.
TEST(AccessRanges, ALoopMayBeginBelowZero) {
  const auto of = [](const std::string& begin, const std::string& sign = "s") {
    return reach("mov.s32 %r4, " + begin +
                 ";\nL: mul.wide.s32 %d1, %r4, 4; add.s64 %d1, %a, %d1; ld.global.u32 %r3, [%d1];\n"
                 "add.s32 %r4, %r4, 1; setp.lt." +
                 sign + "32 %p1, %r4, 10; @%p1 bra L;");
  };
  EXPECT_EQ(of("0"), "1 [256, 296)");
  EXPECT_EQ(of("-5"), "1 [236, 296)");
  EXPECT_EQ(of("-1"), "1 [252, 296)");
  // The first addition is the last one, or gives 0.
  EXPECT_EQ(of("-5", "u"), "1 [236, 296)");
  EXPECT_EQ(of("-1", "u"), "1 [252, 296)");
}

TEST(AccessRanges, LoopsThatCountDown) {
  const auto loop = [](const std::string& next, const std::string& condition) {
    return with_index("LOOP: " + condition + "\n" + kElement + kLoad + next +
                      "\nbra LOOP;\nEND: ret;");
  };
  const std::string from_n = "mov.u32 %i, %r0;\n";
  const auto down = [&](const std::string& next, const std::string& condition,
                        std::uint64_t count = RangeLaunch::kCount) {
    return reach(with_index(from_n + "LOOP: " + condition + "\n" + kElement + kLoad + next +
                            "\nbra LOOP;\nEND: ret;"),
                 count);
  };
  EXPECT_EQ(down("add.s32 %i, %i, -1;", "setp.lt.s32 %q, %i, 0; @%q bra END;"), "1 [256, 340)");
  EXPECT_EQ(down("sub.s32 %i, %i, 1;", "setp.lt.s32 %q, %i, 0; @%q bra END;"), "1 [256, 340)");
  EXPECT_EQ(down("add.s32 %i, %i, -1;", "setp.le.s32 %q, %i, 2; @%q bra END;"), "1 [268, 340)");
  EXPECT_EQ(down("add.s32 %i, %i, -3;", "setp.lt.s32 %q, %i, 0; @%q bra END;"), "1 [264, 340)");
  EXPECT_EQ(down("add.s32 %i, %i, -3;", "setp.lt.u32 %q, %i, 3; @%q bra END;"), "1 [276, 340)");
  EXPECT_EQ(down("add.s32 %i, %i, -1;", "setp.eq.s32 %q, %i, 0; @%q bra END;"), "1 [260, 340)");
  EXPECT_EQ(down("add.s32 %i, %i, -1;", "setp.eq.b32 %q, %i, 0; @%q bra END;"), "1 [260, 340)");
  EXPECT_EQ(down("add.s32 %i, %i, -4;", "setp.eq.s32 %q, %i, 0; @%q bra END;"), "1 [272, 340)");
  // An unsigned number is never below 0, and the steps of 3 pass the end.
  for (const char* condition :
       {"setp.lt.u32 %q, %i, 0; @%q bra END;", "setp.eq.s32 %q, %i, 21; @%q bra END;", ""}) {
    EXPECT_EQ(down("add.s32 %i, %i, -1;", condition).substr(0, 4), "1 [-") << condition;
  }
  EXPECT_EQ(down("add.s32 %i, %i, -3;", "setp.eq.s32 %q, %i, 0; @%q bra END;").substr(0, 4),
            "1 [-");
  EXPECT_EQ(down("sub.s32 %i, 1, %i;", "setp.lt.s32 %q, %i, 0; @%q bra END;").substr(0, 9),
            "1 [256, 3");
  EXPECT_EQ(reach(loop("add.s32 %i, %i, -8;", "setp.lt.s32 %q, %i, 0; @%q bra END;")),
            "1 [256, 352)");
  // A pointer that comes down to a place.
  EXPECT_EQ(reach("add.s64 %d2, %a, 400;\n"
                  "LOOP: setp.le.u64 %p1, %d2, %a; @%p1 bra END;\n"
                  "ld.global.u32 %r3, [%d2]; add.s64 %d2, %d2, -16; bra LOOP;\nEND: ret;"),
            "1 [272, 660)");
}

TEST(AccessRanges, LoopsThatEndAtANumber) {
  const auto up = [](const std::string& begin, const std::string& step, const std::string& end,
                     std::uint64_t count = RangeLaunch::kCount) {
    return reach(
        with_index("mov.u32 %i, " + begin + ";\nLOOP: " + kElement + kLoad + "add.s32 %i, %i, " +
                   step + "; setp.ne.s32 %q, %i, " + end + "; @%q bra LOOP;\n"),
        count);
  };
  EXPECT_EQ(up("0", "1", "%r0"), "1 [256, 336)");
  EXPECT_EQ(up("4", "1", "%r0"), "1 [272, 336)");
  EXPECT_EQ(up("0", "4", "%r0"), "1 [256, 324)");
  EXPECT_EQ(up("-20", "1", "0"), "1 [176, 256)");
  EXPECT_EQ(up("-20", "4", "0"), "1 [176, 244)");
  EXPECT_EQ(up("%r1", "1", "%r0"), "1 [256, 336)");
  // It passes the end, or never comes to it.
  EXPECT_FALSE(up("0", "3", "%r0").size() < 20);
  EXPECT_FALSE(up("%r1", "4", "%r0").size() < 20);
  EXPECT_FALSE(up("24", "1", "%r0").size() < 20);
  EXPECT_FALSE(up("20", "1", "%r0").size() < 20) << "it is tested after the addition";
  // A pointer, as of an iterator.
  EXPECT_EQ(reach("add.s64 %d1, %a, 400; mov.u64 %d2, %a;\n"
                  "LOOP: setp.eq.s64 %p1, %d2, %d1; @%p1 bra END;\n"
                  "ld.global.u32 %r3, [%d2]; add.s64 %d2, %d2, 16; bra LOOP;\nEND: ret;"),
            "1 [256, 644)");
  EXPECT_EQ(reach("add.s64 %d1, %a, 400; mov.u64 %d2, %a;\n"
                  "LOOP: setp.eq.u64 %p1, %d2, %d1; @%p1 bra END;\n"
                  "ld.global.u32 %r3, [%d2]; add.s64 %d2, %d2, 16; bra LOOP;\nEND: ret;"),
            "1 [256, 644)");
}

// x - (x + t & -2^k), where t is what makes a negative x round to 0.
TEST(AccessRanges, OfTheRestOfADivision) {
  const std::string access = "mul.wide.s32 %e, %s, 4; add.s64 %e, %a, %e;\n" + std::string(kLoad);
  const std::string shifted =
      "shr.s32 %r4, %r10, 31; shr.u32 %r4, %r4, 29; add.s32 %r5, %r10, %r4;";
  const auto rest = [&](const std::string& x, const std::string& bits, const std::string& mask) {
    return reach(
        with_index(x + bits + "and.b32 %r6, %r5, " + mask + "; sub.s32 %s, %r10, %r6;\n" + access));
  };
  const std::string any = "mov.u32 %r10, %clock;";
  EXPECT_EQ(rest("mov.u32 %r10, %i;", shifted, "-8"), "1 [256, 288)");
  EXPECT_EQ(rest(any, shifted, "-8"), "1 [228, 288)");
  EXPECT_EQ(rest(any, "mov.u32 %r5, %r10;", "-8").size() < 20, false) << "another register";
  EXPECT_FALSE(rest(any, shifted, "-7").size() < 20);
  EXPECT_FALSE(rest(any, shifted, "8").size() < 20);
  EXPECT_EQ(reach(with_index(any + "and.b32 %r6, %r10, -8; sub.s32 %s, %r10, %r6;\n" + access)),
            "1 [256, 288)");
  // Bits that are added as floats are another sum.
  EXPECT_FALSE(
      is_bounded(with_index(any + "and.b32 %r6, %r10, -8; sub.f32 %s, %r10, %r6;\n" + access)));
  EXPECT_FALSE(rest(any, "shr.u32 %r4, %r10, 29; add.f32 %r5, %r10, %r4;", "-8").size() < 20);
  EXPECT_FALSE(
      is_bounded(with_index(any + "and.b32 %r6, %r10, -8; sub.u16x2 %s, %r10, %r6;\n" + access)));
  EXPECT_EQ(reach(with_index(any + "rem.s32 %s, %r10, 8;\n" + access)), "1 [228, 288)");
  EXPECT_EQ(reach(with_index(any + "rem.u32 %s, %r10, 8;\n" + access)), "1 [256, 288)");
  EXPECT_FALSE(is_bounded(with_index(any + "rem.s32 %s, %r1, %r10;\n" + access)) &&
               is_bounded(with_index(any + "rem.s32 %s, %r10, %r10;\n" + access)));
  // 4095 - x % 2048
  EXPECT_EQ(reach(with_index(any + "and.b32 %r5, %r10, 2047; sub.s32 %s, 4095, %r5;\n" + access)),
            "1 [8448, 16640)");
  EXPECT_EQ(reach(with_index(any + "and.b32 %r5, %r10, 2047; xor.b32 %s, 4095, %r5;\n" + access)),
            "1 [8448, 16640)");
  // The mask is of the x of the turn before.
  EXPECT_FALSE(is_bounded(with_index(
      "mov.u32 %r6, 0;\nL: mov.u32 %r10, %clock; sub.s32 %s, %r10, %r6; and.b32 %r6, %r10, -8;\n"
      "setp.eq.u32 %p1, %r10, 7; @%p1 bra L;\n" +
      access)));
}

TEST(AccessRanges, TheLaunchChooses) {
  const auto of = [](const std::string& condition, std::uint64_t count) {
    return reach(condition + " selp.b64 %d1, %a, %b, %p1; ld.global.u32 %r3, [%d1];", count);
  };
  const std::string is_small = "setp.lt.u32 %p1, %r0, 8;";
  EXPECT_EQ(of(is_small, 7), "1 [256, 260)");
  EXPECT_EQ(of(is_small, 8), "2 [0, 4)");
  EXPECT_EQ(of("setp.lt.u32 %p1, %r1, %r0;", 8), "1 [256, 260)") << "for all threads";
  EXPECT_EQ(of("setp.lt.u32 %p1, %r1, %r0;", 7), "unknown") << "for some threads";
  EXPECT_EQ(of("setp.lt.u32 %p1, %r0, 8; @%p2 setp.lt.u32 %p1, %r1, 4;", 7), "unknown");
}

// What the launch does not execute gives no value.
TEST(AccessRanges, OfWhatIsExecuted) {
  const auto of = [](std::uint64_t count) {
    return reach_of_executed(
        "mov.u64 %d1, %a; setp.lt.u32 %p1, %r0, 8; @%p1 bra ON; mov.u64 %d1, %b; ON:\n"
        "ld.global.u32 %r3, [%d1];",
        count);
  };
  EXPECT_EQ(of(7), "1 [256, 260)");
  EXPECT_EQ(of(8), "unknown") << "the first definition is executed, too";
}

// An address before its memory, or far behind it, may have wrapped.
TEST(AccessRanges, OnlyAddressesNearTheirMemoryHaveAnOrder) {
  const auto of = [](const std::string& from, const std::string& bound) {
    return reach(with_index("mul.wide.u32 %e, %i, 4; add.s64 %e, %a, %e; add.s64 %e, %e, " + from +
                            ";\nadd.s64 %d2, %a, " + bound +
                            "; setp.ge.u64 %q, %e, %d2; @%q bra END;\n" + kLoad + "END: ret;"));
  };
  EXPECT_EQ(of("0", "32"), "1 [256, 291)");
  EXPECT_EQ(of("-256", "-224"), "1 [0, 35)");
  EXPECT_EQ(of("-272", "-224"), "1 [-16, 80)");
  EXPECT_EQ(of("0", "70368744177664"), "1 [256, 352)");
  const std::string far = "0x0fffffffffffff00";
  EXPECT_EQ(of(far, "32"), "unknown");
}

// A modifier that the rules are not written for may change the result.
TEST(AccessRanges, ModifiersThatChangeTheResultEndIt) {
  const std::string access = "mul.wide.u32 %e, %s, 4; add.s64 %e, %a, %e;\n" + std::string(kLoad);
  EXPECT_EQ(reach(with_index("add.s32 %s, %i, 1;\n" + access)), "1 [260, 356)");
  EXPECT_FALSE(is_bounded(with_index("add.sat.s32 %s, %i, 1;\n" + access)));
  EXPECT_FALSE(is_bounded(with_index("min.relu.s32 %s, %i, 5;\n" + access)));
}

}  // namespace
}  // namespace baton::overlap