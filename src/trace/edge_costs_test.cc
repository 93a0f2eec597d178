#include "trace/edge_costs.h"

#include <gtest/gtest.h>

#include <deque>

namespace baton::trace::edge_costs_test {
namespace {

// Timelines in microseconds, with two multiprocessors.
class Made {
 public:
  TimedStep& launch(std::uint32_t number, bool early, std::vector<TimedBlock> blocks) {
    NotedStep& noted = notes_.emplace_back();
    noted.launch = number;
    if (!timeline.steps.empty()) noted.after = timeline.steps.back().step->launch;
    noted.early = early;
    TimedStep& step = timeline.steps.emplace_back();
    step.step = &noted;
    step.blocks = std::move(blocks);
    step.begin = 1e9;
    for (const TimedBlock& block : step.blocks) {
      step.begin = std::min(step.begin, block.begin);
      step.end = std::max(step.end, block.end);
    }
    timeline.end = std::max(timeline.end, step.end);
    return step;
  }
  RunTimeline timeline;

 private:
  std::deque<NotedStep> notes_;
};

TimedBlock block(std::uint32_t sm, double begin, double end, double wait_begin = -1,
                 double wait_end = -1) {
  return {.multiprocessor = sm,
          .begin = begin,
          .end = end,
          .wait_begin = wait_begin,
          .wait_end = wait_end};
}

TEST(EdgeCosts, AFullEdgeCostsTailAndGap) {
  Made made;
  made.launch(0, false, {block(0, 0, 10), block(1, 0, 6)});
  made.launch(1, false, {block(0, 12, 20), block(1, 13, 20)});
  const EdgeCosts costs = count_edge_costs(made.timeline, 2);
  ASSERT_EQ(costs.edges.size(), 1u);
  const EdgeCost& edge = costs.edges[0];
  EXPECT_EQ(edge.from, 0u);
  EXPECT_EQ(edge.to, 1u);
  EXPECT_EQ(edge.executions, 1u);
  EXPECT_EQ(edge.early, 0u);
  EXPECT_EQ(edge.overlap, 0);
  EXPECT_EQ(edge.gap, 2);
  EXPECT_EQ(edge.wait, 0);
  EXPECT_EQ(edge.tail, 0);  // the median of two is the later one
  EXPECT_EQ(edge.idle, 4 + 2 + 3);
  EXPECT_EQ(costs.idle, 9);
  EXPECT_EQ(costs.capacity, 40);
}

TEST(EdgeCosts, AWaitIsIdleAndEarlyWorkIsNot) {
  Made made;
  made.launch(0, false, {block(0, 0, 10), block(1, 0, 6)});
  made.launch(1, true, {block(1, 7, 20, 9, 11), block(0, 10.5, 20, 10.75, 11)});
  const EdgeCosts costs = count_edge_costs(made.timeline, 2);
  ASSERT_EQ(costs.edges.size(), 1u);
  EXPECT_EQ(costs.edges[0].early, 1u);
  EXPECT_EQ(costs.edges[0].overlap, 3);
  EXPECT_EQ(costs.edges[0].gap, 0);
  EXPECT_EQ(costs.edges[0].wait, (2 + 0.25) / 2);
  // SM 0: 0.5 without a block, 0.25 in the wait; SM 1: 1 without, 2 in the wait.
  EXPECT_EQ(costs.edges[0].idle, 0.75 + 3);
}

TEST(EdgeCosts, AMultiprocessorWithoutBlocksIsIdleForTheEdgeBehind) {
  Made made;
  made.launch(0, false, {block(0, 0, 10)});
  made.launch(1, false, {block(0, 10, 20)});
  made.launch(2, false, {block(0, 20, 30), block(1, 20, 30)});
  const EdgeCosts costs = count_edge_costs(made.timeline, 2);
  ASSERT_EQ(costs.edges.size(), 2u);
  EXPECT_EQ(costs.edges[0].idle, 10);
  EXPECT_EQ(costs.edges[1].idle, 10);
  EXPECT_EQ(costs.idle, 20);
}

TEST(EdgeCosts, JoinsTheExecutionsOfAnEdge) {
  Made made;
  made.launch(0, false, {block(0, 0, 10)});
  made.launch(1, false, {block(0, 11, 20)});
  made.launch(0, false, {block(0, 24, 30)});
  made.launch(1, false, {block(0, 33, 40)});
  const EdgeCosts costs = count_edge_costs(made.timeline, 1);
  ASSERT_EQ(costs.edges.size(), 2u);
  EXPECT_EQ(costs.edges[0].executions, 2u);
  EXPECT_EQ(costs.edges[0].gap, 2);
  EXPECT_EQ(costs.edges[0].idle, 4);
  EXPECT_EQ(costs.edges[1].executions, 1u);
  EXPECT_EQ(costs.edges[1].idle, 4);
}

TEST(EdgeCosts, WhatIsNotTimedPartsLaunches) {
  Made made;
  made.launch(0, false, {block(0, 0, 10)});
  made.launch(1, false, {});
  made.launch(2, false, {block(0, 15, 20)});
  const EdgeCosts costs = count_edge_costs(made.timeline, 1);
  EXPECT_TRUE(costs.edges.empty());
  EXPECT_EQ(costs.idle, 5);
}

}  // namespace
}  // namespace baton::trace::edge_costs_test
