// Who touched memory last, where accesses become finer than the parts that were kept.

#include "sim/engine/judge/shadow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace baton::sim::shadow_test {
namespace {

std::uint64_t reader(std::uint64_t number, std::uint32_t thread) {
  return Toucher(number, 0, thread, 1, false, false).bits();
}

ShadowCell cell_of(const Shadow::Layout& layout, std::size_t k) {
  return layout.lock(k / ShadowGroup::kCells).at(k % ShadowGroup::kCells);
}

std::vector<std::uint64_t> sorted(std::vector<std::uint64_t> values) {
  std::sort(values.begin(), values.end());
  return values;
}

TEST(FrozenPart, AnAccessMayTouchSeveralRows) {
  FrozenPart part;
  part.offset = 64;
  part.bytes = 6 * 16;
  part.row_bytes = 16;
  part.rows = 3;  // twice
  using Rows = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(part.rows_of(64, 4), (Rows{0, 0}));
  EXPECT_EQ(part.rows_of(76, 8), (Rows{0, 1}));
  EXPECT_EQ(part.rows_of(96, 16), (Rows{2, 2}));
  EXPECT_EQ(part.rows_of(108, 8), (Rows{0, 2})) << "from one group into the next";
  EXPECT_EQ(part.rows_of(112, 16), (Rows{0, 0}));
  EXPECT_EQ(part.rows_of(60, 8), (Rows{0, 0})) << "begins before it";
  EXPECT_EQ(part.rows_of(156, 16), (Rows{2, 2})) << "ends behind it";
  EXPECT_FALSE(part.holds(60, 4));
  EXPECT_TRUE(part.holds(61, 4));
  EXPECT_TRUE(part.holds(159, 1));
  EXPECT_FALSE(part.holds(160, 1));
}

TEST(FrozenPart, CountsAreOfEveryWidth) {
  const auto count = [](std::uint64_t bits, std::uint32_t bytes, bool is_signed) {
    FrozenPart part;
    const auto value = std::make_shared<std::uint64_t>(bits);
    part.counter =
        std::shared_ptr<const std::byte>(value, reinterpret_cast<const std::byte*>(value.get()));
    part.counter_bytes = bytes;
    part.is_signed = is_signed;
    return part.count();
  };
  EXPECT_EQ(count(0x1234567890abcdef, 1, false), 0xefu);
  EXPECT_EQ(count(0x1234567890abcdef, 1, true), 0u) << "below zero";
  EXPECT_EQ(count(0x123456787fffffff, 4, true), 0x7fffffffu);
  EXPECT_EQ(count(UINT64_MAX, 8, true), 0u);
  EXPECT_EQ(count(UINT64_MAX, 8, false), UINT64_MAX);
}

TEST(Shadow, FinerPartsKeepWhatWasKnownOfTheCoarserOnes) {
  // The parts that are refined, and those they become: by an access's size.
  for (const std::uint64_t bytes : {2u, 1u}) {
    SCOPED_TRACE(bytes);
    Shadow shadow(64);
    const auto never = [](Toucher) { return false; };
    const Shadow::Layout* words = shadow.layout(12, 4);
    ASSERT_EQ(words->shift, 2);
    words->lock(0).split()[3] = {reader(1, 7), reader(2, 8)};
    shadow.keep(shadow.readers, words->cells + 3, reader(3, 9), never);
    shadow.keep(shadow.readers, words->cells + 3, reader(4, 10), never);

    const Shadow::Layout* parts = shadow.layout(bytes, bytes);
    ASSERT_EQ(parts->shift, bytes == 2 ? 1 : 0);
    EXPECT_EQ(shadow.layout(0, 4), parts) << "what is finer serves coarser accesses too";
    const auto both = sorted({reader(3, 9), reader(4, 10)});
    for (std::uint64_t k = 0; k < 64 / bytes; ++k) {
      SCOPED_TRACE(k);
      const bool inside = k * bytes >= 12 && k * bytes < 16;
      EXPECT_EQ(cell_of(*parts, k).write, inside ? reader(1, 7) : 0);
      EXPECT_EQ(cell_of(*parts, k).read, inside ? reader(2, 8) : 0);
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

TEST(Shadow, RefinesGroupsThatAreNotSplit) {
  for (const std::uint64_t bytes : {2u, 1u}) {
    for (const std::uint8_t step : {0, 1, 2, 3, 4}) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes, step " << +step);
      Shadow shadow(68);  // the last group is not whole
      const Shadow::Layout* words = shadow.layout(0, 4);
      words->lock(0).set_write(reader(1, 7), step);
      words->lock(0).set_read(reader(2, 8), ShadowGroup::kOneThread);
      words->lock(1).split()[0] = {reader(3, 1), reader(4, 2)};
      const Shadow::Layout* parts = shadow.layout(bytes, bytes);
      for (std::uint64_t k = 0; k < 64 / bytes; ++k) {
        const auto behind = static_cast<std::uint32_t>(k * bytes / 4 >> step);
        EXPECT_EQ(cell_of(*parts, k).write, reader(1, 7 + behind)) << k;
        EXPECT_EQ(cell_of(*parts, k).read, reader(2, 8)) << k;
      }
      for (std::uint64_t k = 64 / bytes; k < 68 / bytes; ++k) {
        EXPECT_EQ(cell_of(*parts, k).write, reader(3, 1)) << k;
        EXPECT_EQ(cell_of(*parts, k).read, reader(4, 2)) << k;
      }
    }
  }
}

TEST(ShadowGroup, IsSplitAndJoined) {
  ShadowGroup group;
  ShadowCell cells[ShadowGroup::kCells];
  for (const std::uint8_t write_step : {0, 1, 2, 3, 4}) {
    for (const std::uint8_t read_step : {0, 1, 2, 3, 4}) {
      SCOPED_TRACE(testing::Message() << +write_step << ' ' << +read_step);
      LockedGroup locked(group, cells);
      locked.set_write(reader(1, 32), write_step);
      locked.set_read(reader(2, 64), read_step);
      locked.split();
      for (std::uint32_t k = 0; k < ShadowGroup::kCells; ++k) {
        EXPECT_EQ(cells[k].write, reader(1, 32 + (k >> write_step)));
        EXPECT_EQ(cells[k].read, reader(2, 64 + (k >> read_step)));
        EXPECT_EQ(locked.at(k).write, cells[k].write);
      }
      locked.try_join();
      ASSERT_FALSE(locked.is_split());
      for (std::uint32_t k = 0; k < ShadowGroup::kCells; ++k) {
        EXPECT_EQ(locked.at(k).write, cells[k].write);
        EXPECT_EQ(locked.at(k).read, cells[k].read);
      }
    }
  }
}

TEST(ShadowGroup, StaysSplitWhereCellsDiffer) {
  for (std::size_t k = 0; k < ShadowGroup::kCells; ++k) {
    for (const auto half : {&ShadowCell::write, &ShadowCell::read}) {
      ShadowGroup group;
      ShadowCell cells[ShadowGroup::kCells];
      LockedGroup locked(group, cells);
      locked.split()[k].*half = reader(5, 1);
      locked.try_join();
      EXPECT_TRUE(locked.is_split()) << k;
      EXPECT_EQ(locked.at(k).*half, reader(5, 1));
    }
  }
}

TEST(Shadow, ForgetsEverything) {
  Shadow shadow(64);
  shadow.layout(0, 4)->lock(0).split()[2] = {reader(1, 7), reader(2, 8)};
  shadow.keep(shadow.readers, shadow.layout(0, 4)->cells + 2, reader(3, 9),
              [](Toucher) { return false; });
  EXPECT_TRUE(shadow.readers.has_any());
  shadow.clear();
  EXPECT_FALSE(shadow.readers.has_any());
  const Shadow::Layout* layout = shadow.layout(0, 4);
  EXPECT_EQ(cell_of(*layout, 2).write, 0u);
  EXPECT_EQ(cell_of(*layout, 2).read, 0u);
  EXPECT_TRUE(shadow.kept_of(shadow.readers, layout->cells + 2).empty());
}

// For ThreadSanitizer: some threads keep touchers while they hold a group, another one refines.
TEST(Shadow, ThreadsKeepAndRefineAtOnce) {
  constexpr std::uint64_t kBytes = 4096;
  const auto never = [](Toucher) { return false; };
  for (int round = 0; round < 8; ++round) {
    Shadow shadow(kBytes);
    std::vector<std::thread> threads;
    for (std::uint32_t number = 1; number <= 3; ++number) {
      threads.emplace_back([&, number] {
        for (std::uint64_t offset = 0; offset < kBytes; offset += 4) {
          const Shadow::Layout* const layout = shadow.layout(offset, 4);
          const std::uint64_t part = offset >> layout->shift;
          LockedGroup group = layout->lock(part / ShadowGroup::kCells);
          group.split()[part % ShadowGroup::kCells].read = reader(number, 1);
          shadow.keep(shadow.readers, layout->cells + part, reader(number, 2), never);
          // None, where the parts became finer since.
          EXPECT_LE(shadow.kept_of(shadow.readers, layout->cells + part).size(), 3u);
          shadow.awaited(*layout)->lock(part / ShadowGroup::kCells).set_read(0, 0);
          shadow.accesses.add(offset, 4, {number, 1, 0, 1, true});
          EXPECT_FALSE(shadow.accesses.are_over(offset, 4, number, true, {}));
        }
      });
    }
    threads.emplace_back([&] {
      shadow.layout(2, 2);
      shadow.layout(1, 1);
    });
    for (std::thread& thread : threads) thread.join();
    const Shadow::Layout* const bytes = shadow.layout(0, 4);
    EXPECT_EQ(bytes->shift, 0);
    shadow.keep(shadow.readers, bytes->cells, reader(9, 1), never);
    const auto kept = shadow.kept_of(shadow.readers, bytes->cells);
    EXPECT_NE(std::find(kept.begin(), kept.end(), reader(9, 1)), kept.end());
  }
}

}  // namespace
}  // namespace baton::sim::shadow_test
