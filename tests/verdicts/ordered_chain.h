#pragma once

#include <cstdint>

#include "generated_chain.h"

namespace baton::verdicts {

// Two or three kernels of branches, loops, early exits, calls, guarded waits and triggers. Warps
// have roles and meet at barrier 0, named barriers, mbarriers, flags in shared memory and the
// cluster's barrier. All of that decides which accesses of x, y and z come before a wait. The
// kernels end by construction, and stay inside their buffers.
GeneratedChain ordered_chain(std::uint64_t seed);

}  // namespace baton::verdicts
