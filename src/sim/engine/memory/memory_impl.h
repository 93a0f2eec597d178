#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/judge/flags.h"
#include "sim/engine/judge/ordering.h"
#include "sim/engine/judge/shadow.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/memory/memory.h"
#include "sim/engine/memory/region.h"
#include "sim/engine/memory/runs.h"

namespace baton::sim {

// Host memory behind one allocation, and a byte for every byte of it that says whether anything
// wrote there. Both are zero at first and committed by the system when touched.
class Backing {
 public:
  // Null where the host has no room.
  static std::shared_ptr<Backing> make(std::uint64_t bytes);
  // Memory of another owner, all of which counts as written. `owner` may be null.
  static std::shared_ptr<Backing> over(std::byte* data, std::uint64_t bytes,
                                       std::shared_ptr<void> owner);
  ~Backing();
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;

  std::byte* data() const { return data_; }
  // The marks, which Allocation::marks() completes.
  std::uint8_t* written() const { return written_; }
  Shadow& shadow() { return shadow_; }

 private:
  explicit Backing(std::uint64_t bytes) : shadow_(bytes) {}
  Shadow shadow_;
  std::byte* data_ = nullptr;
  std::uint8_t* written_ = nullptr;
  std::uint64_t mapped_ = 0;  // bytes of each mapping; 0 where the memory came from the heap
  bool is_owned_ = true;
  std::shared_ptr<void> owner_;  // of what is not
};

class KernelHeap;

// "buffer y (f32 [256], 1024 bytes at 0x…)", or, without a name, "an allocation of 1024 bytes at
// 0x…".
std::string range_text(std::string_view name, std::uint64_t base, std::uint64_t bytes);

// Why no live allocation holds an address.
enum class AddressKind { kLive, kFreed, kNull, kHost, kNone };

struct DeviceMemory::Impl {
  // Of reserved addresses, by the distance from their start.
  struct MappedParts {
    Runs mapped;
    Runs open;      // of what is mapped: may be accessed
    Runs unmapped;  // had memory once

    AddressKind classify(std::uint64_t offset) const;
    std::string describe(std::uint64_t base, std::uint64_t offset) const;
  };

  struct Allocation {
    std::uint64_t size = 0;
    std::shared_ptr<Backing> backing;  // null once freed
    bool all_written = false;
    bool read_only = false;            // for kernels
    std::uint64_t written_prefix = 0;  // bytes from the start that were written without a gap
    // Whether the backing's marks have the prefix too. Most allocations are uploaded from the start
    // to the end before a kernel sees them: their marks stay untouched.
    bool has_marks = false;
    std::string name;
    std::shared_ptr<MappedParts> parts = nullptr;  // null: all of it is there

    // The marks of all that was written.
    std::uint8_t* marks();
  };

  // All live allocations but those of kernels at one moment, for the engine: lookups take no lock,
  // and the memory stays mapped while the snapshot lives, even where the host frees it meanwhile.
  struct Snapshot {
    std::vector<Region> regions;  // by address
    std::vector<std::shared_ptr<Backing>> backings;
    // The region that holds the address, or null.
    const Region* find(std::uint64_t address) const;
  };

  Impl(int ordinal, std::uint64_t capacity_bytes);
  ~Impl();

  // What kernels allocate.
  KernelHeap& heap() { return *heap_of_kernels; }
  const KernelHeap& heap() const { return *heap_of_kernels; }
  // Whether it has the address: the host may then not use it (CUDA programming guide, "Heap Memory
  // Allocation").
  bool is_in_heap(std::uint64_t address) const;

  // Addresses that an allocation takes, with those after it that stay free.
  static std::uint64_t span_of(std::uint64_t bytes);
  // So many of the constants' addresses, for allocate_at(); 0 where there are not as many.
  std::uint64_t reserve_constants(std::uint64_t span);
  // What DeviceMemory::allocate does, at an address that was reserved. False where there is no
  // memory.
  bool allocate_at(std::uint64_t base, std::uint64_t bytes);

  // The present snapshot, with the memory of peers; the same object while nothing changed.
  // Thread-safe.
  std::shared_ptr<const Snapshot> snapshot();
  // Without that of peers.
  std::shared_ptr<const Snapshot> own_snapshot();
  AddressKind classify(std::uint64_t address) const;
  // Whether an address of the host's lies in memory that is mapped, or little after it.
  bool is_near_mapped(std::uint64_t address) const;
  std::string describe(std::uint64_t address) const;

  // From now on accesses are noted.
  void watch();
  bool is_watched() const;

  // The allocation at the address was made by an operation, which its users must come after.
  void set_origin(std::uint64_t address, Ordering::Number operation);

  // Forgets what was noted. Not while anything runs.
  void forget_touches();

  // Whether the allocation at the address is one that no kernel may write.
  void protect(std::uint64_t address, bool on);

  // Rows of an allocation that no kernel may write. Not while anything runs.
  void freeze(const driver::FrozenRange& range);

  // Finds allocations that kernels have meanwhile written in full; from then on nothing is looked
  // up for them. To be called when a grid ends. Costs no more than one pass over each allocation.
  void settle();
  // Kernels discarded what is there (discard.h): it counts as never written, from the end of the
  // grid on, if nothing was written since.
  void note_discarded(std::uint64_t address);

  using Allocations = std::map<std::uint64_t, Allocation>;
  // The live allocation that holds all of [address, address + bytes), or end().
  Allocations::iterator holding(std::uint64_t address, std::uint64_t bytes);
  Allocations::const_iterator holding(std::uint64_t address, std::uint64_t bytes) const;
  // The reserved addresses around one of them.
  Allocations::iterator reserved(std::uint64_t address);
  // The last allocation, live or freed, that starts at or before the address, or end().
  Allocations::const_iterator before(std::uint64_t address) const;
  // The allocation, live or freed, that holds the address or is the nearest to it, or end().
  Allocations::const_iterator nearest(std::uint64_t address) const;
  void mark_written(Allocation& allocation, std::uint64_t offset, std::uint64_t bytes);
  void forget_oldest_freed();
  // Under the lock.
  void forget_discarded();
  // So many addresses; 0 where there are not as many. Each is handed out once, as long as there are
  // any left.
  std::uint64_t find_room(std::uint64_t span);
  // As allocate_at(), under the lock.
  bool place(std::uint64_t base, std::uint64_t bytes);

  // Whether the address is one that this device allocates, or is before the first of them.
  bool has_window(std::uint64_t address) const {
    return address >> kOrdinalShift == window_begin >> kOrdinalShift;
  }
  using Peers = std::vector<std::shared_ptr<DeviceMemory>>;
  // Those that live.
  Peers present_peers() const;
  // The peer whose address it is, or null.
  std::shared_ptr<DeviceMemory> peer_of(std::uint64_t address) const;

  mutable std::shared_mutex mutex;
  const int ordinal;
  const std::uint64_t window_begin;
  const std::uint64_t window_end;
  const std::uint64_t heap_begin;
  const std::uint64_t capacity;
  std::uint64_t next;
  std::uint64_t next_constant;
  std::uint64_t used = 0;
  Allocations allocations;
  // Of a long process most allocations are freed ones: what every grid or snapshot goes through
  // are these.
  std::map<std::uint64_t, Allocation*> live;
  std::vector<std::uint64_t> discarded;  // by note_discarded()
  std::vector<std::uint64_t> unsettled;  // live ones that may have bytes which were never written
  std::vector<std::uint64_t> freed;  // bases of freed allocations that are remembered, oldest first
  std::shared_ptr<const Snapshot> current;  // null after a change
  std::vector<std::weak_ptr<DeviceMemory>> peers;
  // The snapshots of this device and its peers, and what they are together.
  std::vector<std::shared_ptr<const Snapshot>> joined_from;
  std::shared_ptr<const Snapshot> joined;
  bool watched = false;  // whether accesses are noted in the shadows
  FlagTable flags;       // by which grids order each other
  const std::unique_ptr<KernelHeap> heap_of_kernels;
};

}  // namespace baton::sim
