#pragma once

#include <atomic>

#include "cli/command_line/options.h"
#include "cli/output/output.h"

namespace baton::cli {

// Runs a program on the simulated GPU and tells what was found. Returns the exit status: the
// program's own, or, where that is 0, what the options say of findings. Standard output is the
// program's. Throws Error where the program cannot be started, and kTimeout where it took too long.
int exec(const ExecCommand& command, Output& output, const std::atomic<bool>& interrupt);

}  // namespace baton::cli
