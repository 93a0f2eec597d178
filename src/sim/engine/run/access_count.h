#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "baton/access_counts.h"
#include "sim/engine/run/exec.h"

namespace baton::sim {

// How the accesses of one warp instruction meet the memory system. The numbers follow from the
// addresses alone, so equal runs have equal numbers.

// The 32-byte sectors that hold any of the bytes: lane l has `bytes` of them from addresses[l] on.
std::uint64_t sectors_of(std::span<const std::uint64_t> addresses, std::uint32_t bytes);

struct BankPasses {
  std::uint64_t all = 0;
  std::uint64_t conflicts = 0;  // of these, those that another layout would save
};
// Passes over the 32 banks of shared memory, 4 bytes wide. One pass gives one word of each bank, to
// any number of lanes. Lanes go together as far as they ask for 128 bytes: 32, or 16 with 8 bytes
// each, or 8 with 16. `lanes`: which lanes the addresses are of, ascending.
BankPasses bank_passes(std::span<const std::uint64_t> addresses,
                       std::span<const std::uint8_t> lanes, std::uint32_t bytes);

// Counts the access in x->accesses, then does it: DecodedFunction::counted says how.
const Insn* op_count(Exec* x, const Insn* i);

}  // namespace baton::sim
