#include "ptx/dominators.h"

#include <gtest/gtest.h>

#include <random>

namespace baton::ptx::dominators_test {
namespace {

using Nodes = std::vector<std::uint32_t>;

// Returns, by node, whether a path from the root reaches it without passing `without`.
std::vector<bool> reach(const Edges& edges, std::uint32_t root, std::uint32_t without) {
  std::vector<bool> seen(edges.size(), false);
  Nodes open;
  if (root != without) open.push_back(root);
  if (root != without) seen[root] = true;
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    for (std::uint32_t to : edges[at]) {
      if (to == without || seen[to]) continue;
      seen[to] = true;
      open.push_back(to);
    }
  }
  return seen;
}

// Against the definition: a dominates b where b cannot be reached without a.
TEST(PtxDominators, AgreeWithTheDefinitionOnRandomGraphs) {
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const std::uint32_t count = 1 + random() % 24;
    Edges edges(count);
    for (std::uint32_t e = 0; e < count * (1 + random() % 3); ++e) {
      edges[random() % count].push_back(random() % count);
    }
    const Nodes idom = immediate_dominators(edges, 0);
    const std::vector<bool> reachable = reach(edges, 0, kNoNode);
    for (std::uint32_t b = 0; b < count; ++b) {
      if (b == 0 || !reachable[b]) {
        EXPECT_EQ(idom[b], kNoNode);
        continue;
      }
      std::vector<bool> in_chain(count, false);
      for (std::uint32_t a = b; a != kNoNode; a = idom[a]) in_chain[a] = true;
      for (std::uint32_t a = 0; a < count; ++a) {
        EXPECT_EQ(in_chain[a], a == b || (reachable[a] && !reach(edges, 0, a)[b]))
            << a << " over " << b << " in round " << round;
      }
    }
  }
}

// A long row of branches to one place, on which simpler algorithms are quadratic.
TEST(PtxDominators, StayNearLinear) {
  constexpr std::uint32_t kCount = 400000;
  Edges edges(kCount);
  for (std::uint32_t n = 0; n + 2 < kCount; ++n) edges[n] = {n + 1, kCount - 1};
  const Nodes idom = immediate_dominators(edges, 0);
  EXPECT_EQ(idom[kCount - 1], 0u);
  EXPECT_EQ(idom[kCount - 2], kCount - 3);
  const Nodes back = immediate_dominators(reversed(edges), kCount - 1);
  EXPECT_EQ(back[0], kCount - 1);
}

}  // namespace
}  // namespace baton::ptx::dominators_test
