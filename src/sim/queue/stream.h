#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "sim/graph/capture.h"
#include "sim/queue/command.h"

namespace baton::sim {

class Context;
class GreenContext;

// The priorities of streams, from the least to the greatest.
inline constexpr int kLeastPriority = 0;
inline constexpr int kGreatestPriority = -5;

// One stream of a context: commands that start in the order of submission. Members that change are
// guarded by the scheduler's mutex; Context submits to streams and knows the order between them.
struct SimStream {
  enum class Kind {
    kLegacy,       // the default stream, ordered against every blocking stream both ways
    kBlocking,     // what CU_STREAM_DEFAULT makes, and a thread's own default stream
    kNonBlocking,  // ordered against nothing
  };

  SimStream(std::shared_ptr<Context> owner, Kind stream_kind, int stream_priority,
            std::shared_ptr<const GreenContext> stream_green = nullptr)
      : context(std::move(owner)),
        kind(stream_kind),
        priority(stream_priority),
        green(std::move(stream_green)),
        id(next_id()) {}

  const std::shared_ptr<Context> context;
  const Kind kind;
  const int priority;
  const std::shared_ptr<const GreenContext> green;  // that it was made in, or null
  const std::uint64_t id;                           // one of a kind in the process
  // What is done when all that was submitted is, or null.
  CommandPtr tail;
  // The last command where it is a grid, but for events recorded since: what a dependent launch may
  // overlap.
  CommandPtr last_grid;
  // The last allocation in the order of the stream, until a later command comes after it; null:
  // none. It is done at once: the memory is there at the call.
  CommandPtr allocated;
  // Grids that were launched since what they do is counted, oldest first; none: it is not.
  std::optional<std::deque<CommandPtr>> counted;
  bool destroyed = false;  // its work goes on, and the legacy stream still waits for it
  CaptureState capture;    // where its work becomes part of a graph
  // What StreamGetCaptureInfo last gave out.
  std::vector<CUgraphNode> reported_nodes;
  std::vector<CUgraphEdgeData> reported_edges;
  std::map<CUstreamAttrID, CUstreamAttrValue> attributes;  // that callers set

 private:
  static std::uint64_t next_id() {
    static std::atomic<std::uint64_t> next{1};
    return next.fetch_add(1, std::memory_order_relaxed);
  }
};

}  // namespace baton::sim
