#include "sim/api/current.h"

#include <pthread.h>

#include <atomic>

#include "sim/api/refusal.h"
#include "sim/device/objects.h"

namespace baton::sim {
namespace {

std::atomic<bool> g_initialized{false};
std::atomic<bool> g_deinitialized{false};
std::atomic<bool> g_forked{false};

// Has no destructor, so the thread can read it until it is gone.
thread_local bool t_thread_ends = false;
// How many calls are under way whose default stream is the thread's own.
thread_local unsigned t_own_default_stream = 0;

// Destroys the default streams of a thread that ends.
struct ThreadStreams {
  ~ThreadStreams() {
    t_thread_ends = true;
    if (is_forked()) return;
    for (SimDevice* const device : SimDevice::all()) {
      if (const std::shared_ptr<Context> context = device->context()) {
        context->destroy_thread_stream();
      }
    }
  }
};

// The destructors of the thread's other objects may call the driver later. A stream that such a
// call makes stays with the context.
void destroy_streams_at_thread_end() {
  if (t_thread_ends) return;
  static thread_local ThreadStreams streams;
}

void require_healthy(const Context& context) {
  const CUresult error = context.error();
  require(error == CUDA_SUCCESS, error);
}

}  // namespace

ContextStack& ContextStack::of_thread() {
  static thread_local ContextStack stack;
  return stack;
}

CUcontext CurrentContext::handle() const {
  if (green != nullptr) return reinterpret_cast<CUcontext>(green);
  return device != nullptr ? device->handle() : nullptr;
}

CurrentContext find_context(CUcontext handle) {
  if (SimDevice* const device = SimDevice::find(handle)) return {device, nullptr};
  const auto green = reinterpret_cast<CUgreenCtx>(handle);
  const std::shared_ptr<const GreenContext> found = Objects::instance().greens.find(green);
  if (found == nullptr) return {};
  return {&found->device(), green};
}

void ContextStack::push(const CurrentContext& context) {
  require(depth_ < kCapacity, CUDA_ERROR_OUT_OF_MEMORY);
  contexts_[depth_++] = context;
}

CurrentContext ContextStack::pop() {
  const CurrentContext context = current();
  if (depth_ > 0) --depth_;
  return context;
}

void enter() {
  require(!g_deinitialized.load(std::memory_order_acquire), CUDA_ERROR_DEINITIALIZED);
  require(g_initialized.load(std::memory_order_acquire) && !is_forked(),
          CUDA_ERROR_NOT_INITIALIZED);
  require(!inside_host_function(), CUDA_ERROR_NOT_PERMITTED);
}

void refuse_after_fork() {
  pthread_atfork(nullptr, nullptr, [] { g_forked.store(true, std::memory_order_release); });
}

bool is_forked() {
  return g_forked.load(std::memory_order_acquire);
}

void initialize() {
  g_initialized.store(true, std::memory_order_release);
}

void deinitialize() {
  g_deinitialized.store(true, std::memory_order_release);
}

ThreadDefaultStream::ThreadDefaultStream() {
  ++t_own_default_stream;
}

ThreadDefaultStream::~ThreadDefaultStream() {
  --t_own_default_stream;
}

SimDevice& device_of(CUdevice ordinal) {
  SimDevice* device = SimDevice::find(ordinal);
  require(device != nullptr, CUDA_ERROR_INVALID_DEVICE);
  return *device;
}

std::shared_ptr<Context> current_context() {
  enter();
  SimDevice* device = ContextStack::of_thread().top();
  require(device != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  std::shared_ptr<Context> context = device->context();
  require(context != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return context;
}

std::shared_ptr<Context> usable_context() {
  std::shared_ptr<Context> context = current_context();
  require_healthy(*context);
  return context;
}

std::shared_ptr<SimStream> usable_stream(CUstream handle) {
  const bool is_own = handle == nullptr && t_own_default_stream != 0;
  if (!is_own && (handle == nullptr || handle == CU_STREAM_LEGACY)) {
    return usable_context()->legacy_stream();
  }
  if (is_own || handle == CU_STREAM_PER_THREAD) {
    destroy_streams_at_thread_end();
    return usable_context()->thread_stream();
  }
  enter();
  std::shared_ptr<SimStream> stream = Objects::instance().streams.find(handle);
  if (stream == nullptr) throw Refusal(unknown_handle());
  require_alive(*stream);
  require_healthy(*stream->context);
  return stream;
}

void require_alive(const SimStream& stream) {
  require(stream.green == nullptr || stream.green->is_alive(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

std::shared_ptr<const GreenContext> current_green() {
  const CUgreenCtx handle = ContextStack::of_thread().current().green;
  if (handle == nullptr) return nullptr;
  std::shared_ptr<const GreenContext> green = Objects::instance().greens.find(handle);
  require(green != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return green;
}

SmList launch_sms(CUstream handle, const SimStream& stream) {
  const bool is_default =
      handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
  const std::shared_ptr<const GreenContext> green = is_default ? current_green() : stream.green;
  return green != nullptr ? green->sms() : nullptr;
}

std::shared_ptr<SimEvent> usable_event(CUevent handle) {
  enter();
  std::shared_ptr<SimEvent> event = Objects::instance().events.find(handle);
  if (event == nullptr) throw Refusal(unknown_handle());
  require_healthy(*event->context);
  return event;
}

CUresult unknown_handle() {
  const SimDevice* device = ContextStack::of_thread().top();
  return device != nullptr && device->context() == nullptr ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                           : CUDA_ERROR_INVALID_HANDLE;
}

std::shared_ptr<SimFunction> place_function(Context& context, CUfunction handle) {
  Objects& objects = Objects::instance();
  if (std::shared_ptr<SimFunction> function = objects.functions.find(handle)) {
    require(function->context().get() == &context, CUDA_ERROR_INVALID_HANDLE);
    return function;
  }
  const std::shared_ptr<SimKernel> kernel =
      objects.kernels.find(reinterpret_cast<CUkernel>(handle));
  if (kernel == nullptr) throw Refusal(unknown_handle());
  return context.function(kernel);
}

void drain_all_devices() {
  for (SimDevice* const device : SimDevice::all()) {
    if (const std::shared_ptr<Context> context = device->context()) context->queue().drain();
  }
}

std::shared_ptr<Context> owner_of(std::uint64_t address) {
  for (SimDevice* const device : SimDevice::all()) {
    std::shared_ptr<Context> context = device->context();
    std::uint64_t base = 0;
    std::uint64_t size = 0;
    if (context != nullptr && (context->heap()->memory().range(address, &base, &size) ||
                               context->heap()->is_reserved(address))) {
      return context;
    }
  }
  return nullptr;
}

}  // namespace baton::sim
