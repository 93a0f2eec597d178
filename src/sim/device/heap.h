#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "sim/device/pool.h"
#include "sim/device/virtual_ranges.h"
#include "sim/engine/memory/memory.h"

namespace baton::sim {

struct Command;

// The memory of one device as users of the driver own it: what they allocated, distinguished from
// what modules placed there, and what is about to be freed in stream order. Thread-safe.
class DeviceHeap {
 public:
  DeviceHeap(int ordinal, std::uint64_t capacity);
  ~DeviceHeap();
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  struct Allocation {
    std::uint64_t base = 0;
    std::uint64_t bytes = 0;
    std::uint64_t id = 0;           // CU_POINTER_ATTRIBUTE_BUFFER_ID: one of a kind in the process
    std::shared_ptr<SimPool> pool;  // null: none
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

  // --- Memory of graphs ---
  // Returns an address for memory that an allocation node will make. Nodes and launches may name it
  // at once, before the memory exists. Returns 0 if no address is free, or if the device has less
  // memory. With `on_host` the memory is the host's, which reads it at the same address.
  std::uint64_t reserve(std::uint64_t bytes, bool on_host);
  // A launch takes the reserved memory: false where an earlier launch did and nothing freed it.
  // `begin_free` gives it back. Both speak of the order of submission.
  bool claim(std::uint64_t address);
  bool is_claimed(std::uint64_t address) const;
  // The allocation node runs: false where there is no memory.
  bool fill_reserved(std::uint64_t address);
  bool is_reserved(std::uint64_t address) const;
  // The last graph is gone that had it. Memory that a launch took stays until it is freed.
  void end_reserve(std::uint64_t address);
  // The command that frees the memory: what allocates at the address again waits for it.
  void note_free(std::uint64_t address, const std::shared_ptr<Command>& command);
  // The last one that was noted and still exists; null: none.
  std::shared_ptr<Command> last_free(std::uint64_t address) const;

  // What graphs have of the memory. As much is reserved as their nodes had at a time, until a trim.
  // A node's memory stays in use when it is freed: until a trim, or until the graphs that have the
  // node are gone.
  struct GraphUse {
    std::uint64_t used = 0;
    std::uint64_t used_high = 0;
    std::uint64_t reserved = 0;
    std::uint64_t reserved_high = 0;
  };
  GraphUse graph_use() const;
  // Reserves no more than what is not freed.
  void trim_graph_memory();
  void reset_graph_used_high();
  void reset_graph_reserved_high();

  // Whether a new operation may touch these bytes: they lie in one live allocation, the user's or a
  // module's. What kernels allocate is theirs alone.
  bool holds(std::uint64_t address, std::uint64_t bytes) const;
  // Whether it is the start of an allocation that a command is about to free.
  bool is_leaving(std::uint64_t address) const;
  // The number of allocations that were not freed, and their bytes.
  struct Leaks {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t first = 0;  // an address
  };
  Leaks leaks() const;
  // The user's allocation around an address.
  std::optional<Allocation> find(std::uint64_t address) const;

  // What callers reserve and map there.
  VirtualRanges& ranges() { return ranges_; }

  DeviceMemory& memory() { return memory_; }
  const DeviceMemory& memory() const { return memory_; }

 private:
  struct Entry {
    std::uint64_t bytes = 0;
    std::uint64_t id = 0;
    bool leaving = false;
    bool reserved = false;
    bool claimed = false;     // of reserved memory
    bool orphaned = false;    // of reserved memory: no graph has it, so the next free is its last
    bool has_memory = false;  // of reserved memory: some is at its address now
    bool is_in_use = false;   // of reserved memory: it had some since the last trim
    std::shared_ptr<void> host = nullptr;  // of reserved memory: null where it is the device's
    std::shared_ptr<SimPool> pool = nullptr;
    std::weak_ptr<Command> last_free = {};
  };

  DeviceMemory memory_;
  VirtualRanges ranges_{memory_};
  mutable std::mutex mutex_;
  // The entry around an address, or null.
  const Entry* around(std::uint64_t address, std::uint64_t* base) const;
  // Takes the memory of a reserved address away; false where there is none now.
  bool empty_reserved(std::uint64_t address, const Entry& entry);
  std::map<std::uint64_t, Entry> entries_;  // by base address
  void note_graph_use();
  std::uint64_t graph_bytes_ = 0;   // that are at reserved addresses now
  std::uint64_t graph_in_use_ = 0;  // that are or were
  GraphUse graph_use_;
};

// The next BUFFER_ID, of device and pinned memory alike.
std::uint64_t next_buffer_id();

}  // namespace baton::sim
