#pragma once

#include <cstdint>
#include <string_view>

#include "baton/module.h"
#include "baton/program.h"
#include "bind/plan.h"

namespace baton::bind {

// Programmatic dependent launch: what a step makes of the edge before it. A launch that does not
// send it starts when everything before it is done. edges/edge_judge.h decides by it.

// What stands before a launch in the order of a run. kLaunch: also a collective that a kernel
// between peers executes. kOther: a copy, a fill, another collective, or the test of an if or a
// while.
enum class Before : std::uint8_t { kNothing, kLaunch, kSkippedLaunch, kOther };

// Whether BATON_PDL in the environment takes every overlap away. Throws kInvalidInput for a value
// that it does not take.
bool pdl_switched_off();

// What a step makes of its edge, by precedence: `off` (the environment), `autos` for a step that
// says auto, the step (`attributes` are its own, or the kernel's defaults where it says nothing).
// Throws kInvalidInput, at the step's pdl, for "on" with a kernel that never waits.
PlannedEdge plan_edge(const ProgramAttributes& attributes, bool off, PdlMode autos,
                      const Kernel& kernel);

// The same for the edge to a collective, which says nothing of it.
PlannedEdge plan_edge(bool off, PdlMode autos);

// Throws kInvalidInput for "on" if the step before is not a launch. A run's first step inside a
// group is content: it has nothing to overlap with, later iterations do.
void check_edge(const PlannedEdge& edge, Before before, bool in_group);

}  // namespace baton::bind
