#include <cstdint>

#include "conformance/conformance.h"

namespace baton::conformance::ordering_test {
namespace {

class Ordering : public Conformance {
 protected:
  void expect_turns(std::string_view kernel) {
    constexpr unsigned kBlocks = 40;
    const auto flag = Buffer<unsigned>::of(device(), std::vector<unsigned>(1));
    std::vector<unsigned> want(kBlocks + 1, 1);
    const auto values = Buffer<unsigned>::of(device(), want);
    load("ordering.cu").kernel(kernel).launch({.grid = kBlocks, .block = 64}, flag, values);
    for (unsigned turn = 0; turn < kBlocks; ++turn) want[turn + 1] = want[turn] * 3 + turn;
    EXPECT_EQ(values.download(), want);
  }
};

TEST_F(Ordering, AcquireSeesWhatWasReleased) {
  expect_turns("turns_of_device");
  expect_turns("turns_of_system");
}

TEST_F(Ordering, FencesOrderRelaxedOperations) {
  constexpr unsigned kWarps = 6, kRounds = 9;
  const Buffer<unsigned> out(device(), 1);
  load("ordering.cu").kernel("turns_of_warps").launch({.block = 32 * kWarps}, out, kRounds);
  unsigned want = 0;
  for (unsigned turn = 0; turn < kWarps * kRounds; ++turn) want = want * 5 + turn % kWarps;
  EXPECT_EQ(out.download()[0], want);
}

TEST_F(Ordering, VectorsAddAtomically) {
  if (device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  constexpr unsigned kThreads = 12 * 128;
  const auto two = Buffer<float>::of(device(), std::vector<float>(2));
  const auto four = Buffer<float>::of(device(), std::vector<float>(4));
  const auto halves = Buffer<std::uint16_t>::of(device(), std::vector<std::uint16_t>(2));
  const auto bfloats = Buffer<std::uint16_t>::of(device(), std::vector<std::uint16_t>(2));
  const auto greatest = Buffer<unsigned>::of(device(), std::vector<unsigned>(1));
  load("ordering.cu")
      .kernel("add_vectors")
      .launch({.grid = 12, .block = 128}, two, four, halves, bfloats, greatest);
  constexpr float kSum = kThreads / 4 * 6;
  EXPECT_EQ(two.download(), (std::vector<float>{kSum, -kSum}));
  EXPECT_EQ(four.download(),
            (std::vector<float>{kThreads, kSum, 2 * kSum, -static_cast<float>(kThreads)}));
  EXPECT_EQ(halves.download(), (std::vector<std::uint16_t>{0x5a00, 0xd600}));   // 192, -96
  EXPECT_EQ(bfloats.download(), (std::vector<std::uint16_t>{0x4240, 0x4240}));  // 48
  const unsigned before_last = greatest.download()[0];
  EXPECT_GE(before_last, static_cast<unsigned>(kSum) - 3);
  EXPECT_LE(before_last, static_cast<unsigned>(kSum));
}

TEST_F(Ordering, SwapsOfHundredTwentyEightBits) {
  if (device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  constexpr unsigned kThreads = 6 * 64;
  using Words = std::vector<std::uint64_t>;
  const auto word = Buffer<std::uint64_t>::of(device(), Words{0, ~std::uint64_t{0} - 5});
  const auto taken = Buffer<std::uint64_t>::of(device(), Words(2));
  const auto left = Buffer<unsigned>::of(device(), std::vector<unsigned>(1));
  load("ordering.cu")
      .kernel("count_pairs")
      .launch({.grid = 6, .block = 64}, word, taken, left, kThreads);
  EXPECT_EQ(taken.download(), (Words{kThreads, 3 * kThreads - 6}));
  EXPECT_EQ(word.download(), (Words{7, 8}));
}

}  // namespace
}  // namespace baton::conformance::ordering_test
