// Grids as their driver sees them: slices, several at once, printing, refusals.

#include <gtest/gtest.h>

#include <thread>

#include "baton/error.h"
#include "sim/engine/run/test_device.h"

namespace baton::sim::grid_test {
namespace {

const char kModule[] = R"(
.version 8.0
.target sm_90
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.extern .shared .align 16 .b8 dynamic[];
.global .align 1 .b8 text[] = {37, 100, 32, 37, 115, 32, 37, 46, 50, 102, 10, 0};  // "%d %s %.2f\n"
.global .align 1 .b8 word[] = {104, 105, 0};
.global .align 4 .u32 counter = 17;

.visible .entry forever() {
LOOP:
  bra LOOP;
}

.visible .entry count(.param .u64 out) {
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [out];
  red.global.add.u32 [%rd1], 1;
  ret;
}

.visible .entry wait(.param .u64 flag) {
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [flag];
LOOP:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra LOOP;
  ret;
}

.visible .entry set(.param .u64 flag) {
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [flag];
  st.volatile.global.u32 [%rd1], 1;
  ret;
}

.visible .entry shared(.param .u64 out) {
  .reg .b64 %rd<2>;
  .reg .b32 %r<9>;
  .shared .align 4 .b8 fixed[20];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, dynamic;
  mov.u32 %r2, %dynamic_smem_size;
  add.u32 %r3, %r1, %r2;
  mov.u32 %r4, fixed;
  st.shared.u32 [%r4+16], 5;
  st.shared.u32 [%r3+-4], 6;
  st.global.u32 [%rd1], %r1;
  ret;
}

.visible .entry print() {
  .reg .b64 %rd<5>;
  .reg .b32 %r<5>;
  .local .align 8 .b8 room[24];
  mov.u64 %rd1, room;
  .reg .pred %p1;
  mov.u32 %r1, %ctaid.x;
  mov.u64 %rd2, word;
  cvta.global.u64 %rd2, %rd2;
AGAIN:
  st.local.u32 [%rd1], %r1;
  st.local.u64 [%rd1+8], %rd2;
  st.local.f64 [%rd1+16], 0d3FF8000000000000;
  cvta.local.u64 %rd3, %rd1;
  mov.u64 %rd4, text;
  cvta.global.u64 %rd4, %rd4;
  {
    .param .b64 a;
    st.param.b64 [a], %rd4;
    .param .b64 b;
    st.param.b64 [b], %rd3;
    .param .b32 c;
    call.uni (c), vprintf, (a, b);
    ld.param.b32 %r2, [c];
  }
  add.u32 %r1, %r1, 100;
  setp.lt.u32 %p1, %r1, 200;
  @%p1 bra AGAIN;
  ret;
}
)";

class Grids : public ::testing::Test {
 protected:
  TestDevice device;
  std::shared_ptr<LoadedModule> module = device.load(kModule);
};

TEST_F(Grids, StopAfterTheirBudgetAndSayWhereTheyStand) {
  const auto grid = device.begin(module, "forever", {1}, {64}, 0);
  Grid* grids[] = {grid.get()};
  for (int k = 0; k < 3; ++k) device.engine.advance(grids, 100'000);
  EXPECT_EQ(grid->state(), Grid::State::kRunning);
  const std::uint64_t executed = grid->counters().warp_instructions;
  EXPECT_GE(executed, 300'000u);
  EXPECT_LT(executed, 900'000u);
  const auto wait_report = grid->wait_report();
  ASSERT_EQ(wait_report.size(), 1u);
  EXPECT_NE(wait_report[0].find("warps 0 to 1: 64 threads"), std::string::npos) << wait_report[0];
}

TEST_F(Grids, BlocksThatStandAtOnePlaceAreOneLine) {
  const std::uint64_t flag = device.upload(std::vector<std::uint32_t>{0});
  const auto grid = device.begin(module, "wait", {500}, {64}, 0, flag);
  Grid* grids[] = {grid.get()};
  device.engine.advance(grids, 10'000'000);
  const auto wait_report = grid->wait_report();
  ASSERT_EQ(wait_report.size(), 1u);
  EXPECT_NE(wait_report[0].find("wait, 500 blocks, block (0, 0, 0) first: 32000 threads"),
            std::string::npos)
      << wait_report[0];
}

TEST_F(Grids, AreInterrupted) {
  const auto grid = device.begin(module, "forever", {1}, {32}, 0);
  Grid* grids[] = {grid.get()};
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    device.engine.interrupt();
  });
  device.engine.advance(grids, std::uint64_t{1} << 60);
  other.join();
  EXPECT_EQ(grid->state(), Grid::State::kRunning);
}

// A stop may come between two slices: it holds until the engine is told to go on.
TEST_F(Grids, StayInterruptedUntilTheyResume) {
  const auto grid = device.begin(module, "forever", {1}, {32}, 0);
  Grid* grids[] = {grid.get()};
  device.engine.interrupt();
  EXPECT_EQ(device.engine.advance(grids, 1 << 22).executed, 0u);
  EXPECT_EQ(device.engine.advance(grids, 1 << 22).executed, 0u);
  device.engine.resume();
  EXPECT_GE(device.engine.advance(grids, 1 << 10).executed, 1u << 10);
}

TEST_F(Grids, OneWaitsForWhatAnotherWrites) {
  const std::uint64_t flag = device.upload(std::vector<std::uint32_t>{0});
  const auto waiting = device.begin(module, "wait", {300}, {128}, 0, flag);
  const auto setting = device.begin(module, "set", {1}, {1}, 0, flag);
  Grid* grids[] = {waiting.get(), setting.get()};
  for (int k = 0; k < 100 && waiting->state() == Grid::State::kRunning; ++k) {
    device.engine.advance(grids, 1'000'000);
  }
  EXPECT_EQ(waiting->state(), Grid::State::kFinished);
  EXPECT_EQ(setting->state(), Grid::State::kFinished);
}

TEST_F(Grids, ManyBlocksOnSeveralWorkers) {
  TestDevice parallel(4);
  const auto parallel_module = parallel.load(kModule);
  const std::uint64_t out = parallel.upload(std::vector<std::uint32_t>{0});
  const auto grid = parallel.run(parallel_module, "count", {100'000}, {3}, out);
  EXPECT_EQ(grid->state(), Grid::State::kFinished);
  EXPECT_EQ(parallel.download<std::uint32_t>(out, 1)[0], 300'000u);
  EXPECT_EQ(grid->counters().blocks, 100'000u);
  EXPECT_EQ(grid->counters().warp_instructions, 300'000u);
  EXPECT_EQ(grid->counters().lane_instructions, 900'000u);
}

TEST_F(Grids, TheShareOfBlocksThatEndedGrowsWhileItRuns) {
  const std::uint64_t out = device.upload(std::vector<std::uint32_t>{0});
  const auto grid = device.begin(module, "count", {1000}, {3}, 0, out);
  EXPECT_EQ(grid->ended_share(), 0);
  Grid* one[] = {grid.get()};
  double last = 0;
  int between = 0;
  for (int k = 0; k < 1000 && grid->state() == Grid::State::kRunning; ++k) {
    device.engine.advance(one, 1000);
    EXPECT_GT(grid->ended_share(), last);
    last = grid->ended_share();
    between += last < 1 ? 1 : 0;
  }
  EXPECT_EQ(last, 1);
  EXPECT_GT(between, 10);
}

TEST_F(Grids, DynamicSharedMemoryLiesBehindTheStatic) {
  const std::uint64_t out = device.upload(std::vector<std::uint32_t>{0});
  EXPECT_EQ(module->kernel("shared")->static_shared, 32u);
  const auto grid = device.begin(module, "shared", {1}, {1}, 256, out);
  device.finish(*grid);
  EXPECT_EQ(grid->state(), Grid::State::kFinished);
  EXPECT_EQ(device.download<std::uint32_t>(out, 1)[0], 32u);
  EXPECT_TRUE(device.engine.findings().empty());
  EXPECT_THROW(device.begin(module, "shared", {1}, {1}, 1 << 20, out), Error);
}

TEST_F(Grids, PrintInTheOrderOfBlocksAndThreads) {
  EngineConfig config = TestDevice::config(4);
  std::string printed;
  config.print = [&](std::string_view text) { printed += text; };
  Engine engine(config, device.memory);
  GridLaunch launch;
  launch.module = module;
  launch.kernel = module->kernel("print");
  launch.grid = {20};
  launch.block = {2};
  const auto grid = engine.begin(std::move(launch));
  Grid* grids[] = {grid.get()};
  while (grid->state() == Grid::State::kRunning) engine.advance(grids, 1'000'000);
  std::string expected;
  for (int b = 0; b < 20; ++b) {
    for (int t = 0; t < 2; ++t) {
      for (int value : {b, b + 100}) expected += std::to_string(value) + " hi 1.50\n";
    }
  }
  EXPECT_EQ(printed, expected);
  EXPECT_TRUE(engine.findings().empty());
}

TEST_F(Grids, RefuseWhatDoesNotFit) {
  GridLaunch launch;
  launch.module = module;
  launch.kernel = module->kernel("count");
  EXPECT_THROW(device.engine.begin(launch), Error);  // no parameters
  launch.params.resize(8);
  launch.block = {1025};
  EXPECT_THROW(device.engine.begin(launch), Error);
  launch.block = {32};
  launch.grid = {0};
  EXPECT_THROW(device.engine.begin(launch), Error);
}

TEST_F(Grids, ModulesPlaceAndInitialiseTheirVariables) {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  ASSERT_TRUE(module->global("counter", &address, &bytes));
  EXPECT_EQ(bytes, 4u);
  EXPECT_EQ(device.download<std::uint32_t>(address, 1)[0], 17u);
  EXPECT_FALSE(module->global("nothing", &address, &bytes));
  EXPECT_EQ(module->kernel("nothing"), nullptr);
  EXPECT_EQ(module->kernel_names().size(), 6u);
}

TEST_F(Grids, ModulesForOtherTargetsAreRefused) {
  const auto load = [&](const char* target) {
    return device.load(std::string(".version 8.0\n.target ") + target + "\n.address_size 64\n");
  };
  EXPECT_THROW(load("sm_100"), Error);
  EXPECT_THROW(load("sm_100a"), Error);
  EXPECT_THROW(load("sm_80a"), Error);
  EXPECT_THROW(load("gpu"), Error);
  EXPECT_NO_THROW(load("sm_90a"));
  EXPECT_NO_THROW(load("sm_70"));
}

}  // namespace
}  // namespace baton::sim::grid_test
