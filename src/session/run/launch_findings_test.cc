#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "session/test_program.h"

// Which launch of a program a finding of the simulated GPU is about.

namespace baton::session_test::launch_findings_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A fault breaks the device's context, which a GPU gives back only with the process.
class LaunchFindings : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !is_simulated(open_device())) GTEST_SKIP() << "needs a simulated GPU";
  }
};

constexpr ExecutorKind kExecutors[] = {ExecutorKind::kStream, ExecutorKind::kGraph};

const std::vector<Schedule> kSchedules = {{},
                                          {ScheduleKind::kLate},
                                          {ScheduleKind::kEarly},
                                          {ScheduleKind::kReverse},
                                          {ScheduleKind::kRandom, 1},
                                          {ScheduleKind::kRandom, 2}};

std::string launch(const std::string& name, const std::string& args) {
  return "{ launch = \"" + name + "\", grid = [1], block = [1], args = [" + args + "] }";
}

// out_of_bounds writes the element of its index.
std::string program_of(const std::string& elements, const std::string& steps) {
  return buffer("y", "f32", "[" + elements + "]", "output", "zeros") + kernel("out_of_bounds") +
         steps;
}

Error failure_of(const std::string& text, ExecutorKind executor = ExecutorKind::kStream,
                 const RunOptions& run = {}) {
  const Device device = open_device();
  PrepareOptions options;
  options.executor = executor;
  Executable executable = Executable::prepare(program(text), device, options);
  try {
    executable.run(run);
  } catch (const Error& failure) {
    const std::vector<FindingReport>& findings = executable.report().findings;
    EXPECT_THAT(findings, SizeIs(1));
    if (!findings.empty()) {
      EXPECT_THAT(failure.message(), StartsWith(findings[0].launch + ": "));
    }
    return failure;
  }
  ADD_FAILURE() << "did not fail";
  return Error(ErrorCode::kInternal, "");
}

const std::string kLoop = program_of("64", "[[steps]]\nrepeat = 1000\nindex = \"t\"\nsteps = [ " +
                                               launch("out_of_bounds", "\"y\", \"t\"") + " ]\n");

TEST_F(LaunchFindings, AFaultNamesLaunchIndexesAndPlace) {
  const Error failure = failure_of(kLoop);
  EXPECT_EQ(failure.code(), ErrorCode::kFault);
  EXPECT_THAT(failure.message(),
              StartsWith("launch 0 (out_of_bounds), t = 64, at test.toml:12:11: kernel "
                         "out_of_bounds, block (0, 0, 0), thread (0, 0, 0): writes 4 bytes of "
                         "global memory at 0x"));
  EXPECT_THAT(failure.message(),
              HasSubstr("0 bytes past the end of buffer y (f32 [64], 256 bytes"));
  EXPECT_THAT(failure.where().file, HasSubstr("kernels.cu:"));
  EXPECT_THAT(failure.notes(), SizeIs(0)) << failure.what();
  EXPECT_NE(failure.driver_result(), 0);
}

TEST_F(LaunchFindings, AFaultIsTheSameHoweverItRan) {
  const std::string first = failure_of(kLoop).what();
  for (const ExecutorKind executor : kExecutors) {
    for (const Schedule& schedule : kSchedules) {
      for (const bool timed : {true, false}) {
        const RunOptions run{.repeat = 3, .schedule = schedule, .time_steps = timed};
        EXPECT_EQ(failure_of(kLoop, executor, run).what(), first) << to_string(schedule);
      }
    }
    EXPECT_EQ(failure_of(kLoop, executor, {.timeout = std::chrono::seconds(60)}).what(), first);
  }
}

TEST_F(LaunchFindings, AFaultInNestedGroupsNamesAllIndexes) {
  const std::string text =
      program_of("10",
                 "[[steps]]\nrepeat = 3\nindex = \"l\"\n[[steps.steps]]\nrepeat = \"l + 3\"\n"
                 "index = \"t\"\nsteps = [ " +
                     launch("out_of_bounds", "\"y\", 0") + ", " +
                     launch("out_of_bounds", "\"y\", \"8*l + t\"") + " ]\n");
  for (const ExecutorKind executor : kExecutors) {
    EXPECT_THAT(failure_of(text, executor).message(),
                StartsWith("launch 1 (out_of_bounds), l = 1, t = 2, at test.toml:"));
  }
}

// Iterations that are alike are packed once.
TEST_F(LaunchFindings, AFaultInAlikeIterationsNamesTheIndex) {
  const std::string text = program_of("10", "[[steps]]\nrepeat = 5\nindex = \"l\"\nsteps = [ " +
                                                launch("out_of_bounds", "\"y\", 0") + ", " +
                                                launch("out_of_bounds", "\"y\", 10") + " ]\n");
  for (const ExecutorKind executor : kExecutors) {
    EXPECT_THAT(failure_of(text, executor).message(),
                StartsWith("launch 1 (out_of_bounds), l = 0, at test.toml:"));
  }
}

// Too long to be unrolled.
TEST_F(LaunchFindings, AFaultInALongLoopNamesTheIndex) {
  const std::string text = program_of("1000",
                                      "[[steps]]\nfill = { buffer = \"y\", value = 1 }\n"
                                      "[[steps]]\nrepeat = 70000\nindex = \"t\"\nsteps = [ " +
                                          launch("out_of_bounds", "\"y\", \"t\"") + " ]\n");
  EXPECT_THAT(failure_of(text).message(),
              StartsWith("launch 0 (out_of_bounds), t = 1000, at test.toml:"));
}

TEST_F(LaunchFindings, AFaultInALaterRunNamesItsLaunch) {
  const std::string count =
      "[kernels.push]\ntext = '''extern \"C\" __global__ void push(float* y, int* n) { "
      "y[(*n)++] = 1; }'''\n";
  const std::string text = buffer("n", "i32", "[1]", "inout", "zeros") +
                           buffer("y", "f32", "[5]", "output", "zeros") + count +
                           "[[steps]]\nrepeat = 2\nindex = \"t\"\nsteps = [ " +
                           launch("push", "\"y\", \"n\"") + " ]\n";
  for (const ExecutorKind executor : kExecutors) {
    EXPECT_THAT(failure_of(text, executor, {.repeat = 10}).message(),
                StartsWith("launch 0 (push), t = 1, at test.toml:"));
  }
}

TEST_F(LaunchFindings, AGraphThatIsUpdatedTellsTheNewIndexes) {
  const std::string text = "[symbols]\nN = 0\n" +
                           program_of("10", "[[steps]]\nrepeat = 4\nindex = \"t\"\nsteps = [ " +
                                                launch("out_of_bounds", "\"y\", \"N*t\"") + " ]\n");
  PrepareOptions options;
  options.executor = ExecutorKind::kGraph;
  Executable executable = Executable::prepare(program(text), open_device(), options);
  executable.run();
  executable.bind({.symbols = {{"N", 5}}});
  try {
    executable.run();
    FAIL();
  } catch (const Error& failure) {
    EXPECT_THAT(failure.message(), StartsWith("launch 0 (out_of_bounds), t = 2, at "));
  }
}

TEST_F(LaunchFindings, AFaultOfAnotherProgramIsNotNamedAsOnesOwn) {
  const Device device = open_device();
  Executable healthy =
      Executable::prepare(program(program_of("4",
                                             "[[steps]]\nlaunch = \"out_of_bounds\"\n"
                                             "grid = [1]\nblock = [1]\nargs = [\"y\", 1]\n")),
                          device);
  healthy.run();
  Executable faulty = Executable::prepare(program(kLoop), device);
  EXPECT_THROW(faulty.run(), Error);
  try {
    healthy.run();
    FAIL();
  } catch (const Error& failure) {
    EXPECT_THAT(failure.message(), Not(HasSubstr("launch 0")));
    EXPECT_THAT(failure.message(), StartsWith("kernel out_of_bounds"));
  }
}

TEST_F(LaunchFindings, AWarningNamesItsFirstLaunch) {
  const std::string text = buffer("x", "f32", "[4]", "scratch") +
                           buffer("y", "f32", "[4]", "inout", "zeros") + kernel("saxpy") +
                           "[[steps]]\nrepeat = 3\nindex = \"l\"\nsteps = [ " +
                           launch("saxpy", "\"y\", \"x\", 1.0, 1") + " ]\n";
  for (const ExecutorKind executor : kExecutors) {
    PrepareOptions options;
    options.executor = executor;
    Executable executable = Executable::prepare(program(text), open_device(), options);
    const RunReport& report = executable.run();
    ASSERT_THAT(report.findings, SizeIs(1));
    EXPECT_EQ(report.findings[0].count, 3u);
    EXPECT_THAT(report.findings[0].launch, StartsWith("launch 0 (saxpy), l = 0, at test.toml:"));
  }
}

TEST_F(LaunchFindings, ARaceNamesTheLaterLaunch) {
  const std::string text =
      buffer("x", "i32", "[64]", "input", "zeros") + buffer("y", "i32", "[64]", "output", "zeros") +
      buffer("z", "i32", "[64]", "output", "zeros") + edge_kernel("late") + edge_kernel("never") +
      "[[steps]]\nlaunch = \"late\"\ngrid = [1]\nblock = [4]\nargs = [\"x\", \"y\"]\n"
      "[[steps]]\nlaunch = \"never\"\ngrid = [1]\nblock = [4]\nargs = [\"y\", \"z\"]\n"
      "pdl = \"force\"\n";
  for (const ExecutorKind executor : kExecutors) {
    PrepareOptions options;
    options.executor = executor;
    Executable executable = Executable::prepare(program(text), open_device(), options);
    EXPECT_THROW(executable.run(), Error);
    ASSERT_FALSE(executable.report().findings.empty());
    for (const FindingReport& finding : executable.report().findings) {
      EXPECT_THAT(finding.launch, StartsWith("launch 1 (never), at test.toml:")) << finding.kind;
    }
  }
}

TEST_F(LaunchFindings, ALivelockNamesItsLaunch) {
  const std::string text =
      buffer("flag", "i32", "[1]", "input", "zeros") +
      "[kernels.poll]\ntext = '''extern \"C\" __global__ void poll(const volatile int* flag) { "
      "while (*flag == 0) {} }'''\n[[steps]]\nrepeat = 3\nindex = \"t\"\nsteps = [ " +
      launch("poll", "\"flag\"") + " ]\n";
  EXPECT_THAT(failure_of(text).message(), StartsWith("launch 0 (poll), t = 0, at test.toml:"));
}

}  // namespace
}  // namespace baton::session_test::launch_findings_test
