#pragma once

#include <cstdint>
#include <span>

#include "bind/plan.h"

namespace baton::bind {

// What one execution of a step does, for the values that symbols and indexes have then.

struct LaunchValues {
  bool skipped = false;  // an extent of the grid is 0; nothing else is known then
  LaunchConfig config;   // without a stream, and without pdl
};

struct CopyValues {
  std::uint64_t from = 0, to = 0, bytes = 0;  // offsets and size in bytes
};

// Each throws kInvalidInput or kLimit for what the step may not do: extents that are negative or
// too large, values out of range, offsets and counts outside the buffers.
LaunchValues evaluate(const PlannedLaunch& step, std::span<const std::int64_t> slots,
                      const BufferTable& buffers);
// Whether two configs are sent alike.
bool same_config(const LaunchConfig& a, const LaunchConfig& b);
CopyValues evaluate(const PlannedCopy& step, std::span<const std::int64_t> slots,
                    const BufferTable& buffers);
// The stored bits of the value.
std::uint64_t evaluate(const PlannedFill& step, std::span<const std::int64_t> slots,
                       const BufferTable& buffers);
// How often the group runs.
std::uint64_t evaluate(const PlannedRepeat& step, std::span<const std::int64_t> slots);

}  // namespace baton::bind
