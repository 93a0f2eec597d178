#include "world/rendezvous.h"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "baton/error.h"
#include "world/communicator.h"
#include "world/exchange.h"
#include "world/socket.h"

namespace baton::world::rendezvous_test {
namespace {

using namespace std::chrono_literals;

// A port of the loopback at which no process listens.
std::uint16_t free_port() {
  return local_address(listen_at({"127.0.0.1", 0})).port;
}

LaunchedRank rank_of(std::uint32_t rank, std::uint32_t ranks, std::uint16_t port) {
  return {"a test", rank, ranks, rank, ranks, "127.0.0.1", port, "job"};
}

std::string refusal_of(const LaunchedRank& self, std::chrono::milliseconds patience) {
  try {
    meet(self, patience);
  } catch (const Error& failure) {
    return failure.message();
  }
  return "";
}

TEST(RendezvousTest, RanksMeetInAnyOrder) {
  constexpr std::uint32_t kRanks = 4;
  const std::uint16_t port = free_port();
  std::vector<std::thread> threads;
  for (std::uint32_t rank = kRanks; rank-- > 0;) {
    threads.emplace_back([&, rank] {
      Communicator self(rank, meet(rank_of(rank, kRanks, port), 30s), {});
      std::int32_t value = 1 << rank;
      all_reduce(self, {"sum", "sum"}, ReduceOp::kSum, DType::kI32, 1,
                 reinterpret_cast<char*>(&value));
      EXPECT_EQ(value, 15);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(RendezvousTest, AMissingRankIsNamed) {
  const std::uint16_t port = free_port();
  const std::string address = "127.0.0.1:" + std::to_string(port);
  std::string text;
  std::thread one([&] { text = refusal_of(rank_of(1, 3, port), 5s); });
  EXPECT_EQ(refusal_of(rank_of(0, 3, port), 400ms),
            "rank 0 of 3 waited 400 ms for rank 2 at " + address +
                "; a test must start 3 processes, and each must reach that address");
  one.join();
  EXPECT_EQ(text, "rank 1 of 3 reached rank 0 at " + address +
                      ", which ended before all ranks were connected");
  EXPECT_EQ(
      refusal_of(rank_of(1, 2, free_port()), 100ms).find("rank 1 of 2 waited 100 ms for rank 0"),
      0u);
}

TEST(RendezvousTest, APortThatIsTakenIsNamed) {
  const FileDescriptor taken = listen_at({"127.0.0.1", 0});
  const std::uint16_t port = local_address(taken).port;
  EXPECT_EQ(refusal_of(rank_of(0, 2, port), 1s),
            "rank 0 cannot listen at 127.0.0.1:" + std::to_string(port) +
                ": Address already in use; set MASTER_ADDR and MASTER_PORT to an address of its "
                "machine and a free port");
}

TEST(RendezvousTest, AnUnknownHostIsNamed) {
  LaunchedRank self = rank_of(1, 2, 20000);
  self.host = "no such host";
  EXPECT_EQ(refusal_of(self, 1s).find("the host \"no such host\" of rank 0 cannot be resolved: "),
            0u);
}

TEST(RendezvousTest, TwoProcessesWithOneRankAreRefused) {
  const std::uint16_t port = free_port();
  std::thread one([&] { refusal_of(rank_of(1, 3, port), 5s); });
  std::thread two([&] { refusal_of(rank_of(1, 3, port), 5s); });
  EXPECT_EQ(refusal_of(rank_of(0, 3, port), 5s), "there are two processes with the rank 1");
  one.join();
  two.join();
}

TEST(RendezvousTest, OtherNumbersOfRanksAreRefused) {
  const std::uint16_t port = free_port();
  std::thread one([&] { refusal_of(rank_of(1, 4, port), 5s); });
  EXPECT_EQ(refusal_of(rank_of(0, 2, port), 5s), "rank 1 is one of 4 ranks, rank 0 is one of 2");
  one.join();
}

// A process of another run, and a connection that sends nothing, do not delay the ranks.
TEST(RendezvousTest, StrangersAreLeftAlone) {
  const std::uint16_t port = free_port();
  std::thread silent([&] {
    const FileDescriptor socket =
        connect_to({"127.0.0.1", port}, std::chrono::steady_clock::now() + 5s);
    std::string bytes;
    receive_bytes(socket, 1, bytes, std::chrono::steady_clock::now() + 10s);
  });
  std::thread stranger([&] {
    LaunchedRank other = rank_of(1, 2, port);
    other.job = "another job";
    refusal_of(other, 10s);
  });
  std::thread one([&] {
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(refusal_of(rank_of(1, 2, port), 20s), "");
  });
  EXPECT_EQ(refusal_of(rank_of(0, 2, port), 20s), "");
  for (std::thread* thread : {&silent, &stranger, &one}) thread->join();
}

}  // namespace
}  // namespace baton::world::rendezvous_test
