#include "exec/step_timer.h"

#include <utility>
#include <variant>

#include "base/error.h"
#include "driver/driver.h"

namespace baton::exec {
namespace {

// Marks that may be out. Two events a step are cheap; a queue that runs dry is not.
constexpr std::size_t kMaxMarks = 256;
// Without times, marks only bound how far ahead the host enqueues.
constexpr std::uint64_t kStepsPerUntimedMark = 16;
// Launches that overlap one another are marked at the latest after so many, though that keeps two
// of them apart.
constexpr std::uint64_t kMostUnmarked = 256;

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
  open_ = {};
  begin_ = take_event();
  begin_->record(context.stream);
  context.report.begin_run();
}

void StepTimer::next(const RunContext& context, bool overlaps) {
  if (open_.steps == 0) return;
  const bool due = context.time_steps || open_.steps >= kStepsPerUntimedMark;
  if ((due && !overlaps) || open_.steps >= kMostUnmarked) push_mark(context);
}

void StepTimer::enqueued(const RunContext& context, std::uint32_t row, const PlannedStep& step) {
  if (open_.steps++ == 0) open_.first = &step;
  if (context.time_steps) open_.rows.push_back(row);
}

void StepTimer::push_mark(const RunContext& context) {
  marks_.push_back({take_event(), std::exchange(open_, {})});
  marks_.back().event.record(context.stream);
  while (marks_.size() > kMaxMarks) harvest(context);
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
    context.report.timed(mark.group.rows.back(),
                         elapsed_seconds(last_ ? *last_ : *begin_, mark.event));
  }
  if (count) {
    const driver::Counters after = simulator->counters_at(mark.event.native());
    // What they come to together is the last one's.
    const std::uint32_t last = mark.group.rows.back();
    for (const std::uint32_t row : mark.group.rows) {
      if (row != last) context.report.counted(row, counters_, counters_);
    }
    context.report.counted(last, counters_, after);
    counters_ = after;
  }
  for (const std::uint32_t row : mark.group.rows) context.report.done(row);
  context.steps_done += mark.group.steps;
  if (last_) free_.push_back(std::move(*last_));
  last_ = std::move(mark.event);
  marks_.pop_front();
}

void StepTimer::finish(const RunContext& context) {
  if (context.time_steps && open_.steps != 0) push_mark(context);
  Event end = take_event();
  end.record(context.stream);
  while (!marks_.empty()) harvest(context);
  context.watch.wait([&] { return end.done(); });
  context.steps_done += std::exchange(open_, {}).steps;
  context.report.end_run(elapsed_seconds(*begin_, end));
  free_.push_back(std::move(end));
}

// A GPU says that a kernel failed, not which: the call that met the fault is no more than the
// messenger, and what is known is the first step that may be behind it.
Error StepTimer::blame(const Error& failure, const PlannedStep& first) const {
  const auto* launch = std::get_if<PlannedLaunch>(&first.action);
  const std::string what =
      launch != nullptr ? "kernel " + launch->kernel.name() : "\"" + first.label + "\"";
  std::uint64_t steps = open_.steps;
  for (const Mark& mark : marks_) steps += mark.group.steps;
  Error named = error_at(first.source->where, failure.code(), "{}{} failed: {}", what,
                         steps > 1 ? ", or a step after it," : "", failure.message());
  for (const std::string& note : failure.notes()) named.note(note);
  named.of_driver(failure.driver_result());
  return named;
}

void StepTimer::abandon(Error& failure) {
  // An event of its own may be what failed: a fault shows at whatever call comes next.
  const PlannedStep* step = marks_.empty() ? open_.first : marks_.front().group.first;
  if (step != nullptr) {
    if (failure.code() == ErrorCode::kFault && device_.driver().simulator == nullptr) {
      failure = blame(failure, *step);
    }
    failure.note("the first step not known to have completed: " + step->label + ", at " +
                 step->source->where.to_string());
  }
  marks_.clear();
  open_ = {};
}

}  // namespace baton::exec
