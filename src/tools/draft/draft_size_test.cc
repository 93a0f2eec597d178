#include "tools/draft/draft_size.h"

#include <gtest/gtest.h>

namespace baton::tools::draft_size_test {
namespace {

TEST(DraftSize, OneSymbolIsAlongEachAxis) {
  EXPECT_EQ(DraftSize({"n"}).along(0, 1), "n");
  EXPECT_EQ(DraftSize({"n"}).along(2, 3), "n");
}

TEST(DraftSize, AxesAreThoseOfTheirNames) {
  for (const DraftSize& size : {DraftSize{{"width", "height"}}, DraftSize{{"height", "width"}}}) {
    EXPECT_EQ(size.along(0, 2), "width");
    EXPECT_EQ(size.along(1, 2), "height");
  }
  EXPECT_EQ(DraftSize({"num_rows", "num_cols"}).along(0, 2), "num_cols");
}

TEST(DraftSize, ThreeAxesHaveTheirNamesToo) {
  const DraftSize size({"nx", "ny", "nz"});
  EXPECT_EQ(size.along(0, 3), "nx");
  EXPECT_EQ(size.along(1, 3), "ny");
  EXPECT_EQ(size.along(2, 3), "nz");
  EXPECT_EQ(DraftSize({"depth", "width", "height"}).along(2, 3), "depth");
  // A plane has no depth, and two of one axis tell nothing.
  EXPECT_EQ(size.along(0, 2), "max(nx, ny, nz)");
  EXPECT_EQ(DraftSize({"width", "depth"}).along(0, 2), "max(width, depth)");
  EXPECT_EQ(DraftSize({"rows", "height"}).along(0, 2), "max(rows, height)");
}

TEST(DraftSize, OfOthersTheLargestIsAlongEachAxis) {
  EXPECT_EQ(DraftSize({"n", "k"}).along(0, 2), "max(n, k)");
  EXPECT_EQ(DraftSize({"width", "height"}).along(0, 1), "max(width, height)");
  EXPECT_EQ(DraftSize({"m", "n", "k"}).along(1, 2), "max(m, n, k)");
}

TEST(DraftSize, NamesOfChoices) {
  for (const char* name : {"seed", "rng_seed", "level", "max_iter", "step", "Mode", "axis"}) {
    EXPECT_TRUE(sounds_like_a_choice(name)) << name;
  }
  for (const char* name : {"n", "num_steps", "model", "rows", "pitch", "batch", ""}) {
    EXPECT_FALSE(sounds_like_a_choice(name)) << name;
  }
}

TEST(DraftSize, NamesOfSizes) {
  for (const char* name : {"n", "N", "num_rows", "hidden_size", "Width", "K"}) {
    EXPECT_TRUE(sounds_like_a_size(name)) << name;
  }
  for (const char* name : {"shift", "seed", "axis", "token"}) {
    EXPECT_FALSE(sounds_like_a_size(name)) << name;
  }
}

}  // namespace
}  // namespace baton::tools::draft_size_test
