// Capturing the work of streams into graphs.

#include <algorithm>
#include <atomic>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/graph_nodes.h"
#include "sim/api/refusal.h"
#include "sim/device/objects.h"
#include "sim/graph/capture.h"
#include "sim/graph/capture_rules.h"

namespace baton::sim::api {
namespace {

std::atomic<std::uint64_t> g_next_capture{1};

CUstreamCaptureStatus status_of(const SimStream& stream) {
  const Capture* capture = stream.capture.capture.get();
  if (capture == nullptr) return CU_STREAM_CAPTURE_STATUS_NONE;
  return capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                              : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

std::vector<GraphDependency> dependencies_of(const SimGraph& graph, const CUgraphNode* nodes,
                                             const CUgraphEdgeData* data, size_t count) {
  require(count == 0 || nodes != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::vector<GraphDependency> result;
  for (size_t k = 0; k < count; ++k) {
    const std::shared_ptr<GraphNode> node = node_of(nodes[k]);
    const CUgraphEdgeData edge = data == nullptr ? CUgraphEdgeData{} : data[k];
    require(graph.holds(*node) && may_begin_edge(*node, edge), CUDA_ERROR_INVALID_VALUE);
    result.push_back({node, edge});
  }
  return result;
}

// Captures into `given`, or into a new graph where it is null.
CUresult begin_capture(CUstream handle, CUstreamCaptureMode mode, CUgraph given,
                       const CUgraphNode* nodes, const CUgraphEdgeData* data, size_t count) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED,
          CUDA_ERROR_INVALID_VALUE);
  require(stream->kind != SimStream::Kind::kLegacy, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  std::lock_guard lock(Scheduler::instance().mutex);
  require(stream->capture.capture == nullptr, CUDA_ERROR_ILLEGAL_STATE);
  auto capture = std::make_shared<Capture>();
  capture->id = g_next_capture++;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = stream.get();
  capture->streams.push_back(stream);
  std::vector<GraphDependency> frontier;
  if (given != nullptr) {
    capture->graph = graph_of(given);
    capture->is_given = true;
    capture->first = capture->graph->nodes().size();
    capture->handle = given;
    capture->graph->is_captured_into = true;
    frontier = dependencies_of(*capture->graph, nodes, data, count);
  } else {
    capture->handle = Objects::instance().graphs.add(capture->graph);
  }
  note_capture(capture);
  stream->capture = {std::move(capture), std::move(frontier)};
  return CUDA_SUCCESS;
}

}  // namespace

CUresult StreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  return begin_capture(stream, mode, nullptr, nullptr, nullptr, 0);
}

CUresult StreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* nodes,
                                   const CUgraphEdgeData* data, size_t count,
                                   CUstreamCaptureMode mode) {
  require(graph != nullptr, CUDA_ERROR_INVALID_VALUE);
  return begin_capture(stream, mode, graph, nodes, data, count);
}

CUresult StreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* nodes,
                                         const CUgraphEdgeData* data, size_t count,
                                         unsigned flags) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(
      flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES || flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES,
      CUDA_ERROR_INVALID_VALUE);
  std::lock_guard lock(Scheduler::instance().mutex);
  CaptureState& state = stream->capture;
  require(state.capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
  require(!state.capture->invalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  const auto added = dependencies_of(*state.capture->graph, nodes, data, count);
  if (flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES) state.frontier.clear();
  for (const GraphDependency& each : added) {
    const bool known = std::any_of(state.frontier.begin(), state.frontier.end(),
                                   [&](const auto& mine) { return mine.from == each.from; });
    if (!known) state.frontier.push_back(each);
  }
  return CUDA_SUCCESS;
}

CUresult StreamUpdateCaptureNodes(CUstream stream, CUgraphNode* nodes, size_t count,
                                  unsigned flags) {
  return StreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags);
}

CUresult StreamEndCapture(CUstream handle, CUgraph* result) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  if (result != nullptr) *result = nullptr;
  std::lock_guard lock(Scheduler::instance().mutex);
  const std::shared_ptr<Capture> capture = stream->capture.capture;
  // Who gave the graph need not ask for it.
  require(result != nullptr || (capture != nullptr && capture->is_given), CUDA_ERROR_INVALID_VALUE);
  require(capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
  require(capture->origin == stream.get(), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  require(capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
              capture->thread == std::this_thread::get_id(),
          CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  const bool joined = is_joined(*capture, stream->capture.frontier);
  end_capture(*capture);
  if (!capture->invalidated && joined) {
    if (result != nullptr) *result = capture->handle;
    return CUDA_SUCCESS;
  }
  if (!capture->is_given) Objects::instance().graphs.remove(capture->handle);
  return capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                              : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

CUresult StreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(status != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::lock_guard lock(Scheduler::instance().mutex);
  *status = status_of(*stream);
  return CUDA_SUCCESS;
}

// The arrays are the stream's and stay until the next call for it.
CUresult StreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                              CUgraph* graph, const CUgraphNode** dependencies,
                              const CUgraphEdgeData** edges, size_t* count) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(status != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::lock_guard lock(Scheduler::instance().mutex);
  *status = status_of(*stream);
  if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  if (id != nullptr) *id = stream->capture.capture->id;
  if (graph != nullptr) *graph = stream->capture.capture->handle;
  stream->reported_nodes.clear();
  stream->reported_edges.clear();
  for (const GraphDependency& edge : stream->capture.frontier) {
    stream->reported_nodes.push_back(edge.from->handle);
    stream->reported_edges.push_back(edge.data);
  }
  if (dependencies != nullptr) *dependencies = stream->reported_nodes.data();
  if (edges != nullptr) *edges = stream->reported_edges.data();
  if (count != nullptr) *count = stream->reported_nodes.size();
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
