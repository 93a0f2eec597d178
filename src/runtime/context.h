#pragma once

#include <cuda.h>

#include "baton/device.h"
#include "runtime/device_state.h"
#include "runtime/host_wait.h"

namespace baton {

// Makes a device's primary context current for a scope. Where it is current already, which a
// thread-local look-up of the driver tells, nothing else happens; else it is pushed, and popped at
// the end, so the caller's own context is in place again. Stays on the thread that made it.
class ContextGuard {
 public:
  explicit ContextGuard(const Device& device) : ContextGuard(*device.state()) {}
  explicit ContextGuard(const DeviceState& device) : device_(device) {
    CUcontext current = nullptr;
    driver::check(driver(), driver().cuCtxGetCurrent(&current), "cuCtxGetCurrent");
    if (current != device.context()) push();
  }
  ~ContextGuard() {
    if (pushed_) pop();
  }
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

 private:
  const driver::Driver& driver() const { return device_.driver(); }
  void push();
  void pop() noexcept;

  const DeviceState& device_;
  bool pushed_ = false;
};

// Runs `give_back` with the device's context current, for destructors: errors are logged, and
// nothing is done where the driver has shut down.
template <typename Function>
void release_in_context(const Device& device, Function give_back) noexcept {
  CUcontext current = nullptr;
  if (device.driver().cuCtxGetCurrent(&current) == CUDA_ERROR_DEINITIALIZED) return;
  try {
    ContextGuard guard(device);
    give_back(device.driver());
  } catch (const std::exception&) {
    // The context is gone, and what it owned with it.
  }
}

// The same for calls that wait for the work of the device. They are left out where `await_release`
// says so.
template <typename Function>
void release_after_work(const Device& device, Function give_back) noexcept {
  if (await_release(device.driver(), device.native_context())) {
    let_others_run([&] { release_in_context(device, give_back); });
  }
}

}  // namespace baton
