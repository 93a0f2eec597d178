#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "baton/executable.h"
#include "session/test_program.h"

namespace baton::run_observer_test {
namespace {

using namespace session_test;  // NOLINT: the tests' own words
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ObserverTest = DeviceTest;

// y = y + a * x, once for each i, with a copy of y after it.
std::string summing(const std::string& factor) {
  return "[symbols]\nN = 4\n" + buffer("x", "f32", "[\"N\"]", "input", "arange") +
         buffer("y", "f32", "[\"N\"]", "inout", "zeros") +
         buffer("h", "f32", "[\"N\"]", "scratch") + kernel("saxpy") +
         "[[steps]]\nrepeat = 3\nindex = \"i\"\nsteps = [\n"
         "{ launch = \"saxpy\", grid = 1, block = 32, args = [\"y\", \"x\", " +
         factor + ", \"N\"] },\n{ copy = { from = \"y\", to = \"h\" } } ]\n";
}

TEST_F(ObserverTest, SeesEachStepWithTheBuffersAsTheyAreThen) {
  Executable executable = Executable::prepare(program(summing("1.0")), open_device());
  std::vector<std::string> seen;
  std::vector<float> last;
  RunOptions options;
  options.repeat = 2;  // the first run is seen
  options.after_step = [&](const CompletedStep& step) {
    seen.push_back(fmt::format("{} {} ({}) {}", step.number, step.label, step.indexes_text(),
                               values<float>(step.contents("y"))[3]));
    EXPECT_EQ(step.launch.has_value(), step.kind == StepReport::Kind::kLaunch);
    EXPECT_THROW(step.contents("z"), Error);
    return true;
  };
  executable.run(options);
  EXPECT_THAT(
      seen, ElementsAre("0 saxpy (i = 0) 3", "1 copy y -> h (i = 0) 3", "2 saxpy (i = 1) 6",
                        "3 copy y -> h (i = 1) 6", "4 saxpy (i = 2) 9", "5 copy y -> h (i = 2) 9"));
  EXPECT_THAT(executable.report().run_seconds, SizeIs(2));
  EXPECT_THAT(values<float>(executable.output("y")), ElementsAre(0, 3, 6, 9));
}

TEST_F(ObserverTest, EndsTheRunWhereTheCallerSaysSo) {
  Executable executable = Executable::prepare(program(summing("1.0")), open_device());
  RunOptions options;
  options.after_step = [](const CompletedStep& step) { return step.number != 2; };
  const RunReport& report = executable.run(options);
  EXPECT_THAT(report.steps, SizeIs(3));
  EXPECT_THAT(report.warnings, IsEmpty());
  EXPECT_THAT(values<float>(executable.output("y")), ElementsAre(0, 2, 4, 6));
  // The next run is whole again.
  executable.run();
  EXPECT_THAT(executable.report().steps, SizeIs(6));
  EXPECT_THAT(values<float>(executable.output("y")), ElementsAre(0, 3, 6, 9));
}

TEST_F(ObserverTest, SeesTheStepsOfBranchesOneByOne) {
  Executable executable = Executable::prepare(
      program(buffer("a", "i32", "[1]", "output") + buffer("b", "i32", "[1]", "output") +
              "[[steps]]\nparallel = [\n"
              "[ { fill = { buffer = \"a\", value = 1 } }, { fill = { buffer = \"a\", value = 2 } "
              "} ],\n[ { fill = { buffer = \"b\", value = 3 } } ] ]\n"
              "[[steps]]\nfill = { buffer = \"a\", value = 4 }\n"),
      open_device());
  std::vector<int> seen;
  RunOptions options;
  options.after_step = [&](const CompletedStep& step) {
    seen.push_back(values<int>(step.contents(step.label == "fill b" ? "b" : "a"))[0]);
    return seen.size() != 3;
  };
  executable.run(options);
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
  EXPECT_THAT(values<int>(executable.output("a")), ElementsAre(2));
  executable.run();
  EXPECT_THAT(values<int>(executable.output("a")), ElementsAre(4));
}

TEST_F(ObserverTest, KeepsOtherBuffersThanOutputs) {
  Executable executable = Executable::prepare(program(summing("1.0")), open_device());
  EXPECT_THROW(executable.contents("h"), Error);
  RunOptions options;
  options.results = {"h"};
  options.repeat = 2;
  executable.run(options);
  EXPECT_THAT(values<float>(executable.output("h")), ElementsAre(0, 3, 6, 9));
  EXPECT_THAT(values<float>(executable.contents("h")), ElementsAre(0, 6, 12, 18));
  options.results = {"hh"};
  EXPECT_THROW(executable.run(options), Error);
}

TEST_F(ObserverTest, FindsTheStepThatMakesAnInfinity) {
  Executable executable = Executable::prepare(program(summing("5e37")), open_device());
  RunOptions options;
  options.find_non_finite = true;
  try {
    executable.run(options);
    FAIL() << "nothing was found";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kMismatch);
    EXPECT_THAT(failure.message(), HasSubstr("launch 0 (saxpy), i = 2 makes an infinity of finite "
                                             "values: y[3] is the only such element"));
    EXPECT_THAT(failure.where().to_string(), HasSubstr("test.toml:"));
  }
  ASSERT_TRUE(executable.report().non_finite);
  const NonFiniteReport& found = *executable.report().non_finite;
  EXPECT_EQ(found.buffer, "y");
  EXPECT_THAT(found.index, ElementsAre(3));
  EXPECT_EQ(found.value, "inf");
  // A run without the search starts anew.
  executable.run();
  EXPECT_FALSE(executable.report().non_finite);
}

TEST_F(ObserverTest, DoesNotBlameStepsForWhatTheyWereGiven) {
  Executable executable = Executable::prepare(program(summing("1.0")), open_device());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Bindings bindings;
  bindings.inputs = {{"x", array<float>(DType::kF32, {4}, {0, nan, 2, 3})}};
  executable.bind(std::move(bindings));
  RunOptions options;
  options.find_non_finite = true;
  const RunReport& report = executable.run(options);
  EXPECT_FALSE(report.non_finite);
  EXPECT_THAT(report.warnings, ElementsAre(HasSubstr("the buffer x starts with nan at [1], in 1 of "
                                                     "4 elements")));
}

TEST_F(ObserverTest, NeedsTheStreamExecutor) {
  Executable executable = Executable::prepare(program(summing("1.0")), open_device(),
                                              {.executor = ExecutorKind::kGraph});
  RunOptions options;
  options.find_non_finite = true;
  try {
    executable.run(options);
    FAIL() << "it was accepted";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(failure.message(), HasSubstr("a graph is one launch"));
  }
}

TEST_F(ObserverTest, ReadsBuffersAfterAFault) {
  const Device device = open_device();
  if (!is_simulated(device)) GTEST_SKIP() << "the memory of a GPU is lost with its context";
  // The second launch goes past the end of y.
  Executable executable = Executable::prepare(
      program("[symbols]\nN = 4\n" + buffer("x", "f32", "[64]", "input", "arange") +
              buffer("y", "f32", "[\"N\"]", "inout", "zeros") + kernel("saxpy") +
              "[[steps]]\nlaunch = \"saxpy\"\ngrid = 1\nblock = 32\n"
              "args = [\"y\", \"x\", 1.0, \"N\"]\n"
              "[[steps]]\nlaunch = \"saxpy\"\ngrid = 1\nblock = 32\n"
              "args = [\"y\", \"x\", 1.0, \"N + 16\"]\n"),
      device);
  EXPECT_THROW(executable.run(), Error);
  device.recover();
  EXPECT_EQ(values<float>(executable.contents("x"))[3], 3);
  EXPECT_GE(values<float>(executable.contents("y"))[3], 3);
}

TEST_F(ObserverTest, ComparesWithWhatTheProgramExpects) {
  Executable executable = Executable::prepare(program(summing("1.0")), open_device());
  executable.run();
  EXPECT_THAT(executable.compare_expected(), IsEmpty());
}

}  // namespace
}  // namespace baton::run_observer_test
