#include "tools/draft/launch_guess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace baton::tools::launch_guess_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string first_lines(const KernelFacts& facts, const image::Reached& reached = {}) {
  return launch_lines(launch_guesses(facts, reached).front(), {{"N"}});
}

image::Reached reads(int thread_axes, int block_axes) {
  image::Reached reached;
  reached.thread_axes = thread_axes;
  reached.block_axes = block_axes;
  return reached;
}

TEST(LaunchGuess, FollowsTheAxesThatTheKernelReads) {
  EXPECT_EQ(first_lines({}), "grid   = [\"ceildiv(N, 256)\"]  # guess\nblock  = [256]  # guess\n");
  EXPECT_EQ(first_lines({}, reads(2, 2)),
            "grid   = [\"ceildiv(N, 16)\", \"ceildiv(N, 16)\"]  # guess\n"
            "block  = [16, 16]  # guess\n");
  EXPECT_THAT(first_lines({}, reads(1, 2)), HasSubstr("grid   = [\"ceildiv(N, 256)\", \"N\"]"));
  EXPECT_THAT(first_lines({}, reads(3, 3)), HasSubstr("block  = [8, 8, 4]"));
}

TEST(LaunchGuess, RanksOfCooperativeGroupsTellNoAxes) {
  EXPECT_EQ(first_lines({}, reads(3, 1)), first_lines({}));
  KernelFacts facts;
  facts.grid_sync = true;
  EXPECT_EQ(first_lines(facts, reads(3, 3)), first_lines(facts));
}

TEST(LaunchGuess, FactsAreTheSameInAllGuesses) {
  KernelFacts facts;
  facts.required_block = {{64, 2, 1}};
  facts.required_cluster = {{2, 1, 1}};
  facts.grid_sync = true;
  for (const LaunchGuess& guess : launch_guesses(facts, {})) {
    const std::string lines = launch_lines(guess, {{"N"}});
    EXPECT_THAT(lines, HasSubstr("block  = [64, 2, 1]  # which the kernel requires"));
    EXPECT_THAT(lines, HasSubstr("2 * ceildiv(N, "));
    EXPECT_THAT(lines, HasSubstr("min("));
    EXPECT_THAT(lines, HasSubstr("cooperative = true"));
  }
}

TEST(LaunchGuess, BlocksStayWithinTheKernelsLimit) {
  KernelFacts facts;
  facts.max_threads = 100;
  for (const LaunchGuess& guess : launch_guesses(facts, reads(2, 2))) {
    EXPECT_LE(guess.threads(), 100u);
  }
  facts.max_threads = 20;
  EXPECT_THAT(first_lines(facts), HasSubstr("block  = [20]"));
  facts.max_threads = 192;
  EXPECT_THAT(first_lines(facts), HasSubstr("block  = [192]"));
}

TEST(LaunchGuess, ConstantTilesSizeTheGrid) {
  const auto lines = [](const BlockUse& use, int axes) {
    return launch_lines(launch_guesses({}, reads(axes, axes), use).front(), {{"N"}});
  };
  // As many threads, where a block may have so many; else the usual number.
  EXPECT_THAT(lines({.tile = {128, 0, 0}}, 1),
              HasSubstr("ceildiv(N, 128)\"]  # guess\nblock  = [128]"));
  EXPECT_THAT(lines({.tile = {2048, 0, 0}}, 1),
              HasSubstr("ceildiv(N, 2048)\"]  # guess\nblock  = [256]"));
  EXPECT_THAT(lines({.tile = {32, 32, 0}}, 2), HasSubstr("block  = [32, 32]"));
  EXPECT_THAT(lines({.tile = {64, 64, 0}}, 2), HasSubstr("\"ceildiv(N, 64)\", \"ceildiv(N, 64)\""));
  // A tile along one axis of two says nothing of the other.
  EXPECT_THAT(lines({.tile = {64, 0, 0}}, 2), HasSubstr("\"ceildiv(N, 16)\", \"ceildiv(N, 16)\""));
  // Without the index of a thread.
  EXPECT_THAT(lines({.tile = {16, 16, 0}, .reads_thread = false, .has_warp_matrices = true}, 2),
              HasSubstr("\"ceildiv(N, 16)\", \"ceildiv(N, 16)\"]  # guess\nblock  = [32]"));
  EXPECT_THAT(lines({.reads_thread = false}, 1), HasSubstr("[\"N\"]  # guess\nblock  = [1]"));
}

// Rows of a square, and of a cube.
TEST(LaunchGuess, BlocksInALineCoverALineASquareAndRows) {
  std::vector<std::string> grids;
  for (const LaunchGuess& guess : launch_guesses({}, {})) {
    if (guess.block[0] == 256) grids.push_back(launch_lines(guess, {{"N"}}).substr(0, 36));
  }
  EXPECT_THAT(grids, testing::ElementsAre(HasSubstr("[\"ceildiv(N, 256)\"]"),
                                          HasSubstr("[\"ceildiv(N, 256) * N\"]"),
                                          HasSubstr("[\"N\"]"), HasSubstr("[\"N\"]")));
}

// Each block has a row where its index is not multiplied by the extent of a block.
TEST(LaunchGuess, BlocksWithoutTilesAreInNoLineOfTiles) {
  for (const LaunchGuess& guess : launch_guesses({}, {}, {.tells_tiles = true})) {
    EXPECT_NE(guess.cover.blocks, BlockForm::kLine);
  }
}

TEST(LaunchGuess, OneBlockForAKernelThatReadsNoBlock) {
  for (const LaunchGuess& guess : launch_guesses({}, {}, {.reads_block = false})) {
    EXPECT_THAT(launch_lines(guess, {{"N"}}), HasSubstr("grid   = [1]  # guess"));
  }
}

// A stencil whose threads go through the planes.
TEST(LaunchGuess, TilesAlongTwoAxesMayCoverACube) {
  std::vector<std::string> grids;
  const BlockUse use = {.is_tiled = {true, true, false}, .tells_tiles = true};
  for (const LaunchGuess& guess : launch_guesses({}, reads(2, 2), use)) {
    if (guess.block[0] == 16) grids.push_back(launch_lines(guess, {{"nx", "ny", "nz"}}));
  }
  EXPECT_THAT(grids, testing::ElementsAre(HasSubstr("\"ceildiv(max(nx, ny, nz), 16)\", "),
                                          HasSubstr("[\"ceildiv(nx, 16)\", \"ceildiv(ny, 16)\"]"),
                                          HasSubstr("[\"ny\", \"nz\"]")));
}

TEST(LaunchGuess, DynamicSharedMemoryGrows) {
  EXPECT_THAT(first_lines({}), Not(HasSubstr("shared")));
  image::Reached reached;
  reached.dynamic_shared = true;
  const auto guesses = launch_guesses({}, reached);
  EXPECT_THAT(launch_lines(guesses.front(), {{"N"}}),
              HasSubstr("shared = 1024  # guess: 4 bytes a thread"));
  EXPECT_TRUE(std::ranges::all_of(guesses, [](const LaunchGuess& g) { return g.shared > 0; }));
}

}  // namespace
}  // namespace baton::tools::launch_guess_test
