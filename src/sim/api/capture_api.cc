// Capturing the work of streams into graphs.

#include <atomic>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/refusal.h"
#include "sim/device/objects.h"
#include "sim/graph/capture.h"

namespace baton::sim::api {
namespace {

std::atomic<std::uint64_t> g_next_capture{1};

CUstreamCaptureStatus status_of(const SimStream& stream) {
  const Capture* capture = stream.capture.capture.get();
  if (capture == nullptr) return CU_STREAM_CAPTURE_STATUS_NONE;
  return capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                              : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

}  // namespace

CUresult StreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
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
  capture->handle = Objects::instance().graphs.add(capture->graph);
  stream->capture = {std::move(capture), {}};
  return CUDA_SUCCESS;
}

CUresult StreamEndCapture(CUstream handle, CUgraph* result) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(result != nullptr, CUDA_ERROR_INVALID_VALUE);
  *result = nullptr;
  std::lock_guard lock(Scheduler::instance().mutex);
  const std::shared_ptr<Capture> capture = stream->capture.capture;
  require(capture != nullptr, CUDA_ERROR_ILLEGAL_STATE);
  require(capture->origin == stream.get(), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  require(capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED ||
              capture->thread == std::this_thread::get_id(),
          CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  const bool joined = is_joined(*capture, stream->capture.frontier);
  end_capture(*capture);
  if (!capture->invalidated && joined) {
    *result = capture->handle;
    return CUDA_SUCCESS;
  }
  Objects::instance().graphs.remove(capture->handle);
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
