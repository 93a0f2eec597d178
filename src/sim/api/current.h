#pragma once

#include <cuda.h>

#include <memory>

#include "sim/device/device.h"
#include "sim/device/green.h"

namespace baton::sim {

// What a call works on, found from the calling thread and the call's handles. Each function throws
// Refusal with the driver's own code where it cannot be had.

// What a CUcontext stands for: a device's primary context, or a green context over it.
struct CurrentContext {
  SimDevice* device = nullptr;  // null: none
  CUgreenCtx green = nullptr;   // null: the primary one

  CUcontext handle() const;
};
CurrentContext find_context(CUcontext handle);

// The contexts that are current to the calling thread, the top of the stack last.
class ContextStack {
 public:
  static ContextStack& of_thread();

  CurrentContext current() const { return depth_ == 0 ? CurrentContext{} : contexts_[depth_ - 1]; }
  SimDevice* top() const { return current().device; }
  // Refused with CUDA_ERROR_OUT_OF_MEMORY beyond kCapacity.
  void push(const CurrentContext& context);
  // Of no device where the stack is empty.
  CurrentContext pop();

 private:
  // No destructor: threads may call the driver while their own thread-locals are being destroyed.
  static constexpr std::size_t kCapacity = 128;
  CurrentContext contexts_[kCapacity] = {};
  std::size_t depth_ = 0;
};

// Refuses calls before cuInit, after the process began to exit, in a process that was forked from
// one that used the driver, and from inside host functions.
void enter();
// Until then `enter` refuses every call with CUDA_ERROR_NOT_INITIALIZED. Which devices there are
// can be asked before: NVML does so without starting them.
void initialize();
// From here on `enter` refuses every call with CUDA_ERROR_DEINITIALIZED.
void deinitialize();
// From here on `enter` refuses every call of a forked process with CUDA_ERROR_NOT_INITIALIZED: the
// devices' threads are not there, and locks may be held for ever.
void refuse_after_fork();
// Whether this process was forked.
bool is_forked();

// While it lives, the default stream of the calling thread's calls is the thread's own.
class ThreadDefaultStream {
 public:
  ThreadDefaultStream();
  ~ThreadDefaultStream();
  ThreadDefaultStream(const ThreadDefaultStream&) = delete;
  ThreadDefaultStream& operator=(const ThreadDefaultStream&) = delete;
};

SimDevice& device_of(CUdevice ordinal);
// The current context, whatever state it is in, and one that no error has poisoned.
std::shared_ptr<Context> current_context();
std::shared_ptr<Context> usable_context();
// The stream of a handle, whose context decides; the default streams are the current context's.
std::shared_ptr<SimStream> usable_stream(CUstream handle);
std::shared_ptr<SimEvent> usable_event(CUevent handle);
// Refuses a stream whose green context is destroyed.
void require_alive(const SimStream& stream);

// The green context that is current, or null.
std::shared_ptr<const GreenContext> current_green();
// Where a launch into the stream may run. The default streams are the current context's.
SmList launch_sms(CUstream handle, const SimStream& stream);

// What to answer to a stream, event or function handle that stands for nothing: it may have died
// with the current context.
CUresult unknown_handle();

// The function of a handle in this context. Kernels serve as functions too, and are placed then.
std::shared_ptr<SimFunction> place_function(Context& context, CUfunction handle);

// Waits for all work of all contexts.
void drain_all_devices();

// The live context whose memory holds the address, or null.
std::shared_ptr<Context> owner_of(std::uint64_t address);

}  // namespace baton::sim
