#include "pdl/origin/origin_pool.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace baton::overlap::origin_pool_test {
namespace {

constexpr std::uint32_t kMany = 16;  // origins that a set tells apart

AddressSource param(std::uint32_t id) {
  return {.kind = SourceKind::kParam, .id = id, .ways = AddressSource::kWhole};
}

// `first`, and as many other addresses as a set has room for.
OriginSet full_set(OriginPool& pool, OriginId first) {
  OriginSet set;
  pool.join(set, first);
  for (std::uint32_t id = 1; id < kMany; ++id) pool.join(set, pool.of(param(id)));
  return set;
}

// Two words of a struct are an address. A word and an address are none.
TEST(OriginPool, OnlyWordsAreHalvesOfWhatAStructHolds) {
  OriginPool pool;
  const auto source = [](SourceKind kind, std::uint32_t offset) {
    return AddressSource{.kind = kind, .id = 3, .offset = offset, .ways = AddressSource::kWhole};
  };
  const auto ways_of = [&](SourceKind low, SourceKind high) {
    const Origin& joined =
        pool[pool.join_halves(pool.of(source(low, 0)), pool.of(source(high, 4)))];
    return joined.sources.at(0).ways;
  };
  EXPECT_EQ(ways_of(SourceKind::kParamWord, SourceKind::kParamWord), AddressSource::kWhole);
  EXPECT_EQ(ways_of(SourceKind::kParamWord, SourceKind::kParam), AddressSource::kMixed);
  EXPECT_EQ(ways_of(SourceKind::kParam, SourceKind::kParamWord), AddressSource::kMixed);
}

// The upper half of an address tells more of it than its alignment.
TEST(OriginPool, LowBitsOfALowerHalfAreANumber) {
  OriginPool pool;
  for (std::uint32_t offset = 0; offset < 128; offset += 4) {
    const OriginId word = pool.of(
        {.kind = SourceKind::kParamWord, .id = 1, .offset = offset, .ways = AddressSource::kWhole});
    EXPECT_EQ(pool.low_bits(word) == OriginPool::kNumber, offset % 8 == 0) << offset;
  }
}

// An address can be taken away from its sums. Its half is none, and a half of nothing is left.
TEST(OriginPool, AnAddressIsTakenAwayFromItsSumsAlone) {
  OriginPool pool;
  const OriginId address = pool.of(param(0));
  const auto left_of = [&](OriginId value) {
    const std::vector<AddressSource>& left = pool[pool.subtract(value, address)].sources;
    return left.empty() ? AddressSource::Ways{} : left.at(0).ways;
  };
  EXPECT_EQ(left_of(address), 0);
  EXPECT_EQ(left_of(pool.mix(address, OriginPool::kNumber)), AddressSource::kMixed);
  EXPECT_EQ(left_of(pool.low(address)), AddressSource::kMixed);
  EXPECT_EQ(left_of(pool.high(address)), AddressSource::kMixed);
}

TEST(OriginPool, ASetOfTooManyBecomesOneOfAllSources) {
  OriginPool pool;
  OriginSet set = full_set(pool, pool.of(param(0)));
  ASSERT_EQ(set.size(), kMany);
  EXPECT_FALSE(pool.join(set, pool.of(param(5)))) << "it is there";
  EXPECT_EQ(set.size(), kMany);
  EXPECT_TRUE(pool.join(set, pool.of(param(kMany))));
  ASSERT_EQ(set.size(), 1u);
  const Origin& all = pool[set[0]];
  EXPECT_EQ(all.sources.size(), kMany + 1);
  EXPECT_TRUE(std::ranges::all_of(all.sources, [](const AddressSource& source) {
    return source.ways == AddressSource::kMixed;
  }));
}

// An origin whose sources another one has mixed says nothing new. Mixed it may be any of them; a
// half of it is not the whole.
TEST(OriginPool, AFullSetTakesInWhatItHasMixed) {
  for (const bool is_mixed : {true, false}) {
    OriginPool pool;
    const OriginId whole = pool.of(param(0));
    OriginSet set =
        full_set(pool, is_mixed ? pool.mix(whole, OriginPool::kNumber) : pool.high(whole));
    ASSERT_EQ(set.size(), kMany);
    EXPECT_EQ(pool.join(set, whole), !is_mixed);
    EXPECT_EQ(set.size(), is_mixed ? kMany : 1u);
  }
}

// Of more addresses than an origin has room for. Their difference has fewer.
TEST(OriginPool, TheOutcomeOfAComparisonOfTooManyIsUnknown) {
  OriginPool pool;
  const auto sum = [&](std::uint32_t first, std::uint32_t end) {
    OriginId all = pool.loaded(false);
    for (std::uint32_t id = first; id < end; ++id) all = pool.add(all, pool.of(param(id)));
    return all;
  };
  EXPECT_NE(pool.subtract(sum(0, 50), sum(20, 70)), OriginPool::kUnknown);
  EXPECT_EQ(pool.compare(sum(0, 50), sum(20, 70)), OriginPool::kUnknown);
  EXPECT_NE(pool.compare(sum(0, 40), sum(20, 60)), OriginPool::kUnknown);
}

TEST(OriginPool, AnythingTakesInAll) {
  OriginPool pool;
  OriginSet set = full_set(pool, pool.of(param(0)));
  EXPECT_TRUE(pool.join(set, OriginPool::kUnknown));
  EXPECT_EQ(set, OriginSet{OriginPool::kUnknown});
  EXPECT_FALSE(pool.join(set, pool.of(param(0))));
  EXPECT_EQ(set, OriginSet{OriginPool::kUnknown});
}

}  // namespace
}  // namespace baton::overlap::origin_pool_test
