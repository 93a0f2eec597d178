#pragma once

#include <string>

#include "baton/program.h"
#include "program/table_reader.h"

namespace baton {

// Reads one argument of a launch: a string, a number, or a table such as { f32 = 1.0 }. `what`
// names the argument in messages. Throws kInvalidInput at the node's place. The text of a string is
// resolved later, when the program's names are known (steps/launch.cc).
LaunchArgument read_argument(const Document& document, const DocumentNode& node,
                             const std::string& what);

// Reads "buffer + offset" from the member `key` of a table.
BufferOffset read_place(const TableReader& table, std::string_view key);

}  // namespace baton
