#pragma once

#include "tools/exec_run.h"

namespace baton::tools {

// What a program needs in its environment to be observed on the system's GPU, but for the folder of
// its record. Throws kNoDevice where there is no GPU.
Environment observed_environment();

// Runs a program and its children on the system's GPU, with the recorder in front of its driver,
// and judges what they did when they have ended (record_findings.h). Throws kNoDevice where there
// is no GPU, and as record_program does.
ExecRun run_observed(const std::vector<std::string>& program,
                     std::optional<std::chrono::duration<double>> limit,
                     const std::atomic<bool>& stop);

}  // namespace baton::tools
