#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "sim/graph/graph.h"

namespace baton::sim {

struct SimStream;

// Streams whose work becomes nodes of a graph instead of being executed. It begins with one stream,
// its origin; others join where they wait for an event that was recorded in it. Guarded by the
// scheduler's mutex.
struct Capture {
  std::uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;                                          // that began it
  std::shared_ptr<SimGraph> graph = std::make_shared<SimGraph>();  // null once ended
  CUgraph handle = nullptr;                                        // of the graph
  const SimStream* origin = nullptr;
  std::vector<std::weak_ptr<SimStream>> streams;
  bool invalidated = false;
  std::size_t first = 0;  // nodes that the graph had before
  bool is_given = false;  // the graph is the caller's, who has its handle
};

// A stream's, or a recorded event's, part in a capture: what its next node comes after.
struct CaptureState {
  std::shared_ptr<Capture> capture;  // null: none
  std::vector<GraphDependency> frontier;
};

// Adds a node after the frontier, which becomes that node alone. Kernels that are launched as
// dependents of a kernel are connected to it by programmatic edges. Throws Refusal where the
// capture is invalidated.
std::shared_ptr<GraphNode> capture_node(CaptureState& state, NodeWork work,
                                        bool is_dependent = false);
// Makes the stream wait for what the event stands for, joining its capture where it is in none.
void capture_wait(const std::shared_ptr<SimStream>& stream, const CaptureState& event);
// Ends a capture for all its streams.
void end_capture(Capture& capture);
// Whether all nodes lead to the frontier, so that no stream was left behind.
bool is_joined(const Capture& capture, const std::vector<GraphDependency>& frontier);

}  // namespace baton::sim
