#include "driver/cuda.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <set>
#include <string>

#include "base/error.h"

namespace baton::driver::cuda_test {
namespace {

TEST(DriverTable, NamesEachEntryOnce) {
  std::set<std::string> names;
#define BATON_DRIVER_ENTRY(name, version, need) EXPECT_TRUE(names.insert(#name).second) << #name;
#include "driver/entries.inc"
  EXPECT_GT(names.size(), 50u);
}

TEST(DriverTable, StartsEmpty) {
  const Driver driver;
#define BATON_DRIVER_ENTRY(name, version, need) EXPECT_EQ(driver.cu##name, nullptr);
#include "driver/entries.inc"
}

// Each case runs in a process of its own (ctest), so BATON_CUDA_DRIVER is read afresh.
TEST(LoadCuda, AbsentDriverIsNoError) {
  setenv("BATON_CUDA_DRIVER", "/nonexistent/libcuda.so", 1);
  std::string why;
  EXPECT_EQ(load_cuda(&why), nullptr);
  EXPECT_NE(why.find("/nonexistent/libcuda.so"), std::string::npos) << why;
}

// A file of this name that has these contents, found as the installed driver is.
std::string found_driver(const std::string& contents) {
  std::string path = testing::TempDir() + "baton_driver_XXXXXX";
  EXPECT_NE(mkdtemp(path.data()), nullptr);
  path += "/libcuda.so.1";
  std::ofstream(path) << contents;
  setenv("BATON_CUDA_DRIVER", path.c_str(), 1);
  return path;
}

TEST(LoadCuda, AFileThatCannotBeLoadedIsAnError) {
  const std::string path = found_driver("not a library");
  try {
    load_cuda();
    FAIL() << "a driver that is there was taken for none";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kNoDevice);
    EXPECT_NE(failure.message().find(path + " does not start"), std::string::npos)
        << failure.what();
  }
}

TEST(LoadCuda, AnEmptyFileIsNoDriver) {
  const std::string path = found_driver("");
  std::string why;
  EXPECT_EQ(load_cuda(&why), nullptr);
  EXPECT_NE(why.find(path), std::string::npos) << why;
}

TEST(LoadCuda, LibraryThatIsNoDriverIsAnError) {
  setenv("BATON_CUDA_DRIVER", "libc.so.6", 1);
  try {
    load_cuda();
    FAIL() << "a library without cuGetProcAddress_v2 was taken for a driver";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kNoDevice);
    EXPECT_EQ(exit_status(failure.code()), 3);
    EXPECT_NE(failure.message().find("cuGetProcAddress_v2"), std::string::npos) << failure.what();
  }
}

}  // namespace
}  // namespace baton::driver::cuda_test
