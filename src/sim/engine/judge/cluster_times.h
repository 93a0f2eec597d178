#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "sim/engine/judge/clock.h"

namespace baton::sim {

// For each cluster of a grid, how many segments of its warps are known to be over. An immutable
// tree by the cluster's number: copies cost a pointer, and two that have much in common are merged
// by their differences. Empty: nothing is known.
class ClusterTimes {
 public:
  ClusterTimes() = default;
  // What is known of one cluster, in a grid of so many.
  ClusterTimes(std::uint64_t clusters, std::uint64_t cluster, Times times);

  bool empty() const { return root_ == nullptr; }
  void clear() { root_.reset(); }
  // Null where nothing is known.
  const Times* of(std::uint64_t cluster) const;
  void merge(const ClusterTimes& other) {
    if (other.root_ != nullptr && other.root_ != root_) root_ = merged(root_, other.root_);
  }
  // Whether this knows all that the other one knows.
  bool covers(const ClusterTimes& other) const {
    return other.root_ == nullptr || other.root_ == root_ || covers(root_, other.root_);
  }

 private:
  static constexpr unsigned kBits = 4;  // of a number a level
  struct Node;
  using NodePtr = std::shared_ptr<const Node>;
  struct Node {
    unsigned shift = 0;  // of the number, which chooses one of `below`; at leaves 0
    std::array<NodePtr, 1u << kBits> below;
    Times times;  // of a leaf
  };

  static NodePtr merged(const NodePtr& a, const NodePtr& b);
  static bool covers(const NodePtr& a, const NodePtr& b);

  NodePtr root_;
};

// Which segments of clusters are known to be over, and of which the writes are known to be visible
// to the async proxy, too.
struct ClusterClock {
  ClusterTimes over, fenced;

  bool empty() const { return over.empty(); }
  void clear() {
    over.clear();
    fenced.clear();
  }
  void merge(const ClusterClock& other) {
    over.merge(other.over);
    fenced.merge(other.fenced);
  }
  bool covers(const ClusterClock& other) const {
    return over.covers(other.over) && fenced.covers(other.fenced);
  }
};

}  // namespace baton::sim
