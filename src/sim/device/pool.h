#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace baton::sim {

// A memory pool: where an allocation in stream order comes from. Memory is taken from the device or
// the host and given back at once. What the release threshold lets a pool keep is counted as
// reserved, and others may have it all the same. Thread-safe.
class SimPool {
 public:
  enum class Kind : std::uint8_t { kDevice, kHost, kManaged };

  // The place of its memory; of managed memory the preferred one, or none.
  SimPool(Kind kind, CUmemLocation location, bool is_default)
      : kind_(kind), location_(location), is_default_(is_default) {}

  Kind kind() const { return kind_; }
  const CUmemLocation& location() const { return location_; }
  // Of memory of a device.
  int ordinal() const { return location_.id; }
  bool is_default() const { return is_default_; }

  // What callers set and get back, and what is counted.
  struct State {
    std::uint64_t release_threshold = 0;
    int follow_event_dependencies = 1;
    int allow_opportunistic = 1;
    int allow_internal_dependencies = 1;
    std::uint64_t used = 0;  // bytes
    std::uint64_t used_high = 0;
    std::uint64_t reserved = 0;
    std::uint64_t reserved_high = 0;
    std::uint64_t largest = 0;  // bytes that may be in use at once; 0: any number
  };

  State state() const {
    std::lock_guard lock(mutex_);
    return state_;
  }
  template <typename Change>
  void change(Change change) {
    std::lock_guard lock(mutex_);
    change(state_);
  }

  // False where the pool may not have as many.
  bool take(std::uint64_t bytes);
  void give(std::uint64_t bytes);
  // Reserves no more than so many bytes, or what is in use.
  void trim(std::uint64_t bytes);

 private:
  const Kind kind_;
  const CUmemLocation location_;
  const bool is_default_;
  mutable std::mutex mutex_;
  State state_;
};

}  // namespace baton::sim
