#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "baton/program.h"
#include "program/reader/table_reader.h"

namespace baton {

// The name of a part of an argument in messages: "field 1 of argument 3 of step 0". The text is
// made for messages alone.
struct ArgumentName {
  std::string_view kind;
  std::size_t number;
  std::string_view step;
  const ArgumentName* outer = nullptr;  // the struct that it is a field of

  std::string text() const;
};

// Reads one argument of a launch: a string, a number, or a table such as { f32 = 1.0 }. Throws
// kInvalidInput at the node's place. The text of a string is resolved later, when the program's
// names are known (steps/launch.cc).
LaunchArgument read_argument(const Document& document, const DocumentNode& node,
                             const ArgumentName& name);

// Reads "buffer + offset" from the member `key` of a table.
BufferOffset read_place(const TableReader& table, std::string_view key);

}  // namespace baton
