#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "baton/image.h"
#include "image/ptx/ptx_reach.h"
#include "tools/draft/block_use.h"
#include "tools/draft/draft_size.h"

namespace baton::tools {

// The size of a draft's buffers: elements along one axis, of a square, or of a cube.
enum class Extent : std::uint8_t { kLine, kSquare, kCube };
constexpr int axes_of(Extent extent) {
  return static_cast<int>(extent) + 1;
}

// How blocks cover it.
enum class BlockForm : std::uint8_t {
  kTiles,  // along each axis of the grid, so many as N threads need
  kRows,   // N blocks along each axis, of which each has a row
  kLine,   // in one line, so many as all elements of a square need
  kOne,    // one block, for a kernel that does not tell its blocks apart
};

struct Cover {
  Extent extent = Extent::kLine;
  BlockForm blocks = BlockForm::kTiles;

  bool operator==(const Cover&) const = default;
};

// A guess of how a kernel is launched, as far as its image does not say.
struct LaunchGuess {
  std::array<std::uint32_t, 3> block = {256, 1, 1};
  bool block_is_required = false;
  std::array<std::uint32_t, 3> cluster = {1, 1, 1};  // of which the grid is a multiple
  bool cooperative = false;
  int axes = 1;  // of the grid: those along which the kernel reads the index of its block
  std::uint32_t shared = 0;  // bytes of dynamic shared memory
  Cover cover;
  // Of tiles: the elements of a block along each axis; 0: as many as threads.
  std::array<std::uint32_t, 3> tile = {};

  std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
};

// Of which the size along each axis is a multiple where a kernel has no bounds of its own.
std::uint32_t granule_of(const LaunchGuess& guess);

// Guesses for one kernel, the likeliest first; never empty. Cooperative launches, clusters and
// required blocks are facts, and are the same in all of them.
std::vector<LaunchGuess> launch_guesses(const KernelFacts& facts, const image::Reached& reached,
                                        const BlockUse& use = {});

// The lines "grid = …", "block = …" and the like of a step, with marks of what is guessed.
std::string launch_lines(const LaunchGuess& guess, const DraftSize& size);

}  // namespace baton::tools
