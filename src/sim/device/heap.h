#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "sim/device/pool.h"
#include "sim/engine/memory/memory.h"

namespace baton::sim {

// The memory of one device as users of the driver own it: what they allocated, told apart from what
// modules placed there, and what is about to be freed in stream order. Thread-safe.
class DeviceHeap {
 public:
  DeviceHeap(int ordinal, std::uint64_t capacity);
  ~DeviceHeap();
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  struct Allocation {
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
    std::uint64_t id = 0;  // CU_POINTER_ATTRIBUTE_BUFFER_ID: one of a kind in the process
  };

  // 0 where the memory, or what the pool may have, is exhausted. The pool counts the bytes until
  // they are free; null: none does.
  std::uint64_t allocate(std::uint64_t bytes, std::shared_ptr<SimPool> pool = nullptr);

  // False where `address` is not the start of an allocation of the user's, or is already on its way
  // out. From here on no new operation may name it; `finish_free` gives it back.
  bool begin_free(std::uint64_t address);
  void finish_free(std::uint64_t address);
  // Takes a `begin_free` back that nothing came of.
  void keep(std::uint64_t address);

  // Whether a new operation may touch these bytes: they lie in one live allocation, the user's or a
  // module's. What kernels allocate is theirs alone.
  bool holds(std::uint64_t address, std::uint64_t bytes) const;
  // The user's allocation around an address.
  std::optional<Allocation> find(std::uint64_t address) const;

  DeviceMemory& memory() { return memory_; }
  const DeviceMemory& memory() const { return memory_; }

 private:
  struct Entry {
    std::uint64_t bytes = 0;
    std::uint64_t id = 0;
    bool leaving = false;
    std::shared_ptr<SimPool> pool;
  };

  DeviceMemory memory_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Entry> entries_;  // by base address
};

// The next BUFFER_ID, of device and pinned memory alike.
std::uint64_t next_buffer_id();

}  // namespace baton::sim
