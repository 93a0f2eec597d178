#pragma once

// The branch that ends the iterations of a loop, and what a thread needs to tell its last one
// early.

#include <cstdint>
#include <optional>
#include <vector>

#include "pdl/body_effects.h"
#include "pdl/last_iteration.h"

namespace baton::overlap {

// Where a thread that has done the block's loads, in front of `done`, goes straight on, by a
// write, to a branch that leads to more of them or to none, and can tell which: there. By block:
// whether it `loads`, and whether it `leads` to a load.
std::optional<LastIteration> find_last_iteration(const BodyEffects& effects, std::uint32_t block,
                                                 std::uint32_t done, const std::vector<bool>& loads,
                                                 const std::vector<bool>& leads);

}  // namespace baton::overlap
