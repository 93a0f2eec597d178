#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "baton/stream.h"
#include "driver/simulator.h"
#include "exec/executor.h"
#include "exec/place.h"

namespace baton::exec {

// Marks the end of each step with an event and reports the time between one event and the next. An
// event between two launches keeps them from overlapping, so launches that may overlap are marked
// together, after the last of them, and what they took is the last one's; unless the run wants its
// steps apart. Few events are out at any
// time: whoever enqueues too far ahead waits for the oldest, so that the time limit is kept and the
// driver's queue does not block. Events are kept for the next run.
class StepTimer {
 public:
  explicit StepTimer(const Device& device) : device_(device) {}

  void begin(const RunContext& context);
  // Before a step is enqueued, which may overlap the one before it or not.
  void next(const RunContext& context, bool overlaps);
  // After it was enqueued.
  void enqueued(const RunContext& context, const Place& place);
  // A step for which nothing is enqueued.
  void pass(const RunContext& context, std::uint32_t row) {
    context.report.done(row);
    ++context.steps_done;
  }
  // Waits for all and closes the report's run.
  void finish(const RunContext& context);
  // Gives up on what is still out, and says in the error where the run stands.
  void abandon(Error& failure, ReportBuilder& report);

 private:
  // Steps that one event ends; the last one's is the time.
  using Group = std::vector<Place>;
  struct Mark {
    Event event;
    Group group;
  };

  Event take_event();
  Group take_group();
  void push_mark(const RunContext& context);
  void harvest(const RunContext& context);

  Device device_;
  std::vector<Event> free_;
  std::vector<Group> empty_;    // whose memory is used again
  std::optional<Event> begin_;  // of the run
  std::optional<Event> last_;   // the end of the group harvested last
  Group open_;                  // enqueued after the last mark
  std::deque<Mark> marks_;      // oldest first
  std::uint64_t enqueued_ = 0;  // steps of this run
  std::uint64_t marked_ = 0;    // of these, those in marks_
  driver::Counters counters_;   // at the end of the group harvested last
};

}  // namespace baton::exec
