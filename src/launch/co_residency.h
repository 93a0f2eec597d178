#pragma once

// How blocks of two kernels share a multiprocessor, by the rules of the CUDA occupancy calculator
// for compute capability 9.0: registers are given out a warp in units of 256, evenly to the four
// partitions of a multiprocessor; shared memory in units of 128 bytes, with what the driver
// reserves for each block. The driver answers for one kernel alone, so this is counted here.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "baton/device.h"
#include "baton/module.h"

namespace baton::launch {

// What a multiprocessor has.
struct Multiprocessor {
  std::uint32_t blocks = 0;  // places for them
  std::uint32_t threads = 0;
  std::uint32_t warp_size = 32;
  std::uint32_t registers = 0;
  std::uint64_t shared = 0;           // bytes
  std::uint64_t reserved_shared = 0;  // of these for each block, by the driver

  static Multiprocessor of(const Device& device);
};

// What a block takes of it.
struct BlockNeeds {
  std::uint64_t threads = 0;
  std::uint32_t registers = 0;  // a thread
  std::uint64_t shared = 0;     // bytes, static and dynamic

  // Throws what the driver says.
  static BlockNeeds of(const Kernel& kernel, const LaunchConfig& config);
};

// Blocks of one kernel that stand on a multiprocessor.
struct Standing {
  BlockNeeds needs;
  std::uint32_t count = 0;
};

struct Fit {
  std::uint32_t blocks = 0;
  std::string_view limit;  // what there is too little of for one more: "registers"
};

// How many blocks of `more` a multiprocessor has room for beside those there, which fit.
Fit fit_beside(const Multiprocessor& multiprocessor, std::span<const Standing> there,
               const BlockNeeds& more);

// Blocks of one grid on a multiprocessor when the last ones have begun: the grid is dealt out
// evenly, and what does not fit at once comes as room is made. `alone` fit on an empty one.
struct Held {
  std::uint32_t least = 0, most = 0;
};
Held held_of(std::uint64_t grid, std::uint32_t alone, std::uint32_t multiprocessors);

// A range of what a block may ask for of shared memory, static and dynamic, in bytes.
struct SharedRange {
  std::uint64_t least = 0;  // less, and more than `share` fit where the fewest are held
  std::uint64_t most = 0;   // more, and fewer than `share` fit where the most are held

  friend bool operator==(const SharedRange&, const SharedRange&) = default;
};

// Where no more than `share` (at least 1) blocks of `more` fit beside `fewest` and so many do
// beside `most`, which stand where the fewest and the most blocks are held. Nothing where no more
// than that fit as they are, or not one does; SharedRange::most is for so many as fit now, where
// fewer than `share` do. The range is empty where the two cannot both be.
std::optional<SharedRange> even_range(const Multiprocessor& multiprocessor,
                                      std::span<const Standing> fewest,
                                      std::span<const Standing> most, const BlockNeeds& more,
                                      std::uint32_t share);

}  // namespace baton::launch
