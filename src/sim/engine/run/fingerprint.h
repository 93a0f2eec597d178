#pragma once

#include <cstdint>

#include "sim/engine/run/state.h"

namespace baton::sim {

// Stands for the registers and local memory of all resident threads, and where they are. The same
// at two times, between which nothing but polling happened, means that they go round for ever: what
// they read has not changed, and nothing in them counts.
std::uint64_t fingerprint_of(const BlockState& block);
// The same of one warp, and of a block's shared memory.
std::uint64_t fingerprint_of(const Warp& warp);
std::uint64_t fingerprint_of_shared(const BlockState& block);

}  // namespace baton::sim
