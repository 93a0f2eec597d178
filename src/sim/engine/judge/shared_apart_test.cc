// Order that one lane has with another warp, and the rest of its warp has not.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "sim/engine/memory/memory_impl.h"
#include "sim/engine/run/test_device.h"

namespace baton::sim::shared_apart_test {
namespace {

constexpr char kByAnother[] = "was told, or waited for, by another lane alone";

// Two warps. %r1 is the thread, %r2 the lane, %p1 the first lane, %p2 lane 5; [%rd1] a row of 32
// words, [%rd2] the lane's own word, [%rd3] its neighbour's. `flag` is 0 at first, `bar` an
// mbarrier of one arrival.
std::vector<driver::Finding> findings_of(bool in_global, const std::string& tells,
                                         const std::string& is_told) {
  TestDevice device(1, true);
  device.memory.impl().watch();
  const auto module = device.load(fmt::format(R"(.version 8.8
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {{
  .reg .pred %p<8>;
  .reg .b32 %r<30>;
  .reg .b64 %rd<10>;
  .shared .align 16 .b8 row[128];
  .shared .align 8 .b64 bar;
  .shared .align 4 .b32 flag;
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  setp.eq.u32 %p1, %r2, 0;
  setp.eq.u32 %p2, %r2, 5;
  setp.ge.u32 %p4, %r1, 32;
  setp.eq.u32 %p3, %r1, 0;
  @%p3 mbarrier.init.shared.b64 [bar], 1;
  @%p3 st.shared.u32 [flag], 0;
  {}
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd2, %rd1, %rd2;
  xor.b64 %rd3, %rd2, 4;
  @!%p4 st.u32 [%rd2], 0;
  bar.sync 0;
  @%p4 bra TOLD;
{}
  bra DONE;
TOLD:
{}
DONE:
  ret;
}}
)",
                                              in_global ? "ld.param.u64 %rd1, [out];"
                                                        : "mov.u64 %rd1, row; cvta.shared.u64 "
                                                          "%rd1, %rd1;",
                                              tells, is_told));
  return device.findings_of(module, {1}, 32, in_global);
}

struct Pair {
  std::string tells, is_told;
};
void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.tells << " | " << pair.is_told;
}

const std::string kWritesRow = "st.u32 [%rd2], %r1; ";
const std::string kReadsRow = "ld.u32 %r4, [%rd2]; ";
const std::string kReadsFirst = "@%p1 ld.u32 %r4, [%rd2]; ";
const std::string kSync = "bar.warp.sync -1; ";
const std::string kStore = "@%p1 st.release.cta.shared.u32 [flag], 1; ";
const std::string kFenceAndStore =
    "@%p1 fence.acq_rel.cta; @%p1 st.relaxed.cta.shared.u32 [flag], 1; ";
const std::string kArrive = "@%p1 mbarrier.arrive.shared::cta.b64 %rd4, [bar]; ";

// Lanes 0 and 5, 2 and 5, 0 and 2.
std::string meets(const std::string& lanes) {
  return "shr.u32 %r6, " + lanes + ", %r2; and.b32 %r6, %r6, 1; setp.eq.u32 %p6, %r6, 1; " +
         "@%p6 bar.warp.sync " + lanes + "; ";
}
const std::string kMeet05 = meets("0x21"), kMeet25 = meets("0x24"), kMeet02 = meets("0x5");

// By the lanes of a predicate.
std::string polls(const std::string& lanes, const std::string& behind = "") {
  return "@!" + lanes + " bra BEHIND; AGAIN: ld.acquire.cta.shared.u32 %r5, [flag]; " +
         "setp.eq.u32 %p5, %r5, 0; @%p5 bra AGAIN; " + behind + " BEHIND: ";
}
std::string waits(const std::string& lanes) {
  return "@!" + lanes +
         " bra BEHIND; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p5, [bar], 0; "
         "@!%p5 bra AGAIN; BEHIND: ";
}
const std::string kPollsAll =
    "AGAIN: ld.acquire.cta.shared.u32 %r5, [flag]; setp.eq.u32 %p5, %r5, 0; @%p5 bra AGAIN; ";
const std::string kPollsAllThen =
    "THEN: ld.acquire.cta.shared.u32 %r5, [flag]; setp.eq.u32 %p5, %r5, 0; @%p5 bra THEN; ";
const std::string kWaitsAll =
    "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p5, [bar], 0; @!%p5 bra AGAIN; ";

class LanesInOrder : public testing::TestWithParam<Pair> {};

TEST_P(LanesInOrder, AreNoRace) {
  for (const bool in_global : {false, true}) {
    SCOPED_TRACE(in_global ? "global" : "shared");
    for (const auto& finding : findings_of(in_global, GetParam().tells, GetParam().is_told)) {
      ADD_FAILURE() << finding.message;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    SharedApart, LanesInOrder,
    testing::Values(
        Pair{kWritesRow + kSync + kStore, kPollsAll + kReadsRow},
        Pair{kWritesRow + kSync + kFenceAndStore, kPollsAll + kReadsRow},
        Pair{kWritesRow + kSync + kArrive, kWaitsAll + kReadsRow},
        Pair{kWritesRow + kSync + kStore, polls("%p1") + kSync + kReadsRow},
        Pair{kWritesRow + kSync + kArrive, waits("%p1") + kSync + kReadsRow},
        // What the lane itself did, and for itself.
        Pair{kReadsFirst + "@%p1 st.u32 [%rd2], 7; " + kStore, polls("%p1") + kReadsFirst},
        // After the lanes' barrier the one lane does more.
        Pair{kWritesRow + kSync + "@%p1 st.u32 [%rd2], 7; @%p1 st.u32 [%rd3], 7; " + kStore,
             polls("%p1") + kSync + kReadsRow},
        // A part of the lanes meets, of which one tells.
        Pair{"@%p2 st.u32 [%rd2], 7; " + kMeet05 + kStore, kPollsAll + kReadsRow},
        Pair{kWritesRow + kSync + kStore, polls("%p1") + kMeet05 + "@%p2 ld.u32 %r4, [%rd2]; "},
        // It meets twice, in a chain, and between segments.
        Pair{"@%p2 st.u32 [%rd2], 7; " + kMeet25 + kMeet02 + kStore, kPollsAll + kReadsRow},
        Pair{kStore + "@%p2 st.u32 [%rd2], 7; " + kMeet25 + kMeet02 + kStore +
                 "@%p1 st.release.cta.shared.u32 [flag], 2; ",
             "AGAIN: ld.acquire.cta.shared.u32 %r5, [flag]; setp.ne.u32 %p5, %r5, 2; "
             "@%p5 bra AGAIN; " +
                 kReadsRow},
        // Barriers of the block, where lanes come one after the other.
        Pair{kWritesRow + "@%p1 bra ONE; barrier.sync 1; bra MET; ONE: barrier.sync 1; MET: ",
             "barrier.sync 1; " + kReadsRow},
        Pair{kWritesRow + "barrier.sync 1; ",
             "@%p1 bra ONE; barrier.sync 1; bra MET; ONE: barrier.sync 1; MET: " + kReadsRow},
        // One lane hands on by a shuffle or a vote what it was told.
        Pair{kWritesRow + kSync + kStore,
             polls("%p1") + "shfl.sync.idx.b32 %r5, %r5, 0, 31, -1; " + kReadsRow},
        Pair{kWritesRow + kSync + kStore,
             polls("%p1") + "vote.sync.any.pred %p6, %p1, -1; " + kReadsRow},
        // One lane was told before the others are.
        Pair{kWritesRow + kSync + kStore, polls("%p1") +
                                              "movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r1; " +
                                              kPollsAllThen + kReadsRow},
        // What was read is there, whoever tells that.
        Pair{kReadsRow + kStore, kPollsAll + kWritesRow},
        Pair{kReadsRow + kArrive, kWaitsAll + kWritesRow},
        // Lanes that tell each other within a warp.
        Pair{"@%p2 st.u32 [%rd3], 7; @%p2 st.release.cta.shared.u32 [flag], 1; " + polls("%p1") +
                 "@%p1 ld.u32 %r4, [%rd1+16]; ",
             ""}));

class LanesApart : public testing::TestWithParam<Pair> {};

TEST_P(LanesApart, AreARace) {
  for (const bool in_global : {false, true}) {
    SCOPED_TRACE(in_global ? "global" : "shared");
    const auto findings = findings_of(in_global, GetParam().tells, GetParam().is_told);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind,
              in_global ? driver::FindingKind::kGlobalRace : driver::FindingKind::kSharedRace);
  }
}

INSTANTIATE_TEST_SUITE_P(
    SharedApart, LanesApart,
    testing::Values(Pair{kWritesRow + kStore, kPollsAll + kReadsRow},
                    Pair{kWritesRow + kFenceAndStore, kPollsAll + kReadsRow},
                    Pair{kWritesRow + kArrive, kWaitsAll + kReadsRow},
                    Pair{kWritesRow + kSync + kStore, polls("%p1") + kReadsRow},
                    Pair{kWritesRow + kSync + kArrive, waits("%p1") + kReadsRow},
                    // The lanes meet too early, too late, or without the one that counts.
                    Pair{kSync + kWritesRow + kStore, kPollsAll + kReadsRow},
                    Pair{kWritesRow + kStore + kSync, kPollsAll + kReadsRow},
                    Pair{kWritesRow + kSync + kStore, kSync + polls("%p1") + kReadsRow},
                    Pair{"@%p2 st.u32 [%rd2], 7; " + kMeet25 + kStore, kPollsAll + kReadsRow},
                    Pair{kWritesRow + kSync + kStore,
                         polls("%p1") + kMeet02 + "@%p2 ld.u32 %r4, [%rd2]; "},
                    // A shuffle orders no memory.
                    Pair{kWritesRow + "shfl.sync.idx.b32 %r5, %r1, 0, 31, -1; " + kStore,
                         kPollsAll + kReadsRow},
                    // Lanes that exited met no others.
                    Pair{kWritesRow + "@!%p1 bra DONE; " + kStore, kPollsAll + kReadsRow}));

// Whoever has the order is not part of the finding, which says that there is another.
TEST(LanesApart, AreNamed) {
  for (const bool in_global : {false, true}) {
    const auto findings = findings_of(in_global, kWritesRow + kStore, kPollsAll + kReadsRow);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].thread, (std::array<std::uint32_t, 3>{33, 0, 0}));
    EXPECT_NE(findings[0].message.find("that thread (1, 0, 0) of the same block writes"),
              std::string::npos)
        << findings[0].message;
    EXPECT_NE(findings[0].message.find(kByAnother), std::string::npos) << findings[0].message;
  }
}

// More sets of lanes than are distinguished: each lane tells others on its own, and is told on its
// own.
TEST(LanesApart, AreManyAndRight) {
  const std::string each_tells =
      "mov.u32 %r10, 0; EACH: setp.eq.u32 %p5, %r10, %r2; @%p5 st.u32 [%rd2], %r1; "
      "@%p5 red.release.cta.shared.add.u32 [flag], 1; "
      "add.u32 %r10, %r10, 1; setp.lt.u32 %p6, %r10, 32; @%p6 bra EACH; ";
  const std::string all_poll =
      "AGAIN: ld.acquire.cta.shared.u32 %r5, [flag]; setp.ne.u32 %p5, %r5, 32; @%p5 bra AGAIN; ";
  const std::string each_polls =
      "mov.u32 %r10, 0; NEXT: setp.ne.u32 %p6, %r10, %r2; @%p6 bra OTHER; " + all_poll +
      "OTHER: add.u32 %r10, %r10, 1; setp.lt.u32 %p6, %r10, 32; @%p6 bra NEXT; ";
  for (const bool in_global : {false, true}) {
    for (const std::string& told : {all_poll, each_polls}) {
      for (const auto& finding : findings_of(in_global, each_tells, told + kReadsRow)) {
        ADD_FAILURE() << finding.message;
      }
    }
    EXPECT_EQ(findings_of(in_global, each_tells, kReadsRow).size(), 1u);
  }
}

// Segments are forgotten where one lane of each warp comes after them. What is right stays so.
TEST(LanesApart, AreRightThroughManySegments) {
  const std::string counts = "setp.lt.u32 %p6, %r10, 300; @%p6 bra AGAIN; ";
  const std::string tells =
      kSync +
      "mov.u32 %r10, 0; AGAIN: add.u32 %r10, %r10, 1; @%p1 st.u32 [%rd2], %r10; "
      "@%p1 st.release.cta.shared.u32 [flag], %r10; "
      "REPLY: @%p1 ld.acquire.cta.shared.u32 %r5, [flag]; @!%p1 mov.u32 %r5, 0; "
      "setp.eq.u32 %p5, %r5, %r10; @%p5 bra REPLY; " +
      counts;
  const std::string is_told =
      "@!%p1 bra DONE; mov.u32 %r10, 0; AGAIN2: add.u32 %r10, %r10, 1; "
      "POLL: ld.acquire.cta.shared.u32 %r5, [flag]; setp.ne.u32 %p5, %r5, %r10; @%p5 bra POLL; "
      "ld.u32 %r4, [%rd2]; st.release.cta.shared.u32 [flag], 0; "
      "setp.lt.u32 %p6, %r10, 300; @%p6 bra AGAIN2; ";
  for (const bool in_global : {false, true}) {
    for (const auto& finding : findings_of(in_global, tells, is_told)) {
      ADD_FAILURE() << finding.message;
    }
  }
}

// A fence of one lane, and one that another lane executes before the flag is read.
TEST(LanesApart, HaveFencesOfTheirOwn) {
  const std::string seen =
      "AGAIN: ld.relaxed.cta.shared.u32 %r5, [flag]; setp.eq.u32 %p5, %r5, 0; "
      "@%p5 bra AGAIN; ";
  const std::string told = kWritesRow + kSync + kStore;
  EXPECT_TRUE(findings_of(false, told, seen + "fence.acq_rel.cta; " + kReadsRow).empty());
  EXPECT_TRUE(findings_of(false, told, seen + "@%p1 fence.acq_rel.cta; " + kReadsFirst).empty());
  EXPECT_TRUE(findings_of(false, told,
                          seen + "@%p2 fence.acq_rel.cta; @%p1 fence.acq_rel.cta; " + kReadsFirst)
                  .empty());
  EXPECT_EQ(findings_of(false, told, seen + "@%p2 fence.acq_rel.cta; " + kReadsFirst).size(), 1u);
}

}  // namespace
}  // namespace baton::sim::shared_apart_test
