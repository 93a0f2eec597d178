#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_set>

namespace baton::sim {

// Addresses that threads ordered after other grids wrote by atomic, volatile or releasing
// operations: who reads one of them so is ordered as well, as a thread that waits for a flag is.
// Thread-safe.
class FlagAddresses {
 public:
  void insert(std::uint64_t address) {
    std::lock_guard lock(mutex_);
    addresses_.insert(address);
    any_.store(true, std::memory_order_release);
  }
  bool contains(std::uint64_t address) const {
    if (!any_.load(std::memory_order_acquire)) return false;
    std::lock_guard lock(mutex_);
    return addresses_.contains(address);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<std::uint64_t> addresses_;
  std::atomic<bool> any_{false};
};

}  // namespace baton::sim
