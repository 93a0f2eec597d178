#include "sim/engine/run/block_scheduler.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/engine/run/cluster.h"

namespace baton::sim {
namespace {

bool has_triggered(const ClusterState& cluster) {
  return std::all_of(cluster.blocks.begin(), cluster.blocks.end(),
                     [](const auto& block) { return block->triggered; });
}

// Vigna's SplitMix64 (2015, public domain).
std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t BlockScheduler::draw() {
  return mixed(state_ += 0x9e3779b97f4a7c15u);
}

std::int64_t BlockScheduler::slice(std::int64_t most) {
  if (schedule_.kind != ScheduleKind::kRandom) return most;
  return std::min(most, std::int64_t{1} << (4 + draw() % 14));
}

// A grid's clusters begin in order; with a seed, in an order that visits each once.
std::uint64_t BlockScheduler::number_of(const GridState& grid, std::uint64_t turn) const {
  const std::uint64_t total = grid.total_clusters;
  if (schedule_.kind == ScheduleKind::kReverse) return total - 1 - turn;
  if (schedule_.kind != ScheduleKind::kRandom) return turn;
  std::uint64_t step = mixed(schedule_.seed ^ grid.id) % total;
  while (std::gcd(step, total) != 1) ++step;
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{step} * turn + schedule_.seed) % total);
}

void BlockScheduler::turn_warps(BlockState* block) {
  const std::uint64_t warps = block->warps.size();
  if (schedule_.kind == ScheduleKind::kReverse) {
    block->cursor = block->step = static_cast<std::uint32_t>(warps - 1);
  } else if (schedule_.kind == ScheduleKind::kRandom) {
    block->cursor = static_cast<std::uint32_t>(draw() % warps);
    std::uint64_t step = draw() % warps;
    while (std::gcd(step, warps) != 1) ++step;
    block->step = static_cast<std::uint32_t>(step);
  }
}

std::size_t BlockScheduler::choose(const GridState& grid, bool room) {
  const std::size_t parked = grid.parked.size();
  if (parked == 0) return 0;
  if (grid.due != 0) return 0;
  switch (schedule_.kind) {
    case ScheduleKind::kEarly: {
      // Blocks that trigger let the next grid start: theirs is done first.
      const auto ready = std::find_if(grid.parked.begin(), grid.parked.end(), [](const auto& one) {
        return !one->spun && !has_triggered(*one);
      });
      if (ready != grid.parked.end()) return static_cast<std::size_t>(ready - grid.parked.begin());
      return room ? parked : 0;
    }
    case ScheduleKind::kRandom:
      return draw() % (room ? parked + parked / 2 + 1 : parked);
    default:
      return !grid.parked.front()->spun || !room ? 0 : parked;
  }
}

std::unique_ptr<ClusterState> BlockScheduler::next(GridState* grid) {
  std::unique_ptr<ClusterState> cluster;
  std::uint64_t turn = 0;
  {
    std::lock_guard lock(grid->mutex);
    turn = grid->next_cluster.load(std::memory_order_relaxed);
    const bool room = turn < grid->total_clusters && grid->resident < grid->max_resident;
    const std::size_t chosen = choose(*grid, room);
    if (grid->due != 0) --grid->due;
    if (chosen < grid->parked.size()) {
      std::swap(grid->parked[chosen], grid->parked.front());
      cluster = std::move(grid->parked.front());
      grid->parked.pop_front();
      cluster->spun = cluster->looked_at_flag = false;
      return cluster;
    }
    if (!room) return nullptr;
    grid->next_cluster.store(turn + 1, std::memory_order_relaxed);
    ++grid->resident;
    if (!grid->spare.empty()) {
      cluster = std::move(grid->spare.back());
      grid->spare.pop_back();
    }
  }
  if (cluster == nullptr) cluster = make_cluster(*grid);
  begin_cluster(*grid, number_of(*grid, turn), cluster.get());
  for (const auto& block : cluster->blocks) turn_warps(block.get());
  for (const auto& block : cluster->blocks) {
    if (grid->trace == nullptr) break;
    const Extent3& index = block->index;
    grid->trace->begin_block(block.get(), grid->id, grid->multiprocessor_of(block->number),
                             {index.x, index.y, index.z});
  }
  return cluster;
}

}  // namespace baton::sim
