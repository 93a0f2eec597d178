#pragma once

#include <string>
#include <string_view>

namespace baton::tools {

// What a reference script calls a symbol or a buffer: its name, with "_" after it where that is a
// keyword of Python ("in", "lambda") or a name that the script needs itself ("np", "sum").
std::string python_name(std::string_view name);

// An expression over symbols, as Python.
std::string python_expression(std::string_view text);

}  // namespace baton::tools
