#pragma once

#include <cstdint>

#include "generated_chain.h"

namespace baton::verdicts {

// Two or three launches whose blocks, in clusters of two or alone, pass signals and values to each
// other and copy in bulk.
GeneratedChain exchange_chain(std::uint64_t seed);

}  // namespace baton::verdicts
