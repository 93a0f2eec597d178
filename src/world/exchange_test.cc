#include "world/exchange.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "world/agreement.h"
#include "world/test_ranks.h"

namespace baton::world::exchange_test {
namespace {

const Stage kStage{"test", "a test"};

void expect_none(const std::vector<std::optional<Error>>& failures) {
  for (const auto& failure : failures) EXPECT_FALSE(failure) << failure->what();
}

// Bytes that are not NaN of any float dtype, whose sums stay in range.
std::string values_of(std::uint32_t rank, DType dtype, std::size_t count) {
  std::mt19937 random(rank + 1);
  std::string bytes(count * size_of(dtype), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random() % 48);
  return bytes;
}

TEST(ExchangeTest, AllReduceIsTheReductionInTheOrderOfTheRanks) {
  for (const std::uint32_t ranks : {1u, 2u, 3u, 5u}) {
    for (std::size_t i = 0; i < dtype_names().size(); ++i) {
      const auto dtype = static_cast<DType>(i);
      // Fewer elements than ranks, and a number that the ranks do not divide.
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1003}}) {
        const ReduceOp op = dtype == DType::kBool ? ReduceOp::kMax : ReduceOp::kSum;
        std::vector<std::string> parts;
        std::vector<const char*> pointers;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          parts.push_back(values_of(rank, dtype, count));
        }
        for (const std::string& part : parts) pointers.push_back(part.data());
        std::string want(count * size_of(dtype), '\0');
        reduce(op, dtype, count, pointers, want.data());
        expect_none(on_ranks(ranks, [&](Communicator& self) {
          std::string data = parts[self.rank()];
          all_reduce(self, kStage, op, dtype, count, data.data());
          EXPECT_EQ(data, want) << to_string(dtype) << " of rank " << self.rank();
        }));
      }
    }
  }
}

TEST(ExchangeTest, GatheredPartsStandInTheOrderOfTheRanks) {
  expect_none(on_ranks(3, [](Communicator& self) {
    const std::string own(2, static_cast<char>('a' + self.rank()));
    std::string all(6, '\0');
    all_gather(self, kStage, 2, own.data(), all.data());
    EXPECT_EQ(all, "aabbcc");
  }));
}

TEST(ExchangeTest, ReduceScatterGivesEachRankItsPart) {
  expect_none(on_ranks(3, [](Communicator& self) {
    std::vector<std::int32_t> all(6);
    for (int i = 0; i < 6; ++i) all[i] = i + 10 * static_cast<int>(self.rank());
    std::int32_t part[2] = {};
    reduce_scatter(self, kStage, ReduceOp::kSum, DType::kI32, 2,
                   reinterpret_cast<const char*>(all.data()), reinterpret_cast<char*>(part));
    const int first = 2 * static_cast<int>(self.rank());
    EXPECT_EQ(part[0], 3 * first + 30);
    EXPECT_EQ(part[1], 3 * (first + 1) + 30);
  }));
}

TEST(ExchangeTest, ABroadcastComesFromItsRoot) {
  expect_none(on_ranks(4, [](Communicator& self) {
    std::string data = self.rank() == 2 ? "root" : "....";
    broadcast(self, kStage, 2, 4, data.data());
    EXPECT_EQ(data, "root");
  }));
}

// All ranks send before any of them receives.
TEST(ExchangeTest, MessagesGoAroundARing) {
  constexpr std::size_t kBytes = 3 << 20;
  expect_none(on_ranks(3, [](Communicator& self) {
    const std::string own(kBytes, static_cast<char>('a' + self.rank()));
    std::string other(kBytes, '\0');
    send(self, kStage, (self.rank() + 1) % 3, kBytes, own.data());
    const std::uint32_t from = (self.rank() + 2) % 3;
    receive(self, kStage, from, kBytes, other.data());
    EXPECT_EQ(other, std::string(kBytes, static_cast<char>('a' + from)));
  }));
}

const AgreementTopic kPrograms{"the ranks' programs", "start all ranks alike"};

std::vector<Agreed> list_of(const char* n) {
  return {{"the version", "1"}, {"the symbol N", n}};
}

TEST(AgreementTest, EqualListsAgreeAndOthersNameTheDifference) {
  expect_none(on_ranks(3, [](Communicator& self) { agree(self, kPrograms, list_of("4")); }));
  const auto failures = on_ranks(3, [](Communicator& self) {
    agree(self, kPrograms, list_of(self.rank() == 1 ? "8" : "4"));
    meet_all(self, kStage);
  });
  for (const auto& failure : failures) {
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), ErrorCode::kInvalidInput);
    EXPECT_EQ(failure->message(),
              "the ranks disagree: rank 0 has the symbol N = 4, rank 1 has the symbol N = 8; start "
              "all ranks alike");
  }
}

TEST(AgreementTest, AMissingPartIsNamed) {
  const auto failures = on_ranks(2, [](Communicator& self) {
    std::vector<Agreed> list = {{"step 0", "fill x"}};
    if (self.rank() == 1) list.push_back({"step 1", "all_reduce y"});
    agree(self, kPrograms, list);
  });
  ASSERT_TRUE(failures[0] && failures[1]);
  EXPECT_EQ(failures[0]->message(),
            "the ranks disagree: rank 1 has step 1 = all_reduce y, rank 0 does not have it; start "
            "all ranks alike");
  EXPECT_EQ(failures[1]->message(), failures[0]->message());
}

TEST(AgreementTest, ARankWithoutAListAgreesWithAny) {
  for (const std::uint32_t silent : {0u, 1u}) {
    expect_none(on_ranks(3, [&](Communicator& self) {
      std::optional<std::vector<Agreed>> list;
      if (self.rank() != silent) list = list_of(silent == 1 || self.rank() == 2 ? "4" : "8");
      agree(self, kPrograms, list);
      meet_all(self, kStage);
    }));
  }
}

// Of six ranks, those with equal remainders by 3: 0 and 3, 1 and 4, 2 and 5.
RankGroup group_of(std::uint32_t rank) {
  return {rank % 3, 3, rank / 3, 2};
}

TEST(GroupTest, GroupsCompareByThemselves) {
  expect_none(on_ranks(6, [](Communicator& self) {
    agree({self, group_of(self.rank())}, kPrograms,
          list_of(std::to_string(self.rank() % 3).c_str()));
  }));
  const auto failures = on_ranks(6, [](Communicator& self) {
    agree({self, group_of(self.rank())}, kPrograms, list_of(self.rank() == 4 ? "8" : "4"));
    meet_all(self, kStage);
  });
  for (const auto& failure : failures) {
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->message(),
              "the ranks disagree: rank 1 has the symbol N = 4, rank 4 has the symbol N = 8; start "
              "all ranks alike");
  }
}

TEST(GroupTest, CollectivesStayInTheGroup) {
  expect_none(on_ranks(6, [](Communicator& self) {
    const GroupLink group(self, group_of(self.rank()));
    const std::int32_t lower = static_cast<std::int32_t>(self.rank()) % 3;
    const auto data = [](std::int32_t& value) { return reinterpret_cast<char*>(&value); };
    std::int32_t sum = static_cast<std::int32_t>(self.rank());
    all_reduce(group, kStage, ReduceOp::kSum, DType::kI32, 1, data(sum));
    EXPECT_EQ(sum, 2 * lower + 3);
    std::int32_t all[2] = {-1, -1};
    std::int32_t own = static_cast<std::int32_t>(self.rank());
    all_gather(group, kStage, sizeof(own), data(own), data(all[0]));
    EXPECT_EQ(all[0], lower);
    EXPECT_EQ(all[1], lower + 3);
    std::int32_t root = own;
    broadcast(group, kStage, 1, sizeof(root), data(root));
    EXPECT_EQ(root, lower + 3);
    std::int32_t part = 0;
    reduce_scatter(group, kStage, ReduceOp::kMax, DType::kI32, 1, data(all[0]), data(part));
    EXPECT_EQ(part, all[group.rank()]);
    std::int32_t other = -1;
    send(group, kStage, 1 - group.rank(), sizeof(own), data(own));
    receive(group, kStage, 1 - group.rank(), sizeof(other), data(other));
    EXPECT_EQ(other, lower + 3 * static_cast<std::int32_t>(1 - group.rank()));
  }));
}

}  // namespace
}  // namespace baton::world::exchange_test
