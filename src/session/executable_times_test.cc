#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/executable.h"
#include "session/test_program.h"

namespace baton::executable_times_test {
namespace {

using namespace session_test;  // NOLINT: the tests' own words
using ::testing::ElementsAre;
using ::testing::SizeIs;

using ExecutableTest = DeviceTest;

TEST_F(ExecutableTest, LongRunsAreReportedByProgramStep) {
  Executable executable = Executable::prepare(
      program(buffer("x", "i32", "[1]", "inout", "zeros") + kernel("add") +
              "[[steps]]\nrepeat = 3000\nsteps = [ { fill = { buffer = \"x\", value = 1 } }, "
              "{ launch = \"add\", grid = [1], block = [1], args = [\"x\", 1, 1] } ]\n"),
      open_device());
  const RunReport& report = executable.run({.repeat = 2});
  EXPECT_THAT(values<std::int32_t>(executable.output("x")), ElementsAre(2));
  ASSERT_THAT(report.steps, SizeIs(2));
  EXPECT_EQ(report.steps[0].executions, 3000u);
  EXPECT_EQ(report.steps[0].bytes, 12000u);
  EXPECT_EQ(report.steps[1].executions, 3000u);
  EXPECT_TRUE(report.steps[1].seconds.has_value());
  EXPECT_EQ(report.steps[1].indexes, "");
}

TEST_F(ExecutableTest, WithoutStepTimes) {
  Executable executable = Executable::prepare(
      program(buffer("x", "i32", "[1]", "inout", "zeros") + kernel("add") +
              "[[steps]]\nrepeat = 1000\nsteps = [ { launch = \"add\", grid = [1], block = [1], "
              "args = [\"x\", 1, 1] } ]\n"),
      open_device());
  const RunReport& report = executable.run({.time_steps = false});
  EXPECT_THAT(values<std::int32_t>(executable.output("x")), ElementsAre(1000));
  EXPECT_FALSE(report.steps[0].seconds.has_value());
  EXPECT_THAT(report.run_seconds, SizeIs(1));
}

TEST(TimeStatistics, AreOrderStatistics) {
  EXPECT_FALSE(time_statistics({}).has_value());
  const TimeStatistics one = *time_statistics({3});
  EXPECT_EQ(one.count, 1u);
  EXPECT_EQ(one.least, 3);
  EXPECT_EQ(one.lower_quartile, 3);
  EXPECT_EQ(one.greatest, 3);
  const TimeStatistics four = *time_statistics({4, 1, 3, 2});
  EXPECT_EQ(four.count, 4u);
  EXPECT_EQ(four.least, 1);
  EXPECT_EQ(four.lower_quartile, 1.75);
  EXPECT_EQ(four.median, 2.5);
  EXPECT_EQ(four.upper_quartile, 3.25);
  EXPECT_EQ(four.greatest, 4);
}

TEST_F(ExecutableTest, StatisticsAreOfTheRunsAfterTheFirst) {
  Executable executable = Executable::prepare(
      program(buffer("x", "i32", "[1]", "inout", "zeros") +
              "[[steps]]\nrepeat = 3\nsteps = [ { fill = { buffer = \"x\", value = 1 } } ]\n"),
      open_device());
  EXPECT_FALSE(executable.run().steps.at(0).times.has_value());
  std::vector<std::uint64_t> done;
  RunOptions options;
  options.repeat = 4;
  options.after_run = [&](std::uint64_t run) { done.push_back(run); };
  const RunReport& each = executable.run(options);
  EXPECT_THAT(done, ElementsAre(0, 1, 2, 3));
  ASSERT_THAT(each.steps, SizeIs(3));
  EXPECT_EQ(each.steps[0].times->count, 3u);
  EXPECT_LE(each.steps[0].times->least, each.steps[0].times->median);
  options.join_executions = true;
  const RunReport& joined = executable.run(options);
  ASSERT_THAT(joined.steps, SizeIs(1));
  EXPECT_EQ(joined.steps[0].executions, 3u);
  EXPECT_EQ(joined.steps[0].times->count, 3u);
}

}  // namespace
}  // namespace baton::executable_times_test
