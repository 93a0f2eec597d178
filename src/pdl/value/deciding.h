#pragma once

#include <cstdint>
#include <vector>

#include "pdl/code/code.h"

namespace baton::overlap {

// By value of Code: whether a condition is computed from it, or what a barrier, an mbarrier or a
// flag is given. Where threads go, and which signals they give, depends on nothing else. Most
// values of a large kernel are none of these: they go through products and into memory.
std::vector<bool> find_deciding(const Code& code);

}  // namespace baton::overlap
