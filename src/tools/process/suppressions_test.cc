#include "tools/process/suppressions.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace baton::tools::suppressions_test {
namespace {

using ::testing::HasSubstr;

class Suppressions : public testing::Test {
 protected:
  std::vector<Suppression> read(const std::string& text) const {
    std::ofstream(path_) << text;
    return read_suppressions(path_);
  }
  std::string refusal(const std::string& text) const {
    try {
      read(text);
    } catch (const Error& failure) {
      return failure.what();
    }
    return "it was accepted";
  }
  ~Suppressions() override { std::filesystem::remove(path_); }

 private:
  // Tests run at the same time.
  std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) /
      fmt::format("{}-known.toml", testing::UnitTest::GetInstance()->current_test_info()->name());
};

FindingReport finding() {
  FindingReport made;
  made.kind = "uninitialized";
  made.kernel = "_ZN3cub4sortEPf";
  made.where = "cub/sort.cuh:12:7";
  made.message = "reads 4 bytes";
  return made;
}

TEST_F(Suppressions, TakeWhatHasAllThatTheyName) {
  const auto takes = [&](const std::string& keys) {
    auto rules = read("[[suppress]]\n" + keys);
    return find_suppression(rules, finding()) != nullptr;
  };
  EXPECT_TRUE(takes("kind = 'uninitialized'"));
  EXPECT_FALSE(takes("kind = 'shared_race'"));
  EXPECT_TRUE(takes("kernel = '^_ZN3cub'")) << "as the image names it";
  EXPECT_TRUE(takes("kernel = 'cub::sort'")) << "as it is written";
  EXPECT_FALSE(takes("kernel = '^sort'"));
  EXPECT_TRUE(takes("where = '^cub/'"));
  EXPECT_FALSE(takes("where = 'cub/$'"));
  EXPECT_TRUE(takes("message = '4 bytes'"));
  EXPECT_FALSE(takes("message = '8 bytes'"));
  EXPECT_TRUE(takes("kind = 'uninitialized'\nwhere = '^cub/'\nreason = 'padding'"));
  EXPECT_FALSE(takes("kind = 'uninitialized'\nwhere = '^thrust/'"));
}

TEST_F(Suppressions, TheFirstThatMatchesCounts) {
  auto rules = read(
      "[[suppress]]\nkind = 'trap'\n[[suppress]]\nwhere = 'cub'\nreason = 'first'\n"
      "[[suppress]]\nmessage = '.'\n");
  ASSERT_EQ(rules.size(), 3u);
  EXPECT_EQ(find_suppression(rules, finding()), &rules[1]);
  EXPECT_EQ(rules[1].reason, "first");
  EXPECT_EQ(rules[1].place.line, 3);
  EXPECT_TRUE(read("").empty());
}

TEST_F(Suppressions, MistakesHaveTheirPlace) {
  EXPECT_THAT(refusal("[[suppress]]\nkind = 'share_race'"),
              HasSubstr("there is no finding of kind \"share_race\""));
  EXPECT_THAT(refusal("[[suppress]]\nkind = 'share_race'"), HasSubstr("shared_race"));
  EXPECT_THAT(refusal("[[suppress]]\nkernal = 'a'"), HasSubstr("did you mean \"kernel\"?"));
  EXPECT_THAT(refusal("[[suppress]]\nkernal = 'a'"), HasSubstr("known.toml:2:1"));
  EXPECT_THAT(refusal("[[suppress]]\nwhere = '('"), HasSubstr("is not a regular expression"));
  EXPECT_THAT(refusal("[[suppress]]\nwhere = 3"), HasSubstr("must be a string, not an integer"));
  EXPECT_THAT(refusal("[[suppress]]\nreason = 'known'"), HasSubstr("names no finding"));
  EXPECT_THAT(refusal("[suppress]\nkind = 'trap'"), HasSubstr("must be tables, [[suppress]]"));
  EXPECT_THAT(refusal("suppress = [3]"), HasSubstr("not an integer"));
  EXPECT_THAT(refusal("[[supress]]\nkind = 'trap'"), HasSubstr("has no key \"supress\""));
  EXPECT_THAT(refusal("[[suppress]\n"), HasSubstr("known.toml:1"));
}

}  // namespace
}  // namespace baton::tools::suppressions_test
