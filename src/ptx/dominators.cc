#include "ptx/dominators.h"

#include <algorithm>

#include "ptx/traversal.h"

namespace baton::ptx {
namespace {

// Nodes are numbered by depth-first search; every array but `number_` is indexed by that number.
class LengauerTarjan {
 public:
  LengauerTarjan(const Edges& successors, std::uint32_t root)
      : number_(successors.size(), kNoNode) {
    search(successors, root);
    const std::size_t count = node_.size();
    ancestor_.assign(count, kNoNode);
    semi_.resize(count);
    best_.resize(count);
    for (std::uint32_t v = 0; v < count; ++v) semi_[v] = best_[v] = v;
    dominator_.assign(count, 0);
    solve(successors);
  }

  std::vector<std::uint32_t> result() const {
    std::vector<std::uint32_t> result(number_.size(), kNoNode);
    for (std::size_t v = 1; v < node_.size(); ++v) result[node_[v]] = node_[dominator_[v]];
    return result;
  }

 private:
  void search(const Edges& successors, std::uint32_t root) {
    const auto edges_of = [&](std::uint32_t node) -> const auto& {
      return successors[node];
    };
    const auto enter = [&](std::uint32_t node, std::uint32_t parent) {
      if (number_[node] != kNoNode) return false;
      number_[node] = static_cast<std::uint32_t>(node_.size());
      node_.push_back(node);
      parent_.push_back(number_[parent]);
      return true;
    };
    walk_depth_first(root, edges_of, enter, [](std::uint32_t) {});
  }

  void solve(const Edges& successors) {
    const auto count = static_cast<std::uint32_t>(node_.size());
    Edges predecessors(count);
    for (std::uint32_t v = 0; v < count; ++v) {
      for (std::uint32_t to : successors[node_[v]]) predecessors[number_[to]].push_back(v);
    }
    Edges bucket(count);
    for (std::uint32_t v = count; v-- > 1;) {
      for (std::uint32_t from : predecessors[v]) {
        semi_[v] = std::min(semi_[v], semi_[evaluate(from)]);
      }
      bucket[semi_[v]].push_back(v);
      const std::uint32_t parent = parent_[v];
      ancestor_[v] = parent;
      for (std::uint32_t w : bucket[parent]) {
        const std::uint32_t u = evaluate(w);
        dominator_[w] = semi_[u] < semi_[w] ? u : parent;
      }
      bucket[parent].clear();
    }
    for (std::uint32_t v = 1; v < count; ++v) {
      if (dominator_[v] != semi_[v]) dominator_[v] = dominator_[dominator_[v]];
    }
  }

  // The node of least semidominator on the linked path above v, which is compressed on the way.
  std::uint32_t evaluate(std::uint32_t v) {
    if (ancestor_[v] == kNoNode) return v;
    path_.clear();
    for (std::uint32_t u = v; ancestor_[ancestor_[u]] != kNoNode; u = ancestor_[u]) {
      path_.push_back(u);
    }
    while (!path_.empty()) {
      const std::uint32_t u = path_.back();
      const std::uint32_t above = ancestor_[u];
      path_.pop_back();
      if (semi_[best_[above]] < semi_[best_[u]]) best_[u] = best_[above];
      ancestor_[u] = ancestor_[above];
    }
    return best_[v];
  }

  std::vector<std::uint32_t> number_;  // of a node; kNoNode where it cannot be reached
  std::vector<std::uint32_t> node_;
  std::vector<std::uint32_t> parent_;
  std::vector<std::uint32_t> ancestor_;
  std::vector<std::uint32_t> semi_;
  std::vector<std::uint32_t> best_;
  std::vector<std::uint32_t> dominator_;
  std::vector<std::uint32_t> path_;
};

}  // namespace

std::vector<std::uint32_t> immediate_dominators(const Edges& successors, std::uint32_t root) {
  return LengauerTarjan(successors, root).result();
}

Edges reversed(const Edges& successors) {
  Edges result(successors.size());
  for (std::uint32_t from = 0; from < successors.size(); ++from) {
    for (std::uint32_t to : successors[from]) result[to].push_back(from);
  }
  return result;
}

}  // namespace baton::ptx
