// `unsafe` is certain: two threads touch one byte. Right programs that only look wrong are unknown.

#include "pdl/verdict/witnesses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "pdl/footprint/bound.h"
#include "pdl/test_support.h"
#include "pdl/verdict/certain_walk.h"
#include "pdl/verdict/chain.h"
#include "pdl/verdict/launch_evidence.h"

namespace baton::overlap::witnesses_test {
namespace {

constexpr MemoryId kX = 1, kW = 2, kY = 3;
constexpr LaunchExtents kLaunch = {{64, 1, 1}, {2, 1, 1}};

// %i: the index of the thread in the grid; %e: its element of %a.
constexpr char kElement[] =
    ".reg .b32 %i; .reg .b64 %e; mov.u32 %r8, %ctaid.x; mov.u32 %r9, %ntid.x;\n"
    "mad.lo.u32 %i, %r8, %r9, %r1; mul.wide.u32 %e, %i, 4; add.s64 %e, %a, %e;\n";
constexpr char kWait[] = "griddepcontrol.wait;\n";
constexpr char kTriggers[] = "griddepcontrol.launch_dependents;\n";
// Writes p0[i] after its wait.
const std::string kProduces = std::string(kElement) + kWait + kTriggers + "st.global.u32 [%e], 1;";

// A chain of launches of k(p0 = x, p1 = w, p2 = y, p3 = n).
class Certain : public testing::Test {
 protected:
  void follow(const std::string& body, std::uint64_t n = 0) {
    BoundLaunch bound = bind_next(body, n);
    chain_.follow(bound, footprints_.size() > 1);
  }
  EdgeCause judge(const std::string& body, std::uint64_t n = 0) {
    BoundLaunch bound = bind_next(body, n);
    refine(bound, given(n), kLaunch.block, kLaunch.grid);
    LaunchEvidence evidence(examined_.back(), [this](std::uint32_t position) -> ExaminedLaunch& {
      return examined_[position];
    });
    const Verdict verdict = chain_.judge(bound, &evidence);
    EXPECT_EQ(verdict.kind == EdgeVerdict::kUnsafe, verdict.cause == EdgeCause::kConflict);
    examined_.pop_back();
    budget_.graphs.erase(&footprints_.back());
    footprints_.pop_back();
    return verdict.cause;
  }

 private:
  static std::vector<GivenArgument> given(std::uint64_t n) {
    return {GivenArgument::pointer(kX), GivenArgument::pointer(kW), GivenArgument::pointer(kY),
            GivenArgument::scalar(n)};
  }
  BoundLaunch bind_next(const std::string& body, std::uint64_t n) {
    const Footprint& footprint = footprints_.emplace_back(footprint_of(body, kFunctions));
    budget_.witness_steps = 1 << 20;
    examined_.emplace_back(footprint, given(n), kLaunch, kVariable, budget_);
    return overlap::bind(footprint, given(n), kLaunch.block, kLaunch.grid, kVariable);
  }
  static constexpr char kFunctions[] = ".func hold() { griddepcontrol.wait; ret; }\n";
  static inline const VariableNumber kVariable = [](std::string_view, bool) { return 9u; };
  // By position in the chain, and of the launch that is judged.
  std::deque<Footprint> footprints_;
  EvidenceBudget budget_;
  std::deque<ExaminedLaunch> examined_;
  LaunchChain chain_{[](MemoryId id) { return id == kW; }};
};

TEST_F(Certain, TheSameElementMeets) {
  follow(kProduces);
  EXPECT_EQ(judge(std::string(kElement) + "ld.global.u32 %r3, [%e];\n" + kWait),
            EdgeCause::kConflict);
}

// Rows of a cache: those before `n` are read, row n is written by the launch before.
TEST_F(Certain, OtherRowsDoNotMeet) {
  const std::string appends =
      "shl.b32 %r3, %r0, 6; add.u32 %r3, %r3, %r1; mul.wide.u32 %d1, %r3, 4; add.s64 %d1, %a, "
      "%d1;\n";
  const std::string sums =
      "mov.u32 %r4, 0; mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %a, %d1;\n"
      "L: setp.ge.u32 %p1, %r4, %r0; @%p1 bra DONE; ld.global.u32 %r5, [%d1];\n"
      "add.s64 %d1, %d1, 256; add.u32 %r4, %r4, 1; bra L;\nDONE:\n";
  follow(appends + kWait + "st.global.u32 [%d1], 1;", 3);
  EXPECT_EQ(judge(sums + kWait, 3), EdgeCause::kElements);
  EXPECT_EQ(judge(sums + kWait, 4), EdgeCause::kConflict) << "row 3 is among them";
}

// A conversion of all 64 bits leaves an address as it is. One of the lower half does not.
TEST_F(Certain, AConversionMayCutAnAddress) {
  follow(kProduces);
  const auto of = [&](const std::string& types) {
    return judge(std::string(kElement) + "cvt." + types + " %e, %e; ld.global.u32 %r3, [%e];\n" +
                 kWait);
  };
  EXPECT_EQ(of("s64.u64"), EdgeCause::kConflict);
  EXPECT_EQ(of("u64.u64"), EdgeCause::kConflict);
  for (const char* const types : {"u64.u32", "s64.s32", "u64.u16", "f64.u64", "u64.f64"}) {
    EXPECT_NE(of(types), EdgeCause::kConflict) << types;
  }
}

// What a load reads after a number is the next parameter, or anything.
TEST_F(Certain, ANumberEndsWithItsParameter) {
  const auto skips_if = [&](const std::string& load, const std::string& equal) {
    return judge(std::string(kElement) + load + equal +
                     " @%p1 bra DONE; ld.global.u32 %r3, [%e];\nDONE:\n" + kWait,
                 5);
  };
  follow(kProduces);
  EXPECT_EQ(skips_if("ld.param.u32 %r4, [p3];", "setp.eq.u32 %p1, %r4, 5;"), EdgeCause::kHolds);
  EXPECT_NE(skips_if("ld.param.u64 %d1, [p3];", "setp.eq.u64 %p1, %d1, 5;"), EdgeCause::kHolds);
}

TEST_F(Certain, EvenAndOddElementsDoNotMeet) {
  const std::string twice =
      "shl.b32 %r3, %r1, 1; mul.wide.u32 %d1, %r3, 4; add.s64 %d1, %a, %d1;\n";
  follow(twice + kWait + "st.global.u32 [%d1], 1;");
  EXPECT_EQ(judge(twice + "ld.global.u32 %r4, [%d1+4];\n" + kWait), EdgeCause::kElements);
  EXPECT_EQ(judge(twice + "ld.global.u32 %r4, [%d1+8];\n" + kWait), EdgeCause::kConflict);
  EXPECT_EQ(judge(twice + "ld.global.u16 %r4, [%d1+2];\n" + kWait), EdgeCause::kConflict);
}

TEST_F(Certain, AWriteThatNeverHappensIsNone) {
  const std::string writes =
      std::string(kElement) + kWait + "setp.gt.u32 %p1, %r0, 100; @%p1 st.global.u32 [%e], 1;";
  const std::string reads = std::string(kElement) + "ld.global.u32 %r3, [%e];\n" + kWait;
  follow(writes, 100);
  EXPECT_EQ(judge(reads), EdgeCause::kElements);
  follow(writes, 101);
  EXPECT_EQ(judge(reads), EdgeCause::kConflict);
}

TEST_F(Certain, ATriggerThatNeverHappensLetsNothingIn) {
  const std::string middle =
      "setp.ne.u32 %p1, %r0, 0; @%p1 griddepcontrol.launch_dependents;\n" + std::string(kWait);
  const std::string reads = std::string(kElement) + "ld.global.u32 %r3, [%e];\n" + kWait;
  follow(kProduces);
  follow(middle, 0);
  EXPECT_EQ(judge(reads), EdgeCause::kNotVisible);
}

TEST_F(Certain, ATriggerOfAllThreadsLetsTheNextOneIn) {
  const std::string middle =
      "setp.ne.u32 %p1, %r0, 0; @%p1 griddepcontrol.launch_dependents;\n" + std::string(kWait);
  const std::string reads = std::string(kElement) + "ld.global.u32 %r3, [%e];\n" + kWait;
  follow(kProduces);
  follow(middle, 1);
  EXPECT_EQ(judge(reads), EdgeCause::kConflict);
}

// One thread sees a flag, and a barrier orders the others after it.
TEST_F(Certain, AFlagMayOrder) {
  const std::string polls =
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra ALL;\n"
      "POLL: ld.acquire.gpu.global.u32 %r3, [%b]; setp.eq.u32 %p2, %r3, 0; @%p2 bra POLL;\n"
      "ALL: bar.sync 0;\n";
  follow(kProduces);
  EXPECT_EQ(judge(std::string(kElement) + polls + "ld.global.u32 %r4, [%e];\n" + kWait),
            EdgeCause::kUnordered);
  EXPECT_EQ(judge(std::string(kElement) + "bar.sync 0; ld.global.u32 %r4, [%e];\n" + kWait),
            EdgeCause::kConflict)
      << "a barrier alone orders nothing";
}

// What one lane's wait makes visible is visible to the grid, and lanes that shuffle know of it.
TEST_F(Certain, LanesThatMeetBehindAWaitMayOrder) {
  const std::string others_wait =
      "setp.eq.u32 %p1, %r1, 0; @%p1 bra FIRST;\n" + std::string(kWait) + "FIRST:\n";
  const std::string reads = "ld.global.u32 %r4, [%e];\n" + std::string(kWait);
  follow(kProduces);
  for (const char* meets : {"shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;\n",
                            "vote.sync.any.pred %p2, %p1, -1;\n", "bar.warp.sync -1;\n"}) {
    EXPECT_EQ(judge(kElement + others_wait + meets + reads), EdgeCause::kUnordered) << meets;
  }
  EXPECT_EQ(judge(kElement + others_wait + reads), EdgeCause::kConflict);
  EXPECT_EQ(judge(kElement + std::string("shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;\n") + others_wait +
                  reads),
            EdgeCause::kConflict)
      << "no thread has waited there";
}

TEST_F(Certain, TheExtentOfTheGridDecides) {
  const auto reads_in_grids_of = [](const std::string& blocks) {
    return std::string(kElement) + "mov.u32 %r3, %nctaid.x; setp.eq.u32 %p1, %r3, " + blocks +
           "; @%p1 ld.global.u32 %r4, [%e];\n" + kWait;
  };
  follow(kProduces);
  EXPECT_EQ(judge(reads_in_grids_of("2")), EdgeCause::kConflict);
  EXPECT_EQ(judge(reads_in_grids_of("3")), EdgeCause::kElements);
}

TEST_F(Certain, WhatDataDecideIsNotCertain) {
  follow(kProduces);
  EXPECT_EQ(judge(std::string(kElement) +
                  "ld.global.u32 %r3, [%b]; setp.eq.u32 %p1, %r3, 7; @%p1 ld.global.u32 %r4, "
                  "[%e];\n" +
                  kWait),
            EdgeCause::kElements);
  // After the ways have met again, the access is certain.
  EXPECT_EQ(judge(std::string(kElement) +
                  "ld.global.u32 %r3, [%b]; setp.eq.u32 %p1, %r3, 7; @%p1 bra OVER; add.u32 %r5, "
                  "%r5, 1;\nOVER: ld.global.u32 %r4, [%e];\n" +
                  kWait),
            EdgeCause::kConflict);
  // What one of the ways writes is not known any more.
  EXPECT_EQ(judge(std::string(kElement) +
                  "ld.global.u32 %r3, [%b]; setp.eq.u32 %p1, %r3, 7; @%p1 bra OVER; add.s64 %e, "
                  "%e, 4096;\nOVER: ld.global.u32 %r4, [%e];\n" +
                  kWait),
            EdgeCause::kElements);
}

// The two ways from the branch never meet, so no access after it is certain.
TEST_F(Certain, WaysMayNeverMeet) {
  follow(kProduces);
  EXPECT_EQ(judge(std::string(kElement) +
                  "ld.global.u32 %r3, [%b]; setp.eq.u32 %p1, %r3, 7; @%p1 bra SECOND;\n"
                  "FIRST: ld.global.u32 %r4, [%e]; griddepcontrol.wait; bra FIRST;\n"
                  "SECOND: ld.global.u32 %r4, [%e]; griddepcontrol.wait; bra SECOND;\n"),
            EdgeCause::kElements);
}

TEST_F(Certain, AConversionToTheSameWidthCopiesAnAddress) {
  follow(kProduces);
  for (const std::string type : {"s64.u64", "u64.s64", "u64.u64"}) {
    EXPECT_EQ(judge(std::string(kElement) + "cvt." + type +
                    " %d1, %e; ld.global.u32 %r3, [%d1];\n" + kWait),
              EdgeCause::kConflict)
        << type;
  }
}

TEST_F(Certain, AKernelWithCallsThatAreNotSeenIsNotUnsafe) {
  follow(kProduces);
  const std::string reads = std::string(kElement) + "ld.global.u32 %r3, [%e];\n";
  EXPECT_EQ(judge(reads + "call %d1, (), proto;"), EdgeCause::kUnseen);
}

TEST_F(Certain, CallsPassAddressesOn) {
  follow(kProduces);
  EXPECT_EQ(judge(std::string(kElement) + "ld.global.u32 %r3, [%e]; call hold;"),
            EdgeCause::kConflict);
}

// A block of two threads has no third one.
TEST(Witnesses, FollowThreadsOfTheBlockOnly) {
  const VariableNumber variable = [](std::string_view, bool) { return 9u; };
  const std::vector<GivenArgument> given = {GivenArgument::pointer(kX), GivenArgument::pointer(kW),
                                            GivenArgument::pointer(kY), GivenArgument::scalar(1)};
  const auto is_read = [&](const std::string& condition, const LaunchExtents& extents) {
    const Footprint footprint = footprint_of("mov.u32 %r3, %tid.y; mov.u32 %r4, %tid.z;\n" +
                                             condition + "@%p1 ld.global.u32 %r5, [%a];\n");
    std::uint64_t steps = 1 << 20;
    return Witnesses(footprint, given, extents, variable, steps).has(footprint.accesses[0], kX);
  };
  const std::string in_row_1 = "setp.eq.u32 %p1, %r3, 1;\n",
                    in_plane_1 = "setp.eq.u32 %p1, %r4, 1;\n";
  for (std::uint32_t threads = 1; threads < 5; ++threads) {
    const std::string last = fmt::format("setp.eq.u32 %p1, %r1, {};\n", threads - 1);
    const std::string next = fmt::format("setp.eq.u32 %p1, %r1, {};\n", threads);
    const LaunchExtents flat = {{threads, 1, 1}, {1, 1, 1}};
    EXPECT_TRUE(is_read(last, flat)) << threads;
    EXPECT_FALSE(is_read(next, flat)) << threads;
    EXPECT_FALSE(is_read(in_row_1, flat)) << threads;
    EXPECT_FALSE(is_read(in_plane_1, flat)) << threads;
  }
  EXPECT_TRUE(is_read(in_row_1, {{1, 2, 1}, {1, 1, 1}}));
  EXPECT_TRUE(is_read(in_plane_1, {{1, 1, 2}, {1, 1, 1}}));
}

// The caller is told which of a module's variables are constant memory.
TEST(Witnesses, VariablesAreAskedForByTheirSpace) {
  const Footprint footprint =
      footprint_of("ld.global.u32 %r3, [counter]; mov.u64 %d1, table; ld.const.u32 %r4, [%d1];\n",
                   ".global .u32 counter;\n.const .u32 table[4];\n");
  const VariableNumber variable = [](std::string_view name, bool constant) {
    EXPECT_EQ(constant, name == "table");
    return constant ? 8u : 9u;
  };
  std::uint64_t steps = 1 << 20;
  const Witnesses found(footprint, {}, kLaunch, variable, steps);
  ASSERT_EQ(footprint.accesses.size(), 2u);
  EXPECT_TRUE(found.has(footprint.accesses[0], 9));
  EXPECT_TRUE(found.has(footprint.accesses[1], 8));
}

// Lanes count over all dimensions of a block.
TEST(Witnesses, KnowTheirLane) {
  const VariableNumber variable = [](std::string_view, bool) { return 9u; };
  const std::vector<GivenArgument> given = {GivenArgument::pointer(kX)};
  // The thread at (3, 2, 1) reads if it is the lane.
  const auto is_lane = [&](std::uint32_t lane, const LaunchExtents& extents) {
    const Footprint footprint = footprint_of(
        fmt::format("mov.u32 %r3, %tid.y; mov.u32 %r4, %tid.z; mov.u32 %r5, %laneid;\n"
                    "setp.ne.u32 %p3, %r1, 3; @%p3 ret; setp.ne.u32 %p3, %r3, 2; @%p3 ret;\n"
                    "setp.ne.u32 %p3, %r4, 1; @%p3 ret;\n"
                    "setp.eq.u32 %p4, %r5, {}; @%p4 ld.global.u32 %r6, [%a];\n",
                    lane));
    std::uint64_t steps = 1 << 20;
    return Witnesses(footprint, given, extents, variable, steps).has(footprint.accesses[0], kX);
  };
  EXPECT_TRUE(is_lane((3 + 4 * (2 + 3 * 1)) % 32, {{4, 3, 2}, {1, 1, 1}}));
  EXPECT_FALSE(is_lane((3 + 3 * (2 + 3 * 1)) % 32, {{4, 3, 2}, {1, 1, 1}}));
  EXPECT_TRUE(is_lane((3 + 5 * (2 + 7 * 1)) % 32, {{5, 7, 2}, {1, 1, 1}}));
}

std::uint32_t number_of_variable(std::string_view, bool) {
  return 9;
}

// The walk stops where the list is full, whoever filled it.
TEST(CertainWalk, AppendsUpToALimit) {
  const Footprint footprint =
      footprint_of("st.global.u32 [%a], 1; st.global.u32 [%a+4], 1; st.global.u32 [%a+8], 1;");
  const GivenArgument given[] = {GivenArgument::pointer(kX), GivenArgument::pointer(kW),
                                 GivenArgument::pointer(kY), GivenArgument::scalar(0)};
  for (const std::size_t room : {0, 1, 2, 3, 4}) {
    SCOPED_TRACE(room);
    std::uint64_t steps = 1000;
    std::vector<CertainAccess> found(kMaxCertainAccesses - room);
    walk_certainly(footprint, given, kLaunch, {}, number_of_variable, steps, found);
    EXPECT_EQ(found.size(), kMaxCertainAccesses - room + std::min<std::size_t>(room, 3));
    if (room >= 3) {
      EXPECT_EQ(found.back().begin, 8u);
    }
  }
}

// A loop that begins with the kernel's first instruction: from the branch back, one way ends there.
TEST(CertainWalk, AWayMayLeadThroughTheFirstInstruction) {
  const auto module = ptx::ParsedModule::parse(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u32 p3) {
.reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %d<3>;
AGAIN: ld.param.u32 %r1, [p3]; ld.param.u64 %d1, [p0]; ld.param.u64 %d2, [p1];
setp.eq.u32 %p1, %r1, 0; @%p1 bra END;
ld.global.u32 %r2, [%d2]; setp.eq.u32 %p2, %r2, 7; @%p2 bra AGAIN;
ld.global.u32 %r3, [%d1];
END: ret;
})",
                                               "k.ptx");
  const Footprint footprint = read_footprint(module, *module->function("k"), {});
  const GivenArgument given[] = {GivenArgument::pointer(kX), GivenArgument::pointer(kW),
                                 GivenArgument::pointer(kY), GivenArgument::scalar(1)};
  std::uint64_t steps = 1000;
  std::vector<CertainAccess> found;
  walk_certainly(footprint, given, kLaunch, {}, number_of_variable, steps, found);
  EXPECT_EQ(found.size(), 1u) << "the load that comes before the branch";
}

// A guard that data decide leaves all elements of a load as they were, or none.
TEST(CertainWalk, AGuardedLoadOfAVectorIsNotCertain) {
  const auto stores = [](const std::string& guard) {
    const auto module = ptx::ParsedModule::parse(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p0, .param .align 16 .b8 p1[16]) {
.reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %d<4>;
ld.param.u64 %d1, [p0]; ld.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0;
mov.u64 %d2, %d1; mov.u64 %d3, %d1;
)" + guard + R"( ld.param.v2.u64 {%d2, %d3}, [p1];
st.global.u32 [%d2], 1; st.global.u32 [%d3], 1; ret; })",
                                                 "k.ptx");
    const Footprint footprint = read_footprint(module, *module->function("k"), {});
    GivenArgument pair;
    pair.kind = GivenArgument::Kind::kStruct;
    pair.fields = {{0, kW, 0}, {8, kY, 0}};
    const GivenArgument given[] = {GivenArgument::pointer(kX), pair};
    std::uint64_t steps = 1000;
    std::vector<CertainAccess> found;
    walk_certainly(footprint, given, kLaunch, {}, number_of_variable, steps, found);
    std::vector<MemoryId> memories;
    for (const CertainAccess& access : found) memories.push_back(access.memory);
    return memories;
  };
  EXPECT_EQ(stores(""), (std::vector<MemoryId>{kX, kW, kY}));
  EXPECT_EQ(stores("@%p1"), std::vector<MemoryId>{kX});
}

// A step is an operation; none is executed when none is left.
TEST(CertainWalk, CountsItsSteps) {
  const Footprint footprint = footprint_of("st.global.u32 [%a], 1; st.global.u32 [%a+4], 1;");
  const GivenArgument given[] = {GivenArgument::pointer(kX), GivenArgument::pointer(kW),
                                 GivenArgument::pointer(kY), GivenArgument::scalar(0)};
  const auto walk = [&](std::uint64_t steps) {
    std::vector<CertainAccess> found;
    std::uint64_t left = steps;
    walk_certainly(footprint, given, kLaunch, {}, number_of_variable, left, found);
    return std::pair(steps - left, found.size());
  };
  const auto [needed, all] = walk(1000);
  EXPECT_EQ(needed, footprint.code->operations.size());
  EXPECT_EQ(all, 2u);
  // After the second store there is the end alone.
  EXPECT_EQ(walk(needed - 1), std::pair(needed - 1, std::size_t{2}));
  EXPECT_EQ(walk(needed - 2), std::pair(needed - 2, std::size_t{1}));
  EXPECT_EQ(walk(needed - 3), std::pair(needed - 3, std::size_t{0}));
  EXPECT_EQ(walk(0), std::pair(std::uint64_t{0}, std::size_t{0}));
}

}  // namespace
}  // namespace baton::overlap::witnesses_test
