#include "sim/queue/staging.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace baton::sim::staging_test {
namespace {

// A large copy has room once nothing is held, and here something always is.
TEST(StagedBytes, WaitForRoomEndsThoughOtherCopiesGoOn) {
  const std::vector<std::byte> bytes(1000);
  std::atomic<bool> is_over{false};
  bool gave_up = false;
  StagedBytes latest;
  ASSERT_TRUE(latest.take(bytes.data(), bytes.size()));
  std::thread others([&] {
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!is_over) {
      StagedBytes next;
      if (next.take(bytes.data(), bytes.size())) latest = std::move(next);
      if (std::chrono::steady_clock::now() < patience) continue;
      gave_up = true;
      break;
    }
    latest = {};
  });
  StagedBytes::await_room(2 * StagedBytes::kMaxSpare);
  is_over = true;
  others.join();
  EXPECT_FALSE(gave_up);
}

}  // namespace
}  // namespace baton::sim::staging_test
