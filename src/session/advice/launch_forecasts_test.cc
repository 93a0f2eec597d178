// What a check says of edges before any run, by the kernels' PTX and the buffers' sizes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "session/test_program.h"

namespace baton::session_test::launch_forecasts_test {
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
  ASSERT_FALSE(report.edges.empty());
  for (const EdgeReport& edge : report.edges) EXPECT_THAT(edge.advice, IsEmpty());
}

TEST(LaunchForecasts, ADeviceWithoutPdlHasNone) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "old_gpu.ptx")
      << ".version 7.0\n.target sm_80\n.address_size 64\n"
         ".visible .entry k(.param .u64 p0, .param .u64 p1) { ret; }\n";
  const std::string step =
      "[[steps]]\nlaunch = \"k\"\ngrid = [1]\nblock = [32]\nargs = [\"y\", \"z\"]\n";
  const std::string text = buffer("y", "i32", "[8]", "scratch") +
                           buffer("z", "i32", "[8]", "output", "zeros") +
                           "[kernels.k]\nptx = \"old_gpu.ptx\"\n" + step + step;
  const auto advice_on = [&](const char* device) {
    const Program read = Program::from_text(text, "test.toml", folder);
    return LoadedProgram::load(read, Device::open(device)).check().edges.at(0).advice;
  };
  EXPECT_THAT(advice_on("sim:sm80"), IsEmpty());
  EXPECT_THAT(advice_on("sim:h200"), says("k never waits"));
}

}  // namespace
}  // namespace baton::session_test::launch_forecasts_test
