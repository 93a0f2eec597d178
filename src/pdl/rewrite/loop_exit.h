#pragma once

// The branch that ends the iterations of a loop, and what a thread needs to tell its last one
// early.

#include <cstdint>
#include <optional>
#include <vector>

#include "pdl/rewrite/body_effects.h"
#include "pdl/rewrite/last_iteration.h"

namespace baton::overlap {

// A block has done its loads before instruction `done`. If it goes straight on from there, over a
// write, to a branch of which one edge leads to more loads and the other to none, and a thread can
// tell at `done` which it will take: the trigger there. By block: whether it `loads`, and whether
// it `leads` to a load.
std::optional<LastIteration> find_last_iteration(const BodyEffects& effects, std::uint32_t block,
                                                 std::uint32_t done, const std::vector<bool>& loads,
                                                 const std::vector<bool>& leads);

}  // namespace baton::overlap
