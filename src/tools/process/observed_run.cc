#include "tools/process/observed_run.h"

#include <cuda.h>
#include <fmt/format.h>

#include <system_error>

#include "base/file/file.h"
#include "base/system/dynamic_library.h"
#include "base/system/environment.h"
#include "tools/process/record_findings.h"
#include "tools/process/record_folder.h"
#include "tools/process/record_run.h"

namespace baton::tools {
namespace {

// The names of results come from the driver that ran the program.
class ResultNames {
 public:
  explicit ResultNames(const RecordedDriver& driver) {
    const std::string names[] = {driver.library.string()};
    std::string why;
    library_ = DynamicLibrary::open(names, &why);
    if (library_) {
      name_ = reinterpret_cast<decltype(name_)>(library_->symbol("cuGetErrorName"));
    }
  }
  std::string operator()(int result) const {
    const char* name = nullptr;
    if (name_ == nullptr || name_(static_cast<CUresult>(result), &name) != CUDA_SUCCESS) {
      return "an error";
    }
    return name;
  }

 private:
  std::optional<DynamicLibrary> library_;
  CUresult (*name_)(CUresult, const char**) = nullptr;
};

bool launches_block() {
  const auto value = read_environment("CUDA_LAUNCH_BLOCKING");
  return value && !value->empty() && *value != "0";
}

// The parts of a process that were not checked.
void note_unchecked(const record::ProcessRecord& process, const record::RecordJudgement& judged,
                    ExecReport& report) {
  for (const record::RecordKernel& kernel : judged.kernels) {
    if (kernel.unseen.empty()) continue;
    report.images[fmt::format("kernel {}: {}", kernel.readable, kernel.unseen)] += kernel.launches;
  }
  if (judged.graph_kernels > 0) {
    report.images["kernel nodes of graphs that were built without a capture"] +=
        judged.graph_kernels;
  }
  for (const std::string& remark : judged.remarks) ++report.images[remark];
  if (process.stopped != 0) {
    ++report.images[fmt::format("what process {} did after its recording ended: {}",
                                process.process, std::generic_category().message(process.stopped))];
  }
}

}  // namespace

Environment observed_environment() {
  return record_environment(find_driver(kGpuDevice), {});
}

ExecRun run_observed(const std::vector<std::string>& program,
                     std::optional<std::chrono::duration<double>> limit,
                     const std::atomic<bool>& stop) {
  const RecordedDriver driver = find_driver(kGpuDevice);
  const TemporaryDirectory folder;
  const std::filesystem::path path = folder.path() / "run.record";
  create_record(path, program, driver.device);
  ExecRun run;
  run.end = record_program(driver, path, program, false, limit, stop);
  const RecordContents record = read_record(path);
  ExecReport& report = run.report;
  report.has_threads = false;
  report.processes = record.processes.size();
  const ResultNames names(driver);
  const ObservedProcess observed{[&names](int result) { return names(result); }, launches_block()};
  for (const record::ProcessRecord& process : record.processes) {
    const record::RecordJudgement judged = judge_process(record, process);
    for (FindingReport& finding : record_findings(process, judged, observed)) {
      report.add(std::move(finding), process.process);
    }
    note_unchecked(process, judged, report);
  }
  for (const std::string& damage : record.damage) ++report.images[damage];
  return run;
}

}  // namespace baton::tools
