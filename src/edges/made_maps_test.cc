// What is said of the edges of kernels that make tensor maps in memory, and of those that copy by
// such maps. The kernels are those of testdata/made_maps.ptx.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "session/test_program.h"

namespace baton::session_test::made_maps_test {
namespace {

using ::testing::HasSubstr;

class MadeMaps : public DeviceTest {
 protected:
  // The last edge of such launches, each "kernel: arguments".
  EdgeReport last_edge(const std::vector<std::pair<std::string, std::string>>& launches) {
    std::string text = buffer("w", "i32", "[64]", "weight", "ones") +
                       buffer("x", "i32", "[64]", "output", "zeros") +
                       buffer("y", "i32", "[64]", "output", "zeros") +
                       buffer("z", "i32", "[64]", "output", "zeros") +
                       buffer("m", "i32", "[32]", "scratch") +
                       buffer("n", "i32", "[32]", "scratch");
    std::string steps;
    for (std::size_t k = 0; k < launches.size(); ++k) {
      const auto& [kernel, arguments] = launches[k];
      const std::string name = fmt::format("k{}", k);
      text += fmt::format("[kernels.{}]\nptx = \"made_maps.ptx\"\nentry = \"{}\"\n", name, kernel);
      steps += fmt::format("{}{{ launch = \"{}\", grid = [1], block = [4], args = [{}] }}",
                           k == 0 ? "" : ", ", name, arguments);
    }
    text += "[[steps]]\nrepeat = 1\nsteps = [" + steps + "]\n";
    const CheckReport report = Executable::prepare(program(text), open_device(), {}).check();
    EXPECT_EQ(report.edges.size() + 1, launches.size());
    return report.edges.empty() ? EdgeReport() : report.edges.back();
  }
};

const std::string kMap = "{ tensor_map = { buffer = \"y\", box = [16] } }";

TEST_F(MadeMaps, ACopyByOneBeforeTheWaitIsUnknown) {
  const std::vector<std::vector<std::pair<std::string, std::string>>> programs = {
      // By the kernel before, and by one before that.
      {{"make_late", "\"x\", \"m\""}, {"load_early", "\"m\", \"z\""}},
      {{"change_late", "\"x\", \"m\""}, {"load_early", "\"m\", \"z\""}},
      {{"make_late", "\"x\", \"m\""}, {"write", "\"x\""}, {"load_early", "\"m\", \"z\""}},
      {{"make_late", "\"x\", \"m\""}, {"pass", ""}, {"load_early", "\"m\", \"z\""}},
      // It is of the memory that is written, or of some without a name.
      {{"write", "\"x\""}, {"load_early", "\"m\", \"z\""}},
      {{"write", "\"n\""}, {"load_early", "\"m\", \"z\""}},
      // By the kernel itself.
      {{"write", "\"x\""}, {"make_and_load", "\"x\", \"m\", \"z\""}},
      {{"write", "\"x\""}, {"make_and_load", "\"w\", \"m\", \"z\""}},
      {{"write", "\"x\""}, {"load_by_shared", "\"x\", \"z\""}},
      {{"write", "\"x\""}, {"load_by_shared", "\"w\", \"z\""}},
      {{"write", "\"x\""}, {"load_by_changed", kMap + ", \"x\", \"m\", \"z\""}},
      {{"write", "\"x\""}, {"load_by_changed", kMap + ", \"w\", \"m\", \"z\""}},
      {{"write", "\"x\""}, {"load_by_difference", "\"y\", \"x\", \"m\", \"z\""}}};
  for (const auto& launches : programs) {
    SCOPED_TRACE(launches.front().first + ", " + launches.back().first + " " +
                 launches.back().second);
    const EdgeReport edge = last_edge(launches);
    EXPECT_EQ(edge.verdict, EdgeVerdict::kUnknown) << edge.reason;
    EXPECT_FALSE(edge.programmatic);
  }
  EXPECT_THAT(last_edge(programs[0]).reason, HasSubstr("tensor map"));
}

TEST_F(MadeMaps, TheWaitOrdersACopyByOne) {
  for (const char* make : {"make_late", "change_late"}) {
    const EdgeReport edge = last_edge({{make, "\"x\", \"m\""}, {"load_late", "\"m\", \"z\""}});
    EXPECT_EQ(edge.verdict, EdgeVerdict::kProven) << edge.reason;
  }
}

// What a launch before copies by a map in memory may be anything, the map too.
TEST_F(MadeMaps, WritesBesideACopyAreUnknown) {
  for (const char* kernel : {"make_early", "change_early"}) {
    for (const char* map : {"m", "n"}) {
      const EdgeReport edge =
          last_edge({{"load_late", "\"m\", \"z\""}, {kernel, fmt::format("\"x\", \"{}\"", map)}});
      EXPECT_EQ(edge.verdict, EdgeVerdict::kUnknown) << edge.reason;
    }
    const EdgeReport edge = last_edge({{"make_late", "\"x\", \"m\""}, {kernel, "\"y\", \"m\""}});
    EXPECT_NE(edge.verdict, EdgeVerdict::kProven) << edge.reason;
  }
  const auto verdict = [&](const char* first, const char* given, const char* second,
                           const char* args) {
    return last_edge({{first, given}, {second, args}}).verdict;
  };
  EXPECT_EQ(verdict("load_late", "\"m\", \"z\"", "write_early", "\"x\""), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict("store_late", "\"m\"", "read_early", "\"x\", \"z\""), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict("store_late", "\"m\"", "read_early", "\"w\", \"z\""), EdgeVerdict::kProven);
  EXPECT_EQ(verdict("store_late", "\"m\"", "load_early", "\"m\", \"z\""), EdgeVerdict::kUnknown);
  // Reads do not meet, and a map is made in no other memory.
  EXPECT_EQ(verdict("load_late", "\"m\", \"z\"", "read_early", "\"x\", \"y\""),
            EdgeVerdict::kProven);
  EXPECT_EQ(verdict("make_late", "\"x\", \"m\"", "make_early", "\"y\", \"n\""),
            EdgeVerdict::kProven);
}

}  // namespace
}  // namespace baton::session_test::made_maps_test
