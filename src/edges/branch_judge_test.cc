// How much is said of the branches of a parallel, and what comes from more of it.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "session/test_program.h"

namespace baton::session_test::branch_judge_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BranchLimits : public DeviceTest {
 protected:
  static std::string launch(unsigned kernel, const std::string& from, const std::string& to,
                            const std::string& more = "") {
    return launch(fmt::format("k{}", kernel), from, to, more);
  }
  static std::string launch(const std::string& kernel, const std::string& from,
                            const std::string& to, const std::string& more = "") {
    return fmt::format(R"({{ launch = "{}", grid = [1], block = [4], args = ["{}", "{}"]{} }})",
                       kernel, from, to, more);
  }
  // Adds 1 atomically to one element.
  static std::string update(const std::string& to) { return one_argument("increments", to); }
  // Stores a flag, relaxed.
  static std::string mark(const std::string& to) { return one_argument("marks", to); }
  static std::string one_argument(const std::string& kernel, const std::string& to) {
    return fmt::format(R"({{ launch = "{}", grid = [1], block = [4], args = ["{}"] }})", kernel,
                       to);
  }
  // The kernels k0 to k9 add 1 to four elements each.
  static std::string text_of(const std::vector<std::vector<std::string>>& branches) {
    std::string text = buffer("x", "i32", "[64]", "input", "zeros") +
                       buffer("y", "i32", "[8192]", "output", "zeros") +
                       buffer("z", "i32", "[64]", "output", "zeros") +
                       buffer("q", "i32", "[64]", "output", "zeros") +
                       buffer("bytes", "u8", "[64]", "output", "zeros") +
                       buffer("more", "u8", "[64]", "output", "zeros") + edge_kernel("never");
    for (unsigned k = 0; k < 10; ++k) {
      text += fmt::format("[kernels.k{}]\nptx = \"edges.ptx\"\nentry = \"late\"\n", k);
    }
    for (const char* const name : {"increments", "marks", "looks"}) {
      text += fmt::format("[kernels.{}]\nptx = \"chosen.ptx\"\n", name);
    }
    return text + "[[steps]]\nrepeat = 1\nsteps = [" + parallel(branches) + "]\n";
  }
  static ParallelReport judge(const std::vector<std::vector<std::string>>& branches) {
    const CheckReport report =
        Executable::prepare(program(text_of(branches)), open_device(), {}).check();
    EXPECT_EQ(report.parallels.size(), 1u);
    return report.parallels.empty() ? ParallelReport() : report.parallels[0];
  }
  // So many kernels that write z.
  static std::vector<std::string> writers(unsigned first, unsigned count) {
    std::vector<std::string> steps;
    for (unsigned k = 0; k < count; ++k) steps.push_back(launch(first + k, "x", "z"));
    return steps;
  }
  // As many launches, each of which writes four other elements of y.
  static std::string sweep(unsigned count) {
    return fmt::format("{{ repeat = {}, index = \"i\", steps = [{}] }}", count,
                       launch(0, "x", "y + 4 * i"));
  }
  // As many launches, each of which updates another element of y.
  static std::string update_sweep(unsigned count) {
    return fmt::format("{{ repeat = {}, index = \"i\", steps = [{}] }}", count, update("y + i"));
  }
};

TEST_F(BranchLimits, SixteenConflictsAreTold) {
  EXPECT_EQ(judge({writers(0, 5), writers(5, 3)}).conflicts.size(), 15u);
  EXPECT_EQ(judge({writers(0, 4), writers(4, 4)}).conflicts.size(), 16u);
  const ParallelReport many = judge({writers(0, 5), writers(5, 4)});
  EXPECT_EQ(many.verdict, EdgeVerdict::kUnknown);
  EXPECT_EQ(many.conflicts.size(), 16u);
  EXPECT_THAT(many.conflicts.front(), HasSubstr("branches 0 and 1 may race: k0 writes z at "));
  EXPECT_THAT(many.conflicts.front(), HasSubstr(", and k5 writes z at "));
}

TEST_F(BranchLimits, EachPairOfBranchesCounts) {
  const ParallelReport report =
      judge({{launch(0, "x", "y")}, {launch(1, "y", "z")}, writers(2, 1)});
  EXPECT_EQ(report.branches, 3u);
  ASSERT_EQ(report.conflicts.size(), 2u);
  EXPECT_THAT(report.conflicts[0], HasSubstr("branches 0 and 1 may race: k0 writes y"));
  EXPECT_THAT(report.conflicts[1], HasSubstr("branches 1 and 2 may race: k1 writes z"));
}

// 1,023 writes and the read of x are distinguished; one more makes them one access of anything.
TEST_F(BranchLimits, ManyAccessesOfABranchAreTakenForOneOfAnything) {
  const ParallelReport apart = judge({{sweep(1023)}, {launch(1, "x", "z")}});
  EXPECT_EQ(apart.verdict, EdgeVerdict::kProven);
  EXPECT_THAT(apart.conflicts, IsEmpty());
  const ParallelReport merged = judge({{sweep(1024)}, {launch(1, "x", "z")}});
  EXPECT_EQ(merged.verdict, EdgeVerdict::kUnknown);
  ASSERT_THAT(merged.conflicts, testing::Not(IsEmpty()));
  EXPECT_THAT(merged.conflicts.back(),
              HasSubstr("one of the branch's many accesses may touch anything"));
  // Updates of one element are not a race; the one access is an update only if all that it merges
  // are.
  const std::string updates = update("z");
  EXPECT_EQ(judge({{updates}, {updates}}).verdict, EdgeVerdict::kProven);
  EXPECT_EQ(judge({{sweep(1023), updates}, {updates}}).verdict, EdgeVerdict::kUnknown);
  EXPECT_EQ(judge({{update_sweep(1024)}, {updates}}).verdict, EdgeVerdict::kProven);
  EXPECT_EQ(judge({{update_sweep(1024), launch(2, "x", "y")}, {updates}}).verdict,
            EdgeVerdict::kUnknown);
  // What it merges writes, whatever came last.
  const ParallelReport read_last =
      judge({{sweep(1024), launch(1, "z", "y + 8188")}, {launch(2, "z", "x")}});
  EXPECT_EQ(read_last.verdict, EdgeVerdict::kUnknown);
  // The last one that is distinguished reads. A write that it merges is one still.
  const std::string looks = one_argument("looks", "z");
  EXPECT_EQ(judge({{sweep(1022), looks}, {looks}}).verdict, EdgeVerdict::kProven);
  EXPECT_EQ(judge({{sweep(1022), looks, launch(1, "x", "q")}, {looks}}).verdict,
            EdgeVerdict::kUnknown);
}

// Two updates may come in any order. The later one of two flags stays.
TEST_F(BranchLimits, OnlyUpdatesMayComeInAnyOrder) {
  EXPECT_EQ(judge({{update("z")}, {update("z")}}).verdict, EdgeVerdict::kProven);
  EXPECT_EQ(judge({{mark("z")}, {mark("z")}}).verdict, EdgeVerdict::kUnknown);
  EXPECT_EQ(judge({{mark("z")}, {update("z")}}).verdict, EdgeVerdict::kUnknown);
  EXPECT_EQ(judge({{mark("z")}, {mark("y")}}).verdict, EdgeVerdict::kProven);
}

// A launch records that all before it in its branch are done only if it is done after them.
TEST_F(BranchLimits, AnEventIsOfAllLaunchesBeforeIt) {
  const auto verdict = [](const std::vector<std::string>& first) {
    return judge({first, {launch(9, "y", "z", ", after = [\"e\"]")}}).verdict;
  };
  const std::string records = ", programmatic_event = \"e\"", force = ", pdl = \"force\"",
                    begins = ", launch_completion_event = \"e\"";
  const std::string writes = launch(0, "x", "y");
  EXPECT_EQ(verdict({launch(0, "x", "y", records)}), EdgeVerdict::kProven);
  EXPECT_EQ(verdict({launch(0, "x", "y", begins)}), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict({writes, launch(1, "x", "q", records)}), EdgeVerdict::kProven);
  EXPECT_EQ(verdict({writes, launch("never", "x", "q", records)}), EdgeVerdict::kProven)
      << "it begins when all before it are done";
  EXPECT_EQ(verdict({writes, launch("never", "x", "q", records + force)}), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict({writes, launch("never", "x", "q", force), launch(1, "x", "q", records)}),
            EdgeVerdict::kUnknown)
      << "it waits for the launch before it alone";
  EXPECT_EQ(verdict({writes, launch("never", "x", "q", force), copy("q + 32", "q + 16"),
                     launch(1, "x", "q", records)}),
            EdgeVerdict::kProven)
      << "a copy begins when all before it are done";
  EXPECT_EQ(verdict({launch(1, "x", "q", records), writes}), EdgeVerdict::kUnknown)
      << "what comes after it";
  EXPECT_EQ(verdict({sweep(1000), launch(1, "x", "q", records)}), EdgeVerdict::kProven);
  EXPECT_EQ(verdict({sweep(1100), launch(1, "x", "q", records), launch(2, "x", "q")}),
            EdgeVerdict::kUnknown)
      << "what comes after it, with all that is not distinguished";
}

// Each branch begins with nothing before it, whatever the one before it ended with.
TEST_F(BranchLimits, ABranchKnowsNothingOfTheOneBeforeIt) {
  const std::string records = ", programmatic_event = \"e\"", after = ", after = [\"e\"]";
  const std::string force = ", pdl = \"force\"";
  EXPECT_EQ(
      judge({{launch(0, "x", "y", records)}, {launch(1, "x", "q", after)}, {launch(2, "y", "z")}})
          .verdict,
      EdgeVerdict::kUnknown);
  EXPECT_EQ(judge({{launch("never", "x", "q"), launch("never", "x", "q", force)},
                   {launch(0, "x", "y", records)},
                   {launch(1, "y", "z", after)}})
                .verdict,
            EdgeVerdict::kProven);
  EXPECT_EQ(judge({{launch(0, "x", "y"), launch(1, "x", "q", records)},
                   {launch(2, "x", "z", ", programmatic_event = \"other\"")},
                   {launch(3, "z", "y + 16", after)}})
                .verdict,
            EdgeVerdict::kUnknown)
      << "the event is of another branch";
}

// A verdict is of the places that `set` gave, whatever step they are of.
TEST_F(BranchLimits, PlacesDecideAnew) {
  const auto launch_at = [](const std::string& kernel, const std::string& view) {
    return fmt::format(
        R"({{ launch = "{}", grid = [1], block = [4], args = ["x", {{ buffer = "y", {} }}] }})",
        kernel, view);
  };
  const std::string fixed = launch_at("k1", "count = 4");
  const std::string moved_view = launch_at("k0", "offset = \"O\", count = \"4 + 0 * C\"");
  const std::string moved_copy = R"({ copy = { from = "q", to = "y + O", count = "C" } })";
  const auto races = [](Executable& executable, std::int64_t offset, std::int64_t count) {
    executable.set({{"O", offset}, {"C", count}});
    try {
      executable.run();
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::kFault) << "not found by the simulated GPU";
    }
    const std::vector<std::string>& warnings = executable.report().warnings;
    return std::ranges::any_of(
        warnings, [](const std::string& text) { return text.starts_with("the parallel at"); });
  };
  for (const auto& branches : std::vector<std::vector<std::vector<std::string>>>{
           {{moved_copy}, {fixed}}, {{fixed}, {moved_copy}}, {{moved_view}, {fixed}}}) {
    Executable executable = Executable::prepare(
        program("[symbols]\nO = 4\nC = 4\n" + text_of(branches)), open_device(), {});
    executable.bind({});
    EXPECT_FALSE(races(executable, 4, 4));
    EXPECT_TRUE(races(executable, 0, 4)) << "it moved onto the other one";
    EXPECT_FALSE(races(executable, 8, 4)) << "it moved away";
  }
  Executable copies = Executable::prepare(
      program("[symbols]\nO = 0\nC = 0\n" + text_of({{moved_copy}, {fixed}})), open_device(), {});
  copies.bind({});
  EXPECT_FALSE(races(copies, 0, 0)) << "nothing is copied";
  EXPECT_TRUE(races(copies, 0, 1));
}

// Copies meet in one byte or more.
TEST_F(BranchLimits, CopiesMeetInAByte) {
  const auto bytes = [](const std::string& from, const std::string& to, unsigned count) {
    return fmt::format("{{ copy = {{ from = \"{}\", to = \"{}\", count = {} }} }}", from, to,
                       count);
  };
  const auto verdict = [&](unsigned first, unsigned at, unsigned count) {
    return judge({{bytes("more", "bytes + 8", first)},
                  {bytes("more + 32", fmt::format("bytes + {}", at), count)}})
        .verdict;
  };
  EXPECT_EQ(verdict(1, 8, 1), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict(1, 9, 1), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(1, 7, 1), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(1, 7, 2), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict(4, 11, 4), EdgeVerdict::kUnknown);
  EXPECT_EQ(verdict(4, 12, 4), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(4, 4, 4), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(0, 4, 16), EdgeVerdict::kProven) << "nothing is copied";
  EXPECT_EQ(verdict(4, 10, 0), EdgeVerdict::kProven) << "nothing is copied";
}

}  // namespace
}  // namespace baton::session_test::branch_judge_test
