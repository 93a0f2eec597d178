#include "edges/judgement.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace baton::edges {
namespace {

Judgement judgement(std::size_t launches,
                    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& from_to) {
  Judgement result;
  result.launches.resize(launches);
  for (const auto& [from, to] : from_to) {
    EdgeReport& edge = result.edges.emplace_back();
    edge.from = from;
    edge.to = to;
  }
  return result;
}

// A judgement from a file is used only if it fits the program.
TEST(Judgement, IsSoundInItsOrderOnly) {
  EXPECT_TRUE(judgement(0, {}).is_sound(0));
  EXPECT_TRUE(judgement(3, {{0, 1}, {1, 2}}).is_sound(3));
  // Sorted by the later launch, then by the earlier one.
  EXPECT_TRUE(judgement(3, {{2, 0}, {0, 1}, {2, 1}, {1, 2}}).is_sound(3));
  EXPECT_FALSE(judgement(3, {{0, 2}, {1, 0}}).is_sound(3));
  EXPECT_FALSE(judgement(3, {{2, 1}, {0, 1}}).is_sound(3));
  EXPECT_FALSE(judgement(3, {{0, 1}, {0, 1}}).is_sound(3)) << "the same edge twice";
}

TEST(Judgement, IsSoundWithNumbersOfItsLaunchesOnly) {
  EXPECT_FALSE(judgement(2, {{0, 1}}).is_sound(3));
  EXPECT_FALSE(judgement(4, {{0, 1}}).is_sound(3));
  EXPECT_FALSE(judgement(3, {{0, 3}}).is_sound(3));
  EXPECT_FALSE(judgement(3, {{3, 0}}).is_sound(3));
}

TEST(Judgement, GivesBackWhatItHolds) {
  Judgement kept = judgement(2, {});
  kept.launches[0] = {.early = false, .waits = true, .by_values = true, .trigger = {true, false}};
  kept.launches[1] = {.early = true, .waits = false, .by_values = false, .trigger = {false, true}};
  const auto decisions = kept.decisions();
  ASSERT_EQ(decisions.size(), 2u);
  EXPECT_FALSE(decisions[0].early);
  EXPECT_TRUE(decisions[0].waits);
  EXPECT_TRUE(decisions[1].early);
  EXPECT_FALSE(decisions[1].waits);
  const auto triggers = kept.trigger_facts();
  EXPECT_TRUE(triggers[0].triggers && !triggers[0].lets_in_early);
  EXPECT_TRUE(!triggers[1].triggers && triggers[1].lets_in_early);
  const bind::DecidedByValues values = kept.decided_by_values();
  EXPECT_EQ(values.arguments, (std::vector<bool>{true, false}));
  EXPECT_TRUE(values.configs) << "a launch starts early";
  kept.launches[1].early = false;
  EXPECT_FALSE(kept.decided_by_values().configs);
}

// Verdicts hold where callers' memory is apart: buffers may touch, and empty ones may be anywhere.
TEST(Judgement, GivenMemoryOverlapsInOneByteOrMore) {
  const auto overlaps = [](const std::vector<std::pair<DeviceAddress, std::uint64_t>>& given) {
    bind::BufferTable buffers(1);  // one that is not given
    buffers[0].bytes = 1 << 20;
    for (const auto& [address, bytes] : given) {
      bind::BoundBuffer& buffer = buffers.emplace_back();
      buffer.given = address;
      buffer.bytes = bytes;
    }
    return given_memory_overlaps(buffers);
  };
  EXPECT_FALSE(overlaps({}));
  EXPECT_FALSE(overlaps({{256, 256}, {512, 4}}));
  EXPECT_FALSE(overlaps({{512, 4}, {256, 256}}));
  EXPECT_TRUE(overlaps({{256, 257}, {512, 4}}));
  EXPECT_TRUE(overlaps({{512, 4}, {256, 257}}));
  EXPECT_TRUE(overlaps({{256, 64}, {256, 64}}));
  EXPECT_TRUE(overlaps({{256, 4}, {512, 64}, {516, 8}}));
  EXPECT_FALSE(overlaps({{256, 64}, {260, 0}}));
  EXPECT_FALSE(overlaps({{256, 64}, {256, 0}, {320, 1}}));
}

}  // namespace
}  // namespace baton::edges
