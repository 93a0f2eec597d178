#include "ptx/traversal.h"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include "ptx/dominators.h"

namespace baton::ptx::traversal_test {
namespace {

constexpr std::uint32_t kRoot[] = {0};

auto edges_of(const Edges& graph) {
  return [&graph](std::uint32_t node) -> const auto& {
    return graph[node];
  };
}

auto follow(const Edges& graph) {
  return [&graph](std::uint32_t node, const auto& go) {
    for (const std::uint32_t to : graph[node]) go(to);
  };
}

Edges random_graph(std::mt19937& random, std::uint32_t nodes, std::uint32_t edges) {
  Edges graph(nodes);
  for (std::uint32_t k = 0; k < edges; ++k) graph[random() % nodes].push_back(random() % nodes);
  return graph;
}

TEST(WalkDepthFirst, EntersAndLeavesEachNodeOnce) {
  const Edges graph = {{1, 2}, {3}, {3, 0}, {}, {0}};
  std::vector<std::pair<char, std::uint32_t>> events;
  std::vector<bool> seen(graph.size());
  const auto enter = [&](std::uint32_t node, std::uint32_t) {
    if (seen[node]) return false;
    seen[node] = true;
    events.emplace_back('<', node);
    return true;
  };
  walk_depth_first(0, edges_of(graph), enter,
                   [&](std::uint32_t node) { events.emplace_back('>', node); });
  const std::vector<std::pair<char, std::uint32_t>> right = {
      {'<', 0}, {'<', 1}, {'<', 3}, {'>', 3}, {'>', 1}, {'<', 2}, {'>', 2}, {'>', 0}};
  EXPECT_EQ(events, right);
}

TEST(Reachable, StopsWhereTheVisitorDoes) {
  const Edges graph = {{1, 2}, {3}, {4}, {5}, {5}, {}};
  const auto visit = [&](std::uint32_t node, const auto& go) {
    if (node == 1) return;
    for (const std::uint32_t to : graph[node]) go(to);
  };
  const std::vector<bool> right = {true, true, true, false, true, true};
  EXPECT_EQ(reachable(graph.size(), kRoot, visit), right);
}

TEST(Reachable, KeepsWhatWasMarkedBefore) {
  const Edges graph = {{1}, {2}, {}};
  std::vector<bool> seen = {false, true, false};
  mark_reachable(seen, kRoot, follow(graph));
  EXPECT_EQ(seen, (std::vector<bool>{true, true, false}));
}

TEST(Reachable, IsTheClosureOfTheEdges) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const Edges graph = random_graph(random, 1 + random() % 40, random() % 60);
    std::vector<bool> right(graph.size());
    right[0] = true;
    for (std::size_t times = 0; times < graph.size(); ++times) {
      for (std::size_t node = 0; node < graph.size(); ++node) {
        for (const std::uint32_t to : graph[node]) right[to] = right[to] || right[node];
      }
    }
    EXPECT_EQ(reachable(graph.size(), kRoot, follow(graph)), right);
  }
}

TEST(VisitOrder, ListsEachNodeOnceAndReachableOnesFirst) {
  std::mt19937 random(8);
  for (int round = 0; round < 200; ++round) {
    const Edges graph = random_graph(random, 1 + random() % 40, random() % 60);
    const VisitOrder order(graph.size(), kRoot, edges_of(graph));
    const std::vector<bool> reached = reachable(graph.size(), kRoot, follow(graph));
    ASSERT_EQ(order.size(), graph.size());
    EXPECT_EQ(order.node(0), 0u);
    for (std::uint32_t rank = 0; rank < order.size(); ++rank) {
      EXPECT_EQ(order.rank(order.node(rank)), rank);
      EXPECT_GE(reached[order.node(rank == 0 ? 0 : rank - 1)], reached[order.node(rank)]);
    }
  }
}

TEST(VisitOrder, ComesToPredecessorsFirstInGraphsWithoutLoops) {
  std::mt19937 random(9);
  for (int round = 0; round < 200; ++round) {
    Edges graph(1 + random() % 40);
    for (std::uint32_t from = 0; from + 1 < graph.size(); ++from) {
      for (std::uint32_t k = random() % 4; k-- > 0;) {
        graph[from].push_back(from + 1 + random() % (graph.size() - from - 1));
      }
    }
    const VisitOrder order(graph.size(), kRoot, edges_of(graph));
    const std::vector<bool> reached = reachable(graph.size(), kRoot, follow(graph));
    for (std::uint32_t from = 0; from < graph.size(); ++from) {
      for (const std::uint32_t to : graph[from]) {
        EXPECT_FALSE(reached[from] && order.is_retreating(from, to));
      }
    }
  }
}

TEST(VisitOrder, EveryLoopHasARetreatingEdge) {
  const Edges graph = {{1}, {2}, {1, 3}, {3}};
  const VisitOrder order(graph.size(), kRoot, edges_of(graph));
  EXPECT_TRUE(order.is_retreating(2, 1));
  EXPECT_TRUE(order.is_retreating(3, 3));
  EXPECT_FALSE(order.is_retreating(1, 2));
}

TEST(VisitOrder, TakesTheFirstRootFirst) {
  const Edges graph = {{}, {0}, {0}};
  const std::uint32_t roots[] = {2, 1};
  const VisitOrder order(graph.size(), roots, edges_of(graph));
  EXPECT_EQ(order.node(0), 2u);
  EXPECT_EQ(order.node(1), 1u);
  EXPECT_EQ(order.node(2), 0u);
}

TEST(VisitOrder, OfALongChainDoesNotRecurse) {
  Edges graph(1u << 18);
  for (std::uint32_t node = 0; node + 1 < graph.size(); ++node) graph[node] = {node + 1};
  const VisitOrder order(graph.size(), kRoot, edges_of(graph));
  EXPECT_EQ(order.rank(static_cast<std::uint32_t>(graph.size()) - 1), graph.size() - 1);
}

}  // namespace
}  // namespace baton::ptx::traversal_test
