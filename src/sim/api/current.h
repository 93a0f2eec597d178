#pragma once

#include <cuda.h>

#include <memory>

#include "sim/device/device.h"

namespace baton::sim {

// What a call works on, found from the calling thread and the call's handles. Each function throws
// Refusal with the driver's own code where it cannot be had.

// The contexts that are current to the calling thread, the top of the stack last.
class ContextStack {
 public:
  static ContextStack& of_thread();

  SimDevice* top() const { return depth_ == 0 ? nullptr : devices_[depth_ - 1]; }
  // Refused with CUDA_ERROR_OUT_OF_MEMORY beyond kCapacity.
  void push(SimDevice* device);
  // Null where the stack is empty.
  SimDevice* pop();

 private:
  // No destructor: threads may call the driver while their own thread-locals are being destroyed.
  static constexpr std::size_t kCapacity = 128;
  SimDevice* devices_[kCapacity] = {};
  std::size_t depth_ = 0;
};

// Refuses calls after the process began to exit, in a process that was forked from one that used
// the driver, and from inside host functions.
void enter();
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
