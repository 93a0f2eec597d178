#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bind/plan.h"
#include "driver/simulator.h"

namespace baton::bind {

// The ranges of memory to which a launch is bounded, for a device that checks accesses: the views
// of buffers that it is given by views alone, and buffers that are part of the caller's memory,
// also of what its allocator gave. A buffer with memory of its own has the bounds of its
// allocation, which need no range.
std::vector<driver::LaunchNote::Range> accessible_ranges(const PlannedLaunch& launch,
                                                         std::span<const std::int64_t> slots,
                                                         const BufferTable& buffers);

}  // namespace baton::bind
