#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "baton/schedule.h"

namespace baton::sim {

// Which command starts and which grid goes on, by the schedule. A plain value; its queue's thread
// alone uses it.
class GridScheduler {
 public:
  explicit GridScheduler(const Schedule& schedule) : schedule_(schedule), state_(~schedule.seed) {}

  const Schedule& schedule() const { return schedule_; }
  bool is_serial() const { return schedule_.kind == ScheduleKind::kSerial; }
  // Whether ready commands start beside running grids, without waiting for those to take long.
  bool overlaps() const {
    return schedule_.kind != ScheduleKind::kSerial && schedule_.kind != ScheduleKind::kLate;
  }

  // Which of `count` ready commands, in the order of priority and submission, starts: its index;
  // `count` for none of them now, which is not an answer where nothing runs.
  std::size_t start(std::size_t count, bool any_runs);

  // The running grids, of which there are `count` in the order in which they started, as they are
  // to be tried: the first that can go on has the turn. For kSerial and kLate they all have it.
  std::vector<std::size_t> turn(std::size_t count);
  // How long a turn lasts, in warp instructions.
  std::uint64_t slice();

  // Which of `count` devices that take turns has the next one, after that of number `own`. With
  // kLate and kEarly the first or the last device runs ahead of the others.
  std::size_t next_device(std::size_t count, std::size_t own);

 private:
  std::uint64_t draw();

  Schedule schedule_;
  std::uint64_t state_;
  std::uint64_t turns_ = 0;
  std::uint64_t device_turns_ = 0;
};

}  // namespace baton::sim
