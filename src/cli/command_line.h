#pragma once

#include <string>
#include <vector>

#include "cli/options.h"

namespace baton::cli {

// Reads the arguments (without the program's name). Throws kInvalidInput for an unknown command or
// option, naming the nearest, for a missing or surplus argument, and for a value that cannot be.
Command parse_command_line(const std::vector<std::string>& arguments);

}  // namespace baton::cli
