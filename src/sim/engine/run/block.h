#pragma once

#include <cstdint>
#include <memory>

#include "sim/engine/run/exec.h"
#include "sim/engine/run/state.h"

namespace baton::sim {

enum class BlockStop : std::uint8_t {
  kFinished,
  kBudget,    // ran as long as it was allowed to
  kSpinning,  // all its warps wait for others by polling
  kWaiting,   // no warp can go on by itself
  kFault,
  kTriggered,  // has just triggered, where the grid stops at that
};

// Storage for the grid's blocks of that rank in their clusters; everything that is the same for
// them all is filled in.
std::unique_ptr<BlockState> make_block(const GridState& grid, std::uint32_t rank);
// Makes it the block `index` of the grid, at its beginning.
void begin_block(const GridState& grid, const Extent3& index, BlockState* block);
// Runs the block for about `budget` warp instructions. `x` supplies grid and regions; its counters
// are added to.
BlockStop run_block(Exec* x, BlockState* block, std::int64_t budget);

// Whether some lanes of the block wait for such a thing.
bool waits(const BlockState& block, Wait wait);
// Faults the grid, as no thread of the cluster can ever go on.
void report_deadlock(Exec* x, const ClusterState& cluster);

}  // namespace baton::sim
