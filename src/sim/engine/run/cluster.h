#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/engine/run/block.h"
#include "sim/engine/run/state.h"

namespace baton::sim {

// Blocks that run together: a cluster of the grid, or a single block where it has none. One worker
// runs all of a cluster, block by block, so what the blocks share needs no lock.

// Storage for clusters of the grid; everything that is the same for all clusters is filled in.
std::unique_ptr<ClusterState> make_cluster(const GridState& grid);
// Makes it cluster `number` of the grid, at its beginning.
void begin_cluster(const GridState& grid, std::uint64_t number, ClusterState* cluster);
// Runs its blocks for about `budget` warp instructions, as run_block does one. kSpinning and
// kWaiting say that no block can go on without what lies outside the cluster; where nothing out
// there could help, that is a deadlock.
BlockStop run_cluster(Exec* x, ClusterState* cluster, std::int64_t budget);

// Lets the threads go on that wait for other grids; false where there are none.
bool release_grid_waits(ClusterState& cluster, Trace* trace);

}  // namespace baton::sim
