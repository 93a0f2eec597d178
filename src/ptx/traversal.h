#pragma once

// Walks over directed graphs whose nodes are numbered from 0: depth-first, what can be reached, and
// the order in which a dataflow analysis should visit nodes. Nothing recurses. `successors(node)`
// returns a range of nodes that stays valid during the walk.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace baton::ptx {

// Calls `enter(node, parent)` for the root (its own parent) and at each edge. `enter` returns false
// for nodes that it saw before. Calls `leave(node)` after all that was entered from the node.
template <typename Successors, typename Enter, typename Leave>
void walk_depth_first(std::uint32_t root, const Successors& successors, Enter enter, Leave leave) {
  struct Level {
    std::uint32_t node;
    std::uint32_t next;  // index of the edge to look at next
  };
  if (!enter(root, root)) return;
  std::vector<Level> path = {{root, 0}};
  while (!path.empty()) {
    Level& level = path.back();
    const auto& edges = successors(level.node);
    if (level.next == edges.size()) {
      const std::uint32_t node = level.node;
      path.pop_back();
      leave(node);
      continue;
    }
    const std::uint32_t from = level.node;
    const std::uint32_t to = edges[level.next++];
    if (enter(to, from)) path.push_back({to, 0});
  }
}

// Marks in `seen` all that can be reached from `roots`. `visit(node, go)` is called once for each
// node that was not marked before, and calls `go(to)` for each edge that the walk should take.
template <typename Visit>
void mark_reachable(std::vector<bool>& seen, std::span<const std::uint32_t> roots, Visit visit) {
  std::vector<std::uint32_t> pending;
  const auto go = [&](std::uint32_t node) {
    if (seen[node]) return;
    seen[node] = true;
    pending.push_back(node);
  };
  for (const std::uint32_t root : roots) go(root);
  while (!pending.empty()) {
    const std::uint32_t node = pending.back();
    pending.pop_back();
    visit(node, go);
  }
}

// By node: whether it can be reached from `roots`.
template <typename Visit>
std::vector<bool> reachable(std::size_t count, std::span<const std::uint32_t> roots, Visit visit) {
  std::vector<bool> seen(count);
  mark_reachable(seen, roots, visit);
  return seen;
}

// The nodes of a graph in reverse post-order from its roots: each comes after its predecessors,
// except along edges that close a loop. The nodes that no root reaches are last. Immutable.
class VisitOrder {
 public:
  VisitOrder() = default;
  template <typename Successors>
  VisitOrder(std::size_t count, std::span<const std::uint32_t> roots, const Successors& successors)
      : rank_(count, kUnseen) {
    nodes_.reserve(count);
    const auto enter = [&](std::uint32_t node, std::uint32_t) {
      if (rank_[node] != kUnseen) return false;
      rank_[node] = 0;
      return true;
    };
    const auto leave = [&](std::uint32_t node) { nodes_.push_back(node); };
    // The first root is first in the order, so it is last to be left.
    for (std::size_t k = roots.size(); k-- > 0;) {
      walk_depth_first(roots[k], successors, enter, leave);
    }
    std::reverse(nodes_.begin(), nodes_.end());
    for (std::uint32_t node = 0; node < count; ++node) {
      if (rank_[node] == kUnseen) nodes_.push_back(node);
    }
    for (std::uint32_t rank = 0; rank < count; ++rank) rank_[nodes_[rank]] = rank;
  }

  std::size_t size() const { return nodes_.size(); }
  std::uint32_t node(std::uint32_t rank) const { return nodes_[rank]; }
  std::uint32_t rank(std::uint32_t node) const { return rank_[node]; }
  // Every loop has such an edge.
  bool is_retreating(std::uint32_t from, std::uint32_t to) const {
    return rank_[to] <= rank_[from];
  }

 private:
  static constexpr std::uint32_t kUnseen = UINT32_MAX;
  std::vector<std::uint32_t> nodes_;
  std::vector<std::uint32_t> rank_;
};

}  // namespace baton::ptx
