#include "nccl/nccl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "base/file/file.h"
#include "baton/error.h"
#include "nccl/nccl_rank.h"

namespace baton::nccl::nccl_test {
namespace {

using ::testing::HasSubstr;

Error failure_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& failure) {
    return failure;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorCode::kInternal, "");
}

class NcclTest : public testing::Test {
 protected:
  ~NcclTest() override {
    for (const char* name : {"BATON_NCCL", "BATON_CUDA_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX"})
      unsetenv(name);
  }
  TemporaryDirectory folder_;
};

TEST_F(NcclTest, AFileThatIsMissingIsNamed) {
  const std::string file = folder_.path() / "libnccl.so.2";
  setenv("BATON_NCCL", file.c_str(), 1);
  const Error failure = failure_of([] { find_nccl(); });
  EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
  EXPECT_THAT(failure.message(), HasSubstr("NCCL does not load: "));
  EXPECT_THAT(failure.message(), HasSubstr(file));
  EXPECT_THAT(failure.notes(), testing::ElementsAre("BATON_NCCL names it"));
}

TEST_F(NcclTest, AFileThatIsNoLibraryDoesNotLoad) {
  const std::filesystem::path file = folder_.path() / "libnccl.so.2";
  write_file_atomically(file, "no library");
  EXPECT_THAT(failure_of([&] { Nccl::load(file); }).message(), HasSubstr("NCCL does not load: "));
}

TEST_F(NcclTest, AnotherLibraryIsRefused) {
  const Error failure = failure_of([] { Nccl::load("libm.so.6"); });
  EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
  EXPECT_THAT(failure.message(),
              HasSubstr("has no ncclGetVersion: NCCL 2.24.0 or later is needed"));
}

TEST_F(NcclTest, AnOldVersionIsRefused) {
  const Error failure = failure_of([] { Nccl::load(BATON_OLD_NCCL); });
  EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
  EXPECT_THAT(failure.message(), HasSubstr("is NCCL 2.18.5: NCCL 2.24.0 or later is needed"));
}

TEST_F(NcclTest, AFunctionThatIsMissingIsNamed) {
  EXPECT_THAT(failure_of([] { Nccl::load(BATON_POOR_NCCL); }).message(),
              HasSubstr("has no ncclGetErrorString: NCCL 2.24.0 or later is needed"));
}

TEST_F(NcclTest, ThePackagesOfAnEnvironmentAreSearched) {
  const std::filesystem::path packages = folder_.path() / "nvidia/nccl/lib";
  std::filesystem::create_directories(packages);
  std::filesystem::copy_file(BATON_OLD_NCCL, packages / "libnccl.so.2");
  setenv("BATON_CUDA_ROOT", folder_.path().c_str(), 1);
  // The loader's path comes first, and a machine may have one there.
  try {
    find_nccl();
  } catch (const Error& failure) {
    EXPECT_THAT(failure.message(), HasSubstr((packages / "libnccl.so.2").string()));
  }
}

TEST_F(NcclTest, WithoutAnyItSaysWhatWasSearched) {
  setenv("BATON_CUDA_ROOT", "none", 1);
  try {
    find_nccl();
  } catch (const Error& failure) {
    EXPECT_THAT(failure.message(), HasSubstr("pip install nvidia-nccl-cu13"));
    EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
  }
}

TEST(NcclVersion, HasTwoForms) {
  EXPECT_EQ(version_text(22403), "2.24.3");
  EXPECT_EQ(version_text(2804), "2.8.4");
}

TEST(NcclType, LacksSome) {
  EXPECT_EQ(type_of(DType::kBF16, 80), Nccl::Type::kBF16);
  EXPECT_EQ(type_of(DType::kF8E5M2, 90), Nccl::Type::kF8E5M2);
  EXPECT_EQ(type_of(DType::kF8E5M2, 89), std::nullopt);
  for (const DType dtype : {DType::kBool, DType::kI16, DType::kU16}) {
    EXPECT_EQ(type_of(dtype, 100), std::nullopt);
  }
}

}  // namespace
}  // namespace baton::nccl::nccl_test
