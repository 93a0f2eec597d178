#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace baton::tools {

// The environment of a process to be, by name.
using Environment = std::map<std::string, std::string>;
Environment current_environment();

// How a process ended.
struct ProcessEnd {
  std::optional<int> status;  // what it returned
  int signal = 0;             // what killed it, where it returned nothing
  bool timed_out = false;
  pid_t process = 0;  // its number

  // As a shell gives it: 128 and the signal for one that was killed.
  int exit_status() const { return status ? *status : 128 + signal; }
};

// Runs a program, found as a shell finds it, with the same files open, and waits for its end. A
// `stop` that becomes true, and the limit, send it SIGTERM, and SIGKILL kPatience later. Throws
// kNotFound or kInvalidInput where it cannot be started, with the system's reason.
//
// `output`: an open file for its standard output. The process then leads a group of its own, and
// the signals go to all of that: a shell's children end with it.
ProcessEnd run_process(const std::vector<std::string>& command, const Environment& environment,
                       std::optional<std::chrono::duration<double>> limit,
                       const std::atomic<bool>& stop, std::optional<int> output = std::nullopt);

// A word as a shell reads it, whatever it holds.
std::string shell_word(const std::string& word);

}  // namespace baton::tools
