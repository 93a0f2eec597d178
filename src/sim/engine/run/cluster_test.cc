// Clusters: shared memory of other blocks, their barrier, special registers; cooperative grids.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "baton/error.h"
#include "sim/engine/run/test_device.h"

namespace baton::sim::cluster_test {
namespace {

const char kModule[] = R"(
.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 dynamic[];

// Each thread stores what it is into its block's memory and reads its neighbour block's.
.visible .entry exchange(.param .u64 out) {
  .reg .b64 %rd<9>;
  .reg .b32 %r<19>;
  .shared .align 4 .b8 fixed[256];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %cluster_ctarank;
  mov.u32 %r2, %cluster_nctarank;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, fixed;
  shl.b32 %r5, %r3, 2;
  add.u32 %r5, %r4, %r5;
  mad.lo.u32 %r6, %r1, 100, %r3;
  st.shared.u32 [%r5], %r6;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  add.u32 %r7, %r1, 1;
  rem.u32 %r7, %r7, %r2;
  mapa.shared::cluster.u32 %r8, %r5, %r7;
  ld.shared::cluster.u32 %r9, [%r8];
  getctarank.shared::cluster.u32 %r10, %r8;
  mad.lo.u32 %r9, %r10, 1000, %r9;
  // The same by a generic address.
  cvt.u64.u32 %rd2, %r5;
  cvta.shared.u64 %rd2, %rd2;
  mapa.u64 %rd3, %rd2, %r7;
  ld.u32 %r11, [%rd3];
  getctarank.u64 %r12, %rd3;
  mad.lo.u32 %r11, %r12, 1000, %r11;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.u32 %r13, %ctaid.x;
  mov.u32 %r14, %ntid.x;
  mad.lo.u32 %r15, %r13, %r14, %r3;
  mul.wide.u32 %rd4, %r15, 8;
  add.u64 %rd5, %rd1, %rd4;
  st.global.v2.u32 [%rd5], {%r9, %r11};
  ret;
}

// All threads of the cluster add to a counter in the first block's memory.
.visible .entry gather(.param .u64 out) {
  .reg .b64 %rd<9>;
  .reg .b32 %r<9>;
  .reg .pred %p<3>;
  .shared .align 4 .u32 counter;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, counter;
  mov.u32 %r3, %tid.x;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra READY;
  st.shared.u32 [%r1], 0;
READY:
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mapa.shared::cluster.u32 %r2, %r1, 0;
  atom.shared::cluster.add.u32 %r4, [%r2], 1;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  mov.u32 %r5, %cluster_ctarank;
  add.u32 %r6, %r5, %r3;
  setp.ne.u32 %p1, %r6, 0;
  @%p1 bra DONE;
  ld.shared.u32 %r7, [counter];
  mov.u32 %r8, %clusterid.x;
  mul.wide.u32 %rd2, %r8, 4;
  add.u64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r7;
DONE:
  ret;
}

// 12 words a block: its place in the cluster and in the grid.
.visible .entry places(.param .u64 out) {
  .reg .b64 %rd<9>;
  .reg .b32 %r<25>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ctaid.y;
  mov.u32 %r3, %nctaid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r4, 48;
  add.u64 %rd3, %rd1, %rd2;
  mov.u32 %r5, %clusterid.x;
  mov.u32 %r6, %clusterid.y;
  mov.u32 %r7, %nclusterid.x;
  mov.u32 %r8, %nclusterid.y;
  st.global.v4.u32 [%rd3], {%r5, %r6, %r7, %r8};
  mov.u32 %r5, %cluster_ctaid.x;
  mov.u32 %r6, %cluster_ctaid.y;
  mov.u32 %r7, %cluster_nctaid.x;
  mov.u32 %r8, %cluster_nctaid.y;
  st.global.v4.u32 [%rd3+16], {%r5, %r6, %r7, %r8};
  mov.u32 %r5, %cluster_ctarank;
  mov.u32 %r6, %cluster_nctarank;
  mov.pred %p1, %is_explicit_cluster;
  selp.u32 %r7, 1, 0, %p1;
  mov.u32 %r8, %cluster_nctaid.z;
  st.global.v4.u32 [%rd3+32], {%r5, %r6, %r7, %r8};
  ret;
}

// A shared address says whose it is, and only its own block's is .shared.
.visible .entry spaces(.param .u64 out) {
  .reg .b64 %rd<9>;
  .reg .b32 %r<9>;
  .reg .pred %p<5>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %cluster_ctarank;
  mov.u32 %r2, dynamic;
  st.shared.u32 [%r2], %r1;
  cvt.u64.u32 %rd2, %r2;
  cvta.shared.u64 %rd2, %rd2;
  mapa.u64 %rd3, %rd2, %r1;
  mapa.u64 %rd4, %rd2, 1;
  setp.eq.u64 %p1, %rd2, %rd3;
  isspacep.shared %p2, %rd4;
  isspacep.shared::cluster %p3, %rd4;
  selp.u32 %r3, 1, 0, %p1;
  selp.u32 %r4, 2, 0, %p2;
  selp.u32 %r5, 4, 0, %p3;
  add.u32 %r3, %r3, %r4;
  add.u32 %r3, %r3, %r5;
  mul.wide.u32 %rd5, %r1, 4;
  add.u64 %rd6, %rd1, %rd5;
  st.global.u32 [%rd6], %r3;
  ret;
}

// Writes to the memory of the other block.
.visible .entry intrude(.param .u32 rank) {
  .reg .b32 %r<9>;
  .shared .align 4 .u32 word;
  ld.param.u32 %r1, [rank];
  mov.u32 %r2, word;
  mapa.shared::cluster.u32 %r3, %r2, %r1;
  st.shared::cluster.u32 [%r3], 1;
  ret;
}

// Block 0 leaves at once, the other one looks for it.
.visible .entry leave() {
  .reg .b32 %r<9>;
  .reg .pred %p<2>;
  .shared .align 4 .u32 word;
  mov.u32 %r1, %cluster_ctarank;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra DONE;
  mov.u32 %r2, word;
  mapa.shared::cluster.u32 %r3, %r2, 0;
  ld.shared::cluster.u32 %r4, [%r3];
DONE:
  ret;
}

// Half of each warp leaves between two phases; the rest goes on without it.
.visible .entry thin(.param .u64 out) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<5>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [out];
  barrier.cluster.arrive;
  mov.u32 %r1, %laneid;
  setp.ge.u32 %p1, %r1, 16;
  @%p1 bra DONE;
  barrier.cluster.wait;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  red.global.add.u32 [%rd1], 1;
DONE:
  ret;
}

.visible .entry forgetful() {
  barrier.cluster.wait;
  ret;
}

// One thread of block 0 never arrives: it waits at a barrier of its block that no other thread comes to.
.visible .entry stuck() {
  .reg .b32 %r<3>;
  .reg .pred %p<2>;
  mov.u32 %r1, %cluster_ctarank;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra OTHER;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  ret;
OTHER:
  bar.sync 1, 64;
  ret;
}
)";

class ClusterTest : public testing::Test {
 protected:
  std::unique_ptr<Grid> begin(const char* name, Extent3 grid, Extent3 block, Extent3 cluster,
                              const std::string& params, bool cooperative = false) {
    GridLaunch launch;
    launch.module = module;
    launch.kernel = module->kernel(name);
    launch.grid = grid;
    launch.block = block;
    launch.cluster = cluster;
    launch.explicit_cluster = cluster.count() > 1;
    launch.cooperative = cooperative;
    launch.dynamic_shared = 16;
    const auto* bytes = reinterpret_cast<const std::byte*>(params.data());
    launch.params.assign(bytes, bytes + params.size());
    return device.engine.begin(std::move(launch));
  }
  template <class T>
  static std::string bytes_of(T value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::unique_ptr<Grid> run(const char* name, Extent3 grid, Extent3 block, Extent3 cluster,
                            const std::string& params = {}) {
    auto made = begin(name, grid, block, cluster, params);
    device.finish(*made);
    return made;
  }
  // The kind of the one finding that the run ends with.
  std::string refused(const char* name, Extent3 grid, Extent3 cluster,
                      const std::string& params = {}) {
    const auto made = run(name, grid, {32}, cluster, params);
    EXPECT_EQ(made->state(), Grid::State::kFaulted);
    const auto findings = device.engine.take_findings();
    if (findings.size() != 1) return fmt::format("{} findings", findings.size());
    return std::string(to_string(findings[0].kind));
  }

  TestDevice device{2};
  std::shared_ptr<LoadedModule> module = device.load(kModule);
};

TEST_F(ClusterTest, BlocksReadEachOthersMemory) {
  for (const std::uint32_t size : {1u, 2u, 3u, 8u, 16u}) {
    const std::uint32_t blocks = size * 5;
    const std::uint64_t out = device.upload(std::vector<std::uint32_t>(blocks * 64 * 2));
    const auto grid = run("exchange", {blocks}, {64}, {size}, bytes_of(out));
    ASSERT_EQ(grid->state(), Grid::State::kFinished) << size;
    const auto values = device.download<std::uint32_t>(out, blocks * 64 * 2);
    for (std::uint32_t k = 0; k < blocks * 64; ++k) {
      const std::uint32_t neighbour = (k / 64 % size + 1) % size;
      ASSERT_EQ(values[2 * k], neighbour * 1100 + k % 64) << size << " thread " << k;
      ASSERT_EQ(values[2 * k + 1], values[2 * k]);
    }
    EXPECT_EQ(grid->counters().blocks, blocks);
  }
  EXPECT_TRUE(device.engine.findings().empty());
}

TEST_F(ClusterTest, AtomicsReachOtherBlocks) {
  const std::uint64_t out = device.upload(std::vector<std::uint32_t>(6));
  const auto grid = run("gather", {24}, {100}, {4}, bytes_of(out));
  ASSERT_EQ(grid->state(), Grid::State::kFinished);
  EXPECT_EQ(device.download<std::uint32_t>(out, 6), std::vector<std::uint32_t>(6, 400));
}

TEST_F(ClusterTest, SpecialRegistersTellThePlace) {
  const std::uint64_t out = device.upload(std::vector<std::uint32_t>(6 * 4 * 12));
  const auto grid = run("places", {6, 4}, {1}, {3, 2}, bytes_of(out));
  ASSERT_EQ(grid->state(), Grid::State::kFinished);
  const auto values = device.download<std::uint32_t>(out, 6 * 4 * 12);
  for (std::uint32_t y = 0; y < 4; ++y) {
    for (std::uint32_t x = 0; x < 6; ++x) {
      const auto* at = &values[(y * 6 + x) * 12];
      const std::vector<std::uint32_t> want = {
          x / 3, y / 2, 2, 2, x % 3, y % 2, 3, 2, y % 2 * 3 + x % 3, 6, 1, 1};
      EXPECT_EQ(std::vector<std::uint32_t>(at, at + 12), want) << x << ", " << y;
    }
  }
}

TEST_F(ClusterTest, WithoutClustersABlockIsItsOwn) {
  const std::uint64_t out = device.upload(std::vector<std::uint32_t>(2 * 12));
  const auto grid = run("places", {2, 1}, {1}, {}, bytes_of(out));
  ASSERT_EQ(grid->state(), Grid::State::kFinished);
  const auto values = device.download<std::uint32_t>(out, 24);
  EXPECT_EQ(std::vector<std::uint32_t>(values.begin() + 12, values.end()),
            (std::vector<std::uint32_t>{1, 0, 2, 1, 0, 0, 1, 1, 0, 1, 0, 1}));
}

TEST_F(ClusterTest, AddressesSayWhoseTheyAre) {
  const std::uint64_t out = device.upload(std::vector<std::uint32_t>(2));
  const auto grid = run("spaces", {2}, {1}, {2}, bytes_of(out));
  ASSERT_EQ(grid->state(), Grid::State::kFinished);
  EXPECT_EQ(device.download<std::uint32_t>(out, 2), (std::vector<std::uint32_t>{5, 7}));
}

TEST_F(ClusterTest, LanesMayLeaveBetweenPhases) {
  const std::uint64_t out = device.upload(std::vector<std::uint32_t>(1));
  const auto grid = run("thin", {8}, {96}, {4}, bytes_of(out));
  ASSERT_EQ(grid->state(), Grid::State::kFinished);
  EXPECT_EQ(device.download<std::uint32_t>(out, 1)[0], 8u * 3 * 16);
}

TEST_F(ClusterTest, MistakesAreFound) {
  EXPECT_EQ(refused("intrude", {4}, {2}, bytes_of(std::uint32_t{2})), "out_of_bounds");
  EXPECT_EQ(refused("leave", {2}, {2}), "exited_block");
  EXPECT_EQ(refused("forgetful", {2}, {2}), "bad_barrier");
  const auto made = run("stuck", {2}, {32}, {2});
  EXPECT_EQ(made->fault(), CUDA_ERROR_LAUNCH_TIMEOUT);
  const auto findings = device.engine.take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, driver::FindingKind::kDeadlock);
  EXPECT_NE(findings[0].message.find("waits at the barrier of its cluster"), std::string::npos);
  EXPECT_NE(findings[0].message.find("waits at barrier 1"), std::string::npos);
}

TEST_F(ClusterTest, ClustersDivideTheGrid) {
  EXPECT_THROW(begin("leave", {3}, {1}, {2}, {}), Error);
  EXPECT_THROW(begin("leave", {17}, {1}, {17}, {}), Error);
  EXPECT_THROW(begin("leave", {4}, {1}, {0, 1, 1}, {}), Error);
}

// What cooperative_groups' grid.sync() compiles to (CUDA 13.0), three rounds of it.
const char kGridSync[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry rounds(.param .u64 counts, .param .u64 out) {
  .reg .b64 %rd<19>;
  .reg .b32 %r<29>;
  .reg .pred %p<9>;
  ld.param.u64 %rd1, [counts];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %envreg2;
  cvt.u64.u32 %rd3, %r1;
  mov.u32 %r2, %envreg1;
  cvt.u64.u32 %rd4, %r2;
  bfi.b64 %rd5, %rd4, %rd3, 32, 32;
  add.s64 %rd6, %rd5, 4;
  setp.ne.s64 %p5, %rd5, 0;
  @%p5 bra VALID;
  trap;
VALID:
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r5, %nctaid.x;
  mov.u32 %r6, -2147483647;
  sub.s32 %r7, %r6, %r5;
  setp.eq.u32 %p1, %r4, 0;
  selp.b32 %r8, %r7, 1, %p1;
  setp.ne.u32 %p2, %r3, 0;
  mov.u32 %r9, 0;
ROUND:
  mul.wide.u32 %rd7, %r9, 4;
  add.s64 %rd8, %rd1, %rd7;
  @%p2 bra ADDED;
  red.global.add.u32 [%rd8], 1;
ADDED:
  barrier.sync 0;
  @%p2 bra SYNCED;
  atom.add.release.gpu.u32 %r10, [%rd6], %r8;
SPIN:
  ld.acquire.gpu.u32 %r11, [%rd6];
  xor.b32 %r12, %r11, %r10;
  setp.gt.s32 %p3, %r12, -1;
  @%p3 bra SPIN;
SYNCED:
  barrier.sync 0;
  @%p2 bra NEXT;
  ld.global.u32 %r13, [%rd8];
  mad.lo.u32 %r14, %r9, %r5, %r4;
  mul.wide.u32 %rd9, %r14, 4;
  add.s64 %rd10, %rd2, %rd9;
  st.global.u32 [%rd10], %r13;
NEXT:
  add.u32 %r9, %r9, 1;
  setp.lt.u32 %p4, %r9, 3;
  @%p4 bra ROUND;
  ret;
}
)";

TEST_F(ClusterTest, CooperativeGridsSynchronise) {
  module = device.load(kGridSync);
  const std::uint32_t blocks = 132 * 8;
  const std::uint64_t counts = device.upload(std::vector<std::uint32_t>(3));
  const std::uint64_t out = device.upload(std::vector<std::uint32_t>(3 * blocks));
  for (const std::uint32_t cluster : {1u, 4u}) {
    device.memory.fill(counts, 0, 4, 3);
    const auto grid =
        begin("rounds", {blocks}, {64}, {cluster}, bytes_of(counts) + bytes_of(out), true);
    device.finish(*grid);
    ASSERT_EQ(grid->state(), Grid::State::kFinished);
    EXPECT_EQ(device.download<std::uint32_t>(out, 3 * blocks),
              std::vector<std::uint32_t>(3 * blocks, blocks));
  }
  EXPECT_TRUE(device.engine.findings().empty());
  // Without a cooperative launch there is no workspace: the kernel sees that, and traps.
  const auto plain = run("rounds", {2}, {64}, {}, bytes_of(counts) + bytes_of(out));
  EXPECT_EQ(plain->fault(), CUDA_ERROR_LAUNCH_FAILED);
}

}  // namespace
}  // namespace baton::sim::cluster_test
