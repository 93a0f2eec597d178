#include "tools/process/exec_run.h"

#include "base/file/file.h"
#include "base/system/environment.h"
#include "tools/toolkit/ptxas.h"

namespace baton::tools {

ExecRun run_on_simulator(const ExecSettings& settings, const std::vector<std::string>& program,
                         bool application_only, std::optional<std::chrono::duration<double>> limit,
                         const std::atomic<bool>& stop) {
  const TemporaryDirectory folder;
  const std::filesystem::path report = folder.path() / "report";
  std::filesystem::create_directory(report);
  const std::filesystem::path ptxas = folder.path() / "ptxas";
  write_ptxas_wrapper(ptxas, {});
  Environment environment = current_environment();
  for (auto& [name, value] : exec_environment(settings, driver_folder(), report)) {
    environment[name] = value;
  }
  // Triton has one for the GPUs before Blackwell, and one for those since.
  for (const char* variable : {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"}) {
    if (const auto chosen = read_environment(variable)) environment["BATON_PTXAS"] = *chosen;
    environment[variable] = ptxas.string();
  }
  ExecRun run;
  run.end = run_process(program, environment, limit, stop);
  run.report =
      application_only ? read_process_report(report, run.end.process) : read_exec_report(report);
  return run;
}

}  // namespace baton::tools
