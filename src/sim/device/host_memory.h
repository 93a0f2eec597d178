#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "sim/engine/memory/memory.h"

namespace baton::sim {

// Memory of the process that kernels may use at its own address: what cuMemHostAlloc and
// cuMemAllocManaged gave out, and what cuMemHostRegister was given. Every device sees it.
// Thread-safe.
class HostMemory {
 public:
  static HostMemory& instance();  // never destroyed

  enum class Kind : std::uint8_t { kPinned, kManaged, kRegistered };

  struct Allocation {
    std::uintptr_t base = 0;
    std::size_t bytes = 0;
    std::uint64_t id = 0;
    int ordinal = 0;  // the device whose context allocated it
    Kind kind = Kind::kPinned;
    unsigned flags = 0;  // as the caller gave them
  };

  // Null where the host has no more memory.
  void* allocate(std::size_t bytes, int ordinal, Kind kind, unsigned flags);
  // False where `pointer` is not the start of an allocation of that kind.
  bool free(void* pointer, Kind kind);
  // Takes memory of the caller's, which stays valid until it is given back. False where some of it
  // is here already.
  bool take(void* pointer, std::size_t bytes, int ordinal, unsigned flags);
  bool give_back(void* pointer);
  // Frees what the contexts of one device allocated, and gives back what they took.
  void free_all(int ordinal);
  // The allocation around an address.
  std::optional<Allocation> find(std::uintptr_t address) const;

  // The memory of a device shows all of this from now on, until it is detached.
  void attach(DeviceMemory& memory);
  void detach(DeviceMemory& memory);

 private:
  using Allocations = std::map<std::uintptr_t, Allocation>;
  void add(const Allocation& allocation);
  void remove(Allocations::iterator allocation);

  mutable std::mutex mutex_;
  Allocations allocations_;
  std::vector<DeviceMemory*> devices_;
};

}  // namespace baton::sim
