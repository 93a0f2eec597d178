#pragma once

// The places of triggers in a kernel that has none.

#include <cstdint>
#include <optional>
#include <vector>

#include "pdl/body_effects.h"
#include "pdl/last_iteration.h"

namespace baton::overlap {

struct TriggerPlaces {
  std::vector<std::uint32_t> before;           // instructions of the body, ascending
  std::vector<LastIteration> last_iterations;  // for threads whose last iteration of a loop it is
};

// Where the kernel ends.
TriggerPlaces find_exits(const BodyEffects& effects);

// Where nothing more is loaded, and before that something may be. A thread that ends triggers by
// that. `inserted_wait`: the instruction that a new wait comes before, which counts as a load.
TriggerPlaces find_ends_of_loads(const BodyEffects& effects,
                                 std::optional<std::uint32_t> inserted_wait);

}  // namespace baton::overlap
