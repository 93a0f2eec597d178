#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baton/check.h"
#include "bind/plan.h"
#include "bind/tape.h"
#include "edges/edge_judge.h"

namespace baton::edges {

// How the blocks of launches that start early find room beside those of the launches before. Where
// a kernel's blocks are few, and several of them fit beside what a multiprocessor holds, the device
// packs them there, and leaves other multiprocessors without any: a launch with placement = "even"
// asks for so much shared memory that no more fit than is its share of each. And a multiprocessor
// divides its memory into shared memory and cache for one need at a time: blocks of a launch that
// asks for another division wait until it is empty, so all that are to stand together ask for the
// same one. Nothing stands beside a launch that never triggers: the next one starts when all of its
// blocks have ended.

// Takes the launches of a program by number (null: never executed), with the configs of their last
// executions, and the edges sorted by the later launch. Sets the room of programmatic edges where
// blocks of earlier launches can still be resident, sets the decisions' shared memory and
// carve-out, changes the reported configs and describes the result. Throws what the driver throws.
void place_evenly(const Device& device, std::span<const bind::PlannedLaunch* const> launches,
                  const std::vector<TriggerFacts>& trigger_facts, std::vector<EdgeReport>& edges,
                  std::vector<LaunchReport>& reports, std::vector<bind::LaunchDecision>& decisions);

}  // namespace baton::edges
