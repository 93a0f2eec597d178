#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "cli/output/table.h"

namespace baton::cli {

// The help of a command, or of Baton itself for an empty name: usage, arguments, options, examples,
// exit statuses and, for Baton itself, commands and environment. Lines fit the terminal, and have
// at most a hundred columns. Where it is unknown, as in a pipe to a pager, they have eighty.
std::string help_text(std::string_view command, Terminal terminal);

// The same as data, put into `result`: "commands", and for Baton itself "options", "exit_statuses"
// and "environment".
void add_help(std::string_view command, nlohmann::ordered_json& result);

// "baton 1.2.3\n".
std::string version_line();

// The versions of Baton and of its formats, put into `result` as "versions".
void add_versions(nlohmann::ordered_json& result);

}  // namespace baton::cli
