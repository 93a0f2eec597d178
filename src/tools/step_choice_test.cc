#include "tools/step_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace baton::tools::step_choice_test {
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

std::string missing(const std::string& steps, const std::string& choice) {
  const Program program = Program::from_text(
      "[symbols]\nN = 4\n[buffers]\nz = { dtype = \"f32\", shape = 1 }\n"
      "[[steps]]\nrepeat = \"N\"\nindex = \"l\"\nsteps = [ " +
          steps + " ]\n",
      "p");
  try {
    check_step_exists("--until", parse_step_choice("--until", choice), program, {{"N", 3, ""}});
  } catch (const Error& failure) {
    return failure.message();
  }
  return "";
}

TEST(StepChoice, AStepThatNoRunComesToIsRefused) {
  const std::string fill = "{ fill = { buffer = \"z\", value = 0 } }";
  EXPECT_EQ(missing(fill, "fill z:l=2"), "");
  EXPECT_EQ(missing(fill, "2"), "");
  EXPECT_EQ(missing(fill, "fill z:l=3"),
            "--until fill z:l=3: the run has no such step; it has 3 steps, l is 0 to 2");
  EXPECT_EQ(missing(fill, "3"),
            "--until 3: the run has no such step; it has 3 steps, numbered from 0");
  const std::string triangle = "{ repeat = \"l\", index = \"i\", steps = [" + fill + "] }";
  EXPECT_EQ(missing(triangle, "fill z:l=2,i=1"), "");
  EXPECT_THAT(missing(triangle, "fill z:l=1,i=1"), HasSubstr("it has 3 steps"));
}

TEST(StepChoice, WhatARunComesToUnderAConditionIsNotJudged) {
  const Program program = Program::from_text(
      "[buffers]\nz = { dtype = \"f32\", shape = 1 }\n"
      "go = { dtype = \"i32\", shape = 1, role = \"input\", init = \"ones\" }\n"
      "[[steps]]\nif = { buffer = \"go\" }\n"
      "steps = [ { fill = { buffer = \"z\", value = 0 } } ]\n",
      "p");
  EXPECT_NO_THROW(check_step_exists("--until", parse_step_choice("--until", "9"), program, {}));
}

}  // namespace
}  // namespace baton::tools::step_choice_test
