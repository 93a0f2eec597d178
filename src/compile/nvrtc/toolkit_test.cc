#include "compile/nvrtc/toolkit.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/file/file.h"
#include "base/system/dynamic_library.h"
#include "baton/error.h"
#include "baton/log.h"
#include "compile/nvrtc/search_places.h"

namespace baton::compiler::toolkit_test {
namespace {

namespace fs = std::filesystem;

class ToolkitTest : public testing::Test {
 protected:
  ~ToolkitTest() override {
    for (const char* name : {"BATON_CUDA_ROOT", "BATON_NVRTC", "BATON_NVJITLINK", "VIRTUAL_ENV",
                             "CUDA_HOME", "CUDA_PATH", "BATON_SITE_PACKAGES"})
      unsetenv(name);
    set_site_packages({});
  }
  void touch_wheels(const std::string& packages) {
    touch(packages + "/nvidia/cu13/lib/libnvrtc.so.13");
    touch(packages + "/nvidia/cu13/include/cuda_fp16.h");
  }
  // The other headers that a complete set has, below a folder of headers.
  void complete(const std::string& include) {
    touch(include + "/crt/host_defines.h");
    touch(include + "/cccl/nv/target");
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
  complete("include");
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
  touch("nvidia/cuda_cccl/include/nv/target");
  touch("nvidia/cuda_nvcc/include/crt/host_defines.h");
  setenv("BATON_CUDA_ROOT", root_.path().c_str(), 1);
  const Toolkit toolkit = find_toolkit();
  EXPECT_EQ(toolkit.nvrtc, root_.path() / "nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  EXPECT_EQ(toolkit.include, (std::vector<fs::path>{root_.path() / "nvidia/cuda_runtime/include",
                                                    root_.path() / "nvidia/cuda_cccl/include",
                                                    root_.path() / "nvidia/cuda_nvcc/include"}));
  EXPECT_TRUE(missing_headers(toolkit.include).empty());
}

TEST_F(ToolkitTest, ANamedLibraryBringsItsOwnHeaders) {
  touch("nvidia/cu13/lib/libnvrtc.so.13");
  touch("nvidia/cu13/include/cuda_fp16.h");
  complete("nvidia/cu13/include");
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

// Each search asks for the value, and a compile searches several times.
TEST_F(ToolkitTest, WarnsOnceOfARootThatIsNotThere) {
  std::vector<std::string> warnings;
  set_log_callback([&](LogLevel level, std::string_view message) {
    if (level == LogLevel::kWarning) warnings.emplace_back(message);
  });
  const std::string root = (root_.path() / "nowhere").string();
  setenv("BATON_CUDA_ROOT", root.c_str(), 1);
  find_toolkit();
  find_toolkit();
  set_log_callback(nullptr);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find(root + ", which is not a folder"), std::string::npos) << warnings[0];
}

TEST_F(ToolkitTest, NamesEachPlaceOnce) {
  setenv("CUDA_HOME", root_.path().c_str(), 1);
  setenv("CUDA_PATH", root_.path().c_str(), 1);
  const std::vector<std::string> searched = find_toolkit().searched;
  EXPECT_EQ(std::count(searched.begin(), searched.end(), root_.path().string()), 1);
  EXPECT_EQ(std::set<std::string>(searched.begin(), searched.end()).size(), searched.size());
}

// What the process has loaded would be found first.
#define SKIP_WHERE_NVRTC_IS_LOADED()                        \
  if (DynamicLibrary::loaded("libnvrtc.so.13").has_value()) \
  GTEST_SKIP() << "another test loaded NVRTC; run this one alone"

// PyTorch's wheel brings NVRTC and the runtime's headers alone.
TEST_F(ToolkitTest, PrefersACompleteSetOfHeaders) {
  SKIP_WHERE_NVRTC_IS_LOADED();
  touch_wheels("torch");
  touch("toolkit/include/cuda_fp16.h");
  complete("toolkit/include");
  set_site_packages({root_.path() / "torch"});
  setenv("CUDA_HOME", (root_.path() / "toolkit").c_str(), 1);
  const Toolkit toolkit = find_toolkit();
  EXPECT_EQ(toolkit.nvrtc, root_.path() / "torch/nvidia/cu13/lib/libnvrtc.so.13");
  EXPECT_EQ(toolkit.include, (std::vector<fs::path>{root_.path() / "toolkit/include",
                                                    root_.path() / "toolkit/include/cccl"}));
  EXPECT_EQ(toolkit.include_origin, "CUDA_HOME");
  EXPECT_TRUE(missing_headers(toolkit.include).empty());

  // The same wheel, complete: the headers that came with NVRTC fit it best.
  complete("torch/nvidia/cu13/include");
  EXPECT_EQ(find_toolkit().include_origin, "beside NVRTC");
}

TEST_F(ToolkitTest, TakesHeadersThatLackOthersWhereThereAreNoBetter) {
  SKIP_WHERE_NVRTC_IS_LOADED();
  touch_wheels("torch");
  set_site_packages({root_.path() / "torch"});
  setenv("BATON_CUDA_ROOT", "none", 1);
  const Toolkit toolkit = find_toolkit();
  EXPECT_EQ(toolkit.include, std::vector<fs::path>{root_.path() / "torch/nvidia/cu13/include"});
  EXPECT_EQ(missing_headers(toolkit.include),
            (std::vector<std::string_view>{"crt/host_defines.h", "nv/target"}));
}

TEST_F(ToolkitTest, TakesPythonsPackagesBeforeTheSystem) {
  SKIP_WHERE_NVRTC_IS_LOADED();
  touch_wheels("given");
  touch_wheels("named");
  touch("toolkit/lib64/libnvrtc.so.13");
  setenv("CUDA_HOME", (root_.path() / "toolkit").c_str(), 1);
  setenv("BATON_SITE_PACKAGES", ("/nonexistent:" + (root_.path() / "named").string()).c_str(), 1);
  EXPECT_EQ(find_toolkit().nvrtc, root_.path() / "named/nvidia/cu13/lib/libnvrtc.so.13");

  complete("given/nvidia/cu13/include");
  set_site_packages({root_.path() / "toolkit", root_.path() / "given"});
  const Toolkit toolkit = find_toolkit();
  EXPECT_EQ(toolkit.nvrtc, root_.path() / "given/nvidia/cu13/lib/libnvrtc.so.13");
  EXPECT_EQ(toolkit.nvrtc_origin, "Python's packages");
  EXPECT_EQ(toolkit.include.at(0), root_.path() / "given/nvidia/cu13/include");
  EXPECT_EQ(toolkit.include_origin, "beside NVRTC");
}

TEST_F(ToolkitTest, FindsThePackagesAroundAnInstalledFile) {
  touch("usr/site-packages/nvidia/cu13/lib/libnvrtc.so.13");
  const fs::path packages = root_.path() / "usr/site-packages";
  EXPECT_EQ(packages_around(packages / "baton/_core.so"), std::vector<fs::path>{packages});
  EXPECT_EQ(packages_around(packages / "baton/lib/libbaton.so"), std::vector<fs::path>{packages});
  EXPECT_EQ(packages_around(packages / "baton/bin/../lib/libbaton.so"),
            std::vector<fs::path>{packages});
  EXPECT_TRUE(packages_around(root_.path() / "usr/lib/libbaton.so").empty());
  EXPECT_TRUE(packages_around("libbaton.so").empty());
}

TEST_F(ToolkitTest, NoneMeansNothingOfTheSystem) {
  SKIP_WHERE_NVRTC_IS_LOADED();
  setenv("BATON_CUDA_ROOT", "none", 1);
  touch("toolkit/lib64/libnvrtc.so.13");
  touch("toolkit/include/cuda_fp16.h");
  setenv("CUDA_HOME", (root_.path() / "toolkit").c_str(), 1);
  const Toolkit toolkit = find_toolkit();
  EXPECT_EQ(toolkit.nvrtc, std::nullopt);
  EXPECT_EQ(toolkit.nvjitlink, std::nullopt);
  EXPECT_TRUE(toolkit.include.empty());
  EXPECT_TRUE(toolkit.searched.empty());

  touch_wheels("given");
  set_site_packages({root_.path() / "given"});
  EXPECT_EQ(find_toolkit().nvrtc, root_.path() / "given/nvidia/cu13/lib/libnvrtc.so.13");
}

// What the process has loaded, by whatever name, is taken before other files, but for chosen ones.
TEST_F(ToolkitTest, TakesWhatIsLoaded) {
  const Toolkit system = find_toolkit();
  if (!system.nvrtc) GTEST_SKIP() << "NVRTC is not installed";
  const fs::path folder = root_.path() / "nvidia/cu13/lib";
  fs::create_directories(folder);
  fs::create_symlink(*system.nvrtc, folder / "libnvrtc.so.13");
  touch_wheels("given");
  set_site_packages({root_.path() / "given"});
  ASSERT_NE(dlopen((folder / "libnvrtc.so.13").c_str(), RTLD_NOW | RTLD_LOCAL), nullptr)
      << dlerror();
  const Toolkit toolkit = find_toolkit();
  ASSERT_TRUE(toolkit.nvrtc);
  EXPECT_TRUE(fs::equivalent(*toolkit.nvrtc, *system.nvrtc));
  EXPECT_EQ(toolkit.nvrtc_origin, "loaded in this process");
  setenv("BATON_CUDA_ROOT", (root_.path() / "given").c_str(), 1);
  EXPECT_EQ(find_toolkit().nvrtc, root_.path() / "given/nvidia/cu13/lib/libnvrtc.so.13");
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
}  // namespace baton::compiler::toolkit_test
