#pragma once

#include <atomic>

#include "cli/command_line/options.h"
#include "cli/output/output.h"

namespace baton::cli {

// One function a command. Each fills `output` and throws baton::Error for what does not end in
// status 0; what it found out before stays in `output`.

void doctor(const DoctorCommand& command, Output& output);
// `interrupt` becomes true when the user wants the run to end.
void run(const RunCommand& command, Output& output, const std::atomic<bool>& interrupt);
void check(const CheckCommand& command, Output& output);
void bench(const BenchCommand& command, Output& output, const std::atomic<bool>& interrupt);
void tune(const TuneCommand& command, Output& output, const std::atomic<bool>& interrupt);
void init(const InitCommand& command, Output& output);
void build(const BuildCommand& command, Output& output);
void sign(const SignCommand& command, Output& output);
void compile(const CompileCommand& command, Output& output);
void explain(const ExplainCommand& command, Output& output);
void toolkit(const ToolkitCommand& command, Output& output);
void inspect(const InspectCommand& command, Output& output);
void cache(const CacheCommand& command, Output& output);

}  // namespace baton::cli
