#include "exec/report.h"

#include <algorithm>

namespace baton::exec {
namespace {

// More are not kept: they would be read by no one.
constexpr std::size_t kMaxRunTimes = 10000;
// Times of steps that are kept for statistics: of the first runs, as many as fit for all steps.
constexpr std::size_t kMaxSamples = std::size_t{1} << 20;

StepReport::Kind kind_of(const PlannedStep& step) {
  if (std::holds_alternative<PlannedCopy>(step.action)) return StepReport::Kind::kCopy;
  if (std::holds_alternative<PlannedFill>(step.action)) return StepReport::Kind::kFill;
  return StepReport::Kind::kLaunch;
}

template <typename Use>
void for_each_leaf(const std::vector<PlannedStep>& steps, Use&& use) {
  for (const PlannedStep& step : steps) {
    const auto* group = std::get_if<PlannedRepeat>(&step.action);
    if (group == nullptr) {
      use(step);
    } else {
      for_each_leaf(group->steps, use);
    }
  }
}

double quantile(const std::vector<double>& sorted, double part) {
  const double position = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

ReportBuilder::ReportBuilder(RunReport& report, const Plan& plan, std::uint64_t steps, bool join)
    : report_(report), each_(steps <= kMaxReportedSteps && !join) {
  report_ = {};
  if (each_) return;
  for_each_leaf(plan.steps, [&](const PlannedStep& step) { add_row(step.leaf, step, {}); });
}

void ReportBuilder::add_row(std::uint32_t row, const PlannedStep& step, std::string indexes) {
  if (report_.steps.size() <= row) report_.steps.resize(row + 1);
  StepReport& added = report_.steps[row];
  added.kind = kind_of(step);
  added.label = step.label;
  added.indexes = std::move(indexes);
  added.where = step.source->where;
  added.executions = 0;
}

void ReportBuilder::begin_run() {
  next_ = 0;
  seconds_.assign(report_.steps.size(), -1.0);
  open_.assign(report_.steps.size(), 0);
}

void ReportBuilder::begin_same_run() {
  begin_run();
  for (std::size_t row = 0; row < open_.size(); ++row) {
    open_[row] = report_.steps[row].executions;
  }
}

void ReportBuilder::launched(std::uint32_t row, const LaunchConfig& config, std::uint64_t bytes) {
  StepReport& step = report_.steps[row];
  step.grid = config.grid;
  step.block = config.block;
  step.shared = config.shared;
  const auto attributes = config.attributes.all();
  step.attributes.assign(attributes.begin(), attributes.end());
  step.bytes += bytes;
}

void ReportBuilder::timed(std::uint32_t row, double seconds) {
  if (seconds_.size() <= row) seconds_.resize(row + 1, -1.0);
  seconds_[row] = std::max(seconds_[row], 0.0) + seconds;
}

void ReportBuilder::counted(std::uint32_t row, const driver::Counters& counters) {
  StepReport& step = report_.steps[row];
  if (!first_run_ || step.kind != StepReport::Kind::kLaunch) return;
  step.bytes = (step.bytes_counted ? step.bytes : 0) + counters.bytes_read + counters.bytes_written;
  step.bytes_counted = true;
  step.instructions = step.instructions.value_or(0) + counters.lane_instructions;
}

void ReportBuilder::end_run(double seconds) {
  if (report_.run_seconds.size() < kMaxRunTimes) report_.run_seconds.push_back(seconds);
  for (std::size_t row = 0; row < seconds_.size(); ++row) {
    if (seconds_[row] < 0) continue;
    StepReport& step = report_.steps[row];
    if (first_run_) {
      step.seconds = seconds_[row];
    } else {
      samples_.resize(seconds_.size());
      const std::size_t most = std::max(kMaxSamples / samples_.size(), std::size_t{32});
      if (samples_[row].size() < most) samples_[row].push_back(seconds_[row]);
    }
    step.best_seconds = std::min(step.best_seconds.value_or(seconds_[row]), seconds_[row]);
  }
  first_run_ = false;
  open_.clear();
}

void ReportBuilder::abandon_run() {
  for (std::size_t row = 0; row < open_.size(); ++row) {
    StepReport& step = report_.steps[row];
    step.unfinished = open_[row];
    const bool timed = row < seconds_.size() && seconds_[row] >= 0;
    if (first_run_ && timed && step.unfinished == 0) step.seconds = seconds_[row];
  }
}

void ReportBuilder::finish() {
  for (std::size_t row = 0; row < samples_.size(); ++row) {
    report_.steps[row].times = time_statistics(std::move(samples_[row]));
  }
  samples_.clear();
}

}  // namespace baton::exec

namespace baton {

std::optional<TimeStatistics> time_statistics(std::vector<double> seconds) {
  if (seconds.empty()) return std::nullopt;
  std::sort(seconds.begin(), seconds.end());
  return TimeStatistics{seconds.size(),
                        seconds.front(),
                        exec::quantile(seconds, 0.25),
                        exec::quantile(seconds, 0.5),
                        exec::quantile(seconds, 0.75),
                        seconds.back()};
}

}  // namespace baton
