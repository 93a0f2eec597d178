// Streams, host functions and events.

#include <algorithm>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/refusal.h"
#include "sim/device/objects.h"
#include "sim/graph/capture_rules.h"

namespace baton::sim::api {
namespace {

bool is_default_stream(CUstream handle) {
  return handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
}

// The handle of the green context of a stream, or null. The default streams are the current
// context's.
CUgreenCtx green_of(CUstream handle, const SimStream& stream) {
  if (is_default_stream(handle)) return ContextStack::of_thread().current().green;
  return stream.green != nullptr ? stream.green->handle() : nullptr;
}

// Refuses to ask for an event of a capture, which goes on, before what ends captures.
void require_safe(const SimEvent& event) {
  {
    const std::lock_guard lock(Scheduler::instance().mutex);
    require(event.captured.capture == nullptr, CUDA_ERROR_CAPTURED_EVENT);
  }
  refuse_unsafe_beside_captures();
}

}  // namespace

CUresult StreamGetGreenCtx(CUstream handle, CUgreenCtx* green) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(green != nullptr, CUDA_ERROR_INVALID_VALUE);
  *green = green_of(handle, *stream);
  return CUDA_SUCCESS;
}

CUresult StreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  const std::shared_ptr<Context> context = usable_context();
  require(stream != nullptr, CUDA_ERROR_INVALID_VALUE);
  require(flags == CU_STREAM_DEFAULT || flags == CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE);
  const auto kind =
      flags == CU_STREAM_DEFAULT ? SimStream::Kind::kBlocking : SimStream::Kind::kNonBlocking;
  *stream = Objects::instance().streams.add(context->make_stream(
      kind, std::clamp(priority, kGreatestPriority, kLeastPriority), current_green()));
  return CUDA_SUCCESS;
}

// Work that is pending goes on; a context's error is reported, but the stream is gone all the same.
CUresult StreamDestroy(CUstream handle) {
  enter();
  require(!is_default_stream(handle), CUDA_ERROR_INVALID_HANDLE);
  const std::shared_ptr<SimStream> stream = Objects::instance().streams.remove(handle);
  if (stream == nullptr) return unknown_handle();
  require_alive(*stream);
  return stream->context->destroy(*stream);
}

CUresult StreamSynchronize(CUstream handle) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  refuse_unsafe_beside_captures();
  stream->context->synchronize(*stream);
  return stream->context->error();
}

CUresult StreamQuery(CUstream handle) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  refuse_unsafe_beside_captures();
  const bool idle = stream->context->is_idle(*stream);
  const CUresult error = stream->context->error();
  return error == CUDA_SUCCESS && !idle ? CUDA_ERROR_NOT_READY : error;
}

CUresult StreamGetCtx(CUstream handle, CUcontext* context) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(context != nullptr, CUDA_ERROR_INVALID_VALUE);
  SimDevice* const device = SimDevice::find(CUdevice{stream->context->ordinal()});
  *context = CurrentContext{device, green_of(handle, *stream)}.handle();
  return CUDA_SUCCESS;
}

CUresult StreamGetPriority(CUstream handle, int* priority) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(priority != nullptr, CUDA_ERROR_INVALID_VALUE);
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

CUresult LaunchHostFunc(CUstream handle, CUhostFn function, void* argument) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(function != nullptr, CUDA_ERROR_INVALID_VALUE);
  stream->context->submit(*stream, HostCall{function, argument});
  return CUDA_SUCCESS;
}

CUresult StreamWaitEvent(CUstream handle, CUevent event_handle, unsigned flags) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  require(flags == CU_EVENT_WAIT_DEFAULT || flags == CU_EVENT_WAIT_EXTERNAL,
          CUDA_ERROR_INVALID_VALUE);
  const std::shared_ptr<SimEvent> event = usable_event(event_handle);
  stream->context->wait_event(stream, event, flags == CU_EVENT_WAIT_EXTERNAL);
  return CUDA_SUCCESS;
}

CUresult EventCreate(CUevent* event, unsigned flags) {
  const std::shared_ptr<Context> context = usable_context();
  constexpr unsigned kKnown =
      CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
  require(event != nullptr && (flags & ~kKnown) == 0, CUDA_ERROR_INVALID_VALUE);
  const bool timed = (flags & CU_EVENT_DISABLE_TIMING) == 0;
  require(!timed || (flags & CU_EVENT_INTERPROCESS) == 0, CUDA_ERROR_INVALID_VALUE);
  *event = Objects::instance().events.add(std::make_shared<SimEvent>(context, timed));
  return CUDA_SUCCESS;
}

CUresult EventRecord(CUevent event_handle, CUstream handle) {
  const std::shared_ptr<SimStream> stream = usable_stream(handle);
  const std::shared_ptr<SimEvent> event = usable_event(event_handle);
  require(event->context == stream->context, CUDA_ERROR_INVALID_HANDLE);
  stream->context->record(*event, *stream);
  return CUDA_SUCCESS;
}

// After all work of the device, also where the handle is that of a green context.
CUresult CtxRecordEvent(CUcontext handle, CUevent event_handle) {
  const std::shared_ptr<SimEvent> event = usable_event(event_handle);
  require(handle != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  require(find_context(handle).device->context() == event->context, CUDA_ERROR_INVALID_HANDLE);
  refuse_beside_captures_of(*event->context);
  event->context->record_all(*event);
  return CUDA_SUCCESS;
}

CUresult EventQuery(CUevent handle) {
  const std::shared_ptr<SimEvent> event = usable_event(handle);
  require_safe(*event);
  std::unique_lock lock(Scheduler::instance().mutex);
  const bool done = DeviceQueue::poll(lock, event->recorded);
  const CUresult error = event->context->queue().error(lock);
  return error == CUDA_SUCCESS && !done ? CUDA_ERROR_NOT_READY : error;
}

CUresult EventSynchronize(CUevent handle) {
  const std::shared_ptr<SimEvent> event = usable_event(handle);
  require_safe(*event);
  std::unique_lock lock(Scheduler::instance().mutex);
  const CommandPtr recorded = event->recorded;
  DeviceQueue::wait(lock, recorded);
  return event->context->queue().error(lock);
}

CUresult EventDestroy(CUevent handle) {
  enter();
  const std::shared_ptr<SimEvent> event = Objects::instance().events.remove(handle);
  return event != nullptr ? event->context->error() : unknown_handle();
}

CUresult EventElapsedTime(float* milliseconds, CUevent start_handle, CUevent end_handle) {
  const std::shared_ptr<SimEvent> start = usable_event(start_handle);
  const std::shared_ptr<SimEvent> end = usable_event(end_handle);
  require(milliseconds != nullptr, CUDA_ERROR_INVALID_VALUE);
  require(start->timed && end->timed, CUDA_ERROR_INVALID_HANDLE);
  require(start->context == end->context, CUDA_ERROR_INVALID_HANDLE);
  std::lock_guard lock(Scheduler::instance().mutex);
  require(start->recorded != nullptr && end->recorded != nullptr, CUDA_ERROR_INVALID_HANDLE);
  require(start->recorded->done() && end->recorded->done(), CUDA_ERROR_NOT_READY);
  *milliseconds =
      std::chrono::duration<float, std::milli>(end->occurrence->time - start->occurrence->time)
          .count();
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
