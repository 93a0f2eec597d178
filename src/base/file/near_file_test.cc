#include "base/file/near_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/file/file.h"
#include "base/file/mapped_file.h"
#include "baton/error.h"

namespace baton::near_file_test {
namespace {

using testing::EndsWith;

class NearFile : public testing::Test {
 protected:
  NearFile() {
    std::filesystem::create_directories(path("examples/saxpy"));
    for (const char* name : {"saxpy.toml", "saxpy.cu", "x.npy", "examples/saxpy/layer.toml"}) {
      write_file_atomically(path(name), "");
    }
  }

  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::string suggested(const std::string& name) const { return file_suggestion(path(name)); }
  std::string meant(const std::string& name) const {
    return "; did you mean \"" + path(name).string() + "\"?";
  }

  TemporaryDirectory folder_;
};

TEST_F(NearFile, HasASlipInItsName) {
  EXPECT_EQ(suggested("saxp.toml"), meant("saxpy.toml"));
  EXPECT_EQ(suggested("sxapy.cu"), meant("saxpy.cu"));
}

TEST_F(NearFile, HasAnotherExtension) {
  EXPECT_EQ(suggested("x.nyp"), meant("x.npy"));
  EXPECT_EQ(suggested("saxpy"), "; did you mean \"" + path("saxpy.cu").string() + "\" or \"" +
                                    path("saxpy.toml").string() + "\"?");
}

TEST_F(NearFile, IsInAFolderWithASlip) {
  EXPECT_EQ(suggested("exmaples/saxpy/layer.toml"), meant("examples/saxpy/layer.toml"));
  EXPECT_EQ(suggested("examples/saxpi/layer.toml"), meant("examples/saxpy/layer.toml"));
  EXPECT_EQ(suggested("exmaples/saxpy/none.toml"), "");
}

// One letter of one is all of the name.
TEST_F(NearFile, IsNotAnyFile) {
  EXPECT_EQ(suggested("y.npy"), "");
  EXPECT_EQ(suggested("histogram.toml"), "");
  EXPECT_EQ(suggested("none/saxpy.toml"), "");
  EXPECT_EQ(file_suggestion(""), "");
}

TEST_F(NearFile, IsRelativeAsItWasAsked) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const std::string here = file_suggestion("saxp.toml");
  std::filesystem::current_path(before);
  EXPECT_EQ(here, "; did you mean \"saxpy.toml\"?");
}

TEST_F(NearFile, IsNamedWhereAFileIsRead) {
  const auto message = [&](const auto& read) -> std::string {
    try {
      read(path("saxp.toml"));
    } catch (const Error& failure) {
      return failure.message();
    }
    return "";
  };
  EXPECT_THAT(message([](const auto& path) { read_file(path); }), EndsWith(meant("saxpy.toml")));
  EXPECT_THAT(message([](const auto& path) { MappedFile::open(path); }),
              EndsWith(meant("saxpy.toml")));
}

}  // namespace
}  // namespace baton::near_file_test
