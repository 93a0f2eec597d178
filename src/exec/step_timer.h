#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "baton/stream.h"
#include "driver/simulator.h"
#include "exec/executor.h"

namespace baton::exec {

// Marks the end of each step with an event and reports the time between one event and the next.
// Few events are out at any time: whoever enqueues too far ahead waits for the oldest, so that the
// time limit is kept and the driver's queue does not block. Events are kept for the next run.
class StepTimer {
 public:
  explicit StepTimer(const Device& device) : device_(device) {}

  void begin(const RunContext& context);
  // After the step was enqueued.
  void mark(const RunContext& context, std::uint32_t row, const PlannedStep& step);
  // A step for which nothing is enqueued.
  void pass(const RunContext& context) { ++context.steps_done; }
  // Waits for all and closes the report's run.
  void finish(const RunContext& context);
  // Gives up on what is still out, and says in the error where the run stood.
  void abandon(Error& failure);

 private:
  struct Mark {
    Event event;
    std::uint32_t row;
    const PlannedStep* first;  // of the steps that end with it
    std::uint64_t steps;       // how many they are
  };

  Event take_event();
  void push_mark(const RunContext& context, std::uint32_t row);
  void harvest(const RunContext& context);

  Device device_;
  std::vector<Event> free_;
  std::optional<Event> begin_;  // of the run
  std::optional<Event> last_;   // the end of the step harvested last
  std::deque<Mark> marks_;      // oldest first
  driver::Counters counters_;   // at the end of the step harvested last
  // Steps enqueued after the last mark: how many, and their first.
  std::uint64_t unmarked_ = 0;
  const PlannedStep* first_unmarked_ = nullptr;
};

}  // namespace baton::exec
