#include "sim/engine/judge/cluster_times.h"

#include <utility>

namespace baton::sim {

ClusterTimes::ClusterTimes(std::uint64_t clusters, std::uint64_t cluster, Times times) {
  auto leaf = std::make_shared<Node>();
  leaf->times = std::move(times);
  root_ = std::move(leaf);
  // Leaves have the shift 0, the level above them too: a leaf has nothing below it.
  for (unsigned shift = 0; shift < 64 && (shift == 0 || (clusters - 1) >> shift != 0);
       shift += kBits) {
    auto above = std::make_shared<Node>();
    above->shift = shift;
    above->below[cluster >> shift & ((1u << kBits) - 1)] = std::move(root_);
    root_ = std::move(above);
  }
}

const Times* ClusterTimes::of(std::uint64_t cluster) const {
  const Node* node = root_.get();
  while (node != nullptr && node->times.empty()) {
    node = node->below[cluster >> node->shift & ((1u << kBits) - 1)].get();
  }
  return node == nullptr ? nullptr : &node->times;
}

// Returns one of the two where it knows all that the other one knows.
ClusterTimes::NodePtr ClusterTimes::merged(const NodePtr& a, const NodePtr& b) {
  if (b == nullptr || a == b) return a;
  if (a == nullptr) return b;
  if (!a->times.empty()) {
    if (sim::covers(a->times, b->times)) return a;
    if (sim::covers(b->times, a->times)) return b;
    auto both = std::make_shared<Node>(*a);
    sim::merge(both->times, b->times);
    return both;
  }
  std::array<NodePtr, 1u << kBits> below;
  bool is_a = true;
  bool is_b = true;
  for (std::size_t k = 0; k < below.size(); ++k) {
    below[k] = merged(a->below[k], b->below[k]);
    is_a = is_a && below[k] == a->below[k];
    is_b = is_b && below[k] == b->below[k];
  }
  if (is_a) return a;
  if (is_b) return b;
  auto both = std::make_shared<Node>();
  both->shift = a->shift;
  both->below = std::move(below);
  return both;
}

bool ClusterTimes::covers(const NodePtr& a, const NodePtr& b) {
  if (b == nullptr || a == b) return true;
  if (a == nullptr) return false;
  if (!a->times.empty()) return sim::covers(a->times, b->times);
  for (std::size_t k = 0; k < a->below.size(); ++k) {
    if (!covers(a->below[k], b->below[k])) return false;
  }
  return true;
}

}  // namespace baton::sim
