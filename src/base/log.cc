#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>

#include "base/system/environment.h"
#include "base/text/text.h"

namespace baton {
namespace {

constexpr std::string_view kLevelNames[] = {"error", "warning", "info", "debug"};

struct Sink {
  std::mutex mutex;
  LogCallback callback;
};

// Never destroyed: messages may come from destructors that run at process exit.
Sink& sink() {
  static Sink& instance = *new Sink;
  return instance;
}

void write_to_stderr(LogLevel level, std::string_view message) {
  const std::string line =
      fmt::format("baton: {}: {}\n", kLevelNames[static_cast<int>(level)], message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

LogLevel level_from_environment() {
  const std::optional<std::string> value = read_environment("BATON_LOG");
  if (!value) return LogLevel::kWarning;
  for (std::size_t i = 0; i < std::size(kLevelNames); ++i) {
    if (*value == kLevelNames[i]) return static_cast<LogLevel>(i);
  }
  write_to_stderr(LogLevel::kWarning,
                  fmt::format("BATON_LOG is \"{}\": expected error, warning, info or debug; "
                              "taking warning",
                              printable(*value)));
  return LogLevel::kWarning;
}

std::atomic<int>& level_in_force() {
  static std::atomic<int> level{static_cast<int>(level_from_environment())};
  return level;
}

}  // namespace

void set_log_callback(LogCallback callback) {
  std::lock_guard lock(sink().mutex);
  sink().callback = std::move(callback);
}

void set_log_level(LogLevel level) {
  level_in_force().store(static_cast<int>(level));
}

bool log_enabled(LogLevel level) noexcept {
  return static_cast<int>(level) <= level_in_force().load(std::memory_order_relaxed);
}

void log_message(LogLevel level, std::string_view message) {
  std::lock_guard lock(sink().mutex);
  try {
    if (sink().callback) {
      sink().callback(level, message);
      return;
    }
  } catch (...) {
    // Messages come from destructors too, where the callback's exception would end the process.
  }
  write_to_stderr(level, message);
}

}  // namespace baton
