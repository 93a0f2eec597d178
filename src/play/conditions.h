#pragma once

#include <cstdint>
#include <string_view>

#include "baton/error.h"
#include "bind/tape.h"

namespace baton::play {

// The failure of a while whose value is not 0 after as many iterations as it may have.
Error too_many_iterations(const bind::PlannedStep& step, std::uint64_t at_most);

// The refusal of a tape with conditions. `what` cannot wait for the values that they test:
// "an enqueue of the stream executor".
Error cannot_test_conditions(std::string_view what);

}  // namespace baton::play
