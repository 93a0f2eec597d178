#pragma once

// The places of triggers in a kernel that has none.

#include <cstdint>
#include <optional>
#include <vector>

#include "pdl/rewrite/body_effects.h"
#include "pdl/rewrite/last_iteration.h"

namespace baton::overlap {

struct TriggerPlaces {
  std::vector<std::uint32_t> before;           // instructions of the body, ascending
  std::vector<LastIteration> last_iterations;  // for threads in their last iteration of a loop
};

// Before each instruction that ends the kernel.
TriggerPlaces find_exits(const BodyEffects& effects);

// Where a path that may have loaded something loads nothing more. The end of a thread is a trigger,
// so none is placed there. `inserted_wait`: the instruction after a new wait, which counts as a
// load.
TriggerPlaces find_ends_of_loads(const BodyEffects& effects,
                                 std::optional<std::uint32_t> inserted_wait);

}  // namespace baton::overlap
