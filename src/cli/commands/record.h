#pragma once

#include <atomic>
#include <filesystem>

#include "cli/command_line/options.h"
#include "cli/output/output.h"

namespace baton::cli {

// Runs a program and records what it launches. Returns the program's own exit status. Standard
// output is the program's. Throws Error where the program cannot be started, and kTimeout where it
// took too long.
int record(const RecordCommand& command, Output& output, const std::atomic<bool>& interrupt);

// `baton inspect` of a record: its processes, kernels and images.
void inspect_record(const InspectCommand& command, Output& output);

// `baton check` of a record: a verdict about each edge. Throws kFault for an edge that the program
// makes programmatic and that is unsafe, kDamaged for a record of which a part cannot be read.
void check_record(const CheckCommand& command, const std::filesystem::path& file, Output& output);

// `baton run` of a record: it is replayed on the simulated GPU. Throws kInvalidInput for options
// that only programs have, kFault for errors that do not depend on contents
// that the record lacks, kTimeout and kInterrupted, and kDamaged as above.
void replay_record(const RunCommand& command, Output& output, const std::atomic<bool>& interrupt);

}  // namespace baton::cli
