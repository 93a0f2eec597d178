#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "baton/executable.h"

namespace baton::tools {

// The floating-point operations of each step of a report, all its executions together; nothing for
// steps of which the program does not say them. Throws kInvalidInput where they are negative, or no
// 64-bit number.
std::vector<std::optional<double>> step_flops(const Executable& executable,
                                              const std::vector<StepReport>& steps);

}  // namespace baton::tools
