#include "tools/file/file_guard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/file/file.h"

namespace baton::tools::file_guard_test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FileGuardTest : public ::testing::Test {
 protected:
  FileGuardTest() { write_file_atomically(input_, "it"); }

  static void expect_refused(const std::function<void()>& call) {
    try {
      call();
      ADD_FAILURE() << "it was allowed";
    } catch (const Error& refusal) {
      EXPECT_EQ(refusal.code(), ErrorCode::kInvalidInput);
      EXPECT_THAT(refusal.message(), HasSubstr("-o x: the command reads this file"));
    }
  }

  const TemporaryDirectory folder_;
  const fs::path input_ = folder_.path() / "in.cu";
  FileGuard files_;
};

TEST_F(FileGuardTest, RefusesAnInputByAnyOfItsNames) {
  files_.reads({input_});
  fs::create_symlink(input_, folder_.path() / "link");
  fs::create_hard_link(input_, folder_.path() / "other");
  for (const char* name : {"in.cu", "link", "other", "./in.cu"}) {
    SCOPED_TRACE(name);
    expect_refused([&] { files_.writes("-o x", folder_.path() / name); });
    EXPECT_FALSE(files_.may_write(folder_.path() / name));
  }
}

TEST_F(FileGuardTest, TakesOtherFilesAndDevices) {
  files_.reads({input_, "/dev/null", folder_.path() / "missing"});
  files_.writes("-o", folder_.path() / "new");
  files_.writes("-o", folder_.path() / "missing");
  files_.writes("-o", "/dev/null");
  files_.writes("--plot", "/dev/null");
  EXPECT_TRUE(files_.may_write(folder_.path() / "new"));
}

TEST_F(FileGuardTest, RefusesTwoOutputsInOneFile) {
  const fs::path there = folder_.path() / "there", absent = folder_.path() / "absent";
  write_file_atomically(there, "it");
  fs::create_symlink(there, folder_.path() / "link");
  files_.writes("-o a", there);
  files_.writes("-o b", absent);
  const auto refusal = [&](const char* name) {
    try {
      files_.writes("--plot c", folder_.path() / name);
    } catch (const Error& refused) {
      return refused.message();
    }
    return std::string("it was allowed");
  };
  EXPECT_THAT(refusal("link"), HasSubstr("-o a and --plot c name one file"));
  EXPECT_THAT(refusal("./absent"), HasSubstr("-o b and --plot c name one file"));
  EXPECT_EQ(refusal("another"), "it was allowed");
}

TEST_F(FileGuardTest, LearnsOfInputsLater) {
  files_.writes("-o x", input_);
  EXPECT_TRUE(files_.may_write(input_));
  expect_refused([&] { files_.reads({folder_.path() / "a", input_}); });
  EXPECT_FALSE(files_.may_write(input_)) << "what was refused stays so";
}

TEST_F(FileGuardTest, KnowsTheFilesOfAProgram) {
  write_file_atomically(folder_.path() / "h.h", "#define TWO 2");
  write_file_atomically(folder_.path() / "k.cu",
                        "#include \"h.h\"\n__global__ void k(int* y) { y[0] = TWO; }");
  const Program program = Program::from_text(R"(
[buffers.y]
dtype = "i32"
shape = []
role = "output"
expect = "y.npy"
[buffers.w]
dtype = "i32"
shape = []
role = "weight"
file = "w.npy"
[kernels.k]
source = "k.cu"
entry = "k"
[[steps]]
launch = "k"
grid = [1]
block = [1]
args = ["y"]
)",
                                             "p.toml", folder_.path());
  for (const char* name : {"k.cu", "h.h", "y.npy", "w.npy"}) {
    SCOPED_TRACE(name);
    if (!fs::exists(folder_.path() / name)) write_file_atomically(folder_.path() / name, "it");
    FileGuard files;
    files.writes("-o x", folder_.path() / name);
    expect_refused([&] { files.reads(program); });
  }
}

}  // namespace
}  // namespace baton::tools::file_guard_test
