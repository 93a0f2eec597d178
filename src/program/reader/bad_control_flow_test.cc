#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "baton/program.h"
#include "program/reader/good_program_test.h"

// Errors in steps that hold other steps.

namespace baton::bad_control_flow_test {
namespace {

using ::testing::HasSubstr;

TEST(BadControlFlow, Parallels) {
  const std::string good = kGoodProgram;
  const std::string head = good.substr(0, good.find("repeat = 2"));
  const std::string fill = "[ { fill = { buffer = \"x\", value = 0 } } ]";
  std::string many;
  for (int i = 0; i < 65; ++i) many += fill + ", ";
  const struct {
    std::string step;
    const char* place;
    const char* message;
  } kBad[] = {
      {"parallel = [ " + fill + " ]", "24:1", "the parallel has 1 branches, it must have 2 to 64"},
      {"parallel = []", "24:1", "the parallel has 0 branches, it must have 2 to 64"},
      {"parallel = [ " + many + "]", "24:1", "the parallel has 65 branches, it must have 2 to 64"},
      {"parallel = [ " + fill + ", [] ]", "24:1", "branch 1 of the parallel has no steps"},
      {"parallel = 3", "25:12", "an array of branches, each an array of steps"},
      {"parallel = [ " + fill + ", 3 ]", "25:58", "steps must be an array of tables"},
      {"parallel = [ " + fill + ", [ { fill = { buffer = \"q\", value = 0 } } ] ]", "25:60",
       "unknown buffer \"q\""},
      {"parallel = [ " + fill + ", [ 3 ] ]", "25:60", "step 3.1.0 must be a table"},
      {"parallel = [ " + fill + ", " + fill + " ]\nsteps = []", "26:1", "unknown key \"steps\""},
  };
  EXPECT_NO_THROW(Program::from_text(head + "parallel = [ " + fill + ", " + fill + " ]", "p.toml"));
  for (const auto& bad : kBad) {
    SCOPED_TRACE(bad.step);
    try {
      Program::from_text(head + bad.step, "p.toml");
      ADD_FAILURE() << "was not refused";
    } catch (const Error& refused) {
      EXPECT_EQ(refused.where().to_string(), std::string("p.toml:") + bad.place);
      EXPECT_THAT(refused.message(), HasSubstr(bad.message));
    }
  }
}

// The last step of the good program, in which an if or a while takes its place.
struct BadCondition {
  const char* step;
  ErrorCode code;
  const char* place;
  const char* message;
};

TEST(BadControlFlow, Conditions) {
  const std::string good = kGoodProgram;
  const std::string head = good.substr(0, good.find("repeat = 2"));
  const std::string steps = "\nsteps = [ { fill = { buffer = \"x\", value = 0 } } ]\n";
  const BadCondition kBad[] = {
      {"if = { buffer = \"q\" }", ErrorCode::kNotFound, "24:1", "unknown buffer \"q\""},
      {"if = { buffer = \"x\" }", ErrorCode::kInvalidInput, "24:1",
       "the step tests x, which is f32; a condition is an integer or bool"},
      {"if = { buffer = \"N\" }", ErrorCode::kInvalidInput, "24:1",
       "N is a symbol, where a buffer is expected"},
      {"if = { }", ErrorCode::kInvalidInput, "25:6", "lacks \"buffer\""},
      {"if = \"w\"", ErrorCode::kInvalidInput, "25:6", "must be a table"},
      {"if = { buffer = \"w\", at_most = 3 }", ErrorCode::kInvalidInput, "25:22",
       "unknown key \"at_most\""},
      {"while = { buffer = \"w\" }", ErrorCode::kInvalidInput, "25:9", "lacks \"at_most\""},
      {"while = { buffer = \"w\", at_most = -1 }", ErrorCode::kInvalidInput, "25:35",
       "at_most of the while is -1"},
      {"while = { buffer = \"w\", at_most = \"Q\" }", ErrorCode::kNotFound, "25:36",
       "unknown symbol \"Q\""},
      {"while = { buffer = \"w\", at_most = 2, unroll = 0 }", ErrorCode::kInvalidInput, "25:47",
       "unroll of the while is 0, it must be at least 1"},
      {"while = { buffer = \"w\", at_most = 2, unrol = 2 }", ErrorCode::kInvalidInput, "25:38",
       "did you mean"},
      {"index = \"j\"\nif = { buffer = \"w\" }", ErrorCode::kInvalidInput, "25:1",
       "unknown key \"index\""},
      {"if = { buffer = \"w\" }\nrepeat = 3", ErrorCode::kInvalidInput, "25:6",
       "both repeat and if"},
  };
  EXPECT_NO_THROW(Program::from_text(head + "if = { buffer = \"w\" }" + steps, "p.toml"));
  for (const BadCondition& bad : kBad) {
    SCOPED_TRACE(bad.step);
    try {
      Program::from_text(head + bad.step + steps, "p.toml");
      ADD_FAILURE() << "was not refused";
    } catch (const Error& refused) {
      EXPECT_EQ(refused.code(), bad.code);
      EXPECT_THAT(refused.message(), HasSubstr(bad.message));
      EXPECT_EQ(refused.where().to_string(), std::string("p.toml:") + bad.place);
    }
  }
  EXPECT_THROW(Program::from_text(head + "if = { buffer = \"w\" }\nsteps = []\n", "p.toml"), Error);
}

TEST(BadControlFlow, SetupStepsTestNothing) {
  try {
    Program::from_text(std::string(kGoodProgram) +
                           "[[setup]]\nif = { buffer = \"w\" }\nsteps = [ { fill = { buffer = "
                           "\"w\", value = 0 } } ]\n",
                       "p.toml");
    FAIL() << "was not refused";
  } catch (const Error& refused) {
    EXPECT_EQ(refused.where().to_string(), "p.toml:28:1");
    EXPECT_THAT(refused.message(), HasSubstr("a setup step tests the buffer w"));
  }
}

TEST(BadControlFlow, RepeatsNestSoFar) {
  const auto nested = [](int levels) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += "{ repeat = 1, steps = [";
    text += "{ fill = { buffer = \"x\", value = 0 } }";
    for (int i = 0; i < levels; ++i) text += "] }";
    return "steps = [" + text + "]\n[buffers.x]\ndtype = \"u8\"\nshape = [1]\n";
  };
  EXPECT_NO_THROW(Program::from_text(nested(16), "p.toml"));
  EXPECT_THROW(Program::from_text(nested(17), "p.toml"), Error);
  // Deep enough to overflow a stack, were it not refused.
  EXPECT_THROW(Program::from_text(nested(100000), "p.toml"), Error);
}

}  // namespace
}  // namespace baton::bad_control_flow_test
