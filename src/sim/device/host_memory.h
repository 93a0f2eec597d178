#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

namespace baton::sim {

// Pinned host memory of the process: what cuMemHostAlloc gave out. Thread-safe.
class HostMemory {
 public:
  static HostMemory& instance();  // never destroyed

  struct Allocation {
    std::uintptr_t base = 0;
    std::size_t bytes = 0;
    std::uint64_t id = 0;
    int ordinal = 0;  // the device whose context allocated it
  };

  // Null where the host has no more memory.
  void* allocate(std::size_t bytes, int ordinal);
  // False where `pointer` is not the start of a pinned allocation.
  bool free(void* pointer);
  // Frees what the contexts of one device allocated.
  void free_all(int ordinal);
  // The allocation around an address.
  std::optional<Allocation> find(std::uintptr_t address) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Allocation> allocations_;
};

}  // namespace baton::sim
