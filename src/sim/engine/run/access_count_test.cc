#include "sim/engine/run/access_count.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <vector>

namespace baton::sim::access_count_test {
namespace {

std::vector<std::uint64_t> of_lanes(int count, const std::function<std::uint64_t(int)>& address) {
  std::vector<std::uint64_t> addresses;
  for (int lane = 0; lane < count; ++lane) addresses.push_back(address(lane));
  return addresses;
}

BankPasses passes(const std::vector<std::uint64_t>& addresses, std::uint32_t bytes) {
  std::vector<std::uint8_t> lanes(addresses.size());
  std::iota(lanes.begin(), lanes.end(), std::uint8_t{0});
  return bank_passes(addresses, lanes, bytes);
}

TEST(AccessCount, Sectors) {
  const auto with_stride = [](std::uint64_t first, std::uint64_t stride) {
    return of_lanes(32, [=](int l) { return first + stride * static_cast<std::uint64_t>(l); });
  };
  EXPECT_EQ(sectors_of(with_stride(0x1000, 4), 4), 4u);    // side by side
  EXPECT_EQ(sectors_of(with_stride(0x1004, 4), 4), 5u);    // moved by one element
  EXPECT_EQ(sectors_of(with_stride(0x1000, 0), 4), 1u);    // all at one place
  EXPECT_EQ(sectors_of(with_stride(0x1000, 8), 4), 8u);    // every second element
  EXPECT_EQ(sectors_of(with_stride(0x1000, 32), 4), 32u);  // one sector each
  EXPECT_EQ(sectors_of(with_stride(0x1000, 4096), 1), 32u);
  EXPECT_EQ(sectors_of(with_stride(0x1000, 16), 16), 16u);
  EXPECT_EQ(sectors_of(with_stride(0x1000, 32), 32), 32u);
  EXPECT_EQ(sectors_of(with_stride(0x1000, 1), 1), 1u);
  EXPECT_EQ(sectors_of({}, 4), 0u);
}

TEST(AccessCount, BankPasses) {
  const auto with_stride = [](int lanes, std::uint64_t stride) {
    return of_lanes(lanes, [=](int l) { return stride * static_cast<std::uint64_t>(l); });
  };
  const auto expect = [](const BankPasses& got, std::uint64_t all, std::uint64_t conflicts) {
    EXPECT_EQ(got.all, all);
    EXPECT_EQ(got.conflicts, conflicts);
  };
  expect(passes(with_stride(32, 4), 4), 1, 0);
  expect(passes(with_stride(32, 0), 4), 1, 0);  // one word for all
  expect(passes(with_stride(32, 8), 4), 2, 1);  // every second bank
  expect(passes(with_stride(32, 128), 4), 32, 31);
  expect(passes(with_stride(32, 132), 4), 1, 0);  // the usual padding
  expect(passes(with_stride(7, 128), 4), 7, 6);
  expect(passes(with_stride(32, 1), 1), 1, 0);
  expect(passes(with_stride(32, 2), 2), 1, 0);
  // Half a warp, and a quarter, go together.
  expect(passes(with_stride(32, 8), 8), 2, 0);
  expect(passes(with_stride(16, 8), 8), 1, 0);
  expect(passes(with_stride(32, 16), 16), 4, 0);
  expect(passes(with_stride(32, 128), 16), 32, 28);
  expect(passes({}, 4), 0, 0);
}

TEST(AccessCount, LanesGoTogetherByTheirNumbers) {
  const std::uint64_t addresses[] = {0, 128};
  const std::uint8_t near[] = {0, 1}, apart[] = {0, 16};
  EXPECT_EQ(bank_passes(addresses, near, 8).conflicts, 1u);
  EXPECT_EQ(bank_passes(addresses, apart, 8).conflicts, 0u);
  EXPECT_EQ(bank_passes(addresses, apart, 8).all, 2u);
}

}  // namespace
}  // namespace baton::sim::access_count_test
