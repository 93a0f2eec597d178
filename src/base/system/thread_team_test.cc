#include "base/system/thread_team.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace baton::thread_team_test {
namespace {

TEST(ThreadTeam, CallsEachPartOnce) {
  for (const unsigned threads : {1u, 2u, 7u}) {
    ThreadTeam team(threads);
    for (const std::size_t parts :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{100}}) {
      std::vector<std::atomic<int>> calls(parts);
      team.run(parts, [&](std::size_t part) { ++calls[part]; });
      for (const auto& each : calls) EXPECT_EQ(each, 1) << threads << " threads, " << parts;
    }
  }
}

TEST(ThreadTeam, PartsRunAtOnce) {
  ThreadTeam team(3);
  // Each part waits for the other two.
  std::atomic<int> begun = 0;
  team.run(3, [&](std::size_t) {
    ++begun;
    while (begun < 3) std::this_thread::yield();
  });
  EXPECT_EQ(begun, 3);
}

TEST(ThreadTeam, ThrowsWhatAPartThrewAndGoesOn) {
  ThreadTeam team(4);
  std::atomic<int> calls = 0;
  const auto fails = [&](std::size_t part) {
    ++calls;
    if (part > 1) throw std::runtime_error("part " + std::to_string(part));
  };
  try {
    team.run(100000, fails);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& failure) {
    EXPECT_STREQ(failure.what(), "part 2");
  }
  EXPECT_LT(calls, 100000);
  calls = 0;
  team.run(2, fails);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace baton::thread_team_test
