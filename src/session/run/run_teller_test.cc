// How far a run is, as its caller is told.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "baton/executable.h"
#include "session/test_program.h"

namespace baton::run_teller_test {
namespace {

using namespace session_test;  // NOLINT: the tests' own words
using ::testing::Each;
using ::testing::Lt;

class RunTellerTest : public DeviceTest {
 protected:
  void SetUp() override {
    if (!is_simulated(open_device())) GTEST_SKIP() << "a GPU does not tell which blocks ended";
  }
  // Launches of many blocks, each of which computes for a while: together about a second.
  static std::string long_launches(int count) {
    std::string text = "[symbols]\nT = " + std::to_string(4000 / count) + "\n" +
                       buffer("x", "u32", "[4096]", "inout", "ones") +
                       "[kernels.mix]\ntext = '''extern \"C\" __global__ void mix(unsigned* x, "
                       "int turns) {\n  unsigned v = x[blockIdx.x];\n"
                       "  for (int k = 0; k < turns; ++k) {\n"
                       "    v ^= v << 13; v ^= v >> 17; v ^= v << 5;\n  }\n"
                       "  x[blockIdx.x] = v;\n}'''\n";
    for (int k = 0; k < count; ++k) {
      text += "[[steps]]\nlaunch = \"mix\"\ngrid = 4096\nblock = 1\nargs = [\"x\", \"T\"]\n";
    }
    return text;
  }
  // What a run tells.
  static std::vector<RunProgress> told(const std::string& text, ExecutorKind executor,
                                       std::uint64_t repeat = 1) {
    PrepareOptions options;
    options.executor = executor;
    Executable executable = Executable::prepare(program(text), open_device(), options);
    std::vector<RunProgress> all;
    executable.run({.repeat = repeat,
                    .progress = [&](const RunProgress& progress) { all.push_back(progress); }});
    return all;
  }
};

TEST_F(RunTellerTest, OneLaunchHasTheShareOfItsBlocks) {
  for (const ExecutorKind executor : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    const std::vector<RunProgress> all = told(long_launches(1), executor);
    ASSERT_FALSE(all.empty());
    double last = 0;
    for (const RunProgress& progress : all) {
      EXPECT_EQ(progress.steps, 1u);
      EXPECT_EQ(progress.steps_done, 0u);
      EXPECT_GT(progress.share, last);
      EXPECT_LT(progress.share, 1);
      last = progress.share;
    }
  }
}

// The nodes of a graph have no events, but the simulated GPU knows which of them ended.
TEST_F(RunTellerTest, AGraphHasTheShareOfItsLaunches) {
  double last = 0;
  for (const RunProgress& progress : told(long_launches(4), ExecutorKind::kGraph)) {
    EXPECT_GE(progress.share, last);
    EXPECT_LE(progress.share, 1);
    last = progress.share;
  }
  EXPECT_GT(last, 0.26);  // more than the first launch
}

TEST_F(RunTellerTest, EachRunBeginsAgain) {
  std::vector<double> least{1, 1};
  for (const RunProgress& progress : told(long_launches(3), ExecutorKind::kStream, 2)) {
    ASSERT_LT(progress.run, 2u);
    least[progress.run] = std::min(least[progress.run], progress.share);
  }
  EXPECT_THAT(least, Each(Lt(0.9)));
}

}  // namespace
}  // namespace baton::run_teller_test
