#pragma once

#include <cstdint>

#include "sim/engine/isa/spec.h"
#include "sim/engine/run/exec.h"
#include "sim/engine/run/state.h"

namespace baton::sim {

// Where an access goes, and what is wrong with it: for the careful ways to memory (lane_access.h,
// span_access.h). What is wrong is recorded as a fault.

// An address with its space and the offset there.
struct SpaceAddress {
  Space space = Space::kGlobal;
  std::uint64_t address = 0;
  bool of_cluster = false;  // shared memory of any block of the cluster
};

// What an address means in a space.
SpaceAddress resolve(Space space, std::uint64_t address);
const char* name_of(const SpaceAddress& place);  // "global"

struct CheckedAccess {
  Exec* x;
  const Insn* i;
  int lane;
  const char* verb;  // "reads"
  std::uint32_t bytes;
  std::uint32_t aligned;  // what the address must be a multiple of
};

// Bytes of local memory that the access's lane has.
std::uint32_t local_size(const CheckedAccess& a);
// True after a fault.
bool misaligned(const CheckedAccess& a, const SpaceAddress& place);
// Records that the place is not in any memory.
void outside(const CheckedAccess& a, const SpaceAddress& place);
// The linear memory behind a place, or null after a fault. `remote` holds what is not kept.
const Region* region_of(const CheckedAccess& a, const SpaceAddress& place, Region* remote);

// Warns of a read that finds nothing written in the region, at that offset. A copy of a structure
// may read its padding: only what nothing wrote any byte of is worth a warning.
void check_written(const CheckedAccess& a, const SpaceAddress& place, const Region& region,
                   std::uint64_t offset);
// Marks what is written there.
void mark(Exec* x, const SpaceAddress& place, const Region& region, std::uint64_t offset,
          std::uint32_t bytes);
void warn_unwritten(const CheckedAccess& a, const SpaceAddress& place);

}  // namespace baton::sim
