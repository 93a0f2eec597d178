#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "sim/device/managed_advice.h"
#include "sim/device/pool.h"
#include "sim/engine/memory/memory.h"

namespace baton::sim {

// Memory of the process that kernels may use at its own address: what cuMemHostAlloc and
// cuMemAllocManaged gave out, what came from pools of such memory, and what cuMemHostRegister was
// given. Every device sees it.
// Thread-safe.
class HostMemory {
 public:
  static HostMemory& instance();  // never destroyed

  // kVariable: of a library's managed variables, which own it.
  enum class Kind : std::uint8_t { kPinned, kManaged, kVariable, kRegistered };

  struct Allocation {
    std::uintptr_t base = 0;
    std::size_t bytes = 0;
    std::uint64_t id = 0;
    int ordinal = 0;  // the device whose context allocated it
    Kind kind = Kind::kPinned;
    unsigned flags = 0;                               // as the caller gave them
    std::shared_ptr<SimPool> pool = nullptr;          // that it came from; null: from none
    std::shared_ptr<ManagedAdvice> advice = nullptr;  // of managed memory
    std::shared_ptr<void> memory = nullptr;           // null: the caller's
    bool leaving = false;  // a command frees it, and nothing new may name it

    bool is_managed() const { return kind == Kind::kManaged || kind == Kind::kVariable; }
  };

  // Bytes in whole pages, which no device sees yet. Null where the host has no more memory.
  static std::shared_ptr<void> make(std::size_t bytes);
  // Null where the host has no more memory, and where the pool may not have as much.
  void* allocate(std::size_t bytes, int ordinal, Kind kind, unsigned flags,
                 std::shared_ptr<SimPool> pool = nullptr);
  // False where `pointer` is not the start of an allocation of that kind.
  bool free(void* pointer, Kind kind);
  // False where the address is not the start of memory of a pool, or is already on its way out.
  // `finish_free` gives the memory back; grids that use it meanwhile keep it.
  bool begin_free(std::uintptr_t address);
  void finish_free(std::uintptr_t address);
  // Takes a `begin_free` back that nothing came of.
  void keep(std::uintptr_t address);
  // Takes memory of the caller's, which stays valid until it is given back. False where some of it
  // is here already.
  bool take(void* pointer, std::size_t bytes, int ordinal, unsigned flags);
  bool give_back(void* pointer);
  // Frees what the contexts of one device allocated, and gives back what they took. Variables
  // stay.
  void free_all(int ordinal);
  // The allocation around an address, but for one on its way out.
  std::optional<Allocation> find(std::uintptr_t address) const;
  // Whether the program freed an allocation that began here, and nothing of this class is here
  // again. What the end of a context freed does not count.
  bool was_freed(std::uintptr_t address) const;

  // The memory of a device shows all of this from now on, until it is detached.
  void attach(DeviceMemory& memory);
  void detach(DeviceMemory& memory);

 private:
  using Allocations = std::map<std::uintptr_t, Allocation>;
  void add(const Allocation& allocation);
  void remove(Allocations::iterator allocation);
  void remove_freed(Allocations::iterator allocation);

  mutable std::mutex mutex_;
  Allocations allocations_;
  std::set<std::uintptr_t> freed_;  // starts of what the program freed
  std::vector<DeviceMemory*> devices_;
};

}  // namespace baton::sim
