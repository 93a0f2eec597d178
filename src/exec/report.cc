#include "exec/report.h"

#include <algorithm>

namespace baton::exec {
namespace {

// More are not kept: they would be read by no one.
constexpr std::size_t kMaxRunTimes = 10000;

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

}  // namespace

ReportBuilder::ReportBuilder(RunReport& report, const Plan& plan, std::uint64_t steps)
    : report_(report), each_(steps <= kMaxReportedSteps) {
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

void ReportBuilder::counted(std::uint32_t row, const driver::Counters& before,
                            const driver::Counters& after) {
  StepReport& step = report_.steps[row];
  if (!first_run_ || step.kind != StepReport::Kind::kLaunch) return;
  const std::uint64_t bytes =
      after.bytes_read - before.bytes_read + after.bytes_written - before.bytes_written;
  step.bytes = (step.bytes_counted ? step.bytes : 0) + bytes;
  step.bytes_counted = true;
  step.instructions =
      step.instructions.value_or(0) + after.lane_instructions - before.lane_instructions;
}

void ReportBuilder::end_run(double seconds) {
  if (report_.run_seconds.size() < kMaxRunTimes) report_.run_seconds.push_back(seconds);
  for (std::size_t row = 0; row < seconds_.size(); ++row) {
    if (seconds_[row] < 0) continue;
    StepReport& step = report_.steps[row];
    if (first_run_) step.seconds = seconds_[row];
    step.best_seconds = std::min(step.best_seconds.value_or(seconds_[row]), seconds_[row]);
  }
  first_run_ = false;
}

}  // namespace baton::exec
