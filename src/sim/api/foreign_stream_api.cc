// Entries about streams, events, captures and graphs that only other programs call.

#include <atomic>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/graph_works.h"
#include "sim/api/refusal.h"
#include "sim/device/host_memory.h"
#include "sim/device/objects.h"
#include "sim/graph/capture_rules.h"

namespace baton::sim::api {
namespace {

// A callback of the old kind, which is given its stream and a result.
struct Callback {
  CUstreamCallback function;
  CUstream stream;
  void* argument;
};

void call_back(void* data) {
  const auto* callback = static_cast<const Callback*>(data);
  callback->function(callback->stream, CUDA_SUCCESS, callback->argument);
}

}  // namespace

CUresult StreamCreate(CUstream* stream, unsigned flags) {
  return StreamCreateWithPriority(stream, flags, 0);
}

CUresult StreamGetFlags(CUstream handle, unsigned* flags) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(flags != nullptr, CUDA_ERROR_INVALID_VALUE);
  *flags =
      stream->kind == SimStream::Kind::kNonBlocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
  return CUDA_SUCCESS;
}

CUresult StreamGetId(CUstream handle, unsigned long long* id) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(id != nullptr, CUDA_ERROR_INVALID_VALUE);
  *id = stream->id;
  return CUDA_SUCCESS;
}

CUresult StreamGetDevice(CUstream handle, CUdevice* device) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(device != nullptr, CUDA_ERROR_INVALID_VALUE);
  *device = stream->context->ordinal();
  return CUDA_SUCCESS;
}

CUresult StreamGetCtxOrGreen(CUstream handle, CUcontext* context, CUgreenCtx* green) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(context != nullptr, CUDA_ERROR_INVALID_VALUE);
  *context = SimDevice::find(CUdevice{stream->context->ordinal()})->handle();
  return green != nullptr ? StreamGetGreenCtx(handle, green) : CUDA_SUCCESS;
}

CUresult StreamAddCallback(CUstream handle, CUstreamCallback function, void* argument,
                           unsigned flags) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(function != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
  {
    std::lock_guard lock(Scheduler::instance().mutex);
    require(stream->capture.capture == nullptr, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  }
  auto callback = std::make_shared<Callback>(Callback{function, handle, argument});
  void* const data = callback.get();
  stream->context->submit(*stream, HostCall{call_back, data, std::move(callback)});
  return CUDA_SUCCESS;
}

CUresult StreamAttachMemAsync(CUstream handle, CUdeviceptr address, size_t, unsigned flags) {
  usable_stream(handle);
  require(
      flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST || flags == CU_MEM_ATTACH_SINGLE,
      CUDA_ERROR_INVALID_VALUE);
  require(HostMemory::instance().find(address).has_value(), CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

CUresult StreamGetCaptureState(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return StreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

// Edges that have data are not given to who cannot take it.
CUresult StreamGetCaptureNodes(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                               CUgraph* graph, const CUgraphNode** dependencies, size_t* count) {
  const CUgraphEdgeData* edges = nullptr;
  size_t edge_count = 0;
  const CUresult result =
      StreamGetCaptureInfo(stream, status, id, graph, dependencies, &edges, &edge_count);
  if (result != CUDA_SUCCESS) return result;
  if (count != nullptr) *count = edge_count;
  for (size_t k = 0; k < edge_count; ++k) require(edges[k].type == 0, CUDA_ERROR_LOSSY_QUERY);
  return CUDA_SUCCESS;
}

CUresult ThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  enter();
  require(mode != nullptr && *mode >= CU_STREAM_CAPTURE_MODE_GLOBAL &&
              *mode <= CU_STREAM_CAPTURE_MODE_RELAXED,
          CUDA_ERROR_INVALID_VALUE);
  *mode = exchange_capture_mode(*mode);
  return CUDA_SUCCESS;
}

CUresult EventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  require((flags & ~unsigned{CU_EVENT_RECORD_EXTERNAL}) == 0, CUDA_ERROR_INVALID_VALUE);
  // An event outside of the capture, which the graph records, is not simulated in captures.
  require(flags == 0, CUDA_ERROR_NOT_SUPPORTED);
  return EventRecord(event, stream);
}

CUresult EventElapsedTimeAny(float* milliseconds, CUevent start, CUevent end) {
  return EventElapsedTime(milliseconds, start, end);
}

CUresult GraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                    CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  const CUresult result = GraphInstantiateWithFlags(exec, graph, params->flags);
  params->hErrNode_out = nullptr;
  params->result_out =
      result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
  return result;
}

CUresult GraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  enter();
  const std::shared_ptr<SimGraph> graph = Objects::instance().graphs.find(handle);
  require(graph != nullptr && count != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::vector<CUgraphNode> roots;
  for (const auto& node : graph->nodes()) {
    if (node->after.empty()) roots.push_back(node->handle);
  }
  const size_t room = nodes == nullptr ? roots.size() : *count;
  for (size_t k = 0; nodes != nullptr && k < room; ++k) {
    nodes[k] = k < roots.size() ? roots[k] : nullptr;
  }
  *count = std::min(room, roots.size());
  return CUDA_SUCCESS;
}

CUresult GraphUpload(CUgraphExec exec, CUstream stream) {
  usable_stream(stream);
  require(Objects::instance().graph_execs.find(exec) != nullptr, CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

CUresult GraphAddPlainDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   size_t count) {
  return GraphAddDependencies(graph, from, to, nullptr, count);
}

CUresult GraphGetPlainEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return GraphGetEdges(graph, from, to, nullptr, count);
}

CUresult GraphAddKernelNodeOld(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                               size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  const CUDA_KERNEL_NODE_PARAMS wide = widened(params);
  return GraphAddKernelNode(node, graph, dependencies, count, &wide);
}

}  // namespace baton::sim::api
