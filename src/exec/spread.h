#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "baton/executable.h"
#include "exec/pdl.h"
#include "exec/plan.h"

namespace baton::exec {

// How the blocks of launches that start early find room beside those of the launches before. Where
// a kernel's blocks are few, and several of them fit beside what a multiprocessor holds, the device
// packs them there, and leaves other multiprocessors without any: a launch with placement = "even"
// asks for so much shared memory that no more fit than is its share of each. And a multiprocessor
// divides its memory into shared memory and cache for one need at a time: blocks of a launch that
// asks for another division wait until it is empty, so all that are to stand together ask for the
// same one. Nothing stands beside a launch that never triggers: the next one starts when all of its
// blocks have ended.

// What a launch is sent with beside what its step says.
struct Spreading {
  std::uint32_t shared = 0;     // at least so much dynamic shared memory, in bytes
  std::optional<int> carveout;  // preferred_shared_memory_carveout, in percent
};

// For the launches of a program, by number (null where it is not executed), with the configs of
// their last executions, and its edges, by the later launch. Gives programmatic edges their room,
// where blocks of earlier launches can still stand, changes the configs, and says what came of it.
// Throws what the driver says.
std::vector<Spreading> spread(const Device& device, std::span<const PlannedLaunch* const> launches,
                              const std::vector<Handover>& handovers,
                              std::vector<EdgeReport>& edges, std::vector<LaunchReport>& reports);

}  // namespace baton::exec
