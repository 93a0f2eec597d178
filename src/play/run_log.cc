#include "play/run_log.h"

#include <algorithm>
#include <numeric>

#include "bind/passed_bytes.h"

namespace baton::play {
namespace {

// More are not kept: they would be read by no one.
constexpr std::size_t kMaxRunTimes = 10000;
// Times of steps that are kept for statistics: of the first runs, as many as fit for all steps.
constexpr std::size_t kMaxSamples = std::size_t{1} << 20;

// Every step, a group before the steps in it.
template <typename Use>
void for_each_step(const std::vector<bind::PlannedStep>& steps, Use&& use) {
  for (const bind::PlannedStep& step : steps) {
    use(step);
    if (const auto* inner = bind::inner_steps(step)) for_each_step(*inner, use);
  }
}

std::vector<ConditionReport> conditions_of(const bind::Plan& plan) {
  std::vector<ConditionReport> reports;
  for_each_step(plan.steps, [&](const bind::PlannedStep& step) {
    const auto* condition = std::get_if<bind::PlannedCondition>(&step.action);
    if (condition == nullptr) return;
    reports.push_back({step.label, step.source->where, condition->test.is_loop(), std::nullopt});
  });
  return reports;
}

double quantile(const std::vector<double>& sorted, double part) {
  const double position = part * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

RunLog::RunLog(RunReport& report, const bind::Plan& plan, const bind::BufferTable& buffers,
               std::uint64_t steps, bool join)
    : report_(report),
      buffers_(buffers),
      runs_differ_(plan.conditions != 0),
      each_(steps <= kMaxReportedSteps && !join && !runs_differ_) {
  report_ = {};
  report_.conditions = conditions_of(plan);
  if (each_) return;
  for_each_step(plan.steps, [&](const bind::PlannedStep& step) {
    if (bind::inner_steps(step) != nullptr) return;
    add_row(step.leaf, step, {});
    in_condition_.push_back(bind::is_conditional(step));
  });
}

void RunLog::add_row(std::uint32_t row, const bind::PlannedStep& step, std::string indexes) {
  if (report_.steps.size() <= row) report_.steps.resize(row + 1);
  StepReport& added = report_.steps[row];
  added.kind = report_kind(step);
  added.label = step.label;
  added.indexes = std::move(indexes);
  added.where = step.source->where;
  added.executions = 0;
}

void RunLog::begin_run() {
  next_ = 0;
  if (any_timed_ || seconds_.size() != report_.steps.size()) {
    seconds_.assign(report_.steps.size(), -1.0);
    any_timed_ = false;
  }
  if (first_run_) {
    open_.assign(report_.steps.size(), 0);
    return;
  }
  // Later runs have the same steps, but for those in conditions.
  open_.resize(report_.steps.size());
  for (std::size_t row = 0; row < open_.size(); ++row) {
    const bool is_open = in_condition_.empty() || !in_condition_[row];
    open_[row] = is_open ? report_.steps[row].executions : 0;
  }
}

void RunLog::begin_row(const bind::RunStep& at, std::span<const std::int64_t> slots,
                       std::uint64_t times) {
  if (each_) add_row(at.row, *at.step, bind::indexes_text(*at.step, slots));
  report_.steps[at.row].executions += times;
  if (open_.size() <= at.row) open_.resize(at.row + 1);
  open_[at.row] += times;
}

void RunLog::note(const bind::RunStep& at, const bind::TapeLaunch& launch,
                  std::span<const std::int64_t> slots, std::uint64_t times) {
  begin_row(at, slots, times);
  StepReport& step = report_.steps[at.row];
  if (launch.form == nullptr) {
    step.skipped += times;
    return;
  }
  const LaunchConfig& config = (at.programmatic ? launch.form->early : launch.form->full)->config();
  step.grid = config.grid;
  step.block = config.block;
  step.shared = config.shared;
  const auto attributes = config.attributes.all();
  step.attributes.assign(attributes.begin(), attributes.end());
  if (!step.bytes_counted) {
    const std::vector<std::uint64_t> passed =
        bind::passed_bytes(*at.step, *launch.site->launch, slots, buffers_);
    step.bytes += std::accumulate(passed.begin(), passed.end(), std::uint64_t{0}) * times;
  }
}

void RunLog::recount() {
  for (std::size_t row = 0; row < in_condition_.size(); ++row) {
    if (!in_condition_[row]) continue;
    StepReport& step = report_.steps[row];
    step.executions = step.skipped = 0;
    if (!step.bytes_counted) step.bytes = 0;
  }
}

void RunLog::timed(std::uint32_t row, double seconds) {
  if (seconds_.size() <= row) seconds_.resize(row + 1, -1.0);
  any_timed_ = true;
  seconds_[row] = std::max(seconds_[row], 0.0) + seconds;
}

void RunLog::counted(std::uint32_t row, const driver::Counters& counters) {
  StepReport& step = report_.steps[row];
  if (!first_run_ || step.kind != StepReport::Kind::kLaunch) return;
  step.bytes = (step.bytes_counted ? step.bytes : 0) + counters.bytes_read + counters.bytes_written;
  step.bytes_counted = true;
  step.instructions = step.instructions.value_or(0) + counters.lane_instructions;
  step.warp_instructions = step.warp_instructions.value_or(0) + counters.warp_instructions;
  if (counters.accesses) {
    (step.accesses ? *step.accesses : step.accesses.emplace()) += *counters.accesses;
  }
}

void RunLog::end_run(double seconds) {
  for (ConditionReport& condition : report_.conditions) {
    if (!condition.executions) condition.executions = 0;
  }
  if (report_.run_seconds.size() < kMaxRunTimes) report_.run_seconds.push_back(seconds);
  for (std::size_t row = 0; any_timed_ && row < seconds_.size(); ++row) {
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
}

void RunLog::abandon_run() {
  for (std::size_t row = 0; row < open_.size(); ++row) {
    StepReport& step = report_.steps[row];
    step.unfinished = open_[row];
    const bool timed = row < seconds_.size() && seconds_[row] >= 0;
    if (first_run_ && timed && step.unfinished == 0) step.seconds = seconds_[row];
  }
}

void RunLog::finish() {
  for (std::size_t row = 0; row < samples_.size(); ++row) {
    report_.steps[row].times = time_statistics(std::move(samples_[row]));
  }
  samples_.clear();
}

}  // namespace baton::play

namespace baton {

std::optional<TimeStatistics> time_statistics(std::vector<double> seconds) {
  if (seconds.empty()) return std::nullopt;
  std::sort(seconds.begin(), seconds.end());
  return TimeStatistics{seconds.size(),
                        seconds.front(),
                        play::quantile(seconds, 0.25),
                        play::quantile(seconds, 0.5),
                        play::quantile(seconds, 0.75),
                        seconds.back()};
}

}  // namespace baton
