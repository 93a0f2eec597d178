#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

#include "compile/source/outline.h"

namespace baton::compiler {

// A macro's name, and what stands for it. A directive that defines nothing has no name.
struct MacroDefinition {
  std::string_view name;
  std::string_view parameters = {};  // without the brackets; null where it has none
  std::size_t body = 0;              // where it begins in the directive
};
MacroDefinition macro_definition(std::string_view directive);

// Calls `visit` with each word of the text that is not a comment and no string.
void for_each_word(std::string_view text, const std::function<void(std::string_view)>& visit);

// Of "(T){...}" in what stands for a macro: the parts that make "T{...}" of it go.
std::vector<TextRange> compound_literals(std::string_view text);
// The statements `throw ...;` that stand in one line.
std::vector<TextRange> throw_statements(std::string_view text);

}  // namespace baton::compiler
