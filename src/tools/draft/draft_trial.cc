#include "tools/draft/draft_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>

#include "base/array/float_convert.h"
#include "base/error.h"
#include "base/text/text.h"
#include "baton/device.h"
#include "baton/executable.h"
#include "driver/finding_kind.h"
#include "tools/draft/draft_text.h"
#include "tools/draft/readable_names.h"

namespace baton::tools {
namespace {

// What outputs hold before a trial: a value that every dtype but bool stores exactly.
constexpr int kMark = 96;
// The share of an output that may keep the mark. Kernels write it too, and leave out borders.
constexpr double kMostMarked = 0.05;

// Trials know the file by its absolute path, the reader by the one that was given.
std::string with_given_path(std::string text, const std::filesystem::path& origin) {
  const std::string absolute = std::filesystem::absolute(origin).string();
  for (std::size_t at = text.find(absolute); at != std::string::npos;
       at = text.find(absolute, at)) {
    text.replace(at, absolute.size(), origin.string());
    at += origin.string().size();
  }
  return text;
}

bool is_code_error(const FindingReport& finding) {
  const auto rows = driver::finding_table();
  return std::any_of(rows.begin(), rows.end(), [&](const driver::FindingRow& row) {
    return row.id == finding.kind && row.severity == driver::FindingSeverity::kError;
  });
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// The wall-clock time of a run for each second of its limit, at most: for one that never works.
constexpr int kMostIdle = 30;

// Runs a program until its end, or until the process took so much processor time.
void run_within(Executable& executable, std::chrono::seconds limit) {
  std::atomic<bool> is_late = false;
  const double end = processor_seconds() + static_cast<double>(limit.count());
  RunOptions options;
  options.timeout = limit * kMostIdle;
  options.interrupt = &is_late;
  options.progress = [&](const RunProgress&) { is_late = processor_seconds() >= end; };
  try {
    executable.run(options);
  } catch (const Error& failure) {
    if (failure.code() != ErrorCode::kInterrupted) throw;
    throw error(ErrorCode::kTimeout, "the run took longer than {} of processor time",
                format_duration(static_cast<double>(limit.count())));
  }
}

void look_at(const RunReport& report, Trial& trial) {
  for (const StepReport& step : report.steps) {
    trial.instructions += step.warp_instructions.value_or(0);
  }
  const auto first = std::ranges::find_if(report.findings, is_code_error);
  if (trial.failure && first != report.findings.end()) trial.failure->code_error = *first;
  const auto has = [&](driver::FindingKind kind) {
    return std::ranges::any_of(report.findings, [&](const FindingReport& finding) {
      return finding.kind == driver::to_string(kind);
    });
  };
  trial.reads_unwritten |= has(driver::FindingKind::kUninitialized);
  trial.is_outside = has(driver::FindingKind::kOutOfBounds);
}

bool is_marked(const ProgramBuffer& buffer) {
  return buffer.role == BufferRole::kOutput && buffer.dtype != DType::kBool;
}

// The program with steps that fill its outputs with the mark.
Program with_marks(const std::string& text) {
  const Program plain = Program::from_text(text, "<trial>");
  std::string fills;
  for (const ProgramBuffer& buffer : plain.buffers()) {
    if (!is_marked(buffer)) continue;
    fills +=
        fmt::format("\n[[steps]]\nfill = {{ buffer = \"{}\", value = {} }}\n", buffer.name, kMark);
  }
  std::string marked = text;
  return Program::from_text(marked.insert(marked.find("\n[[steps]]"), fills), "<trial>");
}

bool keeps_marks(const Array& output) {
  const std::uint64_t mark = is_float(output.dtype) ? encode_float(output.dtype, kMark) : kMark;
  const std::size_t size = size_of(output.dtype);
  std::size_t marked = 0;
  for (std::size_t at = 0; at < output.bytes.size(); at += size) {
    marked += std::memcmp(output.bytes.data() + at, &mark, size) == 0 ? 1 : 0;
  }
  return static_cast<double>(marked * size) >
         kMostMarked * static_cast<double>(output.bytes.size());
}

}  // namespace

Trial try_kernel(const KernelFile& file, const std::filesystem::path& origin,
                 const DraftKernel& kernel, std::int64_t elements, std::chrono::seconds limit) {
  const std::string text = draft_text(file, {kernel}, "trial", origin, elements,
                                      std::filesystem::absolute(origin).string());
  std::optional<Executable> executable;
  Trial trial;
  try {
    const Device device = Device::open(kDraftDevice);
    const Program program = with_marks(text);
    executable = Executable::prepare(program, device, PrepareOptions{});
    run_within(*executable, limit);
    for (const ProgramBuffer& buffer : program.buffers()) {
      trial.leaves_out |= is_marked(buffer) && keeps_marks(executable->output(buffer.name));
    }
  } catch (const Error& failure) {
    trial.failure = TrialFailure{failure};
    if (!executable) return trial;
    const bool is_complete =
        failure.code() == ErrorCode::kFault && !executable->report().steps.empty() &&
        std::ranges::all_of(executable->report().steps,
                            [](const StepReport& step) { return step.unfinished == 0; });
    trial.failure->breaks_off = !is_complete;
  }
  look_at(executable->report(), trial);
  return trial;
}

std::string remark_about(const TrialFailure& failure, const std::string& kernel,
                         const std::filesystem::path& origin) {
  const auto& found = failure.code_error;
  if (found && !failure.breaks_off) {
    return fmt::format(
        "a trial on the simulated GPU found an error in the code of kernel {}, which does not come "
        "from a guess of a size: {}: {}; baton explain {}",
        kernel, with_given_path(found->where, origin), with_given_path(found->message, origin),
        found->kind);
  }
  return fmt::format(
      "a trial of kernel {} on the simulated GPU failed; mend the guesses of its step: {}", kernel,
      with_readable_names(with_given_path(failure.error.message(), origin)));
}

}  // namespace baton::tools
