#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace baton::log_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Collects messages; restores the sink and the level at its end.
class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    set_log_callback([this](LogLevel level, std::string_view message) {
      messages_.emplace_back(level, message);
    });
  }
  ~LogTest() override {
    set_log_callback({});
    set_log_level(LogLevel::kWarning);
  }

  std::vector<std::pair<LogLevel, std::string>> messages_;
};

void log_one_of_each() {
  log(LogLevel::kDebug, "d");
  log(LogLevel::kInfo, "i");
  log(LogLevel::kWarning, "w");
  log(LogLevel::kError, "e");
}

TEST_F(LogTest, TheCallbackGetsTheMessage) {
  set_log_level(LogLevel::kInfo);
  log(LogLevel::kInfo, "{} of {}", 1, 2);
  EXPECT_THAT(messages_, ElementsAre(Pair(LogLevel::kInfo, "1 of 2")));
}

TEST_F(LogTest, TheLevelHoldsBackWhatIsBelow) {
  const LogLevel levels[] = {LogLevel::kError, LogLevel::kWarning, LogLevel::kInfo,
                             LogLevel::kDebug};
  std::size_t expected = 1;
  for (const LogLevel level : levels) {
    messages_.clear();
    set_log_level(level);
    log_one_of_each();
    EXPECT_EQ(messages_.size(), expected++);
    for (const LogLevel asked : levels) EXPECT_EQ(log_enabled(asked), asked <= level);
  }
}

TEST_F(LogTest, MessagesFromManyThreadsComeOneAtATime) {
  set_log_level(LogLevel::kInfo);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int j = 0; j < 1000; ++j) log(LogLevel::kInfo, "message {}", j);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(messages_.size(), 4000u);
}

TEST_F(LogTest, AnEmptyCallbackRestoresStandardError) {
  set_log_callback({});
  ::testing::internal::CaptureStderr();
  log(LogLevel::kWarning, "to {}", "stderr");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "baton: warning: to stderr\n");
  EXPECT_TRUE(messages_.empty());
}

TEST_F(LogTest, AMessageSurvivesACallbackThatThrows) {
  set_log_callback([](LogLevel, std::string_view) { throw std::runtime_error("full"); });
  ::testing::internal::CaptureStderr();
  log(LogLevel::kError, "kept");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "baton: error: kept\n");
}

// The environment is read once in a process, so each of these asks a process of its own.
class LogEnvironmentTest : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(LogEnvironmentTest, SetsTheLevel) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto& [value, expected] = GetParam();
  EXPECT_EXIT(
      {
        ::setenv("BATON_LOG", value, 1);
        log_one_of_each();
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), expected);
}

INSTANTIATE_TEST_SUITE_P(
    All, LogEnvironmentTest,
    ::testing::Values(
        std::pair("error", "^baton: error: e\n$"),
        std::pair("warning", "^baton: warning: w\nbaton: error: e\n$"),
        std::pair("", "^baton: warning: w\nbaton: error: e\n$"),
        std::pair("info", "^baton: info: i\nbaton: warning: w\nbaton: error: e\n$"),
        std::pair("debug",
                  "^baton: debug: d\nbaton: info: i\nbaton: warning: w\n"
                  "baton: error: e\n$"),
        std::pair("loud",
                  "^baton: warning: BATON_LOG is \"loud\": expected error, warning, info "
                  "or debug; taking warning\nbaton: warning: w\nbaton: error: e\n$")));

}  // namespace
}  // namespace baton::log_test
