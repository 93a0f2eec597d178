#pragma once

#include <optional>
#include <string_view>

#include "baton/error.h"

namespace baton::compiler {

// Where a line of a compiler's PTX (counted from 1) comes from: what the .loc in front of it says,
// with the file as .file names it. For PTX that an assembler refuses, so nothing else in it is
// read. Nothing where no .loc of its function stands before the line.
std::optional<SourceLocation> source_of_ptx_line(std::string_view ptx, int line);

// The line itself, trimmed; empty where there is none.
std::string_view ptx_line(std::string_view ptx, int line);

}  // namespace baton::compiler
