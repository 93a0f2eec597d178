#include "tools/step_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace baton::tools {
namespace {

using ::testing::HasSubstr;

CompletedStep completed(std::uint64_t number, std::string label, std::int64_t layer) {
  CompletedStep done;
  done.number = number;
  done.label = std::move(label);
  done.indexes = {{"layer", layer}, {"i", 0}};
  return done;
}

std::string refusal(const std::string& text) {
  try {
    parse_step_choice("--until", text);
  } catch (const Error& failure) {
    return failure.message();
  }
  return "it was accepted";
}

TEST(StepChoice, IsANumberALabelOrALabelWithIndexes) {
  const auto fits = [](const std::string& text, const CompletedStep& step) {
    return parse_step_choice("--until", text).fits(step);
  };
  const CompletedStep topk = completed(12, "topk", 2);
  EXPECT_TRUE(fits("12", topk));
  EXPECT_FALSE(fits("2", topk));
  EXPECT_TRUE(fits("topk", topk));
  EXPECT_FALSE(fits("top", topk));
  EXPECT_TRUE(fits("topk:layer=2", topk));
  EXPECT_TRUE(fits("topk:i=0,layer=2", topk));
  EXPECT_FALSE(fits("topk:layer=3", topk));
  EXPECT_FALSE(fits("topk:row=2", topk));
  EXPECT_TRUE(fits("a:b", completed(0, "a:b", 0)));
  EXPECT_TRUE(fits("fill z:layer=1", completed(0, "fill z", 1)));
}

TEST(StepChoice, WrongIndexesAreNamed) {
  EXPECT_THAT(refusal("topk:layer=x"), HasSubstr("\"layer=x\" is not INDEX=INTEGER"));
  EXPECT_THAT(refusal("topk:layer=1,i"), HasSubstr("\"i\" is not INDEX=INTEGER"));
}

TEST(StepChoice, NamesAreThoseOfTheProgram) {
  const Program program = Program::from_text(
      "[buffers]\nz = { dtype = \"f32\", shape = 1 }\n"
      "[[steps]]\nrepeat = 2\nindex = \"layer\"\n"
      "steps = [ { fill = { buffer = \"z\", value = 0 } } ]\n",
      "p");
  const auto refused = [&](const std::string& text) -> std::string {
    try {
      check_step_choice("--until", parse_step_choice("--until", text), program);
    } catch (const Error& failure) {
      return failure.message();
    }
    return "";
  };
  EXPECT_EQ(refused("7"), "");
  EXPECT_EQ(refused("fill z:layer=9"), "");
  EXPECT_THAT(refused("fill y"), HasSubstr("did you mean \"fill z\"?"));
  EXPECT_THAT(refused("fill z:layr=0"), HasSubstr("no step has the index \"layr\""));
}

}  // namespace
}  // namespace baton::tools
