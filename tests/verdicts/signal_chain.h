#pragma once

#include <cstdint>

#include "generated_chain.h"

namespace baton::verdicts {

// Two or three kernels whose warps pass order on by mbarriers, bulk copies and named barriers, in
// right ways and wrong ones.
GeneratedChain signal_chain(std::uint64_t seed);

// The same with pipelines of stages that are filled and given back.
GeneratedChain pipeline_chain(std::uint64_t seed);

// The same with flags in shared memory.
GeneratedChain flag_chain(std::uint64_t seed);

}  // namespace baton::verdicts
