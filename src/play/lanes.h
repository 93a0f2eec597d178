#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "baton/sm_part.h"
#include "baton/stream.h"
#include "bind/tape_walk.h"

namespace baton::play {

// The streams of a tape's branches and of its parts of the SMs. Lane 0 is the stream that a run is
// sent to; the others are streams of this object, which runs share. A lane goes on in the stream of
// a part for launches there, and returns to its own. One thread at a time. Calls throw the driver's
// errors.
class Lanes {
 public:
  // `count`: with lane 0. `events`: those that launches record.
  Lanes(const Device& device, std::uint32_t count, std::uint32_t events,
        std::span<const SmPart> parts = {});

  // By number. They order launches of different lanes.
  std::span<const Event> events() const { return recorded_; }
  // The lane's next launch starts after the events that it comes after.
  void wait(const bind::TapeAfter& after, const Stream& own);
  // The events of a launch that was not sent happen when what comes before it is done.
  void record(const bind::TapeRecorded& recorded, const Stream& own);

  // From lane 1 on, and by part.
  std::span<const Stream> streams() const { return streams_; }
  std::span<const Stream> part_streams() const { return part_streams_; }
  // Where the lane goes on.
  const Stream& stream(std::uint32_t lane, const Stream& own) const {
    if (const std::optional<std::uint32_t>& part = parts_[lane]) return part_streams_[*part];
    return home(lane, own);
  }
  bool has_parts() const { return !part_streams_.empty(); }
  // The lane's next step is the launch, on its part of the SMs or on all of them.
  void take_part(const bind::LaunchSite& site, const Stream& own) {
    take_part(site.launch->lane, site.part_number, own);
  }
  // The lane returns to its own stream.
  void leave_part(std::uint32_t lane, const Stream& own) { take_part(lane, std::nullopt, own); }
  // After a run that failed, no lane is in the stream of a part.
  void forget_parts() {
    if (has_parts()) parts_.assign(parts_.size(), std::nullopt);
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

  const Stream& home(std::uint32_t lane, const Stream& own) const {
    return lane == 0 ? own : streams_[lane - 1];
  }
  // Makes the lane go on in that stream after what was sent so far.
  void take_part(std::uint32_t lane, std::optional<std::uint32_t> part, const Stream& own) {
    if (parts_[lane] != part) change_part(lane, part, own);
  }
  void change_part(std::uint32_t lane, std::optional<std::uint32_t> part, const Stream& own);

  std::vector<Stream> streams_, part_streams_;
  std::vector<std::optional<std::uint32_t>> parts_;  // by lane: in whose stream it is
  std::vector<Event> part_ends_;                     // by part
  std::vector<Event> events_;                        // by lane
  std::vector<Event> recorded_;                      // by number
};

}  // namespace baton::play
