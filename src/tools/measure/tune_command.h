#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "baton/bindings.h"

namespace baton::tools {

// A command of the user's that runs a variant of a program and prints what it costs.
struct TuneCommandLine {
  std::string text;                                    // for the shell
  std::optional<std::chrono::duration<double>> limit;  // of a run's time
};

// Runs it with the variable TUNE_NAME in its environment for each symbol. Returns the seconds that
// the last line of its output says. Throws kInvalidInput for a command that fails or says no number
// above 0, kTimeout, and kInterrupted after a `stop`.
double run_tune_command(const TuneCommandLine& command, const std::vector<BoundSymbol>& symbols,
                        const std::atomic<bool>& stop);

}  // namespace baton::tools
