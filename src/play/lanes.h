#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "baton/stream.h"
#include "bind/tape_walk.h"

namespace baton::play {

// The streams of a tape's branches. Lane 0 is the stream that a run is sent to; the others are
// streams of this object, which runs share. One thread at a time. Calls throw the driver's errors.
class Lanes {
 public:
  // `count`: with lane 0. `events`: those that launches record.
  Lanes(const Device& device, std::uint32_t count, std::uint32_t events);

  // By number. They order launches of different lanes.
  std::span<const Event> events() const { return recorded_; }
  // The lane's next launch starts after the events that it comes after.
  void wait(const bind::TapeAfter& after, const Stream& own);
  // The events of a launch that was not sent happen when what comes before it is done.
  void record(const bind::TapeRecorded& recorded, const Stream& own);

  // From lane 1 on.
  std::span<const Stream> streams() const { return streams_; }
  const Stream& stream(std::uint32_t lane, const Stream& own) const {
    return lane == 0 ? own : streams_[lane - 1];
  }
  // The lanes of the branches go on when the one around them is as far as now.
  void fork(const bind::TapeParallel& parallel, const Stream& own);
  // The lane around the branches goes on when they are done.
  void join(const bind::TapeParallel& parallel, const Stream& own);
  // The lane of the steps around the branches.
  static std::uint32_t lane_around(const bind::TapeParallel& parallel) {
    return lane_of(parallel.steps.front());
  }

 private:
  static std::uint32_t lane_of(const bind::TapeStep& branch) {
    return std::get<bind::TapeBranch>(branch.action).group->lane;
  }

  std::vector<Stream> streams_;
  std::vector<Event> events_;    // by lane
  std::vector<Event> recorded_;  // by number
};

}  // namespace baton::play
