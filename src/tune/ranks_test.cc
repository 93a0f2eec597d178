#include "tune/ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/tune.h"
#include "session/test_program.h"
#include "session/world/test_ranks.h"
#include "tune/search.h"

namespace baton::session_test::ranks_test {
namespace {

using ::testing::IsEmpty;

// On two simulated devices, by seconds: which of them is fastest says nothing, but all ranks find
// the same, and nothing that gives other results is measured.
TEST(TuneRanks, EachAllReduceIsTriedByAllThatCanExecuteIt) {
  const Program program = Program::from_text(R"(
[world]
[buffers]
x = { dtype = "f32", shape = [256], role = "output", init = "ones" }
y = { dtype = "f32", shape = [1024], role = "output", init = "ones" }
[[steps]]
all_reduce = { buffer = "x" }
[[steps]]
all_reduce = { buffer = "y", op = "max" }
)",
                                             "p");
  std::vector<TuneReport> reports(2);
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    TuneOptions options;
    options.bindings.world = world;
    options.executor = ExecutorKind::kStream;
    options.budget = 3;
    options.keep = false;
    const tuning::Subject subject(program, std::nullopt, device, options.load);
    reports[world.rank()] = tuning::Search(subject, options, tuning::CostKind::kSeconds).run();
  }));
  ASSERT_FALSE(reports[0].trials.empty());
  EXPECT_EQ(reports[0].trials.front().pass, "collective 0");
  EXPECT_EQ(to_text(reports[0].trials.front().variant), "collective 0 by peer");
  ASSERT_EQ(reports[0].trials.size(), reports[1].trials.size());
  for (std::size_t k = 0; k < reports[0].trials.size(); ++k) {
    EXPECT_TRUE(reports[0].trials[k].variant == reports[1].trials[k].variant) << k;
    EXPECT_EQ(reports[0].trials[k].refused, "") << k;
    EXPECT_EQ(reports[0].trials[k].cost, reports[1].trials[k].cost) << k;
  }
  EXPECT_TRUE(reports[0].record.variant == reports[1].record.variant);
}

// The host executes an all_reduce in an if, which no graph takes, and one of a dtype that kernels
// between peers lack.
TEST(TuneRanks, VariantsThatCannotRunAreNotTried) {
  const Program program = Program::from_text(R"(
[world]
[buffers]
go = { dtype = "i32", shape = [1], role = "state", init = "ones" }
x = { dtype = "f32", shape = [4], role = "inout", init = "ones" }
d = { dtype = "f64", shape = [4], role = "inout", init = "ones" }
[[steps]]
all_reduce = { buffer = "d" }
[[steps]]
if = { buffer = "go" }
steps = [ { all_reduce = { buffer = "x" } } ]
)",
                                             "p");
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    TuneOptions options;
    options.bindings.world = world;
    options.budget = 3;
    options.keep = false;
    const tuning::Subject subject(program, std::nullopt, device, options.load);
    const TuneReport report = tuning::Search(subject, options, tuning::CostKind::kSeconds).run();
    EXPECT_FALSE(report.trials.empty());
  }));
}

TEST(TuneRanks, WhatTheCallerNamesExecutesAll) {
  const Program program = Program::from_text(R"(
[world]
[buffers]
x = { dtype = "f32", shape = [4], role = "inout", init = "ones" }
[[steps]]
all_reduce = { buffer = "x" }
)",
                                             "p");
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    TuneOptions options;
    options.bindings.world = world;
    options.bindings.collectives = CollectiveExecutor::kHost;
    options.executor = ExecutorKind::kStream;
    options.budget = 3;
    options.keep = false;
    const tuning::Subject subject(program, std::nullopt, device, options.load);
    const TuneReport report = tuning::Search(subject, options, tuning::CostKind::kSeconds).run();
    EXPECT_THAT(report.trials, IsEmpty());
  }));
}

// Rank 1 has no early launch, and makes the passes of rank 0.
TEST(TuneRanks, LaunchesThatStartEarlyOnAnyRankAreJoined) {
  expect_none(on_ranks(2, [&](const Device&, const World& world) {
    std::vector<char> marks = {0, 1, 0};
    if (world.rank() == 1) marks = {0, 0, 1};
    tuning::SearchRanks(world).join(marks);
    EXPECT_THAT(marks, ::testing::ElementsAre(0, 1, 1));
  }));
}

TEST(TuneRanks, WhatOneRankSeesAllKnow) {
  expect_none(on_ranks(2, [&](const Device&, const World& world) {
    const tuning::SearchRanks ranks(world);
    EXPECT_TRUE(ranks.any(world.rank() == 1));
    EXPECT_FALSE(ranks.any(false));
    EXPECT_EQ(ranks.slowest(1.0 + world.rank()), 2.0);
  }));
}

}  // namespace
}  // namespace baton::session_test::ranks_test
