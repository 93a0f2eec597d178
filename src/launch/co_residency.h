#pragma once

// How blocks of two kernels share a multiprocessor. The driver answers for one kernel alone, so
// this is counted here, from the device's limits and its chip's units (chip/occupancy.h).

#include <cstdint>
#include <optional>
#include <span>

#include "baton/device.h"
#include "baton/module.h"
#include "chip/occupancy.h"

namespace baton::launch {

using chip::Fit;
using chip::fit_beside;
using Standing = chip::Resident;

// Returns the resources of one multiprocessor of the device: the driver's limits, with the
// allocation units of its chip.
chip::Multiprocessor multiprocessor_of(const Device& device);

// Returns the resources that one block of the launch takes. Throws the driver's error.
chip::BlockNeeds needs_of_block(const Kernel& kernel, const LaunchConfig& config);

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

// Where no more than `share` (at least 1) blocks of `more` fit next to `fewest` and so many do
// next to `most`, which are there where the fewest and the most blocks are held. Nothing where no
// more than that fit as they are, or not one does; SharedRange::most is for so many as fit now,
// where fewer than `share` do. The range is empty where the two cannot both be.
std::optional<SharedRange> even_range(const chip::Multiprocessor& multiprocessor,
                                      std::span<const Standing> fewest,
                                      std::span<const Standing> most, const chip::BlockNeeds& more,
                                      std::uint32_t share);

}  // namespace baton::launch
