#include "launch/co_residency.h"

#include <gtest/gtest.h>

#include <array>

namespace baton::launch {
namespace {

// Of an H200: 228 KiB of shared memory.
constexpr Multiprocessor kH200 = {.blocks = 32,
                                  .threads = 2048,
                                  .warp_size = 32,
                                  .registers = 65536,
                                  .shared = 233472,
                                  .reserved_shared = 1024};
constexpr std::uint32_t kMultiprocessors = 132;

std::uint32_t blocks_beside(const BlockNeeds& there, std::uint32_t count, const BlockNeeds& more) {
  return fit_beside(kH200, std::array{Standing{there, count}}, more).blocks;
}

std::optional<SharedRange> range_beside(const BlockNeeds& there, Held held, const BlockNeeds& more,
                                        std::uint32_t share) {
  return even_range(kH200, std::array{Standing{there, held.least}},
                    std::array{Standing{there, held.most}}, more, share);
}

TEST(CoResidency, CountsAsTheDriverWhereNothingElseIsThere) {
  // What cuOccupancyMaxActiveBlocksPerMultiprocessor says on an H200 (driver 580.159).
  struct Case {
    BlockNeeds needs;
    std::uint32_t blocks;
  };
  const Case cases[] = {{{1, 4, 0}, 32},     {{33, 4, 16384}, 13},  {{96, 4, 0}, 21},
                        {{384, 4, 0}, 5},    {{1, 168, 0}, 12},     {{33, 168, 0}, 6},
                        {{160, 168, 0}, 2},  {{384, 168, 0}, 1},    {{64, 10, 20384}, 10},
                        {{32, 4, 49152}, 4}, {{32, 4, 115201}, 2},  {{32, 4, 232448}, 1},
                        {{768, 10, 0}, 2},   {{256, 168, 1000}, 1}, {{1024, 4, 49152}, 2}};
  for (const Case& c : cases) {
    EXPECT_EQ(blocks_beside({}, 0, c.needs), c.blocks)
        << c.needs.threads << " threads, " << c.needs.registers << " registers, " << c.needs.shared
        << " bytes";
  }
  EXPECT_EQ(blocks_beside({}, 0, {1024, 168, 0}), 0u);
}

TEST(CoResidency, EachResourceMayBeWhatIsShort) {
  const auto expect = [](const BlockNeeds& there, std::uint32_t count, const BlockNeeds& more,
                         std::uint32_t blocks, std::string_view limit) {
    const Fit fit = fit_beside(kH200, std::array{Standing{there, count}}, more);
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

TEST(CoResidency, AGridIsDealtOutEvenly) {
  const auto expect = [](std::uint64_t grid, std::uint32_t alone, std::uint32_t least,
                         std::uint32_t most) {
    const Held held = held_of(grid, alone, kMultiprocessors);
    EXPECT_EQ(held.least, least) << grid;
    EXPECT_EQ(held.most, most) << grid;
  };
  expect(1, 4, 0, 1);
  expect(132, 4, 1, 1);
  expect(133, 4, 1, 2);
  expect(264, 8, 2, 2);
  expect(528, 4, 4, 4);
  expect(10'000, 4, 4, 4);  // the later ones come as there is room
  expect(std::uint64_t{1} << 40, 4, 4, 4);
}

// The grids whose chains were measured on an H200, where a launch that starts early packed its
// blocks two to a multiprocessor (docs/pdl.md).
TEST(CoResidency, SharedMemoryLeavesRoomForTheShareAlone) {
  // 132 blocks of 512 threads, one on each multiprocessor, and three more fit there. It takes 1024
  // of 233472 bytes, which leaves 232448: two blocks of 116224 would fit, of 116352 only one. Of
  // those 1024 are reserved.
  const BlockNeeds wide = {512, 32, 0};
  EXPECT_EQ(range_beside(wide, {1, 1}, wide, 1), (SharedRange{115328, 231424}));
  EXPECT_EQ(blocks_beside(wide, 1, {512, 32, 115328}), 1u);
  EXPECT_EQ(blocks_beside(wide, 1, {512, 32, 115328 - 128}), 2u);

  // 264 of 256 threads, two on each: 231424 bytes are left for no more than two, that is less than
  // a third each. 77056 is the last multiple of 128 of which three fit.
  const BlockNeeds narrow = {256, 32, 0};
  EXPECT_EQ(range_beside(narrow, {2, 2}, narrow, 2),
            (SharedRange{77056 + 128 - 1024, 231424 / 2 - 1024}));
  EXPECT_EQ(blocks_beside(narrow, 2, {256, 32, 76160}), 2u);
  EXPECT_EQ(blocks_beside(narrow, 2, {256, 32, 76160 - 128}), 3u);
}

TEST(CoResidency, MultiprocessorsWithoutABlockOfTheEarlierLaunchCount) {
  // One block before, on one multiprocessor; on the others, where nothing is taken, two of 116736
  // bytes would fit.
  const BlockNeeds norm = {256, 32, 0};
  const BlockNeeds wide = {512, 32, 0};
  EXPECT_EQ(range_beside(norm, {0, 1}, wide, 1), (SharedRange{115840, 231424}));
  EXPECT_EQ(blocks_beside(norm, 0, {512, 32, 115840}), 1u);
  EXPECT_EQ(blocks_beside(norm, 1, {512, 32, 115840}), 1u);
  // Where that one takes 131072 bytes, beside it there are 102400: what keeps two from the empty
  // ones does not fit there.
  EXPECT_EQ(range_beside({256, 32, 130048}, {0, 1}, wide, 1), (SharedRange{115840, 102400 - 1024}));
}

TEST(CoResidency, AllThatStandsThereCounts) {
  // A matvec of 512 threads with a ring of 80 KiB, and a small kernel that came early behind it.
  const Standing matvec = {{512, 40, 81920}, 1};
  const Standing small = {{1024, 24, 128}, 1};
  const BlockNeeds next = {512, 40, 65536};
  // Of 65536 registers 20480 and 24576 are taken: one block more, of 20480, and not two.
  EXPECT_EQ(fit_beside(kH200, std::array{matvec}, next).blocks, 2u);
  const Fit fit = fit_beside(kH200, std::array{matvec, small}, next);
  EXPECT_EQ(fit.blocks, 1u);
  EXPECT_EQ(fit.limit, "registers");
  // 82944 and 1152 bytes are taken where both stand, 82944 where the small one does not: two of
  // 75264 fit there, of 75265 only one, and one of up to 149376 where both stand.
  EXPECT_EQ(even_range(kH200, std::array{matvec}, std::array{matvec, Standing{{128, 24, 128}, 1}},
                       next, 1),
            (SharedRange{75264 + 128 - 1024, 149376 - 1024}));
}

TEST(CoResidency, WhatIsEvenOrHasNoRoomStaysAsItIs) {
  const BlockNeeds wide = {512, 32, 0};
  // Three fit, and its share is three, or more.
  EXPECT_EQ(range_beside(wide, {1, 1}, wide, 3), std::nullopt);
  EXPECT_EQ(range_beside(wide, {1, 1}, wide, 8), std::nullopt);
  // The multiprocessors are full.
  EXPECT_EQ(range_beside(wide, {4, 4}, wide, 1), std::nullopt);
}

}  // namespace
}  // namespace baton::launch
