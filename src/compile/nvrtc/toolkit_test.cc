#include "compile/nvrtc/toolkit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/file.h"
#include "baton/error.h"

namespace baton::compiler {
namespace {

namespace fs = std::filesystem;

class ToolkitTest : public testing::Test {
 protected:
  ~ToolkitTest() override {
    for (const char* name : {"BATON_CUDA_ROOT", "BATON_NVRTC", "BATON_NVJITLINK", "VIRTUAL_ENV",
                             "CUDA_HOME", "CUDA_PATH"})
      unsetenv(name);
  }
  void touch(const std::string& name, std::string_view text = "") {
    const fs::path path = root_.path() / name;
    fs::create_directories(path.parent_path());
    write_file_atomically(path, text);
  }
  TemporaryDirectory root_;
};

TEST_F(ToolkitTest, TakesTheChosenRootFirst) {
  touch("lib64/libnvrtc.so.12");
  touch("lib64/libnvrtc.so.13");
  touch("lib64/libnvJitLink.so.13");
  touch("include/cuda_fp16.h");
  touch("include/cuda.h", "/* */\n#define CUDA_VERSION 13020\n");
  touch("include/cccl/cuda/std/version");
  setenv("BATON_CUDA_ROOT", root_.path().c_str(), 1);
  const Toolkit toolkit = find_toolkit();
  EXPECT_EQ(toolkit.nvrtc, root_.path() / "lib64/libnvrtc.so.13");
  EXPECT_EQ(toolkit.nvjitlink, root_.path() / "lib64/libnvJitLink.so.13");
  EXPECT_EQ(toolkit.include,
            (std::vector<fs::path>{root_.path() / "include", root_.path() / "include/cccl"}));
  EXPECT_EQ(header_version(toolkit), "13.2");
}

TEST_F(ToolkitTest, ReadsTheLayoutOfWheels) {
  touch("nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  touch("nvidia/cuda_runtime/include/cuda_fp16.h");
  touch("nvidia/cuda_cccl/include/cuda/std/version");
  setenv("BATON_CUDA_ROOT", root_.path().c_str(), 1);
  const Toolkit toolkit = find_toolkit();
  EXPECT_EQ(toolkit.nvrtc, root_.path() / "nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  EXPECT_EQ(toolkit.include, (std::vector<fs::path>{root_.path() / "nvidia/cuda_runtime/include",
                                                    root_.path() / "nvidia/cuda_cccl/include"}));
}

TEST_F(ToolkitTest, ANamedLibraryBringsItsOwnHeaders) {
  touch("nvidia/cu13/lib/libnvrtc.so.13");
  touch("nvidia/cu13/include/cuda_fp16.h");
  setenv("BATON_NVRTC", (root_.path() / "nvidia/cu13/lib/libnvrtc.so.13").c_str(), 1);
  const Toolkit toolkit = find_toolkit();
  EXPECT_EQ(toolkit.nvrtc, root_.path() / "nvidia/cu13/lib/libnvrtc.so.13");
  ASSERT_FALSE(toolkit.include.empty());
  EXPECT_EQ(toolkit.include[0], root_.path() / "nvidia/cu13/include");
}

TEST_F(ToolkitTest, ALinkerCanBeNamed) {
  touch("lib64/libnvJitLink.so.13");
  touch("own/linker.so");
  setenv("BATON_CUDA_ROOT", root_.path().c_str(), 1);
  setenv("BATON_NVJITLINK", (root_.path() / "own/linker.so").c_str(), 1);
  EXPECT_EQ(find_toolkit().nvjitlink, root_.path() / "own/linker.so");
  setenv("BATON_NVJITLINK", "/nonexistent", 1);
  EXPECT_EQ(find_toolkit().nvjitlink, std::nullopt);
}

TEST_F(ToolkitTest, NamesEachPlaceOnce) {
  setenv("CUDA_HOME", root_.path().c_str(), 1);
  setenv("CUDA_PATH", root_.path().c_str(), 1);
  const std::vector<std::string> searched = find_toolkit().searched;
  EXPECT_EQ(std::count(searched.begin(), searched.end(), root_.path().string()), 1);
  EXPECT_EQ(std::set<std::string>(searched.begin(), searched.end()).size(), searched.size());
}

TEST_F(ToolkitTest, SaysWhereItLooked) {
  setenv("BATON_NVRTC", "/nonexistent", 1);
  const Toolkit toolkit = find_toolkit();
  EXPECT_FALSE(toolkit.nvrtc);
  try {
    require_nvrtc(toolkit);
    FAIL();
  } catch (const Error& missing) {
    EXPECT_EQ(missing.code(), ErrorCode::kNotFound);
    EXPECT_NE(std::string(missing.what()).find("BATON_NVRTC=/nonexistent"), std::string::npos);
  }
}

}  // namespace
}  // namespace baton::compiler
