#pragma once

// Immediate dominators of a directed graph, by Lengauer and Tarjan ("A Fast Algorithm for Finding
// Dominators in a Flowgraph", 1979) with path compression: O(m log n) whatever the graph, where the
// simpler iteration over a reverse postorder is quadratic on a long row of branches to one place.
// Nothing recurses.

#include <cstdint>
#include <vector>

namespace baton::ptx {

using Edges = std::vector<std::vector<std::uint32_t>>;

constexpr std::uint32_t kNoNode = UINT32_MAX;

// For each node its immediate dominator in paths from `root`; kNoNode for the root and for what
// cannot be reached. `successors[n]` lists where n's edges go.
std::vector<std::uint32_t> immediate_dominators(const Edges& successors, std::uint32_t root);

// The same edges the other way round.
Edges reversed(const Edges& successors);

}  // namespace baton::ptx
