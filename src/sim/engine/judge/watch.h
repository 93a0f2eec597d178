#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/engine/isa/spec.h"
#include "sim/engine/run/exec.h"

namespace baton::sim {

// Accesses to memory that is watched, as those see them that look for races: the instruction
// handlers call these before they move any data, where Region::shadow is not null. Global memory is
// watched for accesses of grids that nothing orders (hazards.h), and for those of one grid's warps
// (grid_races.h), shared memory for those of warps (shared_watch.h). Offsets are in bytes from the
// region's start, and known to lie inside.

// Strong accesses, as volatile, releasing and acquiring ones are, are not a race with each other;
// nor are updates, by which atomics are meant, with them.
enum class AccessKind : std::uint8_t { kRead, kWrite, kUpdate, kStrongRead, kStrongWrite };
constexpr bool reads_only(AccessKind touch) {
  return touch == AccessKind::kRead || touch == AccessKind::kStrongRead;
}
constexpr bool is_strong(AccessKind touch) {
  return touch != AccessKind::kRead && touch != AccessKind::kWrite;
}

// What is stored: the values of lane 0 in up to four registers, the bytes from one lane's to the
// next lane's, and the bytes that are stored of each.
struct StoredValues {
  const std::byte* first[4] = {};  // the first is null where the values are not told
  std::uint32_t apart = 0;
  std::uint32_t each = 0;
};
constexpr StoredValues kNoValues{};  // one in each file: no symbol that others may take

// All 32 lanes, lane l the `bytes` at offset + l * bytes.
void watch_row(Exec* x, const Insn* i, const Region& region, bool is_shared, std::uint64_t offset,
               std::uint32_t bytes, AccessKind touch, const StoredValues& values = kNoValues);
// All 32 lanes; lane l is at offset + p.at[l].
void watch_pattern(Exec* x, const Insn* i, const Region& region, bool is_shared,
                   std::uint64_t offset, Pattern& p, std::uint32_t bytes, AccessKind touch,
                   const StoredValues& values = kNoValues);
// The lanes of x->mask.
void watch_lanes(Exec* x, const Insn* i, const Region& region, bool is_shared,
                 const std::uint32_t* offsets, std::uint32_t bytes, AccessKind touch,
                 const StoredValues& values = kNoValues);
void watch_lanes(Exec* x, const Insn* i, const Region& region, bool is_shared,
                 const std::uint64_t* offsets, std::uint32_t bytes, AccessKind touch,
                 const StoredValues& values = kNoValues);
// `strong`: an atomic, volatile, acquiring or releasing access, which is not a race against another
// such where its scope is wide enough.
void watch_lane(Exec* x, const Insn* i, int lane, const Region& region, bool is_shared,
                std::uint64_t offset, std::uint32_t bytes, AccessKind touch, bool strong,
                MemoryScope scope = MemoryScope::kDevice, const StoredValues& values = kNoValues);
// A non-coherent load of one lane, of global memory.
void watch_noncoherent(Exec* x, const Insn* i, int lane, const Region& region, std::uint64_t offset,
                       std::uint32_t bytes);
// Which copy it is of those that are waited for together (shared_watch.h), which are a party of
// clocks.
struct CopyParty {
  std::uint32_t party = 0;
  std::uint32_t index = 0;
  bool is_bulk = true;  // and so of the async proxy
};
// An asynchronous copy accesses global memory. Null: one in bulk of which it is not followed when
// it is over.
void watch_copy(Exec* x, const Insn* i, int lane, const Region& region, std::uint64_t offset,
                std::uint32_t bytes, AccessKind touch, const CopyParty* copy);

// An atomic of one lane on its own block's shared memory: it may also order threads.
void watch_update(Exec* x, const Insn* i, int lane, const Region& region, std::uint64_t offset,
                  std::uint32_t bytes);

}  // namespace baton::sim
