#pragma once

#include <string>
#include <string_view>

#include "cli/table.h"

namespace baton::cli {

// The help of a command, or of Baton itself for an empty name: usage, arguments, options, examples,
// exit statuses and, for Baton itself, commands and environment. Lines fit the terminal, and have
// at most a hundred columns where it is wider or unknown.
std::string help_text(std::string_view command, Terminal terminal);

// "baton 1.2.3\n".
std::string version_line();

}  // namespace baton::cli
