// What is kept of a launch from one execution to the next.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "session/test_program.h"

namespace baton::session_test::launch_binder_test {
namespace {

using LaunchBinderTest = DeviceTest;

// A launch whose plain address changes, and whose view is one of the same 256 bytes as what the
// launch before writes in its last execution.
TEST_F(LaunchBinderTest, AViewStaysAsWideAsItsAlignmentLeads) {
  const auto verdict = [](const std::string& written) {
    const std::string text =
        buffer("w", "i32", "[64]", "weight", "ones") +
        buffer("x", "i32", "[64]", "inout", "zeros") +
        buffer("y", "i32", "[1024]", "inout", "zeros") +
        buffer("z", "i32", "[64]", "inout", "zeros") + edge_kernel("late") +
        "[kernels.aligns]\nptx = \"chosen.ptx\"\n"
        "[[steps]]\nrepeat = 2\nindex = \"i\"\nsteps = [\n"
        "{ launch = \"late\", grid = [1], block = [4], args = [\"w\", { buffer = \"y\", offset = "
        "\"" +
        written +
        "\", count = 4 }] },\n"
        "{ launch = \"aligns\", grid = [1], block = [1], args = [{ buffer = \"y\", offset = 512, "
        "count = 16 }, \"x + 4 * i\", \"z\"] } ]\n";
    const CheckReport report = Executable::prepare(program(text), open_device()).check();
    for (const EdgeReport& edge : report.edges) {
      if (edge.from == 0 && edge.to == 1) return edge.verdict;
    }
    return EdgeVerdict::kUnsafe;
  };
  EXPECT_EQ(verdict("0"), EdgeVerdict::kProven);
  EXPECT_EQ(verdict("444 * i"), EdgeVerdict::kProven);
  EXPECT_EQ(verdict("496 * i"), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict("540 * i"), EdgeVerdict::kUnknown);
}

// A launch that does not wait may end before the launch before it does.
TEST_F(LaunchBinderTest, TheGridAndTheBlockTellWhetherALaunchWaits) {
  const auto verdict = [](int blocks, int threads) {
    const auto step = [&](const std::string& kernel, const std::string& arguments) {
      return fmt::format("{{ launch = \"{}\", grid = [{}], block = [{}], args = [{}] }}", kernel,
                         blocks, threads, arguments);
    };
    const std::string text =
        buffer("x", "i32", "[64]", "input", "zeros") +
        buffer("y", "i32", "[64]", "output", "zeros") +
        buffer("z", "i32", "[64]", "output", "zeros") + edge_kernel("late") +
        "[kernels.waits_in_grids]\nptx = \"chosen.ptx\"\n[[steps]]\nrepeat = 1\nsteps = " +
        join({step("late", "\"x\", \"y\""), step("waits_in_grids", "\"z\"")}) + "\n";
    return Executable::prepare(program(text), open_device()).check().edges.at(0).verdict;
  };
  EXPECT_EQ(verdict(1, 1), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict(1, 4), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict(4, 1), EdgeVerdict::kProven);
}

}  // namespace
}  // namespace baton::session_test::launch_binder_test
