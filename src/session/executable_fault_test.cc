#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "baton/buffer.h"
#include "baton/executable.h"
#include "session/test_program.h"

namespace baton::executable_fault_test {
namespace {

using namespace session_test;  // NOLINT: the tests' own words
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// The rest breaks the device's context, which a GPU gives back only with the process.
class ExecutableFaultTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !is_simulated(open_device())) {
      GTEST_SKIP() << "a fault would poison the context of every later test";
    }
  }
};

TEST_F(ExecutableFaultTest, ATimeOutStopsAKernelThatNeverEnds) {
  const Error failure =
      refusal(buffer("flag", "i32", "[1]", "input", "zeros") + kernel("spin") + kernel("add") +
                  buffer("x", "i32", "[1]", "inout", "zeros") +
                  "[[steps]]\nlaunch = \"add\"\ngrid = [1]\nblock = [1]\nargs = [\"x\", 1, 1]\n"
                  "[[steps]]\nlaunch = \"spin\"\ngrid = [2]\nblock = [64]\nargs = [\"flag\"]\n",
              {}, {.timeout = std::chrono::seconds(1)});
  EXPECT_EQ(failure.code(), ErrorCode::kTimeout);
  EXPECT_EQ(exit_status(failure.code()), 1);
  EXPECT_THAT(failure.message(), HasSubstr("limit of 1.00 s"));
  EXPECT_THAT(failure.what(), HasSubstr("the first step not known to have completed: spin"));
  EXPECT_THAT(failure.what(), HasSubstr("kernels.cu:"));
}

TEST_F(ExecutableFaultTest, ATimeLimitThatIsNoneIsBadInput) {
  const std::string text = buffer("x", "i32", "[1]", "inout", "zeros") + kernel("add") +
                           "[[steps]]\nlaunch = \"add\"\ngrid = [1]\nblock = [1]\n"
                           "args = [\"x\", 1, 1]\n";
  for (const double seconds : {-1.0, std::nan("")}) {
    const Error failure = refusal(text, {}, {.timeout = std::chrono::duration<double>(seconds)});
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(failure.message(), HasSubstr("the time limit is"));
  }
}

TEST_F(ExecutableFaultTest, AnInterruptionStopsAKernelThatNeverEnds) {
  std::atomic<bool> interrupt{false};
  // One that only polls would be found out and stopped before anyone interrupts it.
  const Error failure = refusal(
      buffer("x", "u32", "[1]", "inout", "zeros") +
          "[kernels.count]\ntext = '''extern \"C\" __global__ void count(unsigned* x) { "
          "while (atomicAdd(x, 1) < 4294967295u) {} }'''\n"
          "[[steps]]\nlaunch = \"count\"\ngrid = [1]\nblock = [1]\nargs = [\"x\"]\n",
      {}, {.interrupt = &interrupt, .progress = [&](const RunProgress&) { interrupt = true; }});
  EXPECT_EQ(failure.code(), ErrorCode::kInterrupted);
}

TEST_F(ExecutableFaultTest, AFaultNamesKernelBufferAndLine) {
  const std::string text =
      buffer("x", "f32", "[10]", "inout", "zeros") + kernel("out_of_bounds") +
      "[[steps]]\nlaunch = \"out_of_bounds\"\ngrid = [1]\nblock = [1]\nargs = [\"x\", 10]\n";
  Executable executable = Executable::prepare(program(text), open_device());
  try {
    executable.run();
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kFault);
    EXPECT_THAT(failure.what(), HasSubstr("buffer x (f32 [10]"));
    EXPECT_THAT(failure.what(), HasSubstr("kernels.cu:"));
    EXPECT_THAT(failure.message(), StartsWith("launch 0 (out_of_bounds), at test.toml:"));
  }
  ASSERT_THAT(executable.report().findings, SizeIs(1));
  EXPECT_TRUE(executable.report().findings[0].error);
  EXPECT_EQ(executable.report().findings[0].kernel, "out_of_bounds");
}

// The driver then refuses to look up addresses.
TEST_F(ExecutableFaultTest, AFaultIsNotAWrongAddressOfTheCallersMemory) {
  const Device device = open_device();
  const Buffer<float> memory(device, 10);
  Executable executable = Executable::prepare(
      program(buffer("x", "f32", "[10]", "inout", "zeros") + kernel("out_of_bounds") +
              "[[steps]]\nlaunch = \"out_of_bounds\"\ngrid = [1]\nblock = [1]\n"
              "args = [\"x\", 10]\n"),
      device);
  const Bindings given = {.memory = {{"x", {DType::kF32, {10}, memory.memory().address()}}}};
  executable.bind(given);
  EXPECT_THROW(executable.run(), Error);
  try {
    executable.bind(given);
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kFault);
    EXPECT_THAT(failure.what(), Not(HasSubstr("knows no memory")));
  }
  device.recover();
  executable.bind(given);
}

TEST_F(ExecutableFaultTest, ReadingWhatNothingWroteIsAWarning) {
  Executable executable =
      Executable::prepare(program(buffer("x", "f32", "[4]", "scratch") +
                                  buffer("y", "f32", "[4]", "inout", "zeros") + kernel("saxpy") +
                                  "[[steps]]\nlaunch = \"saxpy\"\ngrid = [1]\nblock = [4]\n"
                                  "args = [\"y\", \"x\", 1.0, 4]\n"),
                          open_device());
  const RunReport& report = executable.run();
  ASSERT_THAT(report.findings, SizeIs(1));
  EXPECT_FALSE(report.findings[0].error);
  EXPECT_THAT(report.findings[0].message, HasSubstr("buffer x"));
}

}  // namespace
}  // namespace baton::executable_fault_test
