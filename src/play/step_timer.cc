#include "play/step_timer.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"
#include "driver/driver.h"

namespace baton::play {
namespace {

// Marks that may be out. Two events a step are cheap; a queue that runs dry is not.
constexpr std::size_t kMaxMarks = 256;
// Steps behind which there is a mark that may be out: fewer than launches that a driver's queue
// holds (1,024), where it would block and not see that the run is to stop.
constexpr std::uint64_t kMaxMarked = 512;

}  // namespace

Event StepTimer::take_event() {
  if (free_.empty()) return Event(device_);
  Event event = std::move(free_.back());
  free_.pop_back();
  return event;
}

void StepTimer::begin(const PlayContext& context) {
  for (std::optional<Event>* event : {&begin_, &last_}) {
    if (*event) free_.push_back(*std::exchange(*event, std::nullopt));
  }
  const bool marks_steps = context.time_steps || context.watch.limited();
  const std::uint64_t most = marks_steps || context.watch.looks() ? kMostUnmarked : kMostUnwatched;
  most_open_ = {marks_steps ? 1 : most, marks_steps && context.steps_apart ? 1 : most};
  marks_.clear();
  open_.clear();
  counted_.clear();
  counted_.resize(streams(context));
  branches_ = 0;
  marked_ = 0;
  if (driver::Simulator* simulator = device_.driver().simulator) {
    for (std::size_t number = 0; number < streams(context); ++number) {
      simulator->count_launches(stream(context, number).native(), counts(context));
    }
  }
  begin_ = take_event();
  begin_->record(context.stream);
}

// The streams that launches of a run are sent to: of its lanes, then of its parts of the SMs.
std::size_t StepTimer::streams(const PlayContext& context) {
  return context.tape.lanes() + context.lanes.part_streams().size();
}

const Stream& StepTimer::stream(const PlayContext& context, std::size_t number) {
  if (number == 0) return context.stream;
  const std::size_t lanes = context.tape.lanes();
  return number < lanes ? context.lanes.streams()[number - 1]
                        : context.lanes.part_streams()[number - lanes];
}

std::size_t StepTimer::stream_of(const PlayContext& context, const bind::PlannedLaunch& launch) {
  const std::optional<std::uint32_t> part = context.tape.site(launch.number).part_number;
  return part ? context.tape.lanes() + *part : std::size_t{launch.lane};
}

// Whether the device counts what launches do, and the report wants to know.
bool StepTimer::counts(const PlayContext& context) const {
  return device_.driver().simulator != nullptr && context.time_steps && context.log.first_run();
}

// Of steps that have ended, the oldest of which no counts were noted yet.
void StepTimer::note_counted(const PlayContext& context, const Group& group) {
  for (std::size_t number = 0; number < counted_.size(); ++number) {
    const std::vector<driver::Counters> taken =
        device_.driver().simulator->take_counted(stream(context, number).native());
    counted_[number].insert(counted_[number].end(), taken.begin(), taken.end());
  }
  for (const bind::RunStep& at : group) {
    const auto* launch = std::get_if<bind::PlannedLaunch>(&at.step->action);
    if (launch == nullptr && !at.own_kernel) continue;
    // Kernels of Baton's own are in the first lane.
    const std::size_t number = launch == nullptr ? 0 : stream_of(context, *launch);
    std::deque<driver::Counters>& counted = counted_[number];
    if (counted.empty()) return;  // a launch failed before the device counted it
    if (launch != nullptr) context.log.counted(at.row, counted.front());
    counted.pop_front();
  }
}

// That launches in a chain have one time, the reader of a report knows. A kernel between peers
// among them would pass for as slow as they are.
void StepTimer::note_shared_time(const PlayContext& context, const Group& group) {
  const auto is_kernel = [](const bind::RunStep& at) { return at.own_kernel; };
  if (group.size() < 2 || std::ranges::none_of(group, is_kernel)) return;
  for (const bind::RunStep& at : std::span(group).first(group.size() - 1)) {
    context.log.timed_with_next(at.row);
  }
}

StepTimer::Group StepTimer::take_group() {
  Group group;
  if (!empty_.empty()) {
    std::swap(group, empty_.back());
    empty_.pop_back();
  }
  return group;
}

void StepTimer::push_mark(const PlayContext& context) {
  // In the run's own stream, whose events have times.
  context.lanes.leave_part(0, context.stream);
  marks_.push_back({take_event(), std::exchange(open_, take_group())});
  marks_.back().event.record(context.stream);
  marked_ += marks_.back().group.size();
  // The newest one is not waited for, however many steps it ends: the device would run dry.
  while (marks_.size() > kMaxMarks || (marks_.size() > 1 && marked_ > kMaxMarked)) harvest(context);
}

void StepTimer::harvest(const PlayContext& context) {
  Mark& mark = marks_.front();
  context.watch.wait([&] { return mark.event.done(); });
  if (context.time_steps && !mark.group.empty()) {
    note_shared_time(context, mark.group);
    context.log.timed(mark.group.back().row, elapsed_seconds(last_ ? *last_ : *begin_, mark.event));
  }
  if (counts(context)) note_counted(context, mark.group);
  for (const bind::RunStep& at : mark.group) context.log.done(at.row);
  context.steps_done += mark.group.size();
  marked_ -= mark.group.size();
  mark.group.clear();
  empty_.push_back(std::move(mark.group));
  if (last_) free_.push_back(std::move(*last_));
  last_ = std::move(mark.event);
  marks_.pop_front();
}

void StepTimer::go_on(const PlayContext& context) {
  if (branches_ != 0) return;
  while (!marks_.empty()) harvest(context);
  if (!context.time_steps) return;
  context.lanes.leave_part(0, context.stream);
  marks_.push_back({take_event(), take_group()});
  marks_.back().event.record(context.stream);
}

void StepTimer::finish(const PlayContext& context) {
  if ((context.time_steps || context.watch.limited()) && !open_.empty()) push_mark(context);
  Event end = take_event();
  end.record(context.stream);
  while (!marks_.empty()) harvest(context);
  context.watch.wait([&] { return end.done(); });
  for (const bind::RunStep& at : open_) context.log.done(at.row);
  context.steps_done += open_.size();
  open_.clear();
  context.log.end_run(elapsed_seconds(*begin_, end));
  free_.push_back(std::move(end));
}

void StepTimer::abandon(Error& failure, RunLog& log) {
  try {
    // The host may not have looked at what was done by now.
    while (!marks_.empty() && marks_.front().event.done()) {
      for (const bind::RunStep& at : marks_.front().group) log.done(at.row);
      marks_.pop_front();
    }
  } catch (const Error&) {
    // A fault shows at whatever call comes next, so what failed is unknown.
  }
  const Group& group = marks_.empty() ? open_ : marks_.front().group;
  if (!group.empty() && failure.code() == ErrorCode::kFault &&
      device_.driver().simulator == nullptr) {
    const bool alone = group.size() == 1 && marks_.size() + (open_.empty() ? 0 : 1) < 2;
    failure = blame(failure, group.front(), alone);
  }
  note_standing(failure, group, log);
  marks_.clear();
  open_.clear();
}

}  // namespace baton::play
