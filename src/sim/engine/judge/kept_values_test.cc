#include "sim/engine/judge/kept_values.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace baton::sim::kept_values_test {
namespace {

void add(KeptValues& values, std::size_t index, std::size_t bytes, int value) {
  const auto room = values.add(index, bytes);
  ASSERT_EQ(room.size(), bytes);
  std::fill(room.begin(), room.end(), std::byte(value));
}

void expect(const KeptValues& values, std::size_t index, std::size_t bytes, int value) {
  const auto kept = values.of(index);
  ASSERT_EQ(kept.size(), bytes);
  for (const std::byte each : kept) EXPECT_EQ(each, std::byte(value));
}

TEST(KeptValues, KnowsWhatWasAdded) {
  KeptValues values;
  EXPECT_TRUE(values.of(0).empty());
  add(values, 1, 4, 10);
  add(values, 3, 8, 30);
  expect(values, 1, 4, 10);
  expect(values, 3, 8, 30);
  for (const std::size_t index : {0, 2, 4}) EXPECT_TRUE(values.of(index).empty());
  values.take_back();
  EXPECT_TRUE(values.of(3).empty());
  expect(values, 1, 4, 10);
  add(values, 4, 2, 40);
  expect(values, 4, 2, 40);
  values.clear();
  EXPECT_TRUE(values.of(1).empty());
}

TEST(KeptValues, CopiesThoseBetweenTwoIndices) {
  KeptValues from, values;
  add(from, 1, 4, 10);
  add(from, 3, 8, 30);
  add(from, 5, 2, 50);
  values.copy(from, 0, 5);
  expect(values, 1, 4, 10);
  expect(values, 3, 8, 30);
  EXPECT_TRUE(values.of(5).empty());
  KeptValues last;
  last.copy(from, 2, 5);
  EXPECT_TRUE(last.of(1).empty());
  expect(last, 3, 8, 30);
}

TEST(KeptValues, KeepsNoMoreThan64KiB) {
  KeptValues values;
  add(values, 0, 65535, 1);
  EXPECT_TRUE(values.add(1, 2).empty());
  EXPECT_TRUE(values.of(1).empty());
  add(values, 2, 1, 2);
  expect(values, 0, 65535, 1);
  expect(values, 2, 1, 2);
}

}  // namespace
}  // namespace baton::sim::kept_values_test
