#include "tools/source_lines.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace baton::tools::source_lines_test {
namespace {

TEST(SourceLines, Places) {
  const auto place = read_place("a b/norm.cu:12:7");
  ASSERT_TRUE(place);
  EXPECT_EQ(place->file, "a b/norm.cu");
  EXPECT_EQ(place->line, 12);
  EXPECT_EQ(place->column, 7);
  EXPECT_EQ(read_place("C:3")->line, 3);
  EXPECT_EQ(read_place("C:3")->column, 0);
  const auto inlined = read_place("a.h:3:1 (inlined at b.h:4:2) (inlined at c.cu:9:8)");
  ASSERT_TRUE(inlined);
  EXPECT_EQ(inlined->file, "c.cu");
  EXPECT_EQ(inlined->line, 9);
  EXPECT_EQ(inlined->column, 8);
  for (const char* text :
       {"", "a.cu", "a.cu:", ":3", ":3:4", "a.cu:x", "a.cu:-3", "a:99999999999"}) {
    EXPECT_FALSE(read_place(text)) << text;
  }
}

TEST(SourceLines, OfFiles) {
  const std::string file = testing::TempDir() + "source_lines.cu";
  std::ofstream(file) << "one\ntwo three\nfour\n";
  SourceLines sources;
  EXPECT_EQ(sources.excerpt(file + ":2:5"), "    2 | two three\n      |     ^");
  const auto lines = sources.lines(file + ":2:5", 3);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1].text, "two three");
  EXPECT_TRUE(lines[1].is_place);
  EXPECT_FALSE(lines[0].is_place);
  EXPECT_EQ(sources.lines(file + ":1:1", 1).size(), 2u);
  EXPECT_EQ(sources.excerpt(file + ":9:1"), "");
  EXPECT_TRUE(sources.lines(file + ":0:1", 2).empty());
  EXPECT_EQ(sources.excerpt("no such file.cu:1:1"), "");
  EXPECT_EQ(sources.excerpt("/:1:1"), "");
  std::filesystem::remove(file);
}

TEST(SourceLines, OfKernelsAsText) {
  SourceLines sources(
      Program::from_text("[kernels.k]\ntext = 'extern \"C\" __global__ void k() {}'\n"
                         "[[steps]]\nlaunch = \"k\"\ngrid = [1]\nblock = [1]\nargs = []\n",
                         "p.toml"));
  EXPECT_NE(sources.excerpt("<kernel k>:1:12").find("__global__"), std::string::npos);
  EXPECT_EQ(sources.excerpt("<kernel other>:1:1"), "");
}

}  // namespace
}  // namespace baton::tools::source_lines_test
