#pragma once

#include <cstdint>
#include <memory>

#include "sim/engine/exec.h"
#include "sim/engine/state.h"

namespace baton::sim {

enum class BlockStop : std::uint8_t {
  kFinished,
  kBudget,    // ran as long as it was allowed to
  kSpinning,  // all its warps wait for somebody else by polling
  kWaiting,   // for another grid
  kFault,
};

// Storage for blocks of the grid; everything that is the same for all blocks is filled in.
std::unique_ptr<BlockState> make_block(const GridState& grid);
// Makes it block `number` of the grid, at its beginning.
void begin_block(const GridState& grid, std::uint64_t number, BlockState* block);
// Runs the block for about `budget` warp instructions. `x` supplies grid and regions; its counters
// are added to.
BlockStop run_block(Exec* x, BlockState* block, std::int64_t budget);

// Where the block's warps stand, one line for each set of warps at one place.
void describe_block(const GridState& grid, const BlockState& block,
                    std::vector<std::string>* lines);

}  // namespace baton::sim
