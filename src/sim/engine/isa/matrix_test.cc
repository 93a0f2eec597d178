// Matrix instructions: who takes part, and what is refused. What they compute is the conformance
// suite's.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "sim/engine/run/test_device.h"

namespace baton::sim::matrix_test {
namespace {

struct Outcome {
  Grid::State state;
  std::vector<std::uint32_t> out;
  std::vector<driver::Finding> findings;
};

// One warp; %out is where the thread's word is.
Outcome run(const std::string& body) {
  TestDevice device;
  GridLaunch launch;
  launch.module = device.load(R"(.version 8.4
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .shared .align 16 .b8 tile[1024];
  .reg .pred %p<5>;
  .reg .b32 %r<20>, %tid;
  .reg .f32 %f<20>;
  .reg .b64 %rd<5>, %out;
  ld.param.u64 %out, [out];
  mov.u32 %tid, %tid.x;
  mad.wide.u32 %out, %tid, 4, %out;
)" + body + "\n  ret;\n}\n");
  const std::uint64_t out = device.upload(std::vector<std::uint32_t>(32));
  launch.kernel = launch.module->kernel("k");
  launch.grid = {1};
  launch.block = {32};
  launch.params.resize(8);
  std::memcpy(launch.params.data(), &out, 8);
  const auto grid = device.engine.begin(std::move(launch));
  device.finish(*grid);
  return {grid->state(), device.download<std::uint32_t>(out, 32), device.engine.findings()};
}

TEST(Matrices, LanesThatPartedTakePartTogether) {
  // All of a is 1, b is 1 or 2 by the lane's branch: columns are sums of 16 ones or twos.
  const Outcome outcome = run(R"(
    and.b32 %r1, %tid, 4;
    setp.ne.u32 %p1, %r1, 0;
    mov.u32 %r2, 0x3c003c00;
    @%p1 bra TWOS;
    mov.u32 %r3, 0x3c003c00;
    bra MEET;
  TWOS:
    mov.u32 %r3, 0x40004000;
  MEET:
    mov.f32 %f1, 0f3f000000;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r2, %r2, %r2, %r2},
      {%r3, %r3}, {%f1, %f1, %f1, %f1};
    add.f32 %f2, %f2, %f3;
    cvt.rni.u32.f32 %r4, %f2;
    st.global.u32 [%out], %r4;
  )");
  ASSERT_EQ(outcome.state, Grid::State::kFinished);
  // Of two columns: 16 and 32, and a half each.
  EXPECT_EQ(outcome.out, std::vector<std::uint32_t>(32, 49));
}

TEST(Matrices, WhatIsNotThereIsRefused) {
  const std::string four_two =
      " {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};";
  for (const std::string& text :
       {"mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32" + four_two,
        "mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32" + four_two,
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32" + four_two,
        "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32" + four_two,
        "mma.sp.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32" + four_two,
        std::string("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r1, %r2}, [tile];"),
        std::string("wmma.load.a.sync.aligned.row.m16n16k16.shared.f32 {%f1,%f2}, [tile];"),
        std::string("wmma.load.c.sync.aligned.row.m24n8k16.shared.f32 {%f1,%f2}, [tile];")}) {
    const Outcome outcome = run(text);
    EXPECT_EQ(outcome.state, Grid::State::kFaulted) << text;
    ASSERT_EQ(outcome.findings.size(), 1u) << text;
    EXPECT_EQ(outcome.findings[0].kind, driver::FindingKind::kUnsupportedInstruction) << text;
  }
}

TEST(Matrices, RowsAreCheckedLikeAnyAccess) {
  const Outcome outside = run("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [tile+1024];");
  EXPECT_EQ(outside.state, Grid::State::kFaulted);
  ASSERT_EQ(outside.findings.size(), 1u);
  EXPECT_EQ(outside.findings[0].kind, driver::FindingKind::kOutOfBounds);
  const Outcome odd = run("stmatrix.sync.aligned.m8n8.x1.shared.b16 [tile+8], {%tid};");
  ASSERT_EQ(odd.findings.size(), 1u);
  EXPECT_EQ(odd.findings[0].kind, driver::FindingKind::kMisaligned);
}

}  // namespace
}  // namespace baton::sim::matrix_test
