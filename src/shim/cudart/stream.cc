// Streams, events and captures.

#include "shim/cudart/thread_state.h"

namespace {

using baton::cudart::answer;
using baton::cudart::stream_of;

// A callback of the old kind with the runtime's error; it frees itself.
struct RuntimeCallback {
  cudaStreamCallback_t function;
  cudaStream_t stream;
  void* data;
};

void call_runtime(CUstream, CUresult result, void* data) {
  const auto* callback = static_cast<const RuntimeCallback*>(data);
  callback->function(callback->stream, static_cast<cudaError_t>(result), callback->data);
  delete callback;
}

}  // namespace

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamCreateWithPriority(stream, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamDestroy(stream));
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamGetPriority(stream_of(stream), priority));
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamGetFlags(stream_of(stream), flags));
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamGetId(stream_of(stream), id));
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamGetDevice(stream_of(stream), device));
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   const cudaLaunchAttributeValue* value) {
  static_assert(sizeof(cudaLaunchAttributeValue) == sizeof(CUlaunchAttributeValue));
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamSetAttribute(stream_of(stream), static_cast<CUstreamAttrID>(attribute),
                                     reinterpret_cast<const CUstreamAttrValue*>(value)));
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID attribute,
                                   cudaLaunchAttributeValue* value) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamGetAttribute(stream_of(stream), static_cast<CUstreamAttrID>(attribute),
                                     reinterpret_cast<CUstreamAttrValue*>(value)));
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamCopyAttributes(stream_of(to), stream_of(from)));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamSynchronize(stream_of(stream)));
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamQuery(stream_of(stream)));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamWaitEvent(stream_of(stream), event, flags));
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data,
                                  unsigned flags) {
  BATON_RUNTIME_BEGIN();
  if (function == nullptr) return answer(cudaErrorInvalidValue);
  auto* const callback = new RuntimeCallback{function, stream, data};
  const CUresult result = cuStreamAddCallback(stream_of(stream), call_runtime, callback, flags);
  if (result != CUDA_SUCCESS) delete callback;
  return answer(result);
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  BATON_RUNTIME_BEGIN();
  return answer(cuLaunchHostFunc(stream_of(stream), function, data));
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t bytes,
                                     unsigned flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamAttachMemAsync(stream_of(stream), reinterpret_cast<CUdeviceptr>(pointer),
                                       bytes, flags));
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamBeginCapture(stream_of(stream), static_cast<CUstreamCaptureMode>(mode)));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamEndCapture(stream_of(stream), graph));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  BATON_RUNTIME_BEGIN();
  return answer(
      cuStreamIsCapturing(stream_of(stream), reinterpret_cast<CUstreamCaptureStatus*>(status)));
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies,
                                     const cudaGraphEdgeData** edges, size_t* count) {
  static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));
  BATON_RUNTIME_BEGIN();
  cuuint64_t number = 0;
  const CUresult result = cuStreamGetCaptureInfo(
      stream_of(stream), reinterpret_cast<CUstreamCaptureStatus*>(status), &number, graph,
      dependencies, reinterpret_cast<const CUgraphEdgeData**>(edges), count);
  if (id != nullptr) *id = number;
  return answer(result);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData* edges, size_t count,
                                                unsigned flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamUpdateCaptureDependencies(
      stream_of(stream), nodes, reinterpret_cast<const CUgraphEdgeData*>(edges), count, flags));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  BATON_RUNTIME_BEGIN();
  return answer(cuThreadExchangeStreamCaptureMode(reinterpret_cast<CUstreamCaptureMode*>(mode)));
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuEventCreate(event, flags));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return answer(cuEventRecord(event, stream_of(stream)));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuEventRecordWithFlags(event, stream_of(stream), flags));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  BATON_RUNTIME_BEGIN();
  return answer(cuEventQuery(event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  BATON_RUNTIME_BEGIN();
  return answer(cuEventSynchronize(event));
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  BATON_RUNTIME_BEGIN();
  return answer(cuEventDestroy(event));
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  BATON_RUNTIME_BEGIN();
  return answer(cuEventElapsedTime(milliseconds, start, end));
}
