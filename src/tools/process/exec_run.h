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
// other. Throws as driver_folder and run_process do.
ExecRun run_on_simulator(const ExecSettings& settings, const std::vector<std::string>& program,
                         std::optional<std::chrono::duration<double>> limit,
                         const std::atomic<bool>& stop);

}  // namespace baton::tools
