// Who touched memory last, where accesses become finer than the parts that were kept.

#include "sim/engine/judge/shadow.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace baton::sim {
namespace {

std::uint64_t reader(std::uint64_t number, std::uint32_t thread) {
  return Toucher(number, 0, thread, 1, false, false).bits();
}

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

TEST(Shadow, FinerPartsKeepWhatWasKnownOfTheCoarserOnes) {
  // The parts that are refined, and those they become: by an access's size.
  for (const std::uint64_t bytes : {2u, 1u}) {
    SCOPED_TRACE(bytes);
    Shadow shadow(64);
    const auto never = [](Toucher) { return false; };
    const Shadow::Layout* words = shadow.layout(12, 4);
    ASSERT_EQ(words->shift, 2);
    words->cells[3] = {reader(1, 7), reader(2, 8)};
    shadow.keep(shadow.readers, words->cells + 3, reader(3, 9), never);
    shadow.keep(shadow.readers, words->cells + 3, reader(4, 10), never);

    const Shadow::Layout* parts = shadow.layout(bytes, bytes);
    ASSERT_EQ(parts->shift, bytes == 2 ? 1 : 0);
    EXPECT_EQ(shadow.layout(0, 4), parts) << "what is finer serves coarser accesses too";
    const auto both = sorted({reader(3, 9), reader(4, 10)});
    for (std::uint64_t k = 0; k < 64 / bytes; ++k) {
      SCOPED_TRACE(k);
      const bool inside = k * bytes >= 12 && k * bytes < 16;
      EXPECT_EQ(parts->cells[k].write, inside ? reader(1, 7) : 0);
      EXPECT_EQ(parts->cells[k].read, inside ? reader(2, 8) : 0);
      EXPECT_EQ(sorted(shadow.kept_of(shadow.readers, parts->cells + k)),
                inside ? both : std::vector<std::uint64_t>{});
    }
  }
}

TEST(Shadow, PartsAreRefinedTwice) {
  Shadow shadow(64);
  const auto never = [](Toucher) { return false; };
  shadow.keep(shadow.readers, shadow.layout(60, 4)->cells + 15, reader(3, 9), never);
  shadow.layout(2, 2);
  const Shadow::Layout* bytes = shadow.layout(1, 1);
  for (std::uint64_t k = 0; k < 64; ++k) {
    EXPECT_EQ(shadow.kept_of(shadow.readers, bytes->cells + k).size(), k < 60 ? 0u : 1u) << k;
  }
}

TEST(Shadow, ForgetsEverything) {
  Shadow shadow(64);
  shadow.layout(0, 4)->cells[2] = {reader(1, 7), reader(2, 8)};
  shadow.keep(shadow.readers, shadow.layout(0, 4)->cells + 2, reader(3, 9),
              [](Toucher) { return false; });
  EXPECT_TRUE(shadow.readers.has_any());
  shadow.clear();
  EXPECT_FALSE(shadow.readers.has_any());
  const Shadow::Layout* layout = shadow.layout(0, 4);
  EXPECT_EQ(layout->cells[2].write, 0u);
  EXPECT_EQ(layout->cells[2].read, 0u);
  EXPECT_TRUE(shadow.kept_of(shadow.readers, layout->cells + 2).empty());
}

}  // namespace
}  // namespace baton::sim
