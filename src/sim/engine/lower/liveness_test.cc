#include "sim/engine/lower/liveness.h"

#include <gtest/gtest.h>

#include "sim/engine/isa/insn.h"

namespace baton::sim::liveness_test {
namespace {

LiveStep step(std::vector<std::uint32_t> writes, std::vector<std::uint32_t> reads,
              std::vector<std::uint32_t> next, bool partial = false) {
  return {std::move(reads), std::move(writes), std::move(next), partial};
}

TEST(Liveness, RegistersOfDisjointLivesShareAPlace) {
  std::vector<LiveSlot> slots(4, LiveSlot{4, 0});
  const LiveResult result = place_live(
      slots, {step({0}, {}, {1}), step({1}, {0}, {2}), step({2}, {1}, {3}), step({3}, {2}, {})},
      512);
  EXPECT_EQ(slots[0].offset, 512u);
  EXPECT_NE(slots[0].offset, slots[1].offset);  // read by what writes the other
  EXPECT_EQ(slots[2].offset, slots[0].offset);
  EXPECT_EQ(slots[3].offset, slots[1].offset);
  EXPECT_EQ(result.live_words, 2u);
  EXPECT_EQ(result.end, 512u + 2 * kSlot32);
  EXPECT_TRUE(result.cleared.empty());
}

TEST(Liveness, WhatALoopCarriesLivesThroughAllOfIt) {
  // 0: a = …   1: b = …   2: use b, write c   3: use c, branch to 1   4: use a
  std::vector<LiveSlot> slots(3, LiveSlot{4, 0});
  place_live(slots,
             {step({0}, {}, {1}), step({1}, {}, {2}), step({2}, {1}, {3}), step({}, {2}, {4, 1}),
              step({}, {0}, {})},
             0);
  EXPECT_NE(slots[0].offset, slots[1].offset);
  EXPECT_NE(slots[0].offset, slots[2].offset);
}

TEST(Liveness, AValueOfTheLastTurnKeepsItsPlace) {
  // 0: a = …   1: use a   2: b = …, use b below   3: a = …, branch to 1
  std::vector<LiveSlot> slots(2, LiveSlot{4, 0});
  place_live(slots,
             {step({0}, {}, {1}), step({}, {0}, {2}), step({1}, {}, {3}), step({0}, {1}, {4, 1}),
              step({}, {}, {})},
             0);
  EXPECT_NE(slots[0].offset, slots[1].offset);
}

TEST(Liveness, PartialWritesKeepTheOldValueAlive) {
  // b is written for some lanes only: what the others read was there before.
  std::vector<LiveSlot> slots(2, LiveSlot{4, 0});
  const LiveResult result = place_live(
      slots, {step({0}, {}, {1}), step({}, {0}, {2}), step({1}, {}, {3}, true), step({}, {1}, {})},
      0);
  EXPECT_NE(slots[0].offset, slots[1].offset);
  ASSERT_EQ(result.cleared.size(), 1u);
  EXPECT_EQ(result.cleared[0].first, slots[1].offset);
}

TEST(Liveness, WidthsNeverShareAPlace) {
  // A lane that waits on the other side of a branch keeps the 64-bit value that the text is done
  // with; its part of that slot is other lanes' part of a 32-bit one.
  std::vector<LiveSlot> slots = {{8, 0}, {4, 0}, {4, 0}, {16, 0}, {8, 0}};
  place_live(slots,
             {step({0}, {}, {1}), step({}, {0}, {2}), step({1, 2}, {}, {3}), step({}, {1, 2}, {4}),
              step({3}, {}, {5}), step({}, {3}, {6}), step({4}, {}, {7}), step({}, {4}, {})},
             0);
  const auto overlap = [&](int a, int b) {
    return slots[a].offset < slots[b].offset + slots[b].width * 32u &&
           slots[b].offset < slots[a].offset + slots[a].width * 32u;
  };
  for (const int narrow : {1, 2}) {
    EXPECT_FALSE(overlap(0, narrow));
    EXPECT_FALSE(overlap(3, narrow));
  }
  EXPECT_FALSE(overlap(0, 3));
  EXPECT_EQ(slots[0].offset, slots[4].offset);  // of one width
}

TEST(Liveness, WidthsAndPredicates) {
  std::vector<LiveSlot> slots = {{4, 0}, {8, 0}, {1, 0}, {1, 0}};
  const LiveResult result =
      place_live(slots, {step({0, 1, 2, 3}, {}, {1}), step({}, {0, 1, 2, 3}, {})}, 0);
  EXPECT_GE(slots[1].offset, slots[0].offset + kSlot32);
  EXPECT_EQ(slots[2].offset, kSlot32 + kSlot64);
  EXPECT_EQ(slots[3].offset, slots[2].offset + 4);
  EXPECT_EQ(result.end % 64, 0u);
}

}  // namespace
}  // namespace baton::sim::liveness_test
