#include "exec/step_timer.h"

#include <utility>

#include "driver/driver.h"

namespace baton::exec {
namespace {

// Marks that may be out. Two events a step are cheap; a queue that runs dry is not.
constexpr std::size_t kMaxMarks = 256;
// Without times, marks only bound how far ahead the host enqueues.
constexpr std::uint64_t kStepsPerUntimedMark = 16;

}  // namespace

Event StepTimer::take_event() {
  if (free_.empty()) return Event(device_);
  Event event = std::move(free_.back());
  free_.pop_back();
  return event;
}

void StepTimer::begin(const RunContext& context) {
  for (std::optional<Event>* event : {&begin_, &last_}) {
    if (*event) free_.push_back(*std::exchange(*event, std::nullopt));
  }
  marks_.clear();
  unmarked_ = 0;
  begin_ = take_event();
  begin_->record(context.stream);
  context.report.begin_run();
}

void StepTimer::mark(const RunContext& context, std::uint32_t row, const PlannedStep& step) {
  if (unmarked_++ == 0) first_unmarked_ = &step;
  if (context.time_steps || unmarked_ >= kStepsPerUntimedMark) push_mark(context, row);
  while (marks_.size() > kMaxMarks) harvest(context);
}

void StepTimer::push_mark(const RunContext& context, std::uint32_t row) {
  marks_.push_back({take_event(), row, first_unmarked_, std::exchange(unmarked_, 0)});
  marks_.back().event.record(context.stream);
}

void StepTimer::harvest(const RunContext& context) {
  Mark& mark = marks_.front();
  driver::Simulator* simulator = device_.driver().simulator;
  const bool count = simulator != nullptr && context.time_steps && context.report.first_run();
  if (!last_ && count) {
    context.watch.wait([&] { return begin_->done(); });
    counters_ = simulator->counters_at(begin_->native());
  }
  context.watch.wait([&] { return mark.event.done(); });
  if (context.time_steps) {
    context.report.timed(mark.row, elapsed_seconds(last_ ? *last_ : *begin_, mark.event));
  }
  if (count) {
    const driver::Counters after = simulator->counters_at(mark.event.native());
    context.report.counted(mark.row, counters_, after);
    counters_ = after;
  }
  context.steps_done += mark.steps;
  if (last_) free_.push_back(std::move(*last_));
  last_ = std::move(mark.event);
  marks_.pop_front();
}

void StepTimer::finish(const RunContext& context) {
  Event end = take_event();
  end.record(context.stream);
  while (!marks_.empty()) harvest(context);
  context.watch.wait([&] { return end.done(); });
  context.steps_done += std::exchange(unmarked_, 0);
  context.report.end_run(elapsed_seconds(*begin_, end));
  free_.push_back(std::move(end));
}

void StepTimer::abandon(Error& failure) {
  // An event of its own may be what failed: a fault shows at whatever call comes next.
  if (!marks_.empty() || unmarked_ != 0) {
    const PlannedStep& step = marks_.empty() ? *first_unmarked_ : *marks_.front().first;
    failure.note("the first step not known to have completed: " + step.label + ", at " +
                 step.source->where.to_string());
  }
  marks_.clear();
}

}  // namespace baton::exec
