#include "tools/draft_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "baton/device.h"
#include "baton/executable.h"
#include "driver/finding_kind.h"
#include "tools/draft_text.h"
#include "tools/readable_names.h"

namespace baton::tools {
namespace {

constexpr std::chrono::seconds kTrialLimit{20};
// The time of all trials of one kernel, after which no further guess is tried.
constexpr std::chrono::seconds kTrialsLimit{30};

struct Trial {
  std::optional<TrialFailure> failure;
  // Whether the kernel read memory that nothing wrote: a sign of a block that is too small for its
  // shared memory, and no error.
  bool reads_unwritten = false;

  bool breaks_off() const { return failure && failure->breaks_off; }
};

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

void look_at(const RunReport& report, Trial& trial) {
  const auto first = std::ranges::find_if(report.findings, is_code_error);
  if (trial.failure && first != report.findings.end()) trial.failure->code_error = *first;
  trial.reads_unwritten |= std::ranges::any_of(report.findings, [](const FindingReport& finding) {
    return finding.kind == driver::to_string(driver::FindingKind::kUninitialized);
  });
}

// A run of the kernel alone with N elements along an axis.
Trial try_with(const KernelFile& file, const DraftKernel& kernel, std::int64_t elements,
               const std::filesystem::path& origin) {
  const std::string text = draft_text(file, {kernel}, "trial", origin, elements,
                                      std::filesystem::absolute(origin).string());
  std::optional<Executable> executable;
  Trial trial;
  try {
    const Device device = Device::open(kDraftDevice);
    executable = Executable::prepare(Program::from_text(text, "<trial>"), device, PrepareOptions{});
    RunOptions options;
    options.timeout = kTrialLimit;
    executable->run(options);
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

// The same with several values of N.
Trial try_guess(const KernelFile& file, const DraftKernel& kernel, const LaunchGuess& guess,
                const std::filesystem::path& origin) {
  DraftKernel tried = kernel;
  tried.launch = guess;
  Trial trial;
  for (const std::int64_t elements : sides_of(guess.extent).trials) {
    const bool unwritten = trial.reads_unwritten;
    trial = try_with(file, tried, elements, origin);
    trial.reads_unwritten |= unwritten;
    if (trial.failure) break;
  }
  return trial;
}

}  // namespace

std::optional<TrialFailure> choose_launch(const KernelFile& file,
                                          const std::filesystem::path& origin,
                                          DraftKernel& kernel) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<TrialFailure> first;  // of the likeliest guess
  bool has_second_best = false;
  for (const LaunchGuess& guess : kernel.launches) {
    Trial trial = try_guess(file, kernel, guess, origin);
    if (trial.breaks_off()) {
      if (!first) first = std::move(trial.failure);
    } else if (trial.failure || !trial.reads_unwritten) {
      kernel.launch = guess;
      return std::move(trial.failure);
    } else if (!has_second_best) {
      kernel.launch = guess;
      has_second_best = true;
    }
    if (std::chrono::steady_clock::now() - begin > kTrialsLimit) break;
  }
  return has_second_best ? std::nullopt : first;
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
