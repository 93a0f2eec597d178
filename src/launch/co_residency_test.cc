#include "launch/co_residency.h"

#include <gtest/gtest.h>

#include <array>

namespace baton::launch::co_residency_test {
namespace {

// Of an H200: 228 KiB of shared memory.
const chip::Multiprocessor& kH200 = chip::find(90)->multiprocessor;
constexpr std::uint32_t kMultiprocessors = 132;

std::uint32_t blocks_beside(const chip::BlockNeeds& there, std::uint32_t count,
                            const chip::BlockNeeds& more) {
  return fit_beside(kH200, std::array{Standing{there, count}}, more).blocks;
}

std::optional<SharedRange> range_beside(const chip::BlockNeeds& there, Held held,
                                        const chip::BlockNeeds& more, std::uint32_t share) {
  return even_range(kH200, std::array{Standing{there, held.least}},
                    std::array{Standing{there, held.most}}, more, share);
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
// blocks two to a multiprocessor (docs/pdl-verdicts.md).
TEST(CoResidency, SharedMemoryLeavesRoomForTheShareAlone) {
  // 132 blocks of 512 threads, one on each multiprocessor, and three more fit there. It takes 1024
  // of 233472 bytes, which leaves 232448: two blocks of 116224 would fit, of 116352 only one. Of
  // those 1024 are reserved.
  const chip::BlockNeeds wide = {512, 32, 0};
  EXPECT_EQ(range_beside(wide, {1, 1}, wide, 1), (SharedRange{115328, 231424}));
  EXPECT_EQ(blocks_beside(wide, 1, {512, 32, 115328}), 1u);
  EXPECT_EQ(blocks_beside(wide, 1, {512, 32, 115328 - 128}), 2u);

  // 264 of 256 threads, two on each: 231424 bytes are left for no more than two, that is less than
  // a third each. 77056 is the last multiple of 128 of which three fit.
  const chip::BlockNeeds narrow = {256, 32, 0};
  EXPECT_EQ(range_beside(narrow, {2, 2}, narrow, 2),
            (SharedRange{77056 + 128 - 1024, 231424 / 2 - 1024}));
  EXPECT_EQ(blocks_beside(narrow, 2, {256, 32, 76160}), 2u);
  EXPECT_EQ(blocks_beside(narrow, 2, {256, 32, 76160 - 128}), 3u);
}

TEST(CoResidency, MultiprocessorsWithoutABlockOfTheEarlierLaunchCount) {
  // One block before, on one multiprocessor; on the others, where nothing is taken, two of 116736
  // bytes would fit.
  const chip::BlockNeeds norm = {256, 32, 0};
  const chip::BlockNeeds wide = {512, 32, 0};
  EXPECT_EQ(range_beside(norm, {0, 1}, wide, 1), (SharedRange{115840, 231424}));
  EXPECT_EQ(blocks_beside(norm, 0, {512, 32, 115840}), 1u);
  EXPECT_EQ(blocks_beside(norm, 1, {512, 32, 115840}), 1u);
  // Where that one takes 131072 bytes, beside it there are 102400: what keeps two from the empty
  // ones does not fit there.
  EXPECT_EQ(range_beside({256, 32, 130048}, {0, 1}, wide, 1), (SharedRange{115840, 102400 - 1024}));
}

TEST(CoResidency, AllThatStandsThereCounts) {
  // A matvec of 512 threads with a ring of 80 KiB, and a small kernel that came early after it.
  const Standing matvec = {{512, 40, 81920}, 1};
  const Standing small = {{1024, 24, 128}, 1};
  const chip::BlockNeeds next = {512, 40, 65536};
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
  const chip::BlockNeeds wide = {512, 32, 0};
  // Three fit, and its share is three, or more.
  EXPECT_EQ(range_beside(wide, {1, 1}, wide, 3), std::nullopt);
  EXPECT_EQ(range_beside(wide, {1, 1}, wide, 8), std::nullopt);
  // The multiprocessors are full.
  EXPECT_EQ(range_beside(wide, {4, 4}, wide, 1), std::nullopt);
}

}  // namespace
}  // namespace baton::launch::co_residency_test
