#include "compile/nvrtc/options.h"

#include <gtest/gtest.h>

#include "base/file/file.h"
#include "baton/error.h"

namespace baton::compiler::options_test {
namespace {

namespace fs = std::filesystem;

ParsedOptions parse(std::vector<std::string> options) {
  Source source = Source::from_text("x", "x.cu");
  source.directory = "/src";
  source.include = {"own", "/abs"};
  source.options = std::move(options);
  return parse_options(source);
}

TEST(Options, FoldersAreRelativeToTheSource) {
  const ParsedOptions parsed = parse(
      {"-Ione", "-I", "two", "--include-path=three", "-I=../four", "--include-path", "/five"});
  const std::vector<fs::path> expected = {"/src/own",   "/abs",  "/src/one", "/src/two",
                                          "/src/three", "/four", "/five",    "/src/"};
  EXPECT_EQ(parsed.include, expected);
  EXPECT_TRUE(parsed.others.empty());
}

TEST(Options, PathsMayBeTakenFromAnotherFolder) {
  const TemporaryDirectory folder;
  write_file_atomically(folder.path() / "there.h", "");
  const std::string in = folder.path().string();
  const std::vector<std::string> options = {
      "-Ione", "-DX=1", "-I", "two", "-I/three", "-include", "there.h", "-include", "elsewhere.h"};
  EXPECT_EQ(
      with_paths_from(folder.path(), options),
      (std::vector<std::string>{"-I" + in + "/one", "-DX=1", "-I" + in + "/two", "-I/three",
                                "--pre-include=" + in + "/there.h", "--pre-include=elsewhere.h"}));
  EXPECT_THROW(with_paths_from(folder.path(), {"-I"}), Error);
}

TEST(Options, OthersAreKeptAsWritten) {
  const ParsedOptions parsed =
      parse({"-DBLOCK=256", "--use_fast_math", "-D", "A=1", "-std=c++20", "-G", "-include", "p.h"});
  EXPECT_EQ(parsed.others, (std::vector<std::string>{"-DBLOCK=256", "--use_fast_math", "-D", "A=1",
                                                     "--std=c++20", "-G"}));
  EXPECT_EQ(parsed.forced, std::vector<std::string>{"p.h"});
  EXPECT_TRUE(parsed.has_standard);
  EXPECT_TRUE(parsed.has_debug);
  EXPECT_FALSE(parse({}).has_standard);
}

TEST(Options, RefusesAnArchitectureAndALackOfValue) {
  EXPECT_THROW(parse({"-arch=sm_90"}), Error);
  EXPECT_THROW(parse({"--gpu-architecture", "sm_90"}), Error);
  EXPECT_THROW(parse({"-I"}), Error);
}

TEST(Options, ReadsArchitectures) {
  EXPECT_EQ(parse_arch("sm_90a").number, 90);
  EXPECT_TRUE(parse_arch("sm_90a").is_real);
  EXPECT_FALSE(parse_arch("compute_120f").is_real);
  for (const char* wrong : {"", "90", "sm_", "sm_9", "sm_90b", "sm_90aa", "SM_90", "sm_-90",
                            "sm_90 ", "sm_99999999999"}) {
    EXPECT_THROW(parse_arch(wrong), Error) << wrong;
  }
}

}  // namespace
}  // namespace baton::compiler::options_test
