#pragma once

#include <cuda.h>

#include <cstdint>
#include <mutex>

#include "baton/device.h"

namespace baton {

// A green context that Baton made. The destructor waits for its work, and ends it. Thread-safe.
class GreenPart {
 public:
  // Takes over `green`. Throws the driver's errors, and then `green` is ended.
  GreenPart(const Device& device, CUgreenCtx green, std::uint32_t asked);
  ~GreenPart();
  GreenPart(const GreenPart&) = delete;
  GreenPart& operator=(const GreenPart&) = delete;

  const Device& device() const { return device_; }
  CUgreenCtx native() const { return green_; }
  CUcontext context() const { return context_; }
  std::uint32_t asked() const { return asked_; }
  std::uint32_t sms() const { return sms_; }

  // Calls `work` with the context of the part current. One thread at a time, as the driver wants
  // it.
  template <typename Work>
  void with_current(Work&& work) const {
    std::lock_guard lock(mutex_);
    push();
    try {
      work();
    } catch (...) {
      pop();
      throw;
    }
    pop();
  }

 private:
  void push() const;
  void pop() const noexcept;
  void end() noexcept;

  const Device device_;
  const CUgreenCtx green_;
  CUcontext context_ = nullptr;
  const std::uint32_t asked_;
  std::uint32_t sms_ = 0;
  mutable std::mutex mutex_;  // while the context is current
};

// Throws kUnsupported, naming what is missing, where the driver has no green contexts.
void require_green_contexts(const Device& device);

// The SMs of a green context.
std::uint32_t sms_of(const driver::Driver& driver, CUgreenCtx green);

}  // namespace baton
