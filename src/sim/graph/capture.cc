#include "sim/graph/capture.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "sim/api/refusal.h"
#include "sim/queue/stream.h"

namespace baton::sim {
namespace {

void require_valid(const Capture& capture) {
  require(!capture.invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

bool leads_to_kernels(const std::vector<GraphDependency>& frontier) {
  return !frontier.empty() && std::all_of(frontier.begin(), frontier.end(), [](const auto& edge) {
    return std::holds_alternative<KernelWork>(edge.from->work);
  });
}

}  // namespace

std::shared_ptr<GraphNode> capture_node(CaptureState& state, NodeWork work, bool is_dependent) {
  Capture& capture = *state.capture;
  require_valid(capture);
  std::vector<GraphDependency> after = state.frontier;
  const bool is_kernel = std::holds_alternative<KernelWork>(work);
  if (is_dependent && leads_to_kernels(after)) {
    for (GraphDependency& edge : after) {
      if (edge.data.type != CU_GRAPH_DEPENDENCY_TYPE_DEFAULT) continue;
      edge.data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
      edge.data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    }
  } else if (!is_kernel) {
    for (GraphDependency& edge : after) edge.data = {};
  }
  std::shared_ptr<GraphNode> node = capture.graph->add(std::move(work), std::move(after));
  state.frontier.assign(1, GraphDependency{node, {}});
  return node;
}

void capture_wait(const std::shared_ptr<SimStream>& stream, const CaptureState& event) {
  CaptureState& state = stream->capture;
  require(event.capture->graph != nullptr, CUDA_ERROR_CAPTURED_EVENT);
  require_valid(*event.capture);
  if (state.capture == nullptr) {
    // The stream's own earlier work is not part of the graph.
    event.capture->streams.push_back(stream);
    state = event;
    return;
  }
  if (state.capture != event.capture) {
    state.capture->invalidated = event.capture->invalidated = true;
    throw Refusal(CUDA_ERROR_STREAM_CAPTURE_MERGE);
  }
  for (const GraphDependency& edge : event.frontier) {
    const bool known =
        std::any_of(state.frontier.begin(), state.frontier.end(),
                    [&](const GraphDependency& mine) { return mine.from == edge.from; });
    if (!known) state.frontier.push_back(edge);
  }
}

void end_capture(Capture& capture) {
  for (const std::weak_ptr<SimStream>& each : capture.streams) {
    if (const auto stream = each.lock()) stream->capture = {};
  }
  capture.graph->is_captured_into = false;
  capture.graph = nullptr;
}

bool is_joined(const Capture& capture, const std::vector<GraphDependency>& frontier) {
  std::unordered_set<const GraphNode*> has_next;
  for (const auto& node : capture.graph->nodes()) {
    for (const GraphDependency& edge : node->after) has_next.insert(edge.from.get());
  }
  for (const GraphDependency& edge : frontier) has_next.insert(edge.from.get());
  const auto& nodes = capture.graph->nodes();
  return std::all_of(nodes.begin() + static_cast<std::ptrdiff_t>(capture.first), nodes.end(),
                     [&](const auto& node) { return has_next.contains(node.get()); });
}

}  // namespace baton::sim
