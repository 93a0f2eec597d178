#include "chip/occupancy.h"

#include <gtest/gtest.h>

#include <array>

namespace baton::chip::occupancy_test {
namespace {

const Multiprocessor& kH200 = find(90)->multiprocessor;

// What cuOccupancyMaxActiveBlocksPerMultiprocessor says on an H200 (driver 580.159) of kernels with
// 4, 10 and 168 registers and 0 or 4000 bytes of static shared memory.
TEST(Occupancy, AgreesWithAnH200) {
  struct Case {
    BlockNeeds needs;
    std::uint32_t blocks;
  };
  const Case cases[] = {
      {{1, 4, 0}, 32},       {{1, 4, 1000}, 32},     {{1, 4, 16384}, 13},    {{1, 4, 49152}, 4},
      {{33, 4, 0}, 32},      {{33, 4, 1000}, 32},    {{33, 4, 16384}, 13},   {{33, 4, 49152}, 4},
      {{64, 4, 0}, 32},      {{64, 4, 1000}, 32},    {{64, 4, 16384}, 13},   {{64, 4, 49152}, 4},
      {{96, 4, 0}, 21},      {{96, 4, 1000}, 21},    {{96, 4, 16384}, 13},   {{96, 4, 49152}, 4},
      {{160, 4, 0}, 12},     {{160, 4, 1000}, 12},   {{160, 4, 16384}, 12},  {{160, 4, 49152}, 4},
      {{256, 4, 0}, 8},      {{256, 4, 1000}, 8},    {{256, 4, 16384}, 8},   {{256, 4, 49152}, 4},
      {{384, 4, 0}, 5},      {{384, 4, 1000}, 5},    {{384, 4, 16384}, 5},   {{384, 4, 49152}, 4},
      {{512, 4, 0}, 4},      {{512, 4, 1000}, 4},    {{512, 4, 16384}, 4},   {{512, 4, 49152}, 4},
      {{768, 4, 0}, 2},      {{768, 4, 1000}, 2},    {{768, 4, 16384}, 2},   {{768, 4, 49152}, 2},
      {{1024, 4, 0}, 2},     {{1024, 4, 1000}, 2},   {{1024, 4, 16384}, 2},  {{1024, 4, 49152}, 2},
      {{1, 168, 0}, 12},     {{1, 168, 1000}, 12},   {{1, 168, 16384}, 12},  {{1, 168, 49152}, 4},
      {{33, 168, 0}, 6},     {{33, 168, 1000}, 6},   {{33, 168, 16384}, 6},  {{33, 168, 49152}, 4},
      {{64, 168, 0}, 6},     {{64, 168, 1000}, 6},   {{64, 168, 16384}, 6},  {{64, 168, 49152}, 4},
      {{96, 168, 0}, 4},     {{96, 168, 1000}, 4},   {{96, 168, 16384}, 4},  {{96, 168, 49152}, 4},
      {{160, 168, 0}, 2},    {{160, 168, 1000}, 2},  {{160, 168, 16384}, 2}, {{160, 168, 49152}, 2},
      {{256, 168, 0}, 1},    {{256, 168, 1000}, 1},  {{256, 168, 16384}, 1}, {{256, 168, 49152}, 1},
      {{384, 168, 0}, 1},    {{384, 168, 1000}, 1},  {{384, 168, 16384}, 1}, {{384, 168, 49152}, 1},
      {{1, 10, 4000}, 32},   {{1, 10, 5000}, 32},    {{1, 10, 20384}, 10},   {{33, 10, 4000}, 32},
      {{33, 10, 5000}, 32},  {{33, 10, 20384}, 10},  {{64, 10, 4000}, 32},   {{64, 10, 5000}, 32},
      {{64, 10, 20384}, 10}, {{96, 10, 4000}, 21},   {{96, 10, 5000}, 21},   {{96, 10, 20384}, 10},
      {{160, 10, 4000}, 12}, {{160, 10, 5000}, 12},  {{160, 10, 20384}, 10}, {{256, 10, 4000}, 8},
      {{256, 10, 5000}, 8},  {{256, 10, 20384}, 8},  {{384, 10, 4000}, 5},   {{384, 10, 5000}, 5},
      {{384, 10, 20384}, 5}, {{512, 10, 4000}, 4},   {{512, 10, 5000}, 4},   {{512, 10, 20384}, 4},
      {{768, 10, 4000}, 2},  {{768, 10, 5000}, 2},   {{768, 10, 20384}, 2},  {{1024, 10, 4000}, 2},
      {{1024, 10, 5000}, 2}, {{1024, 10, 20384}, 2}, {{32, 4, 49152}, 4},    {{32, 4, 49153}, 4},
      {{32, 4, 100000}, 2},  {{32, 4, 115200}, 2},   {{32, 4, 115201}, 2},   {{32, 4, 232448}, 1},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(fit_beside(kH200, {}, c.needs).blocks, c.blocks)
        << c.needs.threads << " threads, " << c.needs.registers << " registers, " << c.needs.shared
        << " bytes";
  }
}

TEST(Occupancy, NoBlockFitsThatTakesMoreThanThereIs) {
  EXPECT_EQ(fit_beside(kH200, {}, {1024, 168, 0}).blocks, 0u);
  EXPECT_EQ(fit_beside(kH200, {}, {32, 16, 232449}).blocks, 0u);
  EXPECT_EQ(fit_beside(kH200, {}, {32, 16, 232448}).blocks, 1u);
}

TEST(Occupancy, EachResourceMayBeWhatIsShort) {
  const auto expect = [](const BlockNeeds& there, std::uint32_t count, const BlockNeeds& more,
                         std::uint32_t blocks, std::string_view limit) {
    const Fit fit = fit_beside(kH200, std::array{Resident{there, count}}, more);
    EXPECT_EQ(fit.blocks, blocks) << limit;
    EXPECT_EQ(fit.limit, limit);
  };
  // 64 warps, of which one block of 512 threads takes 16: 48 / 16.
  expect({512, 24, 0}, 1, {512, 24, 0}, 3, "threads");
  // A partition has 16384 registers. Of the 16 warps there it holds 4, each with 64 * 32 = 2048,
  // which leaves 8192; a warp of the others takes 128 * 32 = 4096, so 2 in each of 4 partitions.
  expect({512, 64, 0}, 1, {256, 128, 0}, 1, "registers");
  // 100 KiB and the reserved one take 103424; of 130048 that are left, two times 51200.
  expect({128, 32, 102400}, 1, {128, 32, 50176}, 2, "shared memory");
  // 64000 bytes take 65024, half of what is left; 64001 take 128 more.
  expect({128, 32, 102400}, 1, {128, 32, 64000}, 2, "shared memory");
  expect({128, 32, 102400}, 1, {128, 32, 64001}, 1, "shared memory");
  // 30 blocks of a warp leave 34 warps and 2 places.
  expect({32, 16, 0}, 30, {32, 16, 0}, 2, "places for blocks");
  expect({32, 16, 0}, 32, {32, 16, 0}, 0, "places for blocks");
}

// Where the units differ the same block takes another share.
TEST(Occupancy, TheUnitsAreTheChips) {
  // 5 KiB and a byte take 5,376 bytes in units of 256, and 5,248 in units of 128.
  const BlockNeeds block = {32, 16, 5121};
  Multiprocessor turing = find(75)->multiprocessor;
  EXPECT_EQ(free_resources(turing, std::array{Resident{block, 1}}).shared, 65536u - 5376u);
  turing.shared_unit = 128;
  EXPECT_EQ(free_resources(turing, std::array{Resident{block, 1}}).shared, 65536u - 5248u);
  // 24 blocks and 48 warps of Ada, 16 blocks and 48 warps of GA10x.
  EXPECT_EQ(fit_beside(find(89)->multiprocessor, {}, {32, 16, 0}).blocks, 24u);
  EXPECT_EQ(fit_beside(find(86)->multiprocessor, {}, {32, 16, 0}).blocks, 16u);
  EXPECT_EQ(fit_beside(find(89)->multiprocessor, {}, {128, 16, 0}).limit, "threads");
  // 100 registers take 3,328 of a warp: 4 warps in each of 4 partitions of 16,384, or 9 in each of
  // 2 of 32,768.
  EXPECT_EQ(warps_by_registers(find(90)->multiprocessor, 100), 16u);
  EXPECT_EQ(warps_by_registers(find(60)->multiprocessor, 100), 18u);
}

}  // namespace
}  // namespace baton::chip::occupancy_test
