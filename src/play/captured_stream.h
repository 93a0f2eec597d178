#pragma once

#include <vector>

#include "baton/graph.h"
#include "baton/stream.h"

namespace baton::play {

// A stream that the caller captures: nodes are added to the graph that is made of it. Refers to the
// stream. One thread at a time.
class CapturedStream {
 public:
  // Throws the driver's errors, such as that of a capture that has become invalid.
  explicit CapturedStream(const Stream& stream);

  // The caller's graph, while it is captured.
  Graph graph() const;
  // What the next work of the stream would come after.
  const std::vector<GraphEdge>& after() const { return after_; }
  // The next work of the stream comes after these nodes of the graph.
  void go_on_after(const std::vector<GraphEdge>& nodes) const;

 private:
  const Stream& stream_;
  NativeGraph graph_ = nullptr;
  std::vector<GraphEdge> after_;
};

}  // namespace baton::play
