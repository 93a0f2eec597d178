#include "base/text/suggest.h"

#include <gtest/gtest.h>

#include "base/text/suggestion_or.h"

namespace baton::suggest_test {
namespace {

using Names = std::vector<std::string_view>;

TEST(Nearest, FindsASlipOfThePen) {
  const Names names = {"grid", "block", "cluster", "shared", "cooperative", "pdl"};
  EXPECT_EQ(nearest("gird", names), "grid");         // two letters swapped
  EXPECT_EQ(nearest("blok", names), "block");        // one left out
  EXPECT_EQ(nearest("clusster", names), "cluster");  // one too many
  EXPECT_EQ(nearest("sharet", names), "shared");     // one replaced
  EXPECT_EQ(nearest("coperativ", names), "cooperative");
  EXPECT_EQ(nearest("GRID", names), "grid");
}

TEST(Nearest, SaysNothingOfWhatIsFar) {
  const Names names = {"grid", "block", "x"};
  EXPECT_EQ(nearest("temperature", names), "");
  EXPECT_EQ(nearest("y", names), "");
  EXPECT_EQ(nearest("", names), "");
  EXPECT_EQ(nearest("grid", {}), "");
  EXPECT_EQ(nearest(std::string(1000000, 'g'), names), "");
}

TEST(Nearest, PrefersTheNearer) {
  EXPECT_EQ(nearest("f31", Names{"i64", "f32", "f3"}), "f32");
  EXPECT_EQ(nearest("max_registers", Names{"max_register_count", "max-registers"}),
            "max-registers");
}

TEST(Nearest, CountsASwapAsOneEdit) {
  // Two substitutions would be too many for three letters.
  EXPECT_EQ(nearest("ab", Names{"ba"}), "ba");
  EXPECT_EQ(nearest("ab", Names{"cd"}), "");
}

TEST(Suggestion, EndsAMessage) {
  const Names names = {"grid", "block"};
  EXPECT_EQ(suggestion("gird", names), "; did you mean \"grid\"?");
  EXPECT_EQ(suggestion("temperature", names), "; known: grid, block");
  EXPECT_EQ(suggestion("grid", Names{}), "");
  EXPECT_EQ(suggestion("gird", std::vector<std::string>{"grid"}), "; did you mean \"grid\"?");
}

// A question ends the message: nothing follows it.
TEST(Suggestion, HasOneAdvice) {
  const Names names = {"grid", "block"};
  EXPECT_EQ(suggestion_or("gird", names, "list all"), "; did you mean \"grid\"?");
  EXPECT_EQ(suggestion_or("temperature", names, "list all"), "; list all");
  EXPECT_EQ(suggestion_or("gird", std::vector<std::string>{"grid"}, "list all"),
            "; did you mean \"grid\"?");
}

TEST(Suggestion, ListsNoMoreThanOneCanRead) {
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("kernel" + std::to_string(i));
  const std::string text = suggestion("temperature", names);
  EXPECT_LT(text.size(), 300u);
  EXPECT_TRUE(text.ends_with("kernel15 and 984 more")) << text;
}

}  // namespace
}  // namespace baton::suggest_test
