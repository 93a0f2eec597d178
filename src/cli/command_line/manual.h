#pragma once

#include <string>

#include "cli/command_line/command_table.h"

namespace baton::cli {

// The manual page in the language of man(7): baton-NAME(1) of a command, baton(1) for null.
std::string manual_page(const CommandRow* command);

}  // namespace baton::cli
