#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "baton/buffer.h"
#include "session/test_program.h"

// Runs of one binding play the same tape: each does what the first one does.

namespace baton::session_test::repeated_runs_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using RepeatedRuns = DeviceTest;

// Adds to x, 12 numbers of the caller's: launches that vary with an index and ones that do not,
// skipped ones, copies, fills, and groups in groups.
const std::string kEverything =
    "[symbols]\nL = 3\n" + buffer("x", "i32", "[\"4*L\"]", "inout") +
    buffer("y", "i32", "[4]", "inout") + buffer("z", "i32", "[4]", "scratch") + kernel("add") +
    "[[steps]]\nfill = { buffer = \"z\", value = 100 }\n"
    "[[steps]]\nrepeat = \"L\"\nindex = \"i\"\n"
    "[[steps.steps]]\nlaunch = \"add\"\ngrid = [\"min(i, 1)\"]\nblock = [4]\n"
    "args = [\"x + 4*i\", \"10*i\", 4]\n"
    "[[steps.steps]]\nrepeat = \"i\"\nindex = \"j\"\n"
    "steps = [ { launch = \"add\", grid = [1], block = [4], args = [\"z\", \"j\", 4] },\n"
    "  { launch = \"add\", grid = [1], block = [4], args = [\"y\", 1, 4] } ]\n"
    "[[steps]]\ncopy = { from = \"z\", to = \"x\", count = 2 }\n"
    "[[steps]]\ncopy = { from = \"z\", to = \"x\", count = 0 }\n";

struct Outcome {
  std::vector<int> x, y;
  RunReport report;
};

Outcome run(const std::string& text, std::uint64_t calls, RunOptions options,
            ExecutorKind executor = ExecutorKind::kStream) {
  const Device device = open_device();
  std::vector<int> numbers(12);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto x = Buffer<int>::of(device, numbers);
  const auto y = Buffer<int>::of(device, std::vector<int>(4, 1));
  PrepareOptions how;
  how.executor = executor;
  Executable executable = Executable::prepare(program(text), device, how);
  executable.bind({.memory = {{"x", {DType::kI32, {12}, x.memory().address()}},
                              {"y", {DType::kI32, {4}, y.memory().address()}}}});
  for (std::uint64_t call = 0; call < calls; ++call) executable.run(options);
  return {x.download(), y.download(), executable.report()};
}

TEST_F(RepeatedRuns, DoWhatSingleRunsDo) {
  const Outcome single = run(kEverything, 5, {});
  EXPECT_THAT(single.y, Each(1 + 5 * 3));
  for (const bool times : {true, false}) {
    for (const bool join : {true, false}) {
      RunOptions options;
      options.repeat = 5;
      options.time_steps = times;
      options.join_executions = join;
      const Outcome repeated = run(kEverything, 1, options);
      EXPECT_THAT(repeated.x, ElementsAreArray(single.x));
      EXPECT_THAT(repeated.y, ElementsAreArray(single.y));
      EXPECT_THAT(repeated.report.run_seconds, SizeIs(5));
      if (!times || join) continue;
      ASSERT_EQ(repeated.report.steps.size(), single.report.steps.size());
      for (std::size_t i = 0; i < single.report.steps.size(); ++i) {
        EXPECT_EQ(repeated.report.steps[i].indexes, single.report.steps[i].indexes);
        const bool idle = i == 1 || i + 1 == single.report.steps.size();
        EXPECT_EQ(repeated.report.steps[i].times.has_value(), !idle) << i;
      }
    }
  }
}

// A launch of the first iteration has a full edge, those of the others programmatic ones.
TEST_F(RepeatedRuns, KeepTheirEdges) {
  const std::string text =
      buffer("x", "i32", "[4]", "inout") + buffer("y", "i32", "[4]", "inout") +
      edge_kernel("late") +
      "[[steps]]\nrepeat = 10\nsteps = [\n"
      "  { launch = \"late\", grid = [1], block = [4], args = [\"x\", \"y\"] },\n"
      "  { launch = \"late\", grid = [1], block = [4], args = [\"y\", \"x\"] } ]\n";
  const Device device = open_device();
  const auto x = Buffer<int>::of(device, std::vector<int>(4, 0));
  const auto y = Buffer<int>::of(device, std::vector<int>(4, 0));
  Executable executable = Executable::prepare(program(text), device);
  executable.bind({.memory = {{"x", {DType::kI32, {4}, x.memory().address()}},
                              {"y", {DType::kI32, {4}, y.memory().address()}}}});
  executable.run({.repeat = 4, .time_steps = false});
  EXPECT_THAT(x.download(), Each(4 * 20));
}

// Too many launches to unroll: each iteration is evaluated in each run.
TEST_F(RepeatedRuns, OfLongLoopsAreEvaluatedByIteration) {
  const std::string text =
      buffer("x", "i32", "[12]", "inout") + buffer("y", "i32", "[4]", "inout") + kernel("add") +
      "[[steps]]\nrepeat = 70000\nindex = \"i\"\nsteps = [ { launch = \"add\", "
      "grid = [1], block = [4], args = [\"y\", \"i % 2\", 4] } ]\n";
  RunOptions options;
  options.repeat = 3;
  options.time_steps = false;
  EXPECT_THAT(run(text, 1, options).y, Each(1 + 3 * 35000));
}

TEST_F(RepeatedRuns, AreInterruptedWhereTheyStand) {
  const std::string text = "[symbols]\nL = 3\n" + buffer("x", "i32", "[\"4*L\"]", "inout") +
                           buffer("y", "i32", "[4]", "inout") + kernel("add") +
                           "[[steps]]\nrepeat = \"L\"\nindex = \"i\"\nsteps = [ { launch = "
                           "\"add\", grid = [1], block = [4], args = [\"x + 4*i\", 1, 4] } ]\n";
  for (const bool join : {true, false}) {
    std::atomic<bool> interrupt{false};
    RunOptions options;
    options.repeat = 3;
    options.join_executions = join;
    options.interrupt = &interrupt;
    options.after_run = [&](std::uint64_t) { interrupt = true; };
    try {
      run(text, 1, options);
      FAIL() << "was not interrupted";
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::kInterrupted);
      EXPECT_THAT(failure.what(), HasSubstr("test.toml:"));
      EXPECT_THAT(failure.what(), HasSubstr("with i = 0"));
    }
  }
}

TEST_F(RepeatedRuns, KnowTheIndexesOfTheirSteps) {
  const Device device = open_device();
  Executable executable = Executable::prepare(program(kEverything), device);
  executable.bind({.inputs = {{"x", array<int>(DType::kI32, {12}, std::vector<int>(12))},
                              {"y", array<int>(DType::kI32, {4}, std::vector<int>(4))}}});
  std::vector<std::string> indexes;
  for (const StepReport& step : executable.run().steps) indexes.push_back(step.indexes);
  EXPECT_THAT(indexes,
              ElementsAre("", "i = 0", "i = 1", "i = 1, j = 0", "i = 1, j = 0", "i = 2",
                          "i = 2, j = 0", "i = 2, j = 0", "i = 2, j = 1", "i = 2, j = 1", "", ""));
}

// The second run hangs: what had nothing to do is not said to be unfinished.
TEST_F(RepeatedRuns, LeaveIdleStepsDone) {
  if (!is_simulated(open_device()))
    GTEST_SKIP() << "a hang would poison the context of every later test";
  for (const ExecutorKind executor : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    const Device device = open_device();  // which a hang breaks
    PrepareOptions how;
    how.executor = executor;
    Executable executable = Executable::prepare(
        program("[symbols]\nE = 0\n" + buffer("flag", "i32", "[1]", "inout") + kernel("spin") +
                "[[steps]]\ncopy = { from = \"flag\", to = \"flag\", count = 0 }\n"
                "[[steps]]\nlaunch = \"spin\"\ngrid = [\"E\"]\nblock = [1]\nargs = [\"flag\"]\n"
                "[[steps]]\nlaunch = \"spin\"\ngrid = [1]\nblock = [1]\nargs = [\"flag\"]\n"
                "[[steps]]\nfill = { buffer = \"flag\", value = 0 }\n"),
        device, how);
    executable.bind({.inputs = {{"flag", array<int>(DType::kI32, {1}, {-1})}}});
    RunOptions options;
    options.repeat = 2;
    options.timeout = std::chrono::seconds(1);
    EXPECT_THROW(executable.run(options), Error);
    std::vector<std::uint64_t> unfinished;
    for (const StepReport& step : executable.report().steps) unfinished.push_back(step.unfinished);
    EXPECT_THAT(unfinished, ElementsAre(0, 0, 1, 1));
  }
}

}  // namespace
}  // namespace baton::session_test::repeated_runs_test
