#include "replay/replay_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace baton::replay::replay_memory_test {
namespace {

ReplayedMemory memory_at(std::uint64_t address, std::uint64_t bytes) {
  ReplayedMemory memory;
  memory.address = address;
  memory.bytes = bytes;
  return memory;
}

std::string bytes_of(const std::vector<std::uint64_t>& words) {
  std::string bytes(words.size() * sizeof(std::uint64_t), '\0');
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

class ReplayMemoryTest : public testing::Test {
 protected:
  // What a word of the record is in the replay.
  std::uint64_t moved(std::uint64_t word) {
    std::string bytes = bytes_of({word});
    Moved all;
    memory.relocate(bytes.data(), bytes.size(), all);
    met = all.memories;
    std::memcpy(&word, bytes.data(), sizeof word);
    return word;
  }

  ReplayMemory memory;
  std::set<std::size_t> met;
};

TEST_F(ReplayMemoryTest, MovesAddressesAndTheirEnds) {
  memory.add(0x7f0000001000, memory_at(0x10000, 256));
  memory.add(0x7f0000002000, memory_at(0x50000, 64));
  EXPECT_EQ(moved(0x7f0000001000), 0x10000u);
  EXPECT_EQ(moved(0x7f00000010ff), 0x100ffu);
  EXPECT_EQ(moved(0x7f0000001100), 0x10100u) << "one behind the last byte";
  EXPECT_THAT(met, testing::ElementsAre(0));
  EXPECT_EQ(moved(0x7f0000002010), 0x50010u);
  EXPECT_THAT(met, testing::ElementsAre(1));
}

TEST_F(ReplayMemoryTest, LeavesNumbersAlone) {
  EXPECT_EQ(moved(7), 7u) << "without any memory";
  memory.add(0x7f0000001000, memory_at(0x10000, 256));
  for (const std::uint64_t word :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x7f0000000fff},
        std::uint64_t{0x7f0000001101}, ~std::uint64_t{0}}) {
    EXPECT_EQ(moved(word), word);
    EXPECT_TRUE(met.empty());
  }
}

TEST_F(ReplayMemoryTest, TwoThatTouchAreTwo) {
  memory.add(0x1000, memory_at(0x10000, 256));
  memory.add(0x1100, memory_at(0x50000, 256));
  EXPECT_EQ(moved(0x1100), 0x50000u) << "not the end of the first";
}

TEST_F(ReplayMemoryTest, FreedMemoryStaysUntilItsAddressesAreUsedAgain) {
  const std::size_t first = memory.add(0x1000, memory_at(0x10000, 256));
  EXPECT_EQ(memory.end(0x1008), std::nullopt) << "nothing begins there";
  EXPECT_EQ(memory.end(0x1000), first);
  EXPECT_EQ(memory.end(0x1000), std::nullopt);
  EXPECT_FALSE(memory.is_live(first));
  EXPECT_EQ(moved(0x1010), 0x10010u) << "a use after free is one in the replay, too";
  memory.add(0x1080, memory_at(0x50000, 256));
  EXPECT_EQ(moved(0x1010), 0x1010u);
  EXPECT_EQ(moved(0x1090), 0x50010u);
}

TEST_F(ReplayMemoryTest, ReservedAddressesAreNoMemory) {
  ReplayedMemory reserved = memory_at(0, 4096);
  reserved.kind = ReplayedMemory::Kind::kReserved;
  memory.add(0x1000, reserved);
  EXPECT_EQ(memory.find(0x1010), std::nullopt);
}

TEST_F(ReplayMemoryTest, ReachesWhatIsPointedTo) {
  for (std::uint64_t k = 0; k < 4; ++k) memory.add(0x1000 * (k + 1), memory_at(0x10000 * k, 16));
  memory[0].points_to = {1};
  memory[1].points_to = {2, 0};
  EXPECT_THAT(memory.reached({0}), testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(memory.reached({3}), testing::ElementsAre(3));
}

}  // namespace
}  // namespace baton::replay::replay_memory_test
