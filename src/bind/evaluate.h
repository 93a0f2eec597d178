#pragma once

#include <cstdint>

#include "bind/plan.h"

namespace baton::bind {

// What one execution of a step does, for the values that symbols and indexes have then.

struct LaunchValues {
  bool skipped = false;  // an extent of the grid is 0; nothing else is known then
  LaunchConfig config;   // without a stream, and without pdl
};

// Each throws kInvalidInput or kLimit for what the step may not do: extents that are negative or
// too large, values out of range, offsets and counts outside the buffers.
LaunchValues evaluate(const PlannedLaunch& step, Slots slots, const BufferTable& buffers);
// Whether two configs are sent alike.
bool same_config(const LaunchConfig& a, const LaunchConfig& b);
// How often the group runs.
std::uint64_t evaluate(const PlannedRepeat& step, Slots slots);

}  // namespace baton::bind
