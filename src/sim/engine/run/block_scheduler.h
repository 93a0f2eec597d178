#pragma once

#include <cstdint>
#include <memory>

#include "baton/schedule.h"
#include "sim/engine/run/state.h"

namespace baton::sim {

// Which block of a grid runs next, by the schedule. Only the thread that advances grids calls it
// where the schedule is not kSerial; any worker does where it is.
class BlockScheduler {
 public:
  explicit BlockScheduler(const Schedule& schedule) : schedule_(schedule), state_(schedule.seed) {}

  const Schedule& schedule() const { return schedule_; }
  bool is_serial() const { return schedule_.kind == ScheduleKind::kSerial; }

  // A cluster to run, a new one or one that was parked; null where there is none. It belongs to the
  // caller until it is parked or finished.
  std::unique_ptr<ClusterState> next(GridState* grid);
  // How long it may run, in warp instructions.
  std::int64_t slice(std::int64_t most);

 private:
  // Of the parked clusters, or their number for a new one.
  std::size_t choose(const GridState& grid, bool room);
  std::uint64_t number_of(const GridState& grid, std::uint64_t turn) const;
  // Which warp of a block that begins runs first, and which one after it.
  void turn_warps(BlockState* block);
  std::uint64_t draw();

  Schedule schedule_;
  std::uint64_t state_;
};

}  // namespace baton::sim
