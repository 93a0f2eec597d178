#pragma once

// Families of generated chains, held to the promises of verdicts.

#include <cstdint>
#include <functional>

#include "generated_chain.h"

namespace baton::verdicts {

// How many programs a test makes, and the seed of the first: BATON_GENERATED_PROGRAMS or
// `otherwise`, and BATON_GENERATED_SEED or 1.
struct GeneratedRange {
  std::uint64_t count = 0, first = 1;
};
GeneratedRange generated_range(std::uint64_t otherwise);

// Holds the chains of a family to the promises of verdicts: no schedule finds a race in a chain
// that is proven, and one finds a race in a chain that is unsafe. Fails with the seed and the text.
// `may_break`: chains of a hundred that may be broken, as where warps wait for each other.
struct FamilyCount {
  std::uint64_t proven = 0, unsafe = 0, unknown = 0;
  std::uint64_t unknown_races = 0;  // unknown, and a race was found
  // Unsafe, and no race was found. The simulated GPU keeps the last accesses of each place, and
  // those that a wait ordered before them. So a few are allowed.
  std::uint64_t unconfirmed = 0;
  std::uint64_t broken = 0;
};
FamilyCount hold_family(const GeneratedRange& range,
                        const std::function<GeneratedChain(std::uint64_t seed)>& generate,
                        std::uint64_t may_break = 0);

// Changes the kernels of chains without a change of what they do. What is proven then races under
// no schedule. A verdict stays, or becomes unknown where stores that never happen were added.
void hold_metamorphoses(const GeneratedRange& range,
                        const std::function<GeneratedChain(std::uint64_t seed)>& generate,
                        std::uint64_t may_break = 0);

}  // namespace baton::verdicts
