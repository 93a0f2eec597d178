#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "sim/engine/memory/memory_impl.h"

namespace baton::sim::reserved_test {
namespace {

constexpr std::uint64_t kPage = 2 << 20;

std::vector<std::pair<std::uint64_t, std::uint64_t>> all_of(const Runs& runs) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> found;
  runs.each([&](const Runs::Run& run) { found.emplace_back(run.begin, run.end); });
  return found;
}

TEST(Runs, JoinAndSplit) {
  using Found = std::vector<std::pair<std::uint64_t, std::uint64_t>>;
  Runs runs;
  runs.add(10, 20);
  runs.add(30, 40);
  EXPECT_EQ(all_of(runs), (Found{{10, 20}, {30, 40}}));
  runs.add(20, 30);
  EXPECT_EQ(all_of(runs), (Found{{10, 40}}));
  runs.remove(15, 20);
  runs.remove(35, 50);
  EXPECT_EQ(all_of(runs), (Found{{10, 15}, {20, 35}}));
  EXPECT_TRUE(runs.holds(20, 15));
  EXPECT_FALSE(runs.holds(20, 16));
  EXPECT_FALSE(runs.holds(16, 0));
  runs.add(0, 100);
  EXPECT_EQ(all_of(runs), (Found{{0, 100}}));
  runs.remove(0, 100);
  EXPECT_TRUE(runs.empty());
}

class ReservedTest : public testing::Test {
 protected:
  void map(std::uint64_t address, const SharedBytes& bytes, bool is_written = false) {
    ASSERT_TRUE(memory.map(address, bytes, is_written));
    memory.open(address, bytes.size(), true);
  }
  std::uint32_t word_at(std::uint64_t address) {
    std::uint32_t word = 0;
    EXPECT_TRUE(memory.read(address, &word, sizeof word));
    return word;
  }

  DeviceMemory memory{0, 64 * kPage};
  SharedBytes first{kPage};
  SharedBytes second{kPage};
};

TEST_F(ReservedTest, PartsThatTouchAreOneRegion) {
  const std::uint64_t base = memory.reserve(4 * kPage, kPage);
  EXPECT_EQ(base % kPage, 0u);
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_FALSE(memory.fill(base, 1, 4, 1));
  ASSERT_TRUE(memory.map(base, first, false));
  EXPECT_FALSE(memory.fill(base, 1, 4, 1)) << "before it is opened";
  memory.open(base, kPage, true);
  map(base + kPage, second);
  EXPECT_TRUE(memory.fill(base, 7, 4, 2 * kPage / 4));
  EXPECT_FALSE(memory.fill(base, 7, 4, 2 * kPage / 4 + 1));
  const auto snapshot = memory.impl().snapshot();
  ASSERT_EQ(snapshot->regions.size(), 1u);
  EXPECT_EQ(snapshot->regions[0].size, 2 * kPage);
  ASSERT_TRUE(memory.unmap(base, kPage));
  const Region* const rest = memory.impl().snapshot()->find(base + kPage);
  ASSERT_NE(rest, nullptr);
  EXPECT_EQ(rest->within, kPage);
  EXPECT_EQ(rest->size, kPage);
  EXPECT_EQ(word_at(base + kPage), 7u);
  // Grids that still run meet no hole in the host's memory.
  EXPECT_EQ(snapshot->find(base)->host[0], std::byte{0});
}

TEST_F(ReservedTest, WhatIsMappedAnewWasNotWritten) {
  const std::uint64_t base = memory.reserve(2 * kPage, kPage);
  map(base, first);
  EXPECT_TRUE(memory.untouched(base, kPage));
  EXPECT_TRUE(memory.fill(base, 7, 4, kPage / 4));
  EXPECT_FALSE(memory.untouched(base, 4));
  ASSERT_TRUE(memory.unmap(base, kPage));
  map(base, second);
  EXPECT_TRUE(memory.untouched(base, kPage));
  ASSERT_TRUE(memory.unmap(base, kPage));
  map(base, first, true);
  EXPECT_FALSE(memory.untouched(base, 4));
  EXPECT_EQ(word_at(base), 7u);
}

TEST_F(ReservedTest, MemoryIsAtTwoAddresses) {
  const std::uint64_t a = memory.reserve(kPage, kPage);
  const std::uint64_t b = memory.reserve(kPage, kPage);
  map(a, first);
  map(b, first);
  EXPECT_TRUE(memory.fill(a + 64, 9, 4, 1));
  EXPECT_EQ(word_at(b + 64), 9u);
}

TEST_F(ReservedTest, AddressesAreDescribed) {
  const std::uint64_t base = memory.reserve(4 * kPage, kPage);
  const auto describe = [&](std::uint64_t offset) { return memory.describe(base + offset); };
  const auto classify = [&](std::uint64_t offset) { return memory.impl().classify(base + offset); };
  EXPECT_NE(describe(0).find("where no memory is mapped"), std::string::npos);
  EXPECT_EQ(classify(0), AddressKind::kNone);
  map(base, first);
  EXPECT_EQ(classify(8), AddressKind::kLive);
  EXPECT_NE(describe(8).find("8 bytes inside mapped memory (2097152 bytes"), std::string::npos);
  EXPECT_NE(describe(kPage + 4).find("4 bytes past the end of mapped memory"), std::string::npos);
  EXPECT_EQ(classify(kPage), AddressKind::kNone);
  ASSERT_TRUE(memory.unmap(base, kPage));
  EXPECT_EQ(classify(8), AddressKind::kFreed);
  EXPECT_NE(describe(8).find("whose memory was unmapped"), std::string::npos);
  memory.end_reserve(base);
  EXPECT_EQ(classify(8), AddressKind::kNone);
}

}  // namespace
}  // namespace baton::sim::reserved_test
