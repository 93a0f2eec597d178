#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "baton/program.h"
#include "program/reader/program_files.h"

namespace baton::include_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr const char* kBase = R"toml(
name = "base"
require = ["N % 2 == 0"]
[symbols]
N = 4
K = 5
[buffers]
x = { dtype = "f32", shape = "N", role = "input", file = "x.npy" }
[kernels]
k = { source = "k.cu" }
t = { text = "__global__ void t();", include = ["inc"] }
)toml";

// A folder with a program in parts: base.toml in sub, and what a test adds.
class Include : public ::testing::Test {
 protected:
  Include() {
    fs::create_directories(folder_ / "sub");
    write("sub/base.toml", kBase);
  }
  ~Include() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  Program read(const std::string& text) {
    write("p.toml", text);
    return Program::from_file(folder_ / "p.toml");
  }
  // What is wrong with the program, with the places relative to the folder.
  std::string refusal(const std::string& text) {
    try {
      read(text);
    } catch (const Error& failure) {
      std::string what = failure.what();
      for (std::size_t at; (at = what.find(folder_.string() + "/")) != std::string::npos;) {
        what.erase(at, folder_.string().size() + 1);
      }
      return what;
    }
    return "it was accepted";
  }

  const fs::path folder_ =
      fs::path(::testing::TempDir()) /
      ("include_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
};

constexpr const char* kSteps = "[[steps]]\nfill = { buffer = \"x\", value = \"N\" }\n";

TEST_F(Include, PartsComeFirstAndPathsStartFromTheirFile) {
  const Program program =
      read("include = [\"sub/base.toml\"]\nrequire = [\"K < 9\"]\n[symbols]\nM = 1\nN = 8\n" +
           std::string(kSteps));
  EXPECT_EQ(program.name(), "p");
  ASSERT_EQ(program.symbols().size(), 3u);
  EXPECT_EQ(program.symbol("N")->value, 8);
  EXPECT_EQ(program.symbol("N")->where.to_string(), (folder_ / "p.toml").string() + ":5:1");
  EXPECT_EQ(program.symbol("K")->where.to_string(), (folder_ / "sub/base.toml").string() + ":6:1");
  ASSERT_EQ(program.requirements().size(), 2u);
  EXPECT_EQ(program.requirements()[0].text(), "N % 2 == 0");
  EXPECT_EQ(program.buffer("x")->file, folder_ / "sub/x.npy");
  EXPECT_EQ(program.kernel("k")->file, folder_ / "sub/k.cu");
  EXPECT_THAT(program.kernel("t")->include, ElementsAre(folder_ / "sub", folder_ / "sub/inc"));
  EXPECT_THAT(program.definition().included, ElementsAre(folder_ / "sub/base.toml"));
  EXPECT_TRUE(Program::from_text(program.to_toml(), "p", folder_) == program) << program.to_toml();
}

TEST_F(Include, AFileCountsOnce) {
  write("a.toml", "include = [\"sub/base.toml\"]\n[symbols]\nA = 1\n");
  write("b.toml", "include = [\"sub/../sub/base.toml\"]\n[symbols]\nB = 1\n");
  const Program program = read("include = [\"a.toml\", \"b.toml\"]\n" + std::string(kSteps));
  EXPECT_EQ(program.symbols().size(), 4u);
  EXPECT_EQ(program.buffers().size(), 1u);
  EXPECT_EQ(program.definition().included.size(), 3u);
}

TEST_F(Include, StepsFollowThoseOfIncludedFiles) {
  write("first.toml",
        "[buffers]\ny = { dtype = \"f32\", shape = 1 }\n"
        "[[steps]]\nfill = { buffer = \"y\", value = 1 }\n");
  const Program program = read(
      "include = [\"first.toml\"]\n"
      "[[steps]]\nfill = { buffer = \"y\", value = 2 }\n");
  ASSERT_EQ(program.steps().size(), 2u);
  EXPECT_THAT(program.steps()[0].where.to_string(), HasSubstr("first.toml:3:1"));
  EXPECT_THAT(program.steps()[1].where.to_string(), HasSubstr("p.toml:2:1"));
  EXPECT_EQ(read("include = [\"first.toml\"]\n").steps().size(), 1u);
}

TEST_F(Include, ErrorsNameTheFileAndItsLine) {
  EXPECT_THAT(refusal("include = [\"none.toml\"]\nsteps = []\n"),
              AllOf(HasSubstr("p.toml:1:12"), HasSubstr("cannot read")));
  write("bad.toml", "[buffers]\nx = { dtyp = \"f32\" }\n");
  EXPECT_EQ(refusal("include = [\"bad.toml\"]\n"),
            "bad.toml:2:7: unknown key \"dtyp\" in buffer x; did you mean \"dtype\"?\n"
            "included at p.toml:1:12");
  write("later.toml", "[buffers]\nx = { dtype = \"f32\", shape = \"M\" }\n");
  EXPECT_THAT(refusal("include = [\"later.toml\"]\n" + std::string(kSteps)),
              HasSubstr("later.toml:2:31: unknown symbol \"M\""));
  EXPECT_THAT(refusal("include = [\"sub/base.toml\"]\n[buffers]\n"
                      "x = { dtype = \"f32\", shape = 1 }\n" +
                      std::string(kSteps)),
              AllOf(HasSubstr("p.toml:3:1: the buffer x has the name of a buffer already"),
                    HasSubstr("sub/base.toml:8:1")));
  EXPECT_THAT(refusal("include = [\"sub/base.toml\"]\n"), HasSubstr("lacks \"steps\""));
}

TEST_F(Include, CirclesAreRefused) {
  EXPECT_THAT(refusal("include = [\"p.toml\"]\n"),
              HasSubstr("p.toml includes p.toml: files that include one another"));
  write("a.toml", "include = [\"sub/b.toml\"]\n");
  write("sub/b.toml", "include = [\"../a.toml\"]\n");
  EXPECT_THAT(refusal("include = [\"a.toml\"]\n"),
              AllOf(HasSubstr("sub/b.toml:1:12: a.toml includes b.toml includes a.toml"),
                    HasSubstr("included at p.toml:1:12")));
}

TEST_F(Include, ABundleReadsNoOtherFile) {
  try {
    read_program_text("include = [\"sub/base.toml\"]\n" + std::string(kSteps), "b", folder_,
                      Includes::kRefuse);
    FAIL() << "it was accepted";
  } catch (const Error& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("b:1:12: the program of a bundle includes"));
  }
}

TEST_F(Include, TheBuilderTakesAProgram) {
  ProgramBuilder builder("built");
  builder.include(read("include = [\"sub/base.toml\"]\n" + std::string(kSteps)));
  builder.symbol("N", 16);
  builder.require("N > K");
  const Program program = builder.build();
  EXPECT_EQ(program.symbol("N")->value, 16);
  EXPECT_EQ(program.requirements().size(), 2u);
  EXPECT_EQ(program.steps().size(), 1u);
}

}  // namespace
}  // namespace baton::include_test
