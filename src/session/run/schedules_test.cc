#include "baton/schedules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "session/test_program.h"

namespace baton::schedules_test {
namespace {

using namespace session_test;  // NOLINT: the tests' own words
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

// Each block of the one kernel writes its number into the one element: the last one wins.
std::string last_block_wins() {
  return buffer("y", "i32", "[1]", "output") + buffer("s", "i32", "[1]", "state", "zeros") +
         "[kernels.last]\ntext = '''extern \"C\" __global__ void last(int* y, int* s) {\n"
         "  if (threadIdx.x == 0) { *(volatile int*)y = blockIdx.x; atomicAdd(s, 1); }\n}'''\n"
         "[[steps]]\nlaunch = \"last\"\ngrid = 4\nblock = 32\nargs = [\"y\", \"s\"]\n";
}

class Schedules : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!IsSkipped() && !is_simulated(open_device())) GTEST_SKIP() << "a GPU has one schedule";
  }
};

TEST_F(Schedules, ADifferenceHasItsElementAndBothValues) {
  Executable executable = Executable::prepare(program(last_block_wins()), open_device());
  RunOptions late;
  late.schedule = {ScheduleKind::kLate};
  executable.run(late);
  const Schedule others[] = {{ScheduleKind::kLate}, {ScheduleKind::kReverse}};
  const std::vector<ScheduleRun> runs = compare_schedules(executable, others);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_FALSE(runs[0].difference) << runs[0].difference->buffer;
  ASSERT_TRUE(runs[1].difference);
  EXPECT_EQ(runs[1].difference->buffer, "y");
  EXPECT_THAT(runs[1].difference->index, ElementsAre(0));
  EXPECT_EQ(runs[1].difference->reference, "3");
  EXPECT_EQ(runs[1].difference->got, "0");
  EXPECT_EQ(runs[1].difference->count, 1);
}

TEST_F(Schedules, NeedARunToCompareWith) {
  Executable executable = Executable::prepare(program(last_block_wins()), open_device());
  const Schedule others[] = {{ScheduleKind::kReverse}};
  EXPECT_THROW(compare_schedules(executable, others), Error);
}

TEST_F(Schedules, AFaultHasItsSchedule) {
  const std::string text =
      buffer("y", "i32", "[1]", "inout", "zeros") +
      "[kernels.k]\ntext = '''extern \"C\" __global__ void k(int* y) {\n"
      "  if (threadIdx.x == 0 && atomicAdd(y, 1) == 0 && blockIdx.x != 0) y[1000] = 1;\n}'''\n"
      "[[steps]]\nlaunch = \"k\"\ngrid = 4\nblock = 32\nargs = [\"y\"]\n";
  Executable executable = Executable::prepare(program(text), open_device());
  RunOptions late;
  late.schedule = {ScheduleKind::kLate};
  executable.run(late);
  const Schedule others[] = {{ScheduleKind::kReverse}};
  try {
    compare_schedules(executable, others);
    FAIL() << "nothing was found";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kFault);
    EXPECT_THAT(failure.notes(), testing::Contains("under the schedule reverse"));
  }
}

}  // namespace
}  // namespace baton::schedules_test
