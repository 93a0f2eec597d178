#pragma once

#include "tools/process/exec_run.h"

namespace baton::tools {

// The environment that a program needs to be observed on the system's GPU, without the folder of
// its record. Throws kNoDevice where there is no GPU.
Environment observed_environment();

// Runs a program and its children on the system's GPU, with the recorder between them and its
// driver, and judges their record when they have ended (record_findings.h). Throws kNoDevice where
// there is no GPU, and as record_program does.
ExecRun run_observed(const std::vector<std::string>& program,
                     std::optional<std::chrono::duration<double>> limit,
                     const std::atomic<bool>& stop);

}  // namespace baton::tools
