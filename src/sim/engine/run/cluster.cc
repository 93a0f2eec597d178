#include "sim/engine/run/cluster.h"

#include <algorithm>

#include "sim/engine/judge/shared_watch.h"

namespace baton::sim {
namespace {

// A block of a cluster runs this long before the others, which may wait for it, get a turn.
constexpr std::int64_t kTurn = 1 << 18;

bool can_run(const BlockState& block) {
  return std::any_of(block.warps.begin(), block.warps.end(),
                     [](const Warp& warp) { return warp.runnable_fragments() != 0; });
}

// What keeps a cluster from going on where each of its blocks was found unable to; kBudget where
// some can after all.
BlockStop standstill(Exec* x, ClusterState* cluster, bool polls) {
  if (polls) return BlockStop::kSpinning;
  for (const auto& block : cluster->blocks) {
    if (waits(*block, Wait::kGrid)) return BlockStop::kWaiting;
  }
  if (time_out_waits(*cluster)) return BlockStop::kBudget;
  report_deadlock(x, *cluster);
  return BlockStop::kFault;
}

}  // namespace

std::unique_ptr<ClusterState> make_cluster(const GridState& grid) {
  auto cluster = std::make_unique<ClusterState>();
  for (std::uint32_t rank = 0; rank < grid.launch.cluster.count(); ++rank) {
    cluster->blocks.push_back(make_block(grid, rank));
    cluster->blocks.back()->cluster = cluster.get();
  }
  if (grid.watches_shared || grid.cluster_flags != nullptr) {
    const auto bytes = static_cast<std::uint32_t>(cluster->blocks[0]->shared.size());
    cluster->watch.reset(
        new SharedWatch(bytes, grid.warps, grid.launch.cluster.count(),
                        {grid.kernel->copies_read_shared, grid.kernel->copies_write_shared,
                         grid.launch.keeps_to_model}));
    for (const auto& block : cluster->blocks) block->watch = cluster->watch.get();
  }
  return cluster;
}

void begin_cluster(const GridState& grid, std::uint64_t number, ClusterState* cluster) {
  cluster->number = number;
  const Extent3& size = grid.launch.cluster;
  const std::uint32_t across = grid.launch.grid.x / size.x;
  const std::uint32_t down = grid.launch.grid.y / size.y;
  const Extent3 first{static_cast<std::uint32_t>(number % across) * size.x,
                      static_cast<std::uint32_t>(number / across % down) * size.y,
                      static_cast<std::uint32_t>(number / across / down) * size.z};
  for (const auto& block : cluster->blocks) {
    const std::uint32_t rank = block->rank;
    begin_block(grid,
                {first.x + rank % size.x, first.y + rank / size.x % size.y,
                 first.z + rank / size.x / size.y},
                block.get());
  }
  if (cluster->watch != nullptr) cluster->watch->begin();
  cluster->cursor = 0;
  cluster->live_blocks = static_cast<std::uint32_t>(cluster->blocks.size());
  cluster->spun = cluster->looked_at_flag = false;
  cluster->undecided = 0;
  cluster->time_outs = 0;
  cluster->barrier = {};
  cluster->barrier.live_threads = grid.threads * cluster->live_blocks;
}

BlockStop run_cluster(Exec* x, ClusterState* cluster, std::int64_t budget) {
  const auto count = static_cast<std::uint32_t>(cluster->blocks.size());
  const std::int64_t turn = count == 1 ? budget : std::min(kTurn, budget);
  std::uint32_t stuck = 0;  // blocks in a row that could not go on
  bool polls = false;       // one of them waits by polling
  while (cluster->live_blocks != 0) {
    if (stuck >= cluster->live_blocks) {
      const BlockStop stop = standstill(x, cluster, polls);
      if (stop != BlockStop::kBudget) return stop;
      stuck = 0;  // those that waited at mbarriers go on
    }
    if (budget <= 0) return BlockStop::kBudget;
    BlockState& block = *cluster->blocks[cluster->cursor];
    cluster->cursor = cluster->cursor + 1 == count ? 0 : cluster->cursor + 1;
    if (block.live_warps == 0) continue;
    if (!can_run(block)) {
      ++stuck;
      continue;
    }
    const std::uint64_t before = x->warp_instructions;
    const BlockStop stop = run_block(x, &block, turn);
    // Even a block that did nothing costs something, or pollers could go round for ever.
    budget -= static_cast<std::int64_t>(x->warp_instructions - before) + 64;
    if (stop == BlockStop::kFault) return stop;
    if (stop == BlockStop::kTriggered) return stop;
    if (stop == BlockStop::kFinished) --cluster->live_blocks;
    if (x->gives_way && cluster->live_blocks != 0) return BlockStop::kBudget;
    const bool polled = stop == BlockStop::kSpinning;
    stuck = polled ? stuck + 1 : 0;
    polls = polled;
  }
  return BlockStop::kFinished;
}

bool release_grid_waits(ClusterState& cluster, Trace* trace) {
  bool any = false;
  for (const auto& block : cluster.blocks) {
    for (Warp& warp : block->warps) {
      for (std::uint32_t k = 0; k < warp.count; ++k) {
        Fragment& fragment = warp.fragments[k];
        if (fragment.wait != Wait::kGrid) continue;
        fragment.wait = Wait::kNone;
        warp.ordered.add(1, fragment.mask);
        block->waited = any = true;
      }
      if (trace != nullptr) trace->end_wait(block.get());
    }
  }
  if (any) cluster.spun = false;
  return any;
}

}  // namespace baton::sim
