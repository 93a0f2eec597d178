#pragma once

// Gives a tree back as PTX text. Parsing that text gives an equal tree (equal.h) back: comments and
// layout are lost, literals stay as they were written. Thread-safe.

#include <string>

#include "ptx/ast.h"

namespace baton::ptx {

// Parses the bodies that are not parsed yet, and throws what that throws.
std::string print(const ParsedModule& module);
// One line each, without an end of line, but for statements that hold several (blocks).
std::string print(const Statement& statement);
std::string print(const Instruction& instruction);
std::string print(const Variable& variable);
std::string print(const InstructionOperand& operand);

}  // namespace baton::ptx
