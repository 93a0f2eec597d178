#pragma once

#include <array>
#include <cstdint>

#include "ptx/ast.h"

namespace baton::tools {

// Facts about a kernel's blocks from its code. Functions that it calls are not read.
struct BlockUse {
  // The constant that an axis of the block's index is multiplied with, "blockIdx.x * 32": the
  // elements of a block along it. A power of two; 0: none, or several.
  std::array<std::uint32_t, 3> tile = {};
  // Whether an axis of the block's index is multiplied with such a constant or with the block's own
  // extent: the blocks have tiles along it. Otherwise each block has a row, a plane and the like.
  std::array<bool, 3> is_tiled = {};
  bool reads_block = true;         // reads the block's index
  bool tells_tiles = false;        // whether `is_tiled` tells of all the code
  bool reads_thread = true;        // reads the thread's index
  bool has_warp_matrices = false;  // multiplies matrices by whole warps
};

// Throws as Function::body does.
BlockUse block_use(const ptx::Function& kernel);

}  // namespace baton::tools
