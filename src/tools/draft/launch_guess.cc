#include "tools/draft/launch_guess.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace baton::tools {
namespace {

using Block = std::array<std::uint32_t, 3>;

constexpr Block kLineBlocks[] = {{256, 1, 1}, {128, 1, 1}, {64, 1, 1}, {32, 1, 1}};
constexpr Block kSquareBlocks[] = {{16, 16, 1}, {32, 8, 1}, {32, 32, 1}, {8, 8, 1}, {32, 4, 1}};
constexpr Block kCubeBlocks[] = {{8, 8, 4}, {4, 4, 4}};
constexpr std::span<const Block> kBlocks[] = {kLineBlocks, kSquareBlocks, kCubeBlocks};

// Bytes of dynamic shared memory for each thread.
constexpr std::uint32_t kSharedPerThread[] = {4, 8, 16, 64};
constexpr std::uint32_t kNoShared[] = {0};

// The most blocks along each axis of a cooperative grid, which has to fit on the device at once.
constexpr std::uint32_t kMostCooperative[] = {32, 5, 3};

std::vector<Block> blocks_of(const KernelFacts& facts, int axes, const BlockUse& use) {
  if (facts.required_block) return {*facts.required_block};
  // All threads would do the same: one is enough, or one warp.
  if (!use.reads_thread) return {{use.has_warp_matrices ? 32u : 1u, 1, 1}};
  const std::uint32_t most = facts.max_threads.value_or(1024);
  std::vector<Block> blocks;
  for (const Block& block : kBlocks[axes - 1]) {
    if (block[0] * block[1] * block[2] <= most) blocks.push_back(block);
  }
  // A kernel with a limit of its own is mostly launched with just so many threads.
  const bool is_own = most < kLineBlocks[0][0] && (blocks.empty() || blocks[0][0] != most);
  if (blocks.empty() || (axes == 1 && is_own)) blocks.insert(blocks.begin(), {most, 1, 1});
  // A kernel with a constant tile mostly has a thread for each element of it.
  const bool is_line = axes == 1 && use.tile[0] >= 32 && use.tile[0] <= most;
  if (is_line) blocks.insert(blocks.begin(), {use.tile[0], 1, 1});
  std::ranges::stable_partition(blocks, [&](const Block& block) {
    return std::equal(block.begin(), block.begin() + axes, use.tile.begin());
  });
  return blocks;
}

// A kernel that knows one axis of blocks may have one, two or three axes of elements.
std::vector<Cover> covers_of(int axes, const BlockUse& use) {
  if (!use.reads_block) {
    return {{Extent::kLine, BlockForm::kOne},
            {Extent::kSquare, BlockForm::kOne},
            {Extent::kCube, BlockForm::kOne}};
  }
  if (axes == 1) {
    std::vector<Cover> covers = {{Extent::kLine, BlockForm::kTiles},
                                 {Extent::kSquare, BlockForm::kLine},
                                 {Extent::kSquare, BlockForm::kRows},
                                 {Extent::kCube, BlockForm::kRows}};
    // Blocks without tiles are in no line of tiles.
    if (use.tells_tiles && !use.is_tiled[0]) covers.erase(covers.begin() + 1);
    return covers;
  }
  if (axes == 2) {
    std::vector<Cover> covers = {{Extent::kSquare, BlockForm::kTiles},
                                 {Extent::kCube, BlockForm::kRows}};
    // Threads with tiles along both axes go through the third one in a loop.
    const bool goes_through = use.is_tiled[0] && use.is_tiled[1];
    if (goes_through) covers.insert(covers.begin() + 1, {Extent::kCube, BlockForm::kTiles});
    return covers;
  }
  return {{Extent::kCube, BlockForm::kTiles}};
}

std::string grid_of(const LaunchGuess& guess, int axis, const DraftSize& sizes) {
  const std::uint32_t cluster = guess.cluster[axis];
  if (guess.cover.blocks == BlockForm::kOne) return fmt::to_string(cluster);
  const bool is_row = guess.cover.blocks == BlockForm::kRows;
  const int axes = axes_of(guess.cover.extent);
  // Results in a line, of which no name tells the axis of the square that they go through.
  const bool goes_through = guess.cover.blocks == BlockForm::kTiles && guess.axes == 1;
  const std::string size =
      goes_through ? sizes.along(0, 1) : sizes.along(is_row ? axis + 1 : axis, axes);
  const std::uint32_t own = guess.tile[axis] > 0 ? guess.tile[axis] : guess.block[axis];
  const std::uint32_t divisor = cluster * (is_row ? 1 : own);
  std::string blocks = fmt::format("ceildiv({}, {})", size, divisor);
  if (divisor == 1) blocks = size;
  if (cluster > 1) blocks = fmt::format("{} * {}", cluster, blocks);
  if (guess.cover.blocks == BlockForm::kLine) blocks += fmt::format(" * {}", sizes.along(1, axes));
  if (!guess.cooperative) return blocks;
  return fmt::format("min({}, {})", blocks, kMostCooperative[guess.axes - 1] * cluster);
}

// Whether the code tells how many elements of a tile each block has, and they are not its threads.
bool has_own_tile(const LaunchGuess& guess, const BlockUse& use) {
  if (guess.cover.blocks != BlockForm::kTiles) return false;
  bool differs = false;
  for (int axis = 0; axis < guess.axes; ++axis) {
    if (use.tile[axis] == 0) return false;
    differs |= use.tile[axis] != guess.block[axis];
  }
  return differs;
}

}  // namespace

std::uint32_t granule_of(const LaunchGuess& guess) {
  return std::max(guess.block[0], *std::ranges::max_element(guess.tile));
}

std::vector<LaunchGuess> launch_guesses(const KernelFacts& facts, const image::Reached& reached,
                                        const BlockUse& use) {
  LaunchGuess common;
  common.cooperative = facts.grid_sync.value_or(false);
  // Ranks of cooperative groups read all axes: of the thread in its block, and where the grid
  // meets also of the block. A kernel that is made for several axes reads both along them.
  common.axes = common.cooperative ? 1 : reached.block_axes;
  const int thread_axes = std::min(common.axes, reached.thread_axes);
  common.block_is_required = facts.required_block.has_value();
  if (facts.required_cluster) common.cluster = *facts.required_cluster;
  std::vector<LaunchGuess> guesses;
  for (const Block& block : blocks_of(facts, thread_axes, use)) {
    for (const Cover& cover : covers_of(common.axes, use)) {
      LaunchGuess guess = common;
      guess.block = block;
      guess.cover = cover;
      const std::span<const std::uint32_t> shared =
          reached.dynamic_shared ? std::span<const std::uint32_t>(kSharedPerThread) : kNoShared;
      for (const std::uint32_t bytes : shared) {
        guess.shared = bytes * guess.threads();
        guess.tile = {};
        if (has_own_tile(guess, use)) {
          guesses.push_back(guess);
          guesses.back().tile = use.tile;
        }
        guesses.push_back(guess);
      }
    }
  }
  return guesses;
}

std::string launch_lines(const LaunchGuess& guess, const DraftSize& size) {
  std::vector<std::string> grid;
  for (int axis = 0; axis < guess.axes; ++axis) {
    const bool is_number = guess.cover.blocks == BlockForm::kOne;
    const std::string blocks = grid_of(guess, axis, size);
    grid.push_back(is_number ? blocks : fmt::format("\"{}\"", blocks));
  }
  int used = 3;
  while (used > 1 && guess.block[used - 1] == 1) --used;
  const auto extents = std::span(guess.block).first(guess.block_is_required ? 3 : used);
  std::string text = fmt::format("grid   = [{}]  # guess\nblock  = [{}]  # {}\n",
                                 fmt::join(grid, ", "), fmt::join(extents, ", "),
                                 guess.block_is_required ? "which the kernel requires" : "guess");
  if (guess.shared > 0) {
    text += fmt::format("shared = {}  # guess: {} bytes a thread\n", guess.shared,
                        guess.shared / guess.threads());
  }
  if (guess.cooperative) text += "cooperative = true  # its blocks meet across the grid\n";
  return text;
}

}  // namespace baton::tools
