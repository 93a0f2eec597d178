#pragma once

#include <atomic>

namespace baton {

// Admits one thread at a time, and turns a second one away instead of letting it wait: two threads
// in one such object are a mistake of the caller.
class ThreadGate {
 public:
  // Returns whether the object was free; it then belongs to the caller until `leave`.
  bool enter() noexcept { return !busy_.exchange(true, std::memory_order_acquire); }
  void leave() noexcept { busy_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> busy_{false};
};

}  // namespace baton
