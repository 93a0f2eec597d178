#pragma once

#include <cstdint>

#include "generated_chain.h"

namespace baton::verdicts {

// A kernel that writes x, and one that hides the address of a buffer and uses it before it waits.
// The address goes through halves, shifts, logic, conversions, vectors, lanes, selections, memory
// of all spaces, atomics, floats, tables, differences and calls. Half of the chains use x and race.
// The others use w or y, and do not.
GeneratedChain laundered_chain(std::uint64_t seed);

// The same, where outcomes of instructions tell the address: carries, saturation, the greater one
// of two values, lanes and alignments.
GeneratedChain told_chain(std::uint64_t seed);

}  // namespace baton::verdicts
