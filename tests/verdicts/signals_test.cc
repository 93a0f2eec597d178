// Warp-specialised kernels, right ones and broken ones: the verdict, and what the simulated GPU
// finds when they start beside a kernel that writes their input and reads their output.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "generated_chain.h"

namespace baton::verdicts::signals_test {
namespace {

// Reads b, writes a, and lets the next kernel start at once.
constexpr char kBefore[] = R"(
griddepcontrol.launch_dependents; griddepcontrol.wait;
mul.wide.u32 %d1, %tid, 4; add.u64 %d2, %b, %d1; ld.global.u32 %r1, [%d2];
add.u64 %d2, %a, %d1; st.global.u32 [%d2], %r1;
)";

// A producer of one warp, and two warps of consumers. It fills stages of shared memory by bulk
// copies from a, and they write what they find to b. Full stages have mbarriers at 0, 8, ... and
// empty ones at 32, 40, ...
struct Pipeline {
  std::string before_loop = "griddepcontrol.wait;";  // of the producer
  std::string empty_phase = "1", full_phase = "0";   // at first
  std::string begin = "";                            // of the consumers
  std::string tiles = "4";
  std::string give_back = "mbarrier.arrive.shared::cta.b64 _, [%r8+32];";

  std::string text() const {
    return fmt::format(R"(
.reg .pred %p<9>;
setp.ne.u32 %p1, %tid, 0; @%p1 bra READY;
mbarrier.init.shared::cta.b64 [shared], 1; mbarrier.init.shared::cta.b64 [shared+8], 1;
mbarrier.init.shared::cta.b64 [shared+32], 64; mbarrier.init.shared::cta.b64 [shared+40], 64;
fence.mbarrier_init.release.cluster;
READY: bar.sync 0;
mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, shared; mov.u32 %r10, {3};
setp.ge.u32 %p2, %tid, 32; @%p2 bra CONSUMER;
{0}
@%p1 bra DONE;
mov.u32 %r4, {1};
FILL: shl.b32 %r5, %r1, 3; add.u32 %r5, %r3, %r5;
EMPTY: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5+32], %r4; @!%p3 bra EMPTY;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 256;
mul.wide.u32 %d1, %r2, 256; add.u64 %d1, %a, %d1;
shl.b32 %r6, %r1, 8; add.u32 %r6, %r6, %r3;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6+256], [%d1], 256, [%r5];
add.u32 %r7, %r1, 1; setp.eq.u32 %p4, %r7, 2; selp.u32 %r1, 0, %r7, %p4;
selp.u32 %r7, 1, 0, %p4; xor.b32 %r4, %r4, %r7;
add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, %r10; @%p5 bra FILL;
bra DONE;
CONSUMER: {4}
mov.u32 %r4, {2}; sub.u32 %r9, %tid, 32;
setp.eq.u32 %p6, %r10, 0; @%p6 bra STORE;
USE: shl.b32 %r8, %r1, 3; add.u32 %r8, %r3, %r8;
FULL: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r4; @!%p3 bra FULL;
shl.b32 %r6, %r1, 8; mad.lo.u32 %r6, %r9, 4, %r6; add.u32 %r6, %r6, %r3; ld.shared.u32 %r11, [%r6+256];
{5}
add.u32 %r7, %r1, 1; setp.eq.u32 %p4, %r7, 2; selp.u32 %r1, 0, %r7, %p4;
selp.u32 %r7, 1, 0, %p4; xor.b32 %r4, %r4, %r7;
add.u32 %r2, %r2, 1; setp.lt.u32 %p5, %r2, %r10; @%p5 bra USE;
STORE: mul.wide.u32 %d1, %r9, 4; add.u64 %d1, %b, %d1; st.global.u32 [%d1], %r11;
DONE: ret;
)",
                       before_loop, empty_phase, full_phase, tiles, begin, give_back);
  }
};

GeneratedLaunch launch(const std::string& body, std::uint32_t threads) {
  GeneratedLaunch launch;
  launch.declarations = ".reg .b64 %d<9>; .reg .b32 %r<19>;\n";
  launch.body = body;
  launch.buffers = "xyzw";
  launch.number = 4;
  launch.block = {threads, 1, 1};
  return launch;
}

struct Outcome {
  EdgeVerdict verdict;
  bool races;
  friend bool operator==(const Outcome&, const Outcome&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
    return out << to_string(outcome.verdict) << (outcome.races ? ", races" : ", no race");
  }
};
constexpr Outcome kProven = {EdgeVerdict::kProven, false};
constexpr Outcome kUnknown = {EdgeVerdict::kUnknown, false};
constexpr Outcome kRaces = {EdgeVerdict::kUnknown, true};

Outcome outcome_of(const std::string& body) {
  const GeneratedChain chain{.seed = 0, .launches = {launch(kBefore, 96), launch(body, 96)}};
  const Schedule schedules[] = {{ScheduleKind::kSerial},
                                {ScheduleKind::kLate},
                                {ScheduleKind::kEarly},
                                {ScheduleKind::kReverse},
                                {ScheduleKind::kRandom, 1}};
  const ChainOutcome outcome = outcomes_of(std::span(&chain, 1), schedules).front();
  EXPECT_EQ(outcome.broken, "");
  return {outcome.verdict, outcome.found != 0};
}
Outcome outcome_with(const Pipeline& pipeline) {
  return outcome_of(pipeline.text());
}

// Only the producer waits.
TEST(SignalVerdicts, APipelineOfBulkCopiesIsProven) {
  EXPECT_EQ(outcome_with(Pipeline()), kProven);
  EXPECT_EQ(outcome_with({.tiles = "1"}), kProven);
  EXPECT_EQ(outcome_with({.tiles = "%n"}), kProven) << "the launch's number is 4";
}

// As CUTLASS gives a stage back.
TEST(SignalVerdicts, StagesMayBeGivenBackThroughTheCluster) {
  EXPECT_EQ(outcome_with({.give_back = "mapa.shared::cluster.u32 %r12, %r8, 0;\n"
                                       "mbarrier.arrive.shared::cluster.b64 _, [%r12+32];"}),
            kProven);
}

TEST(SignalVerdicts, BrokenPipelinesAreNot) {
  EXPECT_EQ(outcome_with({.before_loop = "", .begin = "griddepcontrol.wait;"}), kRaces)
      << "the producer does not wait";
  EXPECT_EQ(outcome_with({.full_phase = "1", .tiles = "2", .give_back = ""}), kRaces)
      << "the wrong phase";
  EXPECT_EQ(
      outcome_with({.begin = "setp.ne.u32 %p7, %tid, 40; @!%p7 mbarrier.arrive.shared::cta.b64 "
                             "_, [shared+8];",
                    .tiles = "1"}),
      kProven)
      << "an arrival at a stage that is not the first one";
  EXPECT_EQ(outcome_with({.before_loop = "griddepcontrol.wait; @!%p1 mov.u32 %r10, 0;"
                                         "@%p1 bra DONE; bra DONE;",
                          .tiles = "0"}),
            kRaces)
      << "no tile, and so no signal";
  EXPECT_EQ(outcome_with({.begin = "st.global.u32 [%b], 1;"}), kRaces) << "before the first signal";
}

// One warp waits and the others are let go by a barrier with a number of threads.
TEST(SignalVerdicts, NamedBarriers) {
  const auto of = [](const std::string& producer, const std::string& consumer) {
    return outcome_of(fmt::format(R"(
.reg .pred %p<9>; setp.ge.u32 %p1, %tid, 32; @%p1 bra CONSUMER;
{} bra DONE;
CONSUMER: {}
mul.wide.u32 %d1, %tid, 4; add.u64 %d1, %b, %d1; st.global.u32 [%d1], 7;
DONE: ret;
)",
                                  producer, consumer));
  };
  const std::string wait = "griddepcontrol.wait;";
  EXPECT_EQ(of(wait + "bar.arrive 1, 96;", "bar.sync 1, 96;"), kProven);
  EXPECT_EQ(of(wait + "bar.sync 3, 96;", "bar.sync 3, 96;"), kProven);
  EXPECT_EQ(of(wait, "bar.sync 1, 64;"), kRaces) << "the consumers alone";
  EXPECT_EQ(of("bar.arrive 1, 96;" + wait, "bar.sync 1, 96;"), kRaces);
  EXPECT_EQ(
      of("setp.eq.u32 %p2, %tid, 0; @%p2 griddepcontrol.wait; bar.arrive 1, 96;", "bar.sync 1, 96;")
          .verdict,
      kUnknown.verdict)
      << "the lanes that do not wait arrive too";
}

// A barrier or an mbarrier that is relaxed tells the wait of another thread by fences alone.
TEST(SignalVerdicts, WhatIsRelaxedTellsNoWait) {
  constexpr char kStore[] =
      "mul.wide.u32 %d1, %tid, 4; add.u64 %d1, %b, %d1; st.global.u32 [%d1], 7;";
  const auto by_cluster = [&](const std::string& arrive) {
    return outcome_of(fmt::format(R"(
.reg .pred %p<9>; setp.ne.u32 %p1, %tid, 0; @%p1 bra MEET;
griddepcontrol.wait;
MEET: {} barrier.cluster.wait; {}
)",
                                  arrive, kStore));
  };
  EXPECT_EQ(by_cluster("barrier.cluster.arrive;"), kProven);
  EXPECT_EQ(by_cluster("barrier.cluster.arrive.relaxed;"), kRaces);
  EXPECT_EQ(by_cluster("fence.acq_rel.cluster; barrier.cluster.arrive.relaxed;"), kUnknown);

  const auto by_mbarrier = [&](const std::string& arrive, const std::string& test,
                               const std::string& after) {
    return outcome_of(fmt::format(R"(
.reg .pred %p<9>; setp.ne.u32 %p1, %tid, 0; @%p1 bra READY;
mbarrier.init.shared::cta.b64 [shared], 1; fence.mbarrier_init.release.cluster;
READY: bar.sync 0; @%p1 bra TEST;
griddepcontrol.wait; {} _, [shared];
TEST: {} %p3, [shared], 0; @!%p3 bra TEST; {} {}
)",
                                  arrive, test, after, kStore));
  };
  const std::string arrive = "mbarrier.arrive.shared::cta.b64";
  const std::string arrive_relaxed = "mbarrier.arrive.relaxed.cta.shared::cta.b64";
  const std::string test = "mbarrier.try_wait.parity.shared::cta.b64";
  const std::string test_relaxed = "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64";
  const std::string fence = "fence.acq_rel.cta;";
  EXPECT_EQ(by_mbarrier(arrive, test, ""), kProven);
  EXPECT_EQ(by_mbarrier(arrive_relaxed, test, ""), kRaces);
  EXPECT_EQ(by_mbarrier(fence + arrive_relaxed, test, ""), kUnknown);
  EXPECT_EQ(by_mbarrier(arrive, test_relaxed, ""), kRaces);
  EXPECT_EQ(by_mbarrier(arrive, test_relaxed, fence), kUnknown);
}

}  // namespace
}  // namespace baton::verdicts::signals_test
