#pragma once

// How many blocks a multiprocessor holds at once, by the rules of the CUDA occupancy calculator:
// registers are given out by the warp, evenly to the partitions of a multiprocessor; shared memory
// by the block, with what the system reserves for each.

#include <cstdint>
#include <span>
#include <string_view>

#include "chip/chip.h"

namespace baton::chip {

// What a block takes of a multiprocessor.
struct BlockNeeds {
  std::uint64_t threads = 0;
  std::uint32_t registers = 0;  // a thread
  std::uint64_t shared = 0;     // bytes, static and dynamic
};

// Blocks of one kernel on a multiprocessor.
struct Resident {
  BlockNeeds needs;
  std::uint32_t count = 0;
};

// What blocks take together, or what is left.
struct Resources {
  std::uint64_t blocks = 0;
  std::uint64_t warps = 0;
  std::uint64_t registers = 0;  // of a partition
  std::uint64_t shared = 0;     // bytes
};

Resources free_resources(const Multiprocessor& multiprocessor, std::span<const Resident> there);

struct Fit {
  std::uint32_t blocks = 0;
  std::string_view limit;  // what there is too little of for one more: "registers"
};

// How many blocks of `more` a multiprocessor has room for next to those there, which fit.
Fit fit_beside(const Multiprocessor& multiprocessor, std::span<const Resident> there,
               const BlockNeeds& more);

// The warps of so many registers a thread that a whole register file holds.
std::uint64_t warps_by_registers(const Multiprocessor& multiprocessor, std::uint32_t registers);

}  // namespace baton::chip
