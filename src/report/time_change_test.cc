#include "report/time_change.h"

#include <gtest/gtest.h>

#include <vector>

namespace baton::time_change_test {
namespace {

std::vector<double> times(std::size_t count, double factor) {
  std::vector<double> seconds;
  for (std::size_t k = 0; k < count; ++k) {
    seconds.push_back(factor * (1 + 0.01 * static_cast<double>(k % 7)));
  }
  return seconds;
}

TEST(TimeChange, PairsCancelWhatDisturbsBoth) {
  const auto change = paired_change(times(20, 1), times(20, 1.05));
  ASSERT_TRUE(change);
  EXPECT_NEAR(change->ratio, 1.05, 1e-9);
  EXPECT_NEAR(change->low, 1.05, 1e-9);
  EXPECT_TRUE(change->is_slower());
  EXPECT_FALSE(change->is_faster());
  EXPECT_TRUE(change->paired);
  EXPECT_EQ(change->samples, 20u);
  EXPECT_TRUE(paired_change(times(20, 1.05), times(20, 1))->is_faster());
}

TEST(TimeChange, TheSameTimesAreNoChange) {
  const auto change = paired_change(times(30, 2), times(30, 2));
  ASSERT_TRUE(change);
  EXPECT_FALSE(change->is_slower());
  EXPECT_FALSE(change->is_faster());
}

// The interval of the sign test: with n = 6 from the least to the greatest (97 %), with n = 9 from
// the second to the last but one (96 %).
TEST(TimeChange, TheIntervalIsThatOfTheSignTest) {
  const std::vector<double> before(9, 1.0);
  const std::vector<double> after = {1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9};
  const std::vector<double> six(after.begin(), after.begin() + 6);
  EXPECT_NEAR(paired_change(std::vector<double>(6, 1.0), six)->low, 1.1, 1e-9);
  EXPECT_NEAR(paired_change(std::vector<double>(6, 1.0), six)->high, 1.6, 1e-9);
  EXPECT_NEAR(paired_change(before, after)->low, 1.2, 1e-9);
  EXPECT_NEAR(paired_change(before, after)->high, 1.8, 1e-9);
  EXPECT_NEAR(paired_change(before, after)->ratio, 1.5, 1e-9);
}

TEST(TimeChange, FewTimesAllowNoInterval) {
  EXPECT_FALSE(paired_change(times(5, 1), times(5, 2)));
  EXPECT_TRUE(paired_change(times(6, 1), times(6, 2)));
  EXPECT_FALSE(unpaired_change(times(5, 1), times(50, 2)));
  EXPECT_FALSE(unpaired_change(times(50, 1), times(5, 2)));
  EXPECT_FALSE(paired_change({}, {}));
}

TEST(TimeChange, TimesTakenApart) {
  const auto change = unpaired_change(times(40, 1), times(60, 1.2));
  ASSERT_TRUE(change);
  EXPECT_NEAR(change->ratio, 1.2, 0.01);
  EXPECT_LT(change->low, change->ratio);
  EXPECT_GT(change->high, change->ratio);
  EXPECT_TRUE(change->is_slower());
  EXPECT_FALSE(change->paired);
  EXPECT_EQ(change->samples, 40u);
  EXPECT_FALSE(unpaired_change(times(40, 1), times(40, 1))->is_slower());
}

TEST(TimeChange, ManyPairs) {
  const auto change = paired_change(times(2000, 1), times(2000, 0.9));
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->is_faster());
}

}  // namespace
}  // namespace baton::time_change_test
