// What accesses of global memory find of other grids, while other threads note theirs.

#include "sim/engine/judge/hazards.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <future>
#include <thread>

#include "sim/engine/memory/memory_impl.h"
#include "sim/engine/run/test_device.h"

namespace baton::sim::hazards_test {
namespace {

constexpr const char* kKernels = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry write(.param .u64 p) {
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry read_early(.param .u64 p) {
  .reg .b32 %r<3>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  ld.global.u32 %r2, [%rd1];
  st.global.u32 [%rd1+128], %r2;
  griddepcontrol.wait;
  ret;
}
)";

// 32 threads after the edges, each with its word of the buffer.
std::unique_ptr<Grid> begin(TestDevice& device, const std::shared_ptr<LoadedModule>& module,
                            const char* name, std::uint64_t buffer,
                            std::span<const Ordering::Edge> edges, FindingLog* log) {
  GridLaunch launch;
  launch.module = module;
  launch.kernel = module->kernel(name);
  launch.grid = {1, 1, 1};
  launch.block = {32, 1, 1};
  launch.params.resize(sizeof buffer);
  std::memcpy(launch.params.data(), &buffer, sizeof buffer);
  launch.is_programmatic = !edges.empty();
  launch.number = Ordering::instance().add(edges, {name, launch.kernel->decoded});
  launch.log = log;
  return device.engine.begin(std::move(launch));
}

// A thread that waited may replace what an earlier grid noted, in the moment before another thread
// of the grid, which has not waited, looks at the same cells.
TEST(Hazards, AnEarlyReadSeesWhatAThreadThatWaitedReplacesMeanwhile) {
  TestDevice device;
  device.memory.impl().watch();
  const auto module = device.load(kKernels);
  const std::uint64_t buffer = device.upload(std::vector<std::uint32_t>(64));
  FindingLog log;
  device.finish(*begin(device, module, "write", buffer, {}, &log));
  const Ordering::Edge edge[] = {{Ordering::instance().last(), Ordering::Kind::kTriggered}};
  const std::unique_ptr<Grid> reader = begin(device, module, "read_early", buffer, edge, &log);
  const std::uint64_t number = Ordering::instance().last();

  Shadow& shadow = device.memory.impl().holding(buffer, 4)->second.backing->shadow();
  const Shadow::Layout* const layout = shadow.layout(0, 4);
  ASSERT_NE(layout, nullptr);
  std::future<void> done;
  {
    LockedGroup group = layout->lock(0);
    done = std::async(std::launch::async, [&] { device.finish(*reader); });
    // The reader waits for the group. If it is slower than this, the test shows less.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    shadow.awaited(*layout)->lock(0).take(&ShadowCell::write, group);
    group.set_write(Toucher(number, 1, 0, 1, false, true).bits(), 0);
  }
  done.get();
  EXPECT_EQ(reader->state(), Grid::State::kFinished);
  const std::vector<driver::Finding> findings = log.list();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, driver::FindingKind::kReadBeforeWait);
  EXPECT_EQ(findings[0].count, 32u);
}

}  // namespace
}  // namespace baton::sim::hazards_test
