#pragma once

#include <string>
#include <vector>

#include "cli/command_line/options.h"

namespace baton::cli {

// The command that the arguments name, also where they are wrong: the first word that is a command
// of Baton's, else the first argument where that is a word. Empty where there is none.
std::string command_name(const std::vector<std::string>& arguments);

// Reads the arguments (without the program's name). Throws kInvalidInput for an unknown command or
// option, naming the nearest, for a missing or surplus argument, and for a value that cannot be.
Command parse_command_line(const std::vector<std::string>& arguments);

}  // namespace baton::cli
