#include "baton/span.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace baton::span_test {
namespace {

int sum(Span<const int> values) {
  return std::accumulate(values.begin(), values.end(), 0);
}

TEST(SpanTest, ViewsContiguousContainers) {
  const std::vector<int> vector = {1, 2, 3};
  std::array<int, 2> array = {4, 5};
  int plain[] = {6};
  EXPECT_EQ(sum(vector), 6);
  EXPECT_EQ(sum(array), 9);
  EXPECT_EQ(sum(plain), 6);
  EXPECT_EQ(sum({}), 0);
  EXPECT_EQ(sum({vector.data(), 2}), 3);
  EXPECT_EQ(sum(std::vector<int>{7, 8}), 15);
  EXPECT_EQ(sum(Span<int>(array)), 9);
  const Span<int> writable = array;
  writable[0] = 1;
  EXPECT_EQ(array[0], 1);
}

TEST(SpanTest, IsStdSpanInCpp20) {
  std::vector<int> vector = {1, 2, 3};
  const std::span<int> standard = vector;
  EXPECT_EQ(sum(standard), 6);
  const Span<int> own = standard;
  const std::span<const int> back = own;
  EXPECT_EQ(back.data(), vector.data());
  EXPECT_EQ(back.size(), 3u);
}

TEST(SpanTest, TakesParts) {
  const std::vector<int> vector = {1, 2, 3, 4};
  const Span<const int> all = vector;
  EXPECT_EQ(sum(all.first(2)), 3);
  EXPECT_EQ(sum(all.subspan(1)), 9);
  EXPECT_EQ(sum(all.subspan(1, 2)), 5);
  EXPECT_EQ(all.front() + all.back(), 5);
  EXPECT_EQ(all.size_bytes(), 16u);
  EXPECT_TRUE(Span<int>().empty());
}

TEST(SpanTest, TakesNothingElse) {
  static_assert(!std::is_convertible_v<const std::vector<int>&, Span<int>>);
  static_assert(!std::is_convertible_v<std::vector<short>, Span<const int>>);
  static_assert(!std::is_convertible_v<Span<const int>, Span<int>>);
  static_assert(!std::is_convertible_v<int, Span<const int>>);
  static_assert(std::is_convertible_v<std::string, Span<const char>>);
  static_assert(std::is_trivially_copyable_v<Span<int>>);
}

}  // namespace
}  // namespace baton::span_test
