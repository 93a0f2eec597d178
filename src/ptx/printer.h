#pragma once

// Gives a tree back as PTX text. Parsing that text gives an equal tree (equal.h) back: comments and
// layout are lost, literals stay as they were written. Thread-safe.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "ptx/ast.h"

namespace baton::ptx {

// Parses the bodies that are not parsed yet, and throws what that throws.
std::string print(const ParsedModule& module);
// One line each, without an end of line, but for statements that hold several (blocks).
std::string print(const Statement& statement);
std::string print(const Instruction& instruction);
std::string print(const Variable& variable);
std::string print(const InstructionOperand& operand);

// Other names for what a module has, applied wherever a name appears, whatever its scope. A new
// name must be one that the module does not have. Opcodes, modifiers and strings stay.
struct Renaming {
  std::unordered_map<std::string_view, std::string> names;
  std::uint32_t first_file = 0;  // added to the file numbers of .loc
};
std::string print(const Variable& variable, const Renaming& renaming);
std::string print(const Directive& directive, const Renaming& renaming);
// Parses the body if that is not done yet, and throws what that throws.
std::string print(const Function& function, const Renaming& renaming);
// The declaration alone: the head and a semicolon.
std::string print_head(const Function& function, const Renaming& renaming);

}  // namespace baton::ptx
