// What a check says of edges before any run, by the kernels' PTX and the buffers' sizes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/test_program.h"

namespace baton::session_test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using LaunchForecastsTest = DeviceTest;

// Two launches of `from` and `to`, of which each reads memory through its first argument. The grid
// covers the first elements of large buffers.
std::string chain(const std::string& from, const std::string& to, const std::string& read) {
  return "[symbols]\nN = 4194304\n" + buffer("x", "i32", "[\"N\"]", "input", "zeros") +
         buffer("w", "i32", "[\"N\"]", "weight", "zeros") +
         buffer("y", "i32", "[\"N\"]", "scratch") + buffer("z", "i32", "[\"N\"]", "output") +
         edge_kernel(from) + (from == to ? "" : edge_kernel(to)) + "[[steps]]\nlaunch = \"" + from +
         "\"\ngrid = [264]\nblock = [64]\nargs = [\"x\", \"y\"]\n[[steps]]\nlaunch = \"" + to +
         "\"\ngrid = [264]\nblock = [64]\nargs = [\"" + read + "\", \"z\"]\n";
}

std::vector<EdgeAdvice> advice_of(const std::string& text, const Device& on) {
  const CheckReport report = LoadedProgram::load(program(text), on).check();
  EXPECT_EQ(report.edges.size(), 1u);
  return report.edges.at(0).advice;
}

auto says(const std::string& text) {
  return Contains(Field(&EdgeAdvice::text, HasSubstr(text)));
}

TEST_F(LaunchForecastsTest, NamesAKernelThatNeverTriggers) {
  EXPECT_THAT(advice_of(chain("late", "late", "y"), open_device()), says("late never triggers"));
  EXPECT_THAT(advice_of(chain("hands_over", "late", "y"), open_device()),
              Not(says("never triggers")));
}

TEST_F(LaunchForecastsTest, NamesWeightsThatAreReadAfterTheWaitAlone) {
  const auto advice = advice_of(chain("hands_over", "late", "w"), open_device());
  EXPECT_THAT(advice, says("late reads 16 MiB of weights, all after its wait"));
  EXPECT_THAT(advice, Each(Field(&EdgeAdvice::seconds, testing::Gt(0.0))));
  EXPECT_THAT(advice_of(chain("hands_over", "late", "y"), open_device()), Not(says("of weights")));
}

TEST_F(LaunchForecastsTest, NamesAKernelWithoutAWait) {
  EXPECT_THAT(advice_of(chain("hands_over", "never", "y"), open_device()),
              says("never never waits"));
}

TEST_F(LaunchForecastsTest, AdvisesToFuseASmallLaunch) {
  const std::string small = "N = 16896\n";
  std::string text = chain("hands_over", "late", "y");
  text.replace(text.find("N = 4194304\n"), 12, small);
  const auto advice = advice_of(text, open_device());
  EXPECT_THAT(advice, says("fuse hands_over and late"));
  EXPECT_THAT(advice_of(chain("hands_over", "late", "y"), open_device()), Not(says("fuse")));
}

// A launch that no run executes has no cost.
TEST_F(LaunchForecastsTest, IsSilentAboutEmptyGrids) {
  std::string text = chain("late", "late", "y");
  text.replace(text.find("grid = [264]"), 12, "grid = [\"N - N\"]");
  const CheckReport report = LoadedProgram::load(program(text), open_device()).check();
  for (const EdgeReport& edge : report.edges) EXPECT_THAT(edge.advice, IsEmpty());
}

TEST(LaunchForecasts, ADeviceWithoutPdlHasNone) {
  const Device old = Device::open("sim:sm80");
  const CheckReport report = LoadedProgram::load(program(chain("late", "late", "y")), old).check();
  for (const EdgeReport& edge : report.edges) EXPECT_THAT(edge.advice, IsEmpty());
}

}  // namespace
}  // namespace baton::session_test
