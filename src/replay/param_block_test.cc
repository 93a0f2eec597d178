#include "replay/param_block.h"

#include <gtest/gtest.h>

#include <vector>

namespace baton::replay::param_block_test {
namespace {

using record::ParamNote;
using Params = std::vector<ParamNote>;

TEST(LayOut, MovesEachParameter) {
  const std::string block = "....aaaa..bb";
  EXPECT_EQ(lay_out(block, Params{{4, 4}, {10, 2}}, Params{{0, 4}, {4, 2}}), "aaaabb");
  EXPECT_EQ(lay_out("aaaabb", Params{{0, 4}, {4, 2}}, Params{{2, 4}, {8, 2}}),
            std::string("\0\0aaaa\0\0bb", 10));
  EXPECT_EQ(lay_out(block, Params{}, Params{}), "");
  // What comes after the last parameter is left out.
  EXPECT_EQ(lay_out("aaaa....", Params{{0, 4}}, Params{{0, 4}}), "aaaa");
}

TEST(LayOut, NeedsTheSameParameters) {
  const std::string block = "aaaabb";
  EXPECT_FALSE(lay_out(block, Params{{0, 4}, {4, 2}}, Params{{0, 4}}));
  EXPECT_FALSE(lay_out(block, Params{{0, 4}}, Params{{0, 4}, {4, 2}}));
  EXPECT_FALSE(lay_out(block, Params{{0, 4}, {4, 2}}, Params{{0, 4}, {4, 1}}));
  EXPECT_FALSE(lay_out(block, Params{{0, 4}, {4, 3}}, Params{{0, 4}, {4, 3}}));
  EXPECT_TRUE(lay_out(block, Params{{0, 4}, {4, 2}}, Params{{0, 4}, {4, 2}}));
}

}  // namespace
}  // namespace baton::replay::param_block_test
