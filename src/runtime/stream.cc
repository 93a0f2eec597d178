#include "baton/stream.h"

#include "base/error.h"
#include "runtime/context.h"
#include "runtime/crossing.h"
#include "runtime/findings.h"
#include "runtime/release.h"

namespace baton {
namespace {

bool is_default_stream(NativeStream stream) {
  return stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

// True where the work has completed, false where it has not; throws what it failed with.
bool query(const Device& device, CUresult result, const char* call) {
  if (result == CUDA_ERROR_NOT_READY) return false;
  end_wait(*device.state(), result, call);
  return true;
}

}  // namespace

Stream::Stream(const Device& device, int priority) : device_(device) {
  ContextGuard guard(device_);
  BATON_DRIVER_CALL(device_.driver(), cuStreamCreateWithPriority, &stream_, CU_STREAM_NON_BLOCKING,
                    priority);
}

Stream Stream::adopt(const Device& device, NativeStream stream) {
  if (is_default_stream(stream)) return Stream(device, stream, false);
  const driver::Driver& driver = device.driver();
  CUcontext context = nullptr;
  BATON_DRIVER_CALL(driver, cuStreamGetCtx, stream, &context);
  if (context == device.native_context()) return Stream(device, stream, false);

  CUdevice native = 0;
  BATON_DRIVER_CALL(driver, cuCtxPushCurrent, context);
  const CUresult result = driver.cuCtxGetDevice(&native);
  BATON_RELEASE(driver, cuCtxPopCurrent, &context);
  driver::check(driver, result, "cuCtxGetDevice");
  const Device own = DeviceState::handle(device.state()->sibling(native));
  if (own.native_context() != context) {
    throw error(ErrorCode::kUnsupported,
                "the stream belongs to a context of its own on {}, not to the device's primary "
                "context, in which Baton works; create the stream in the primary context",
                own.spec());
  }
  return Stream(own, stream, false);
}

Stream::Stream(Stream&& other) noexcept
    : device_(other.device_),
      stream_(std::exchange(other.stream_, nullptr)),
      owned_(std::exchange(other.owned_, false)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this == &other) return *this;
  release();
  device_ = other.device_;
  stream_ = std::exchange(other.stream_, nullptr);
  owned_ = std::exchange(other.owned_, false);
  return *this;
}

Stream::~Stream() {
  release();
}

void Stream::release() noexcept {
  if (!owned_ || stream_ == nullptr) return;
  release_in_context(device_, [this](const driver::Driver& driver) {
    BATON_RELEASE(driver, cuStreamDestroy, stream_);
  });
}

void Stream::synchronize() const {
  ContextGuard guard(device_);
  end_wait(*device_.state(), device_.driver().cuStreamSynchronize(stream_), "cuStreamSynchronize");
}

bool Stream::done() const {
  ContextGuard guard(device_);
  return query(device_, device_.driver().cuStreamQuery(stream_), "cuStreamQuery");
}

bool Stream::is_capturing() const {
  ContextGuard guard(device_);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  BATON_DRIVER_CALL(device_.driver(), cuStreamIsCapturing, stream_, &status);
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void Stream::wait(const Event& event) const {
  require_one_driver("stream", device_, "event", event.device());
  ContextGuard guard(device_);
  BATON_DRIVER_CALL(device_.driver(), cuStreamWaitEvent, stream_, event.native(),
                    CU_EVENT_WAIT_DEFAULT);
}

Event::Event(const Device& device, bool timing) : device_(device), timing_(timing) {
  ContextGuard guard(device_);
  BATON_DRIVER_CALL(device_.driver(), cuEventCreate, &event_,
                    timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
}

Event::Event(Event&& other) noexcept
    : device_(other.device_),
      event_(std::exchange(other.event_, nullptr)),
      timing_(other.timing_) {}

Event& Event::operator=(Event&& other) noexcept {
  if (this == &other) return *this;
  release();
  device_ = other.device_;
  event_ = std::exchange(other.event_, nullptr);
  timing_ = other.timing_;
  return *this;
}

Event::~Event() {
  release();
}

void Event::release() noexcept {
  if (event_ == nullptr) return;
  release_in_context(device_, [this](const driver::Driver& driver) {
    BATON_RELEASE(driver, cuEventDestroy, event_);
  });
}

void Event::record(const Stream& stream) {
  require_one_device("event", device_, "stream", stream.device());
  ContextGuard guard(device_);
  BATON_DRIVER_CALL(device_.driver(), cuEventRecord, event_, stream.native());
}

void Event::synchronize() const {
  ContextGuard guard(device_);
  end_wait(*device_.state(), device_.driver().cuEventSynchronize(event_), "cuEventSynchronize");
}

bool Event::done() const {
  ContextGuard guard(device_);
  return query(device_, device_.driver().cuEventQuery(event_), "cuEventQuery");
}

double elapsed_seconds(const Event& start, const Event& end) {
  require_one_device("first event", start.device(), "second event", end.device());
  ContextGuard guard(start.device());
  float milliseconds = 0;
  BATON_DRIVER_CALL(start.device().driver(), cuEventElapsedTime, &milliseconds, start.native(),
                    end.native());
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace baton
