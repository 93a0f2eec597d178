// What the judge keeps where it holds kernels to the memory model.

#include <gtest/gtest.h>

#include <vector>

#include "sim/engine/run/test_device.h"

namespace baton::sim::model_test {
namespace {

// Three warps. The last one leaves `s` written and exits; the others meet 400 times, and then read
// what it wrote. No copy writes shared memory, so whatever they know of each other is forgotten.
std::vector<driver::Finding> findings_of_loop(bool keeps_to_model) {
  TestDevice device(1, true);
  GridLaunch launch;
  launch.module = device.load(R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .pred %p<8>;
  .reg .b32 %r<30>;
  .shared .align 16 .b8 s[1024];
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, 64;
  @%p1 st.shared.u32 [s], %r1;
  @%p1 ret;
  mov.u32 %r2, 0;
  mov.u32 %r3, s;
  mad.lo.u32 %r3, %r1, 4, %r3;
LOOP:
  st.shared.u32 [%r3+16], %r2;
  bar.sync 1, 64;
  ld.shared.u32 %r4, [s+20];
  bar.sync 1, 64;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, 400;
  @%p2 bra LOOP;
  ld.shared.u32 %r4, [s];
  ret;
}
)");
  launch.kernel = launch.module->kernel("k");
  launch.grid = {1};
  launch.block = {96};
  launch.keeps_to_model = keeps_to_model;
  const auto grid = device.engine.begin(std::move(launch));
  device.finish(*grid);
  EXPECT_EQ(grid->state(), Grid::State::kFinished);
  return device.engine.findings();
}

TEST(JudgeByModel, ForgetsOrderedSegmentsWhereNoCopyOverwrites) {
  EXPECT_EQ(findings_of_loop(false).size(), 1u);
  EXPECT_EQ(findings_of_loop(true).size(), 1u);
}

}  // namespace
}  // namespace baton::sim::model_test
