#pragma once

// Changes of PTX as text: what is not changed stays where it is, byte for byte.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/ast.h"

namespace baton::ptx {

// What of a text goes and what comes in its place.
struct TextEdit {
  std::size_t at = 0;
  std::size_t removed = 0;
  std::string inserted;

  friend bool operator==(const TextEdit&, const TextEdit&) = default;
};

// Where in the module's text a part of it begins. Throws kInvalidInput for a part that is not
// written there, such as a name that the parser made.
std::size_t offset_of(const ParsedModule& module, std::string_view part);
// Where an instruction begins, with its guard.
std::size_t begin_of(const ParsedModule& module, const Instruction& instruction);
// The place after the brace that begins the function's body, which it has.
std::size_t top_of(const ParsedModule& module, const Function& function);

// The text with all edits, which must not overlap. At one place they stand in the order given.
std::string edited(std::string_view text, std::vector<TextEdit> edits);

}  // namespace baton::ptx
