#include "compile/source/includes.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "base/file/file.h"

namespace baton::compiler::includes_test {
namespace {

namespace fs = std::filesystem;

class Includes : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view text) {
    const fs::path path = root_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  IncludeScan scan(std::string_view text) {
    return scan_includes(text, root_.path(), forced_, {root_.path() / "inc"},
                         {root_.path() / "cuda"}, {"stdint.h", "math.h"});
  }
  // "name>path below the root", or "name>" for a file that is nowhere.
  std::vector<std::string> found(std::string_view text) {
    std::vector<std::string> out;
    for (const IncludedFile& file : scan(text).files) {
      out.push_back(file.name + ">" +
                    (file.path.empty() ? "" : file.path.lexically_relative(root_.path()).string()));
    }
    return out;
  }

  TemporaryDirectory root_;
  std::vector<std::string> forced_;
};

using Names = std::vector<std::string>;

TEST_F(Includes, QuotesLookBesideTheFileFirst) {
  write("a.h", "");
  write("inc/a.h", "");
  EXPECT_EQ(found("#include \"a.h\"\n"), Names{"a.h>a.h"});
  EXPECT_EQ(found("#include <a.h>\n"), Names{"a.h>inc/a.h"});
}

TEST_F(Includes, FollowsFilesFromWhereTheyLie) {
  write("inc/deep/one.h", "#include \"two.h\"\n");
  write("inc/deep/two.h", "#include <three.h>\n#include \"one.h\"\n");
  write("inc/three.h", "");
  EXPECT_EQ(found("#include <deep/one.h>"),
            (Names{"deep/one.h>inc/deep/one.h", "two.h>inc/deep/two.h", "three.h>inc/three.h"}));
}

TEST_F(Includes, SeesEveryWayToWriteADirective) {
  write("a.h", "");
  for (const char* text : {"#include \"a.h\"", "  #  include \"a.h\"", "#include\"a.h\"",
                           "#/* x */include /* y */ \"a.h\"", "#inc\\\nlude \"a.h\"",
                           "#if __has_include(\"a.h\")\n#endif", "%:include \"a.h\"",
                           "#include_next \"a.h\"", "// it may be a comment: #include \"a.h\"",
                           "#if 0\n#include \"a.h\"\n#endif", "#\tinclude\t\"a.h\"\r\n"}) {
    EXPECT_EQ(found(text), Names{"a.h>a.h"}) << text;
  }
  for (const char* text :
       {"include \"a.h\"", "int includes = 3;", "#define include_a \"a.h\"", ""}) {
    EXPECT_TRUE(scan(text).files.empty()) << text;
    EXPECT_TRUE(scan(text).obstacle.empty()) << text;
  }
}

TEST_F(Includes, TellsWhichFileEachLineFinds) {
  write("a.h", "#include \"b.h\"\n#include <stdint.h>\n");
  write("b.h", "");
  write("inc/b.h", "");
  EXPECT_EQ(scan("#include \"a.h\"\n#include <b.h>\n#include \"b.h\"\n#include \"c.h\"\n").found,
            (std::vector<std::int32_t>{0, 1, IncludeScan::kProvided, 2, 1, IncludeScan::kNowhere}));
}

TEST_F(Includes, SeesByteOrderMarks) {
  write("a.h", "\xEF\xBB\xBF");
  write("b.h", "x");
  const IncludeScan scanned = scan("#include \"a.h\"\n#include \"b.h\"\n");
  EXPECT_TRUE(scanned.files.at(0).begins_with_mark);
  EXPECT_FALSE(scanned.files.at(1).begins_with_mark);
}

TEST_F(Includes, WhatIsNowhereIsNoted) {
  EXPECT_EQ(found("#include \"later.h\"\n#include <later.h>"), Names{"later.h>"});
}

TEST_F(Includes, CudasOwnHeadersAreNotLookedInto) {
  write("cuda/cuda_fp16.h", "#include \"cuda_fp16.hpp\"\n");
  write("cuda/cuda_fp16.hpp", "");
  const IncludeScan scanned = scan("#include <cuda_fp16.h>");
  ASSERT_EQ(scanned.files.size(), 1u);
  EXPECT_TRUE(scanned.files[0].is_cuda);
}

TEST_F(Includes, StandardHeadersAreBatonsUnlessTheUserBringsThem) {
  write("cuda/math.h", "");
  EXPECT_TRUE(scan("#include <math.h>").files.empty());
  write("inc/math.h", "");
  const IncludeScan scanned = scan("#include <math.h>\n#include <stdint.h>");
  EXPECT_EQ(scanned.files.size(), 1u);
  EXPECT_TRUE(scanned.own_headers.contains("math.h"));
  EXPECT_FALSE(scanned.own_headers.contains("stdint.h"));
}

TEST_F(Includes, ContentsCount) {
  write("a.h", "one");
  const Sha256Digest before = scan("#include \"a.h\"").files[0].content;
  write("a.h", "two");
  EXPECT_NE(scan("#include \"a.h\"").files[0].content, before);
}

TEST_F(Includes, ForcedHeadersComeFirst) {
  write("inc/p.h", "");
  write("a.h", "");
  forced_ = {"p.h"};
  EXPECT_EQ(found("#include \"a.h\""), (Names{"p.h>inc/p.h", "a.h>a.h"}));
}

TEST_F(Includes, SaysWhatMakesACompileUntellable) {
  EXPECT_FALSE(scan("#define H \"a.h\"\n#include H\n").obstacle.empty());
  EXPECT_FALSE(scan("const char* t = __TIME__;").obstacle.empty());
  EXPECT_TRUE(scan("int x;").obstacle.empty());
}

TEST_F(Includes, NoticesWhatThePreludeProvides) {
  write("a.h", "cudaGridDependencySynchronize();");
  EXPECT_TRUE(scan("#include \"a.h\"").mentions_pdl);
  EXPECT_FALSE(scan("x").mentions_pdl);
  EXPECT_TRUE(scan("std::min(1, 2)").mentions_std);
  EXPECT_TRUE(scan("using namespace std;").mentions_std);
  EXPECT_TRUE(scan("k<<<1, 2>>>(x);").mentions_launch);
  EXPECT_FALSE(scan("a << b; f<g<int>>();").mentions_launch);
  EXPECT_TRUE(scan("assert(x);").mentions_file_name);
  EXPECT_FALSE(scan("static_assert(x);").mentions_file_name);
}

TEST_F(Includes, EndsOnChainsAndRings) {
  write("ring.h", "#include \"ring.h\"\n");
  EXPECT_EQ(scan("#include \"ring.h\"").files.size(), 1u);
  constexpr int kChain = 3000;
  for (int i = 0; i < kChain; ++i) {
    write(fmt::format("c{}.h", i), fmt::format("#include \"c{}.h\"\n", i + 1));
  }
  EXPECT_EQ(scan("#include \"c0.h\"").files.size(), kChain + 1u);
}

}  // namespace
}  // namespace baton::compiler::includes_test
