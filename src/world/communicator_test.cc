#include "world/communicator.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>

#include "world/exchange.h"
#include "world/socket.h"
#include "world/test_ranks.h"

namespace baton::world::communicator_test {
namespace {

using namespace std::chrono_literals;

TEST(CommunicatorTest, TheFailureOfOneRankIsThatOfAll) {
  const auto failures = on_ranks(3, [](Communicator& self) {
    if (self.rank() == 1) {
      throw Error(self.fail(Error(ErrorCode::kFault, "a kernel trapped", {"p.toml", 3})).error);
    }
    self.receive(1, {"a", "all_reduce y, at p.toml:4:1"});
  });
  for (const auto& failure : failures) {
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->code(), ErrorCode::kFault);
    EXPECT_STREQ(failure->what(), "p.toml:3: rank 1: a kernel trapped");
  }
}

// The process of a rank may end right after it failed.
TEST(CommunicatorTest, AFailureIsOnItsWayWhenItIsFlushed) {
  for (int turn = 0; turn < 20; ++turn) {
    auto [own, other] = connected_pair();
    std::vector<FileDescriptor> links(2);
    links[1] = std::move(own);
    Communicator self(0, std::move(links), {});
    self.fail(Error(ErrorCode::kFault, "a kernel trapped"));
    self.flush();
    set_nonblocking(other);
    FrameReader reader;
    char bytes[4096];
    bool is_told = false;
    for (ssize_t got; (got = ::recv(other.number(), bytes, sizeof(bytes), 0)) > 0;) {
      reader.add({bytes, static_cast<std::size_t>(got)});
      while (const auto frame = reader.next()) is_told |= frame->kind == FrameKind::kFailure;
    }
    EXPECT_TRUE(is_told) << turn;
    other.close();  // so that nothing waits for it
  }
}

TEST(CommunicatorTest, RanksAtDifferentStepsDisagree) {
  const auto failures = on_ranks(2, [](Communicator& self) {
    char data[4] = {};
    const std::string step = self.rank() == 0 ? "all_reduce x" : "all_reduce y";
    all_reduce(self, {step, step}, ReduceOp::kSum, DType::kF32, 1, data);
  });
  for (const auto& failure : failures) {
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->message(),
              "the ranks disagree: rank 0 is at all_reduce x, rank 1 is at all_reduce y; all ranks "
              "must come to the same collectives in the same order");
  }
}

TEST(CommunicatorTest, RanksThatWaitForEachOtherAreFound) {
  const auto failures = on_ranks(3, [](Communicator& self) {
    const std::string step = "receive from " + std::to_string((self.rank() + 1) % 3);
    self.receive((self.rank() + 1) % 3, {"m", step});
  });
  for (const auto& failure : failures) {
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->message(),
              "the ranks wait for each other: rank 0 waits for rank 1 at receive from 1, rank 1 "
              "waits for rank 2 at receive from 2, rank 2 waits for rank 0 at receive from 0");
  }
}

TEST(CommunicatorTest, ARankThatWaitsForItselfIsFound) {
  const auto failures = on_ranks(1, [](Communicator& self) {
    self.receive(0, {"m", "receive x"});
  });
  ASSERT_TRUE(failures[0]);
  EXPECT_EQ(failures[0]->message(),
            "the ranks wait for each other: rank 0 waits for rank 0 at receive x");
}

TEST(CommunicatorTest, ARankThatEndedItsRunIsNotWaitedFor) {
  std::vector<World> worlds = World::of_threads(2);
  const std::shared_ptr<Communicator> first = worlds[0].communicator();
  worlds.clear();  // rank 1 sends kEnd
  try {
    first->receive(1, {"a", "all_reduce y"});
    FAIL() << "came through";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.message(),
              "the ranks disagree: rank 1 has ended its run, and rank 0 waits for it at "
              "all_reduce y");
  }
}

// The connection of a process that is killed ends without kEnd.
TEST(CommunicatorTest, ARankThatIsGoneEndsTheRun) {
  auto [own, other] = connected_pair();
  std::vector<FileDescriptor> links(2);
  links[1] = std::move(own);
  Communicator self(0, std::move(links), {});
  std::thread killer([&, gone = std::move(other)]() mutable {
    // Something is on its way, so that the two do not wait for each other.
    const Beat beat{0, "all_gather z, at p.toml:9:1", 0, {1, 0}};
    EXPECT_TRUE(send_bytes(gone, beat_frame(beat), std::chrono::steady_clock::now() + 5s));
    // It dies when the other rank waits, which its heartbeats tell.
    std::string heard;
    char bytes[256];
    while (heard.find("all_reduce y") == std::string::npos) {
      const ssize_t size = ::read(gone.number(), bytes, sizeof bytes);
      ASSERT_GT(size, 0);
      heard.append(bytes, static_cast<std::size_t>(size));
    }
    gone.close();
  });
  try {
    self.receive(1, {"a", "all_reduce y, at p.toml:8:1"});
    FAIL() << "came through";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kNoDevice);
    EXPECT_EQ(failure.message(),
              "rank 1 ended unexpectedly, at all_gather z, at p.toml:9:1; rank 0 was at "
              "all_reduce y, at p.toml:8:1");
  }
  killer.join();
  EXPECT_EQ(self.failure()->lost, 1u);
  EXPECT_TRUE(self.speaks());
}

// A connection that is closed too early may drop its last bytes.
TEST(CommunicatorTest, ARankEndsAfterTheOthersReceivedItsEnd) {
  auto [own, other] = connected_pair();
  std::vector<FileDescriptor> links(2);
  links[1] = std::move(own);
  std::optional<Communicator> self;
  self.emplace(0, std::move(links), Patience{});
  self->send(1, {"a", "a"}, "content");
  std::atomic<bool> has_ended = false;
  std::thread ending([&] {
    self.reset();
    has_ended = true;
  });
  const auto deadline = std::chrono::steady_clock::now() + 5s;
  FrameReader reader;
  FrameKind last = FrameKind::kMessage;
  bool has_message = false;
  while (last != FrameKind::kEnd) {
    std::string byte;
    ASSERT_TRUE(receive_bytes(other, 1, byte, deadline));
    reader.add(byte);
    while (const auto frame = reader.next()) {
      last = frame->kind;
      has_message |= last == FrameKind::kMessage;
    }
  }
  EXPECT_TRUE(has_message);
  EXPECT_FALSE(has_ended);
  EXPECT_TRUE(send_bytes(other, frame_of(FrameKind::kEndSeen, {}), deadline));
  ending.join();
}

TEST(CommunicatorTest, TheNextRankSpeaksForALostFirstOne) {
  auto [own, other] = connected_pair();
  std::vector<FileDescriptor> links(2);
  links[0] = std::move(own);
  Communicator self(1, std::move(links), {});
  EXPECT_FALSE(self.speaks());
  other.close();
  EXPECT_THROW(self.receive(0, {"a", "a"}), Error);
  EXPECT_TRUE(self.speaks());
}

// A process that is stopped keeps its connection.
TEST(CommunicatorTest, ASilentRankIsGivenUp) {
  auto [own, other] = connected_pair();
  std::vector<FileDescriptor> links(2);
  links[1] = std::move(own);
  std::optional<Communicator> self;
  self.emplace(0, std::move(links), Patience{.beat = 20ms, .silence = 200ms});
  try {
    self->receive(1, {"a", "all_reduce y"});
    FAIL() << "came through";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kNoDevice);
    EXPECT_EQ(failure.message().find("rank 1 has sent nothing for "), 0u) << failure.message();
    EXPECT_NE(failure.message().find("; rank 0 was at all_reduce y"), std::string::npos);
  }
  self.reset();
  // If it goes on, it must not take this for a regular end, nor for the end of rank 0: it is the
  // rank that was lost.
  FrameReader reader;
  std::string byte;
  std::optional<RankFailure> told;
  while (receive_bytes(other, 1, byte, std::chrono::steady_clock::now() + 5s)) {
    reader.add(byte);
    while (const auto frame = reader.next()) {
      EXPECT_NE(frame->kind, FrameKind::kEnd);
      if (frame->kind == FrameKind::kFailure) told = read_failure(frame->payload);
    }
  }
  ASSERT_TRUE(told);
  EXPECT_EQ(told->lost, 1u);
}

TEST(CommunicatorTest, BytesThatAreNoFrameEndTheRun) {
  auto [own, other] = connected_pair();
  std::vector<FileDescriptor> links(2);
  links[1] = std::move(own);
  Communicator self(0, std::move(links), {});
  EXPECT_TRUE(send_bytes(other, std::string(64, 'x'), std::chrono::steady_clock::now() + 5s));
  try {
    self.receive(1, {"a", "a"});
    FAIL() << "came through";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  }
}

}  // namespace
}  // namespace baton::world::communicator_test
