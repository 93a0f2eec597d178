#pragma once

#include <cstdint>

#include "baton/error.h"
#include "bind/tape.h"

namespace baton::play {

// The failure of a while whose value is not 0 after as many iterations as it may have.
Error too_many_iterations(const bind::PlannedStep& step, std::uint64_t at_most);

}  // namespace baton::play
