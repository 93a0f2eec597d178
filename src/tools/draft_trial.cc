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
// The time of a run of the draft, which its reader waits for.
constexpr std::chrono::seconds kDraftLimit{2};
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
               const std::filesystem::path& origin, std::chrono::seconds limit) {
  const std::string text = draft_text(file, {kernel}, "trial", origin, elements,
                                      std::filesystem::absolute(origin).string());
  std::optional<Executable> executable;
  Trial trial;
  try {
    const Device device = Device::open(kDraftDevice);
    executable = Executable::prepare(Program::from_text(text, "<trial>"), device, PrepareOptions{});
    RunOptions options;
    options.timeout = limit;
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

// Tries several values of N, until one fails.
Trial try_all(const KernelFile& file, const DraftKernel& kernel,
              const std::vector<std::int64_t>& sides, const std::filesystem::path& origin) {
  Trial trial;
  for (const std::int64_t elements : sides) {
    const bool unwritten = trial.reads_unwritten;
    trial = try_with(file, kernel, elements, origin, kTrialLimit);
    trial.reads_unwritten |= unwritten;
    if (trial.failure) break;
  }
  return trial;
}

// Tries the N of the draft, and smaller ones where a run takes long. Sets the one that is left.
Trial try_draft(const KernelFile& file, DraftKernel& kernel, const std::filesystem::path& origin) {
  Trial trial;
  for (const std::int64_t elements : sides_of(kernel.launch.cover.extent).draft) {
    trial = try_with(file, kernel, elements, origin, kDraftLimit);
    kernel.elements = elements;
    if (!trial.failure || trial.failure->error.code() != ErrorCode::kTimeout) break;
  }
  return trial;
}

class LaunchChoice {
 public:
  LaunchChoice(const KernelFile& file, const std::filesystem::path& origin, DraftKernel& kernel)
      : file_(file), origin_(origin), kernel_(kernel) {}

  std::optional<TrialFailure> make() {
    // A kernel that writes past its buffers with any other N takes multiples of its block. Blocks
    // that have rows come last: many kernels run with them, and leave elements out.
    for (const bool are_rows : {false, true}) {
      for (const bool has_bounds : {true, false}) {
        if (try_guesses(are_rows, has_bounds)) return std::move(left_);
      }
    }
    kernel_.launch = kernel_.launches.front();
    kernel_.elements = 0;
    return std::move(first_);
  }

 private:
  // Chooses the first guess that runs to its end; false if there is none. Kernels with bounds of
  // their own run with any N.
  bool try_guesses(bool are_rows, bool has_bounds) {
    std::optional<DraftKernel> second_best;
    for (const LaunchGuess& guess : kernel_.launches) {
      if ((guess.cover.blocks == BlockForm::kRows) != are_rows) continue;
      if (std::chrono::steady_clock::now() - begin_ > kTrialsLimit) break;
      DraftKernel tried = kernel_;
      tried.launch = guess;
      tried.multiple_of = has_bounds ? 1 : guess.block[0];
      Trial trial;
      if (has_bounds) trial = try_all(file_, tried, sides_of(guess.cover.extent).trials, origin_);
      // A failure that goes on, such as a race, is of the kernel's code. N is still one whose run
      // its reader can wait for.
      if (trial.failure && !trial.breaks_off()) try_draft(file_, tried, origin_);
      if (!trial.failure) {
        const bool unwritten = trial.reads_unwritten;
        trial = try_draft(file_, tried, origin_);
        trial.reads_unwritten |= unwritten;
        // The trials ran to their end, so the guess fits a kernel that is slow.
        const bool is_slow = trial.failure && trial.failure->error.code() == ErrorCode::kTimeout;
        if (has_bounds && is_slow) trial.failure.reset();
      }
      if (trial.breaks_off()) {
        if (!first_) first_ = std::move(trial.failure);
      } else if (trial.failure || !trial.reads_unwritten) {
        kernel_ = std::move(tried);
        left_ = std::move(trial.failure);
        return true;
      } else if (!second_best) {
        second_best = std::move(tried);
      }
    }
    if (second_best) kernel_ = std::move(*second_best);
    return second_best.has_value();
  }

  const KernelFile& file_;
  const std::filesystem::path& origin_;
  DraftKernel& kernel_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::optional<TrialFailure> first_;  // of the likeliest guess
  std::optional<TrialFailure> left_;   // of the chosen one
};

}  // namespace

std::optional<TrialFailure> choose_launch(const KernelFile& file,
                                          const std::filesystem::path& origin,
                                          DraftKernel& kernel) {
  return LaunchChoice(file, origin, kernel).make();
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
