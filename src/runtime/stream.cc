#include "baton/stream.h"

#include "base/error.h"
#include "runtime/context.h"
#include "runtime/crossing.h"
#include "runtime/findings.h"
#include "runtime/green_part.h"
#include "runtime/release.h"

namespace baton {
namespace {

bool is_default_stream(NativeStream stream) {
  return stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

CUdevice device_of(const driver::Driver& driver, CUcontext context) {
  CUdevice device = 0;
  BATON_DRIVER_CALL(driver, cuCtxPushCurrent, context);
  const CUresult result = driver.cuCtxGetDevice(&device);
  BATON_RELEASE(driver, cuCtxPopCurrent, &context);
  driver::check(driver, result, "cuCtxGetDevice");
  return device;
}

// Throws kInvalidInput where the driver says that the handle is none of its streams.
void require_stream(const Device& device, CUstream stream, CUresult result) {
  if (result != CUDA_ERROR_INVALID_HANDLE && result != CUDA_ERROR_INVALID_VALUE) return;
  throw error(ErrorCode::kInvalidInput,
              "0x{:x} is not a stream of {}; give a CUstream that its driver made and that lives",
              reinterpret_cast<std::uintptr_t>(stream), device.spec());
}

// The green context of a stream; null for a stream of none, and for a driver without them.
CUgreenCtx green_of(const Device& device, CUstream stream) {
  const driver::Driver& driver = device.driver();
  CUgreenCtx green = nullptr;
  const bool has_them = driver.cuStreamGetGreenCtx != nullptr &&
                        driver.cuCtxFromGreenCtx != nullptr &&
                        driver.cuGreenCtxGetDevResource != nullptr;
  if (!has_them) return nullptr;
  const CUresult result = driver.cuStreamGetGreenCtx(stream, &green);
  require_stream(device, stream, result);
  driver::check(driver, result, "cuStreamGetGreenCtx");
  return green;
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

Stream::Stream(const SmPart& part, int priority)
    : device_(part.device()), part_sms_(part.sms()), part_(part.native()), green_(part.green()) {
  ContextGuard guard(device_);
  BATON_DRIVER_CALL(device_.driver(), cuGreenCtxStreamCreate, &stream_, green_->native(),
                    CU_STREAM_NON_BLOCKING, priority);
}

Stream Stream::adopt(const Device& device, NativeStream stream) {
  if (is_default_stream(stream)) return Stream(device, stream, false);
  const driver::Driver& driver = device.driver();
  if (CUgreenCtx const green = green_of(device, stream)) {
    CUcontext part = nullptr;
    BATON_DRIVER_CALL(driver, cuCtxFromGreenCtx, &part, green);
    Stream adopted(DeviceState::handle(device.state()->sibling(device_of(driver, part))), stream,
                   false);
    adopted.part_ = part;
    adopted.part_sms_ = sms_of(driver, green);
    return adopted;
  }
  CUcontext context = nullptr;
  const CUresult result = driver.cuStreamGetCtx(stream, &context);
  require_stream(device, stream, result);
  driver::check(driver, result, "cuStreamGetCtx");
  if (context == device.native_context()) return Stream(device, stream, false);

  const Device own = DeviceState::handle(device.state()->sibling(device_of(driver, context)));
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
      owned_(std::exchange(other.owned_, false)),
      part_sms_(other.part_sms_),
      part_(other.part_),
      green_(std::move(other.green_)) {}

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this == &other) return *this;
  release();
  device_ = other.device_;
  stream_ = std::exchange(other.stream_, nullptr);
  owned_ = std::exchange(other.owned_, false);
  part_sms_ = other.part_sms_;
  part_ = other.part_;
  green_ = std::move(other.green_);
  return *this;
}

Stream::~Stream() {
  release();
}

void Stream::release() noexcept {
  if (!owned_ || stream_ == nullptr) return;
  // Another stream may get the handle.
  device_.state()->polling().ended(stream_);
  release_in_context(device_, [this](const driver::Driver& driver) {
    BATON_RELEASE(driver, cuStreamDestroy, stream_);
  });
}

void Stream::synchronize() const {
  ContextGuard guard(device_);
  await_query(device_.driver(), device_.native_context(),
              [this] { return device_.driver().cuStreamQuery(stream_) != CUDA_ERROR_NOT_READY; });
  const CUresult result = device_.driver().cuStreamSynchronize(stream_);
  device_.state()->polling().ended(stream_);
  end_wait(*device_.state(), result, "cuStreamSynchronize");
}

bool Stream::done() const {
  ContextGuard guard(device_);
  const CUresult result = device_.driver().cuStreamQuery(stream_);
  if (result != CUDA_ERROR_NOT_READY) device_.state()->polling().ended(stream_);
  return query(device_, result, "cuStreamQuery");
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

// An event belongs to the context that is current where it is made.
Event::Event(const Stream& stream, bool timing) : device_(stream.device()), timing_(timing) {
  const auto create = [this] {
    BATON_DRIVER_CALL(device_.driver(), cuEventCreate, &event_,
                      timing_ ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
  };
  if (stream.green_ != nullptr) {
    stream.green_->with_current(create);
    return;
  }
  ContextGuard guard(device_);
  if (stream.part() == nullptr) {
    create();
    return;
  }
  const driver::Driver& driver = device_.driver();
  BATON_DRIVER_CALL(driver, cuCtxPushCurrent, stream.part());
  CUcontext popped = nullptr;
  try {
    create();
  } catch (...) {
    BATON_RELEASE(driver, cuCtxPopCurrent, &popped);
    throw;
  }
  BATON_RELEASE(driver, cuCtxPopCurrent, &popped);
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
  await_query(device_.driver(), device_.native_context(),
              [this] { return device_.driver().cuEventQuery(event_) != CUDA_ERROR_NOT_READY; });
  end_wait(*device_.state(), device_.driver().cuEventSynchronize(event_), "cuEventSynchronize");
}

bool Event::done() const {
  ContextGuard guard(device_);
  return query(device_, device_.driver().cuEventQuery(event_), "cuEventQuery");
}

double elapsed_seconds(const Event& start, const Event& end) {
  require_one_device("first event", start.device(), "second event", end.device());
  for (const Event* const event : {&start, &end}) {
    if (event->timing()) continue;
    throw error(ErrorCode::kInvalidInput,
                "the {} event was made without timing; make it with timing",
                event == &start ? "first" : "second");
  }
  ContextGuard guard(start.device());
  float milliseconds = 0;
  const driver::Driver& driver = start.device().driver();
  const CUresult result = driver.cuEventElapsedTime(&milliseconds, start.native(), end.native());
  if (result == CUDA_ERROR_INVALID_HANDLE || result == CUDA_ERROR_NOT_READY) {
    Error failure =
        error(ErrorCode::kInvalidInput, "one of the two events {}; both must have completed",
              result == CUDA_ERROR_NOT_READY ? "has not completed yet" : "was never recorded");
    failure.of_driver(result);
    throw failure;
  }
  driver::check(driver, result, "cuEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e-3;
}

}  // namespace baton
