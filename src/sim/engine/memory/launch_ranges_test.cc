// What a launch may access where its note bounds it.

#include "sim/engine/memory/launch_ranges.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/engine/report/findings.h"
#include "sim/engine/run/test_device.h"

namespace baton::sim::launch_ranges_test {
namespace {

using Range = driver::LaunchNote::Range;
using Extents = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // base and size

Extents extents_of(const DeviceMemory::Impl::Snapshot& snapshot) {
  Extents extents;
  for (const Region& region : snapshot.regions) extents.emplace_back(region.base, region.size);
  return extents;
}

TEST(LaunchRanges, ReplaceTheAllocationsInWhichTheyLie) {
  DeviceMemory memory(0, 1 << 20);
  const std::uint64_t a = memory.allocate(100);
  const std::uint64_t b = memory.allocate(1000);
  const std::uint64_t c = memory.allocate(100);
  const auto all = memory.impl().snapshot();
  const std::vector<Range> ranges = {{b + 500, 100, "late"}, {b + 40, 20, "one"},
                                     {b + 50, 30, "joined"}, {b + 80, 8, "neighbour"},
                                     {b + 90, 0, "empty"},   {b + 990, 100, "too long"}};
  const auto some = restrict_to(*all, ranges);
  EXPECT_EQ(
      extents_of(*some),
      (Extents{{a, 100}, {b + 40, 40}, {b + 80, 8}, {b + 500, 100}, {b + 990, 10}, {c, 100}}));
  EXPECT_EQ(some->find(b), nullptr);
  const Region* const part = some->find(b + 520);
  ASSERT_NE(part, nullptr);
  const Region& whole = *all->find(b);
  EXPECT_EQ(part->host, whole.host + 500);
  EXPECT_EQ(part->written, whole.written + 500);
  EXPECT_EQ(part->within, 500u);
}

TEST(LaunchRanges, AnEmptyOneAtTheEndLeavesNothing) {
  DeviceMemory memory(0, 1 << 20);
  const std::uint64_t a = memory.allocate(100);
  const auto all = memory.impl().snapshot();
  EXPECT_TRUE(restrict_to(*all, std::vector<Range>{{a + 100, 0, "end"}})->regions.empty());
  EXPECT_EQ(restrict_to(*all, std::vector<Range>{{a + 4096, 8, "nowhere"}})->regions.size(), 1u);
}

TEST(LaunchRanges, DescribeAddresses) {
  DeviceMemory memory(0, 1 << 20);
  const std::uint64_t a = memory.allocate(1000);
  const std::uint64_t b = memory.allocate(64);
  const auto text = [](const char* format, std::uint64_t x, std::uint64_t y = 0) {
    return fmt::format(fmt::runtime(format), x, y);
  };
  driver::LaunchNote note;
  EXPECT_EQ(describe(memory, nullptr, a + 8), memory.describe(a + 8));
  EXPECT_EQ(describe(memory, &note, a + 8), memory.describe(a + 8));
  note.ranges = {{a + 100, 100, "buffer x (f32 [25])"}, {a + 300, 100, ""}, {b, 64, "buffer y"}};
  EXPECT_EQ(describe(memory, &note, a + 108),
            text("8 bytes inside buffer x (f32 [25], 100 bytes at {:#x})", a + 100));
  EXPECT_EQ(describe(memory, &note, a + 204),
            text("4 bytes past the end of buffer x (f32 [25], 100 bytes at {:#x}), 204 bytes "
                 "inside an allocation of 1000 bytes at {:#x}",
                 a + 100, a));
  EXPECT_EQ(describe(memory, &note, a + 96),
            text("4 bytes before buffer x (f32 [25], 100 bytes at {:#x}), 96 bytes inside an "
                 "allocation of 1000 bytes at {:#x}",
                 a + 100, a));
  EXPECT_EQ(describe(memory, &note, b + 64),
            text("0 bytes past the end of buffer y (64 bytes at {:#x})", b));
}

// A kernel that accesses `a` + 64 bytes for each thread's own part of 16 bytes.
std::string kernel(const std::string& body) {
  return R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a) {
  .reg .b32 %r<30>;
  .reg .b64 %rd<30>;
  .shared .align 16 .b8 tile[1024];
  ld.param.u64 %rd1, [a];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 16;
  add.u64 %rd3, %rd1, %rd2;
  mul.lo.u32 %r2, %r1, 16;
  mov.u32 %r3, tile;
  add.u32 %r3, %r3, %r2;
)" + body +
         "\n  ret;\n}\n";
}

const char* const kAccesses[] = {
    "ld.global.u32 %r4, [%rd3];",
    "ld.u32 %r4, [%rd3];",
    "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3];",
    "ld.volatile.global.u32 %r4, [%rd3];",
    "st.global.u8 [%rd3], %r1;",
    "st.global.v2.u32 [%rd3], {%r1, %r1};",
    "st.global.u32 [%rd3], %r1; st.global.u32 [%rd3+4], %r1; st.global.u32 [%rd3+8], %r1;",
    "atom.global.add.u32 %r4, [%rd3], 1;",
    "red.global.add.u32 [%rd3], 1;",
    "cp.async.ca.shared.global [%r3], [%rd3], 16; cp.async.wait_all;",
};

class LaunchRangesInGrids : public ::testing::Test {
 protected:
  // One block of that many threads; the launch may access `bytes` from `first` on.
  std::vector<driver::Finding> run(const std::string& body, std::uint32_t threads,
                                   std::uint64_t first, std::uint64_t bytes) {
    const std::uint64_t memory = device.upload(std::vector<std::uint8_t>(4096));
    const auto module = device.load(kernel(body));
    GridLaunch launch;
    launch.module = module;
    launch.kernel = module->kernel("k");
    launch.grid = {1};
    launch.block = {threads};
    launch.params.resize(launch.kernel->param_bytes);
    const std::uint64_t argument = memory + first;
    std::memcpy(launch.params.data() + launch.kernel->params[0].offset, &argument, 8);
    launch.note = std::make_shared<driver::LaunchNote>(
        driver::LaunchNote{17, {{argument, bytes, "buffer x (u8 [64])"}}});
    const auto grid = device.engine.begin(std::move(launch));
    device.finish(*grid);
    return device.engine.take_findings();
  }
  TestDevice device;
};

TEST_F(LaunchRangesInGrids, BoundEveryKindOfAccess) {
  for (const char* access : kAccesses) {
    for (const std::uint64_t first : {64, 48}) {  // 48 suits no quick path
      EXPECT_TRUE(run(access, 64, first, 1024).empty()) << access;
      const auto found = run(access, 64, first, 800);
      ASSERT_EQ(found.size(), 1u) << access;
      EXPECT_EQ(found[0].kind, driver::FindingKind::kOutOfBounds) << access;
      EXPECT_EQ(found[0].thread[0], 50u) << access;
      EXPECT_EQ(found[0].tag, 17u);
      EXPECT_NE(found[0].message.find("0 bytes past the end of buffer x (u8 [64], 800 bytes at"),
                std::string::npos)
          << found[0].message;
    }
  }
}

TEST_F(LaunchRangesInGrids, LeaveAlignmentAsItIs) {
  for (const char* access : {"ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3];",
                             "st.global.v4.u32 [%rd3], {%r1, %r1, %r1, %r1};",
                             "cp.async.ca.shared.global [%r3], [%rd3], 16; cp.async.wait_all;"}) {
    const auto found = run(access, 32, 68, 1024);
    ASSERT_EQ(found.size(), 1u) << access;
    EXPECT_EQ(found[0].kind, driver::FindingKind::kMisaligned) << access;
  }
}

}  // namespace
}  // namespace baton::sim::launch_ranges_test
