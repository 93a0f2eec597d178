#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "baton/stream.h"
#include "driver/simulator.h"
#include "play/failed_run.h"
#include "play/player.h"

namespace baton::play {

// Marks the end of each step with an event and reports the time between one event and the next. An
// event between two launches keeps them from overlapping, so launches that may overlap are marked
// together, after the last of them, and what they took is the last one's; unless the run wants its
// steps apart. Few events are out at any time: whoever enqueues too far ahead waits for the oldest,
// so that a watched run keeps its time limit and does not block in the driver's full queue. Events
// are kept for the next run.
class StepTimer {
 public:
  explicit StepTimer(const Device& device) : device_(device) {}

  // The report's run was begun.
  void begin(const PlayContext& context);
  // Before a step is enqueued, which may overlap the one before it or not.
  void next(const PlayContext& context, bool overlaps) {
    if (branches_ == 0 && open_.size() >= most_open_[overlaps]) push_mark(context);
  }
  // Before the first of several branches, and after they were joined. Their steps have one mark,
  // after the join.
  void begin_branches(const PlayContext& context) {
    next(context, false);
    ++branches_;
  }
  void end_branches() { --branches_; }
  // After it was enqueued.
  void enqueued(const bind::RunStep& at) { open_.push_back(at); }
  // A step for which nothing is enqueued.
  void pass(const PlayContext& context, std::uint32_t row) {
    context.log.done(row);
    ++context.steps_done;
  }
  // Before the host waits for what was enqueued, and when that is done.
  void halt(const PlayContext& context) {
    if (branches_ == 0 && !open_.empty()) push_mark(context);
  }
  void go_on(const PlayContext& context);
  // Waits for all and closes the report's run.
  void finish(const PlayContext& context);
  // Gives up on what is still out, and says in the error where the run stands.
  void abandon(Error& failure, RunLog& log);

 private:
  // Steps that one event ends; the last one's is the time. None: from here on it is taken anew.
  using Group = std::vector<bind::RunStep>;
  struct Mark {
    Event event;
    Group group;
  };

  // Each mark takes as long as a few launches. Where neither times nor a limit ask for them, they
  // only bound how far ahead the host enqueues, and tell how far the run is: one comes after so
  // many steps. Launches that overlap one another are marked no later, though that keeps two of
  // them apart.
  static constexpr std::uint64_t kMostUnmarked = 256;
  // The same where the run is not watched, and the driver may block when its queue is full.
  static constexpr std::uint64_t kMostUnwatched = 4096;

  Event take_event();
  Group take_group();
  void push_mark(const PlayContext& context);
  void harvest(const PlayContext& context);
  static std::size_t streams(const PlayContext& context);
  static const Stream& stream(const PlayContext& context, std::size_t number);
  static std::size_t stream_of(const PlayContext& context, const bind::PlannedLaunch& launch);
  bool counts(const PlayContext& context) const;
  static void note_shared_time(const PlayContext& context, const Group& group);
  void note_counted(const PlayContext& context, const Group& group);

  Device device_;
  // So many open steps are marked before the next one: of the run, for one that does not overlap
  // the step before it, and for one that may.
  std::array<std::uint64_t, 2> most_open_{};
  std::vector<Event> free_;
  std::vector<Group> empty_;    // whose memory is used again
  std::optional<Event> begin_;  // of the run
  std::optional<Event> last_;   // the end of the group harvested last
  Group open_;                  // enqueued after the last mark
  std::deque<Mark> marks_;      // oldest first
  std::uint64_t marked_ = 0;    // steps in marks_
  std::size_t branches_ = 0;    // that are open, one in another
  // By stream: of launches whose group is not harvested, oldest first.
  std::vector<std::deque<driver::Counters>> counted_;
};

}  // namespace baton::play
