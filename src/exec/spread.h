#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baton/executable.h"
#include "exec/plan.h"

namespace baton::exec {

// How the blocks of launches that start early find room beside those of the launch before. Where a
// kernel's blocks are few, and several of them fit beside what a multiprocessor holds, the device
// packs them there, and leaves other multiprocessors without any: a launch with placement = "even"
// asks for so much shared memory that no more fit than is its share of each.

// For the launches of a program, by number (null where it is not executed), with the configs of
// their last executions, and its edges, by the later launch: gives programmatic edges their room,
// pads the configs' shared memory, and says what came of it. Returns the least dynamic shared
// memory of each launch; 0 where it stays as it is. Throws what the driver says.
std::vector<std::uint32_t> spread(const Device& device,
                                  std::span<const PlannedLaunch* const> launches,
                                  std::vector<EdgeReport>& edges,
                                  std::vector<LaunchReport>& reports);

}  // namespace baton::exec
