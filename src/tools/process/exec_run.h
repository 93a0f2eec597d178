#pragma once

#include "tools/process/exec_environment.h"
#include "tools/process/exec_report.h"

namespace baton::tools {

// What came of a program that ran on the simulated GPU.
struct ExecRun {
  ProcessEnd end;
  ExecReport report;
};

// Runs a program and its children with the driver library of the simulated GPU in front of any
// other. `application_only`: the report is that of the program's own process; its children run in
// the same way and tell nothing. Throws as driver_folder and run_process do.
ExecRun run_on_simulator(const ExecSettings& settings, const std::vector<std::string>& program,
                         bool application_only, std::optional<std::chrono::duration<double>> limit,
                         const std::atomic<bool>& stop);

}  // namespace baton::tools
