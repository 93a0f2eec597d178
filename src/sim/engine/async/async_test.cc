// mbarriers and asynchronous copies: what threads see, when, and what is refused.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "sim/engine/run/test_device.h"

namespace baton::sim::async_test {
namespace {

using Words = std::vector<std::uint32_t>;

// A kernel `k` over the addresses `in` (%in) and `out` (%out): thread t's words are at %src and
// %dst, its place of 16 bytes in the shared array `tile` is %t; `bar` is an mbarrier.
std::string kernel(const std::string& body) {
  return R"(.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
  .shared .align 16 .b8 tile[4096];
  .shared .align 8 .b64 bar;
  .reg .pred %p<10>;
  .reg .b16 %h<3>;
  .reg .b32 %r<30>, %tid, %t, %rank;
  .reg .b64 %rd<20>, %in, %out, %src, %dst;
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %tid, %tid.x;
  mov.u32 %rank, %cluster_ctarank;
  mad.wide.u32 %src, %tid, 16, %in;
  mad.wide.u32 %dst, %tid, 4, %out;
  mov.u32 %t, tile;
  mad.lo.u32 %t, %tid, 16, %t;
  setp.eq.u32 %p9, %tid, 0;
)" + body +
         "\n  ret;\n}\n";
}

constexpr const char* kWait = R"(
  WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
    @!%p1 bra WAIT;
)";

struct Outcome {
  Grid::State state;
  Words in, out;
  std::vector<driver::Finding> findings;

  bool found(std::string_view kind, const std::string& part) const {
    return std::any_of(findings.begin(), findings.end(), [&](const driver::Finding& one) {
      return to_string(one.kind) == kind && one.message.find(part) != std::string::npos;
    });
  }
};

Outcome run(const std::string& text, std::uint32_t threads = 32, std::uint32_t blocks = 1,
            std::uint32_t cluster = 1, int architecture = 90) {
  TestDevice device(1, false, architecture);
  Words values(4096);
  for (std::uint32_t k = 0; k < values.size(); ++k) values[k] = 1000 + k;
  const std::uint64_t in = device.upload(values);
  const std::uint64_t out = device.upload(Words(4096, 0));
  GridLaunch launch;
  launch.module = device.load(text);
  launch.kernel = launch.module->kernel("k");
  launch.grid = {blocks};
  launch.block = {threads};
  launch.cluster = {cluster};
  launch.explicit_cluster = cluster > 1;
  launch.params.resize(16);
  std::memcpy(launch.params.data(), &in, 8);
  std::memcpy(launch.params.data() + 8, &out, 8);
  const auto grid = device.engine.begin(std::move(launch));
  device.finish(*grid);
  return {grid->state(), device.download<std::uint32_t>(in, 4096),
          device.download<std::uint32_t>(out, 4096), device.engine.findings()};
}

TEST(Async, CopiesOfThreadsAreSeenWhenTheyAreWaitedFor) {
  const Outcome outcome = run(kernel(R"(
    st.shared.u32 [%t], 7;
    cp.async.ca.shared.global [%t], [%src], 16;
    ld.shared.u32 %r1, [%t];
    cp.async.commit_group;
    cp.async.ca.shared.global [%t+4], [%src+8], 4;
    cp.async.commit_group;
    cp.async.wait_group 1;
    ld.shared.u32 %r2, [%t];
    ld.shared.u32 %r3, [%t+4];
    cp.async.wait_group 0;
    ld.shared.u32 %r4, [%t+4];
    mad.wide.u32 %dst, %tid, 16, %out;
    st.global.v4.u32 [%dst], {%r1, %r2, %r3, %r4};
  )"));
  ASSERT_EQ(outcome.state, Grid::State::kFinished);
  for (std::uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(outcome.out[4 * t], 7u);
    EXPECT_EQ(outcome.out[4 * t + 1], 1000 + 4 * t);
    EXPECT_EQ(outcome.out[4 * t + 2], 1001 + 4 * t);
    EXPECT_EQ(outcome.out[4 * t + 3], 1002 + 4 * t);
  }
}

// On sm_100, which st.bulk needs.
Outcome run_bulk_store(const std::string& body) {
  std::string text = kernel(body);
  text.replace(text.find("8.4"), 3, "8.6").replace(text.find("sm_90"), 5, "sm_100");
  return run(text, 32, 1, 1, 100);
}

TEST(Async, ABulkStoreWritesZeros) {
  const Outcome outcome = run_bulk_store(R"(
    st.shared.v4.u32 [%t], {7, 8, 9, 10};
    bar.sync 0;
    cvt.u64.u32 %rd1, %tid;
    mul.lo.u64 %rd1, %rd1, 8;
    setp.lt.u32 %p1, %tid, 3;
    @%p1 st.bulk.weak.shared::cta [%t], %rd1, 0;
    cvt.u64.u32 %rd2, %t;
    cvta.shared.u64 %rd2, %rd2;
    setp.eq.u32 %p2, %tid, 5;
    @%p2 st.bulk [%rd2+8], 8, 0;
    bar.sync 0;
    ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%t];
    mad.wide.u32 %dst, %tid, 16, %out;
    st.global.v4.u32 [%dst], {%r1, %r2, %r3, %r4};
  )");
  ASSERT_EQ(outcome.state, Grid::State::kFinished)
      << (outcome.findings.empty() ? "" : outcome.findings[0].message);
  const auto thread = [&](std::uint32_t t) {
    return Words(outcome.out.begin() + 4 * t, outcome.out.begin() + 4 * t + 4);
  };
  EXPECT_EQ(thread(0), (Words{7, 8, 9, 10}));
  EXPECT_EQ(thread(1), (Words{0, 0, 9, 10}));
  EXPECT_EQ(thread(2), (Words{0, 0, 0, 0}));
  EXPECT_EQ(thread(4), (Words{7, 8, 9, 10}));
  EXPECT_EQ(thread(5), (Words{7, 8, 0, 0}));
}

TEST(Async, ABulkStoreStaysInSharedMemory) {
  const Outcome outcome = run_bulk_store(R"(
    mov.u64 %rd1, 8192;
    @%p9 st.bulk.shared::cta [%t], %rd1, 0;
  )");
  EXPECT_EQ(outcome.state, Grid::State::kFaulted);
  ASSERT_FALSE(outcome.findings.empty());
  EXPECT_TRUE(outcome.found("out_of_bounds",
                            "writes 8 bytes of shared memory at 0x1000, where the block has 4096"));
}

TEST(Async, LanesWaitForTheirOwnGroups) {
  // Odd threads commit one group more than even ones.
  const Outcome outcome = run(kernel(R"(
    and.b32 %r1, %tid, 1;
    setp.eq.u32 %p1, %r1, 1;
    st.shared.u32 [%t], 7;
    cp.async.ca.shared.global [%t], [%src], 4;
    cp.async.commit_group;
    @%p1 cp.async.commit_group;
    cp.async.wait_group 1;
    ld.shared.u32 %r2, [%t];
    st.global.u32 [%dst], %r2;
  )"));
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(outcome.out[t], t % 2 == 1 ? 1000 + 4 * t : 7u);
}

TEST(Async, ABlockMakesUseOfAPipelineOfTwoWarps) {
  // The first warp fills the tile by cp.async and arrives through its copies; the second waits.
  const Outcome outcome = run(kernel(std::string(R"(
    @%p9 mbarrier.init.shared.b64 [bar], 32;
    bar.sync 0;
    setp.ge.u32 %p2, %tid, 32;
    @%p2 bra CONSUME;
    cp.async.cg.shared.global [%t], [%src], 16;
    cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
    bra DONE;
  CONSUME:)") + kWait + R"(
    ld.shared.u32 %r1, [%t-512];
    st.global.u32 [%dst], %r1;
  DONE:
  )"),
                              64);
  ASSERT_EQ(outcome.state, Grid::State::kFinished);
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(outcome.out[32 + t], 1000 + 4 * t);
}

TEST(Async, PhasesFollowEachOther) {
  // Two warps hand a word back and forth eight times, each waiting for the other's phase.
  const Outcome outcome = run(R"(.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
  .shared .align 8 .b64 full;
  .shared .align 8 .b64 empty;
  .shared .align 4 .b32 word;
  .reg .pred %p<5>;
  .reg .b32 %r<10>, %tid;
  .reg .b64 %out;
  ld.param.u64 %out, [out];
  mov.u32 %tid, %tid.x;
  setp.ne.u32 %p1, %tid, 0;
  @%p1 bra READY;
  mbarrier.init.shared.b64 [full], 1;
  mbarrier.init.shared.b64 [empty], 1;
READY:
  bar.sync 0;
  mov.u32 %r1, 0;   // round
  mov.u32 %r4, 0;   // sum
  setp.eq.u32 %p1, %tid, 0;
  setp.eq.u32 %p2, %tid, 32;
  @%p1 bra PRODUCE;
  @%p2 bra CONSUME;
  bra DONE;
PRODUCE:
  and.b32 %r2, %r1, 1;
  xor.b32 %r2, %r2, 1;
FULL:
  mbarrier.try_wait.parity.shared.b64 %p3, [empty], %r2;
  @!%p3 bra FULL;
  mad.lo.u32 %r3, %r1, 10, 1;
  st.shared.u32 [word], %r3;
  mbarrier.arrive.shared.b64 _, [full];
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p4, %r1, 8;
  @%p4 bra PRODUCE;
  bra DONE;
CONSUME:
  and.b32 %r2, %r1, 1;
EMPTY:
  mbarrier.test_wait.parity.shared.b64 %p3, [full], %r2;
  @!%p3 bra EMPTY;
  ld.shared.u32 %r3, [word];
  mad.lo.u32 %r4, %r4, 3, %r3;
  mbarrier.arrive.shared.b64 _, [empty];
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p4, %r1, 8;
  @%p4 bra CONSUME;
  st.global.u32 [%out], %r4;
DONE:
  ret;
})",
                              64);
  ASSERT_EQ(outcome.state, Grid::State::kFinished);
  std::uint32_t want = 0;
  for (std::uint32_t k = 0; k < 8; ++k) want = want * 3 + 10 * k + 1;
  EXPECT_EQ(outcome.out[0], want);
}

TEST(Async, BulkCopiesCompleteTheirMbarrier) {
  const Outcome outcome = run(kernel(std::string(R"(
    @!%p9 bra START;
    mbarrier.init.shared.b64 [bar], 1;
    st.shared.u32 [tile], 7;
    fence.mbarrier_init.release.cluster;
    fence.proxy.async;
    mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [bar], 512;
    mov.u32 %r1, tile;
    mov.u32 %r2, bar;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%in], 256, [%r2];
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r1+256], [%in+256], 256, [%r2];
    ld.shared.u32 %r3, [tile];
    st.global.u32 [%out+512], %r3;
  START:
    bar.sync 0;)") + kWait + R"(
    ld.shared.u32 %r1, [%t];
    st.global.u32 [%dst], %r1;
  )"));
  ASSERT_EQ(outcome.state, Grid::State::kFinished);
  EXPECT_EQ(outcome.out[128], 7u);  // read before the wait
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(outcome.out[t], 1000 + 4 * t);
}

TEST(Async, BulkStoresReadTheirSourceLate) {
  // What is overwritten before the copy was waited for, even to be read only, is lost.
  for (const bool waits : {true, false}) {
    const std::string wait = waits ? "cp.async.bulk.wait_group.read 0;" : "";
    const Outcome outcome = run(kernel(R"(
      st.shared.v4.u32 [%t], {1, 2, 3, 4};
      fence.proxy.async;
      mad.wide.u32 %dst, %tid, 16, %out;
      cp.async.bulk.global.shared::cta.bulk_group [%dst], [%t], 16;
      cp.async.bulk.commit_group;
      )" + wait + R"(
      st.shared.v4.u32 [%t], {5, 6, 7, 8};
    )"));
    ASSERT_EQ(outcome.state, Grid::State::kFinished);
    for (std::uint32_t k = 0; k < 128; ++k) EXPECT_EQ(outcome.out[k], k % 4 + (waits ? 1 : 5));
  }
}

TEST(Async, BlocksOfAClusterCopyToEachOther) {
  // Each block sends its rank by st.async to the next, whose mbarrier awaits it.
  const Outcome outcome = run(kernel(std::string(R"(
    @%p9 mbarrier.init.shared.b64 [bar], 1;
    @%p9 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [bar], 4;
    barrier.cluster.arrive.release;
    barrier.cluster.wait.acquire;
    add.u32 %r1, %rank, 1;
    and.b32 %r1, %r1, 3;
    mov.u32 %r2, tile;
    mov.u32 %r3, bar;
    mapa.shared::cluster.u32 %r2, %r2, %r1;
    mapa.shared::cluster.u32 %r3, %r3, %r1;
    add.u32 %r4, %rank, 100;
    @%p9 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r2], %r4, [%r3];)") +
                                     kWait + R"(
    ld.shared.u32 %r5, [tile];
    mad.wide.u32 %dst, %rank, 4, %out;
    @%p9 st.global.u32 [%dst], %r5;
    barrier.cluster.arrive;
    barrier.cluster.wait;
  )"),
                              32, 4, 4);
  ASSERT_EQ(outcome.state, Grid::State::kFinished);
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(outcome.out[rank], 100 + (rank + 3) % 4);
  }
}

TEST(Async, OneCopyReachesManyBlocks) {
  const Outcome outcome = run(kernel(std::string(R"(
    @%p9 mbarrier.init.shared.b64 [bar], 1;
    @%p9 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [bar], 16;
    barrier.cluster.arrive.release;
    barrier.cluster.wait.acquire;
    setp.eq.u32 %p2, %rank, 0;
    and.pred %p2, %p2, %p9;
    mov.u32 %r1, tile;
    mov.u32 %r2, bar;
    mov.u32 %r3, 11;
    cvt.u16.u32 %h1, %r3;
    @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
      [%r1], [%in], 16, [%r2], %h1;
    setp.eq.u32 %p3, %rank, 2;
    @%p3 bra OVER;)") + kWait + R"(
  OVER:
    ld.shared.u32 %r5, [tile];
    mad.wide.u32 %dst, %rank, 4, %out;
    @%p9 st.global.u32 [%dst], %r5;
    barrier.cluster.arrive;
    barrier.cluster.wait;
  )"),
                              32, 4, 4);
  ASSERT_EQ(outcome.state, Grid::State::kFinished);
  // Block 2 is not in the mask.
  EXPECT_EQ(outcome.out[0], 1000u);
  EXPECT_EQ(outcome.out[1], 1000u);
  EXPECT_EQ(outcome.out[2], 0u);
  EXPECT_EQ(outcome.out[3], 1000u);
}

TEST(Async, AThreadOfAnotherBlockArrives) {
  const Outcome outcome = run(kernel(std::string(R"(
    @%p9 mbarrier.init.shared.b64 [bar], 64;
    barrier.cluster.arrive.release;
    barrier.cluster.wait.acquire;
    mov.u32 %r1, bar;
    mapa.shared::cluster.u32 %r2, %r1, 0;
    mapa.shared::cluster.u32 %r3, %r1, 1;
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];
    mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r3];)") +
                                     kWait + R"(
    st.global.u32 [%dst], 1;
    barrier.cluster.arrive;
    barrier.cluster.wait;
  )"),
                              32, 2, 2);
  ASSERT_EQ(outcome.state, Grid::State::kFinished);
  EXPECT_EQ(outcome.out[31], 1u);
}

TEST(Async, AWaitThatNothingEndsIsADeadlock) {
  const Outcome outcome = run(kernel(std::string(R"(
    @%p9 mbarrier.init.shared.b64 [bar], 2;
    @%p9 mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [bar], 64;
    bar.sync 0;)") + kWait));
  EXPECT_EQ(outcome.state, Grid::State::kFaulted);
  EXPECT_TRUE(outcome.found("deadlock", "whose phase 0 awaits 1 of 2 arrivals and 64 bytes"));
}

TEST(Async, WhatNothingInitializedIsNoMbarrier) {
  Outcome outcome = run(kernel("mbarrier.arrive.shared.b64 _, [bar];"));
  EXPECT_EQ(outcome.state, Grid::State::kFaulted);
  EXPECT_TRUE(outcome.found("bad_mbarrier", "which was never initialized"));

  outcome = run(kernel(R"(
    @%p9 mbarrier.init.shared.b64 [bar], 32;
    bar.sync 0;
    @%p9 st.shared.u32 [bar], 5;
    bar.sync 0;
    mbarrier.arrive.shared.b64 _, [bar];)"));
  EXPECT_TRUE(outcome.found("bad_mbarrier", "overwritten"));

  outcome = run(kernel(R"(
    @%p9 mbarrier.init.shared.b64 [bar], 31;
    bar.sync 0;
    mbarrier.arrive.shared.b64 _, [bar], 2;)"));
  EXPECT_TRUE(outcome.found("bad_mbarrier", "arrives 2 times"));
}

TEST(Async, WhatGoesThroughAClusterNeedsOne) {
  for (const std::string body :
       {"@%p9 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [tile], "
        "[tile+16], 16, [bar];",
        "@%p9 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [tile], %tid, [bar];",
        "@%p9 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
        "[tile], %tid, [bar];"}) {
    const Outcome outcome = run(kernel(body));
    EXPECT_EQ(outcome.state, Grid::State::kFaulted) << body;
    EXPECT_TRUE(outcome.found("bad_copy", "launched without clusters")) << body;
  }
}

TEST(Async, TheSystemsSharedMemoryIsCleared) {
  const Outcome outcome = run(kernel(R"(
    mov.u32 %r1, %reserved_smem_offset_1;
    ld.shared.u32 %r2, [%r1];
    add.u32 %r2, %r2, 5;
    st.global.u32 [%dst], %r2;)"));
  ASSERT_EQ(outcome.state, Grid::State::kFinished);
  EXPECT_EQ(outcome.out[0], 5u);
  EXPECT_TRUE(outcome.findings.empty());
}

TEST(Async, CopiesOfOddSizesAreRefused) {
  Outcome outcome = run(kernel(R"(
    mov.u32 %r1, 17;
    @%p9 cp.async.bulk.global.shared::cta.bulk_group [%out], [%t], %r1;)"));
  EXPECT_EQ(outcome.state, Grid::State::kFaulted);
  EXPECT_TRUE(outcome.found("bad_copy", "17 bytes"));

  outcome = run(kernel("@%p9 cp.async.ca.shared.global [%t], [%src+4], 16;"));
  EXPECT_TRUE(outcome.found("misaligned", "not a multiple of 16"));

  outcome = run(kernel("@%p9 cp.async.ca.shared.global [%t], [%src+16384], 16;"));
  EXPECT_TRUE(outcome.found("out_of_bounds", "16 bytes of global memory"));
}

}  // namespace
}  // namespace baton::sim::async_test
