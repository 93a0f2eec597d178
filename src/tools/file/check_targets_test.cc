#include "tools/file/check_targets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "baton/error.h"

namespace baton::tools::check_targets_test {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

class CheckTargetsTest : public testing::Test {
 protected:
  CheckTargetsTest() : root_(fs::path(testing::TempDir()) / fs::path("check_targets_XXXXXX")) {
    std::string name = root_.string();
    root_ = mkdtemp(name.data());
  }
  ~CheckTargetsTest() override { fs::remove_all(root_); }

  fs::path file(const std::string& name, const std::string& text = "x") {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
    return root_ / name;
  }

  std::vector<std::string> found(const std::vector<fs::path>& named) {
    std::vector<std::string> names;
    for (const CheckTarget& target : find_check_targets(named).files) {
      names.push_back(fs::relative(target.file, root_).string());
    }
    return names;
  }

  fs::path root_;
};

TEST_F(CheckTargetsTest, AFolderIsSearchedForFilesThatMayHoldKernels) {
  for (const char* name : {"b.ptx", "a.cubin", "deep/er/c.fatbin", "d.baton", "lib.so",
                           "lib.so.1.2", ".hidden/e.ptx", "notes.txt", "f.so.txt", ".git/g.ptx"}) {
    file(name);
  }
  EXPECT_THAT(found({root_}), ElementsAre(".hidden/e.ptx", "a.cubin", "b.ptx", "d.baton",
                                          "deep/er/c.fatbin", "lib.so", "lib.so.1.2"));
}

TEST_F(CheckTargetsTest, AProgramIsATomlFileThatHasSteps) {
  file("p.toml", "name = \"p\"\n [[steps]]\n");
  file("q.toml", "steps = []\n");
  file("pyproject.toml", "[project]\nname = \"steps\"\n");
  file("base.toml", "[kernels.k]\nsteps_of = 1\n");
  EXPECT_THAT(found({root_}), ElementsAre("p.toml", "q.toml"));
}

TEST_F(CheckTargetsTest, NamedFilesAreTakenWhateverTheirNames) {
  const fs::path notes = file("notes.txt"), ptx = file("k.ptx");
  const CheckTargets targets = find_check_targets({notes, root_});
  ASSERT_EQ(targets.files.size(), 2U);
  EXPECT_EQ(targets.files[0].file, notes);
  EXPECT_FALSE(targets.files[0].is_found);
  EXPECT_EQ(targets.files[1].file, ptx);
  EXPECT_TRUE(targets.files[1].is_found);
}

TEST_F(CheckTargetsTest, AFileWithSeveralNamesIsCheckedOnce) {
  const fs::path library = file("lib.so.1");
  fs::create_symlink("lib.so.1", root_ / "lib.so");
  EXPECT_EQ(find_check_targets({root_, library, root_}).files.size(), 1U);
}

TEST_F(CheckTargetsTest, LinksToFoldersAreNotFollowed) {
  file("in/k.ptx");
  fs::create_directory_symlink(root_, root_ / "in" / "loop");
  EXPECT_THAT(found({root_}), ElementsAre("in/k.ptx"));
}

TEST_F(CheckTargetsTest, WhatIsMissingIsNamed) {
  const auto message = [](const fs::path& path) -> std::string {
    try {
      find_check_targets({path});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kNotFound);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(root_ / "none"), HasSubstr("none does not exist"));
  const fs::path notes = file("notes.txt");
  EXPECT_THAT(message(root_), HasSubstr("has no .ptx"));
  EXPECT_THAT(message(root_ / "nots.txt"),
              EndsWith("does not exist; did you mean \"" + notes.string() + "\"?"));
}

}  // namespace
}  // namespace baton::tools::check_targets_test
