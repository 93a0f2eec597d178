// How lanes part, wait and meet.

#include "sim/engine/run/warp.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <numeric>

#include "sim/engine/run/warp_run.h"

namespace baton::sim::warp_test {
namespace {

TEST(Warp, LanesTakeBothWaysAndMeetAgain) {
  const WarpRun result = run_kernel(kernel_of(R"(
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 bra EVEN;
    mov.u32 %r3, 100;
    bra MEET;
  EVEN:
    mov.u32 %r3, 200;
  MEET:
    activemask.b32 %r4;
    setp.eq.u32 %p2, %r4, -1;
    selp.u32 %r5, 1, 0, %p2;
    add.u32 %r3, %r3, %r5;
    st.global.u32 [%rd1], %r3;
  )"),
                                    32);
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(result.words[t], t % 2 == 0 ? 201u : 101u) << t;
}

TEST(Warp, WaitingLanesKeepWideRegisters) {
  // The upper lanes run first; their 32-bit values must not take the place of the 64-bit address
  // that the lower lanes, whose code stands before, still need.
  std::string body = R"(
    setp.lt.u32 %p1, %r1, 16;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd2, %out, %rd3;
    @%p1 bra LOW;
    bra.uni OTHER;
  LOW:
    st.global.u32 [%rd2], 1;
    bra.uni END;
  OTHER:
    st.global.u32 [%rd2], 2;
)";
  for (int k = 2; k < 20; ++k) {
    body += fmt::format("    add.u32 %r{}, %r{}, {};\n", k, k - 1, 3 * k);
  }
  body += R"(
    setp.eq.u32 %p2, %r19, 12345;
    @%p2 trap;
  END:)";
  const WarpRun result = run_kernel(kernel_of(body), 32);
  ASSERT_EQ(result.state, Grid::State::kFinished);
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(result.words[t], t < 16 ? 1u : 2u) << t;
}

TEST(Warp, LoopsWithAnEndOfTheirOwnForEachLane) {
  const WarpRun result = run_kernel(kernel_of(R"(
    mov.u32 %r2, 0;
    mov.u32 %r3, 0;
  LOOP:
    setp.ge.u32 %p1, %r2, %r1;
    @%p1 bra END;
    add.u32 %r3, %r3, %r2;
    add.u32 %r2, %r2, 1;
    bra LOOP;
  END:
    st.global.u32 [%rd1], %r3;
  )"),
                                    64);
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(result.words[t], t * (t - 1) / 2) << t;
}

// On a machine that runs one side of a branch to its end first, this never ends.
TEST(Warp, SpinLockWithinAWarp) {
  const WarpRun result = run_kernel(kernel_of(R"(
    add.u64 %rd2, %out, 2048;
  LOCK:
    atom.global.cas.b32 %r2, [%rd2], 0, 1;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra LOCK;
    ld.volatile.global.u32 %r3, [%rd2+4];
    add.u32 %r3, %r3, 1;
    st.volatile.global.u32 [%rd2+4], %r3;
    st.global.u32 [%rd1], %r3;
    membar.gl;
    atom.global.exch.b32 %r4, [%rd2], 0;
  )"),
                                    128);
  ASSERT_EQ(result.state, Grid::State::kFinished);
  EXPECT_EQ(result.words[513], 128u);
}

TEST(Warp, LanesWaitForWhatOthersWrite) {
  // Lane 0 waits for lane 31, which comes after it in the text.
  const WarpRun result = run_kernel(kernel_of(R"(
    add.u64 %rd2, %out, 2048;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra OTHERS;
  WAIT:
    ld.acquire.gpu.global.u32 %r2, [%rd2];
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra WAIT;
    st.global.u32 [%rd1], %r2;
    ret;
  OTHERS:
    setp.ne.u32 %p3, %r1, 31;
    @%p3 bra END;
    st.release.gpu.global.u32 [%rd2], 7;
  END:
  )"),
                                    32);
  ASSERT_EQ(result.state, Grid::State::kFinished);
  EXPECT_EQ(result.words[0], 7u);
}

// A loop that polls soon gives way to the block that it waits for, also where its lanes part and
// meet again in each round, and where some lanes are done.
TEST(Warp, PollingLanesThatPartGiveWay) {
  const std::string bodies[] = {R"(
  WAIT:
    mov.u32 %r4, 1;
    setp.ge.u32 %p2, %r1, 11;
    @%p2 bra MEET;
    ld.relaxed.sys.global.u32 %r4, [%rd2+4];
  MEET:
    ld.relaxed.sys.global.u32 %r3, [%rd2];
    setp.ne.u32 %p3, %r3, 0;
    setp.ne.and.u32 %p3, %r4, 0, %p3;
    vote.sync.all.pred %p4, %p3, -1;
    @!%p4 bra WAIT;
)",
                                R"(
    mov.u32 %r3, 5;
    setp.ge.u32 %p2, %r1, 11;
    @%p2 bra DONE;
  WAIT:
    ld.relaxed.sys.global.u32 %r3, [%rd2];
    setp.eq.u32 %p3, %r3, 0;
    @%p3 bra WAIT;
  DONE:
    bar.warp.sync -1;
)"};
  for (const std::string& body : bodies) {
    const WarpRun result = run_kernel(kernel_of(R"(
    mov.u32 %r2, %ctaid.x;
    add.u64 %rd2, %out, 2048;
    setp.eq.u32 %p1, %r2, 1;
    @%p1 bra LAST;
)" + body + R"(
    st.global.u32 [%rd1], %r3;
    ret;
  LAST:
    st.relaxed.sys.global.u32 [%rd2+4], 5;
    st.relaxed.sys.global.u32 [%rd2], 5;
  )"),
                                      32, 2);
    ASSERT_EQ(result.state, Grid::State::kFinished);
    for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(result.words[t], 5u);
    EXPECT_LT(result.warp_instructions, 10'000u);
  }
}

// Slices that are over before a loop has polled often enough do not hide that it polls.
TEST(Warp, LongLoopsThatPollGiveWayInShortSlices) {
  std::string work;
  for (int k = 0; k < 40; ++k) work += "add.u32 %r4, %r4, 1;\n";
  TestDevice device;
  const std::uint64_t out = device.upload(std::vector<std::uint32_t>(1024));
  const auto grid = device.begin(device.load(kernel_of(R"(
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r4, 0;
    add.u64 %rd2, %out, 2048;
    setp.eq.u32 %p1, %r2, 1;
    @%p1 bra LAST;
  WAIT:
)" + work + R"(
    atom.global.add.u32 %r3, [%rd2], 0;
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra WAIT;
    ret;
  LAST:
    atom.global.exch.b32 %r3, [%rd2], 5;
  )")),
                                 "k", {2}, {1}, 0, out);
  Grid* const grids[] = {grid.get()};
  for (int slice = 0; slice < 100; ++slice) device.engine.advance(grids, 4096);
  EXPECT_EQ(grid->state(), Grid::State::kFinished);
}

TEST(Warp, BlocksWaitForLaterBlocks) {
  const WarpRun result = run_kernel(kernel_of(R"(
    mov.u32 %r2, %ctaid.x;
    add.u64 %rd2, %out, 2048;
    setp.eq.u32 %p1, %r2, 2;
    @%p1 bra LAST;
  WAIT:
    ld.volatile.global.u32 %r3, [%rd2];
    setp.eq.u32 %p2, %r3, 0;
    @%p2 bra WAIT;
    mul.wide.u32 %rd3, %r2, 4;
    add.u64 %rd3, %rd3, %out;
    st.global.u32 [%rd3], %r3;
    ret;
  LAST:
    st.volatile.global.u32 [%rd2], 5;
  )"),
                                    32, 3);
  ASSERT_EQ(result.state, Grid::State::kFinished);
  EXPECT_EQ(result.words[0], 5u);
  EXPECT_EQ(result.words[1], 5u);
}

TEST(Warp, ShufflesGatherLanesThatParted) {
  const WarpRun result = run_kernel(kernel_of(R"(
    and.b32 %r2, %r1, 3;
    setp.eq.u32 %p1, %r2, 0;
    mov.u32 %r3, %r1;
    @%p1 bra FOURTH;
    add.u32 %r3, %r3, 1000;
    bra MEET;
  FOURTH:
    add.u32 %r3, %r3, 2000;
  MEET:
    shfl.sync.down.b32 %r4|%p2, %r3, 1, 0x1f, 0xffffffff;
    selp.u32 %r5, 1, 0, %p2;
    mad.lo.u32 %r4, %r5, 10000, %r4;
    st.global.u32 [%rd1], %r4;
  )"),
                                    32);
  for (std::uint32_t t = 0; t < 32; ++t) {
    const std::uint32_t from = t < 31 ? t + 1 : t;
    const std::uint32_t value = from + (from % 4 == 0 ? 2000 : 1000);
    EXPECT_EQ(result.words[t], value + (t < 31 ? 10000 : 0)) << t;
  }
}

TEST(Warp, BarrierOfTheWarpInBothArms) {
  const WarpRun result = run_kernel(kernel_of(R"(
    add.u64 %rd2, %out, 2048;
    setp.lt.u32 %p1, %r1, 16;
    @%p1 bra LOW;
    st.global.u32 [%rd2], 9;
    bar.warp.sync 0xffffffff;
    bra END;
  LOW:
    bar.warp.sync 0xffffffff;
    ld.global.u32 %r2, [%rd2];
    st.global.u32 [%rd1], %r2;
  END:
  )"),
                                    32);
  ASSERT_EQ(result.state, Grid::State::kFinished);
  for (int t = 0; t < 16; ++t) EXPECT_EQ(result.words[t], 9u);
}

TEST(Warp, BlockBarriersCountLanesNotWarps) {
  const WarpRun result = run_kernel(kernel_of(R"(
    setp.lt.u32 %p1, %r1, 40;
    @%p1 bra FIRST;
    bar.sync 0;
    st.global.u32 [%rd1], 1;
    bra END;
  FIRST:
    bar.sync 0;
    st.global.u32 [%rd1], 2;
  END:
    setp.eq.u32 %p2, %r1, 3;
    @%p2 exit;
    bar.sync 0;  // lane 3 is not waited for
    st.global.u32 [%rd1+512], 5;
  )"),
                                    100);
  ASSERT_EQ(result.state, Grid::State::kFinished);
  for (std::uint32_t t = 0; t < 100; ++t) {
    EXPECT_EQ(result.words[t], t < 40 ? 2u : 1u) << t;
    EXPECT_EQ(result.words[128 + t], t == 3 ? 0u : 5u) << t;
  }
}

TEST(Warp, ProducerAndConsumerWarps) {
  const WarpRun result = run_kernel(kernel_of(R"(
    .shared .align 4 .u32 box;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra CONSUMER;
    setp.eq.u32 %p2, %r1, 0;
    @%p2 st.shared.u32 [box], 42;
    bar.arrive 1, 64;
    bra END;
  CONSUMER:
    bar.sync 1, 64;
    ld.shared.u32 %r2, [box];
    st.global.u32 [%rd1], %r2;
  END:
  )"),
                                    64);
  ASSERT_EQ(result.state, Grid::State::kFinished);
  for (int t = 32; t < 64; ++t) EXPECT_EQ(result.words[t], 42u);
}

TEST(Warp, BarrierReductions) {
  const WarpRun result = run_kernel(kernel_of(R"(
    setp.lt.u32 %p1, %r1, 70;
    bar.red.popc.u32 %r2, 0, %p1;
    bar.red.and.pred %p2, 0, %p1;
    bar.red.or.pred %p3, 0, !%p1;
    selp.u32 %r3, 1000, 0, %p2;
    selp.u32 %r4, 2000, 0, %p3;
    add.u32 %r2, %r2, %r3;
    add.u32 %r2, %r2, %r4;
    st.global.u32 [%rd1], %r2;
  )"),
                                    96);
  for (int t = 0; t < 96; ++t) EXPECT_EQ(result.words[t], 2070u) << t;
}

TEST(Warp, ABarrierThatNobodyElseReachesIsADeadlock) {
  const WarpRun result = run_kernel(kernel_of(R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra ONE;
    bar.sync 1;
    bra END;
  ONE:
    bar.sync 2;
  END:
  )"),
                                    64);
  EXPECT_EQ(result.state, Grid::State::kFaulted);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].kind, driver::FindingKind::kDeadlock);
  EXPECT_NE(result.findings[0].message.find("waits at barrier 1"), std::string::npos);
  EXPECT_NE(result.findings[0].message.find("waits at barrier 2"), std::string::npos);
}

TEST(Warp, ABarrierForAnotherNumberOfThreadsIsADivergence) {
  struct Case {
    const char* first;
    const char* second;
    const char* message;
  };
  // Warp 0 comes first.
  const Case cases[] = {
      {"bar.sync 1, 64;", "bar.sync 1;",
       "arrives at barrier 1 for all threads of the block while others arrived in the same phase "
       "for "
       "64 threads"},
      {"bar.sync 1;", "bar.sync 1, 64;",
       "arrives at barrier 1 for 64 threads while others arrived in the same phase for all threads "
       "of the block"},
      {"bar.sync 1, 96;", "bar.sync 1, 64;",
       "arrives at barrier 1 for 64 threads while others arrived in the same phase for 96 "
       "threads"}};
  for (const Case& one : cases) {
    SCOPED_TRACE(std::string(one.first) + " and " + one.second);
    const WarpRun result = run_kernel(kernel_of(std::string(R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 bra FIRST;
    )") + one.second + "\n    bra END;\n  FIRST:\n    " +
                                                one.first + "\n  END:\n"),
                                      64);
    const driver::Finding* found = nullptr;
    for (const driver::Finding& finding : result.findings) {
      if (finding.kind == driver::FindingKind::kBarrierDivergence) found = &finding;
    }
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->message, one.message);
    EXPECT_EQ(found->thread, (std::array<std::uint32_t, 3>{32, 0, 0}));
  }
}

// The mask may be a constant, a register that lanes agree on, or one that a single lane has at 0.
TEST(Warp, AMemberMaskOf0IsAFault) {
  const char* const instructions[] = {"vote.sync.ballot.b32 %r5, %p1, MASK;",
                                      "vote.sync.any.pred %p2, %p1, MASK;",
                                      "shfl.sync.idx.b32 %r5, %r1, 0, 31, MASK;",
                                      "shfl.sync.bfly.b32 %r5|%p2, %r1, 1, 31, MASK;",
                                      "match.any.sync.b32 %r5, %r1, MASK;",
                                      "match.all.sync.b64 %r5|%p2, %rd1, MASK;",
                                      "redux.sync.add.u32 %r5, %r1, MASK;",
                                      "elect.sync %r5|%p2, MASK;",
                                      "bar.warp.sync MASK;"};
  struct Mask {
    const char* text;
    std::uint32_t lane;  // the first that has 0
  };
  const Mask masks[] = {{"0", 0}, {"%r8", 0}, {"%r9", 7}};
  for (const std::string instruction : instructions) {
    for (const Mask& mask : masks) {
      SCOPED_TRACE(instruction + " with " + mask.text);
      std::string text = instruction;
      text.replace(text.find("MASK"), 4, mask.text);
      const WarpRun result = run_kernel(kernel_of(R"(
    setp.lt.u32 %p1, %r1, 9;
    and.b32 %r8, %r1, 0;
    setp.eq.u32 %p3, %r1, 7;
    selp.b32 %r9, 0, 0xffffff7f, %p3;
    )" + text),
                                        32);
      EXPECT_EQ(result.state, Grid::State::kFaulted);
      ASSERT_EQ(result.findings.size(), 1u);
      const driver::Finding& finding = result.findings[0];
      EXPECT_EQ(finding.kind, driver::FindingKind::kBadMembers);
      EXPECT_EQ(finding.message,
                "the member mask is 0: it must name every lane that takes part, the thread's own "
                "included");
      EXPECT_EQ(finding.thread, (std::array<std::uint32_t, 3>{mask.lane, 0, 0}));
      EXPECT_EQ(finding.where, "test.ptx:19:5");
    }
  }
}

}  // namespace
}  // namespace baton::sim::warp_test
