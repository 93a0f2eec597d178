#pragma once

#include <cstdint>

#include "generated_chain.h"

namespace baton::verdicts {

// A chain with about half of its loads and stores moved into functions, which kernels call with the
// address. `seed` decides which.
GeneratedChain outlined(GeneratedChain chain, std::uint64_t seed);

}  // namespace baton::verdicts
