#include "compile/nvrtc/bundled_headers.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/file/file.h"
#include "compile/nvrtc/nvrtc.h"

namespace baton::compiler::bundled_headers_test {
namespace {

namespace fs = std::filesystem;

// The NVRTC of this machine, as if no headers had been found beside it.
class BundledHeadersTest : public testing::Test {
 protected:
  void SetUp() override {
    toolkit_ = find_toolkit();
    if (!toolkit_.nvrtc) GTEST_SKIP() << "NVRTC is not installed";
    toolkit_.include.clear();
    toolkit_.include_origin.clear();
    has_own_ = Nvrtc::load(*toolkit_.nvrtc).install_headers != nullptr;
  }
  Toolkit toolkit_;
  bool has_own_ = false;
  TemporaryDirectory cache_;
};

TEST_F(BundledHeadersTest, ComeFromNvrtcThatHasThem) {
  if (!has_own_) GTEST_SKIP() << *toolkit_.nvrtc << " has no headers inside (before 13.3)";
  add_bundled_headers(toolkit_, cache_.path());
  ASSERT_EQ(toolkit_.include.size(), 2u);
  EXPECT_TRUE(fs::exists(toolkit_.include[0] / "cuda_fp16.h"));
  EXPECT_TRUE(fs::exists(toolkit_.include[1] / "cuda/std/array"));
  EXPECT_EQ(toolkit_.include_origin, "written by NVRTC");

  // Another process finds them there.
  Toolkit again = toolkit_;
  again.include.clear();
  const auto written = fs::last_write_time(toolkit_.include[0] / "cuda_fp16.h");
  add_bundled_headers(again, cache_.path());
  EXPECT_EQ(again.include, toolkit_.include);
  EXPECT_EQ(fs::last_write_time(again.include[0] / "cuda_fp16.h"), written);
}

TEST_F(BundledHeadersTest, AFolderThatCannotBeWrittenMeansNoHeaders) {
  write_file_atomically(cache_.path() / "headers", "a file in the folder's place");
  add_bundled_headers(toolkit_, cache_.path());
  EXPECT_TRUE(toolkit_.include.empty());
}

TEST_F(BundledHeadersTest, AreNotUsedWhereOthersWereFound) {
  const fs::path chosen = cache_.path() / "chosen";
  for (const char* name : {"crt/host_defines.h", "nv/target"}) {
    fs::create_directories((chosen / name).parent_path());
    write_file_atomically(chosen / name, "");
  }
  toolkit_.include = {chosen};
  add_bundled_headers(toolkit_, cache_.path());
  EXPECT_EQ(toolkit_.include, std::vector<fs::path>{chosen});
  EXPECT_FALSE(fs::exists(cache_.path() / "headers"));
}

TEST_F(BundledHeadersTest, ComeBeforeASetThatLacksOthers) {
  if (!has_own_) GTEST_SKIP() << *toolkit_.nvrtc << " has no headers inside (before 13.3)";
  toolkit_.include = {"/incomplete"};
  add_bundled_headers(toolkit_, cache_.path());
  ASSERT_EQ(toolkit_.include.size(), 3u);
  EXPECT_EQ(toolkit_.include[2], "/incomplete");
}

}  // namespace
}  // namespace baton::compiler::bundled_headers_test
