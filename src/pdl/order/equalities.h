#pragma once

// Predicates that tell whether a register holds a certain number.

#include <cstdint>
#include <unordered_map>

#include "pdl/code/code.h"

namespace baton::overlap {

// By predicate register. Both registers are written in one place each, and each time that the
// compared one is written the comparison comes next. So wherever both are read later, the predicate
// tells of the value that is read.
std::unordered_map<std::uint32_t, Equality> find_equalities(const Code& code);

}  // namespace baton::overlap
