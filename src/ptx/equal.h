#pragma once

// Whether two trees say the same, wherever in their texts they say it: everything is compared but
// positions.

#include "ptx/ast.h"

namespace baton::ptx {

// Parses the bodies that are not parsed yet, and throws what that throws.
bool equal(const ParsedModule& a, const ParsedModule& b);
bool equal(const Statement& a, const Statement& b);
bool equal(const InstructionOperand& a, const InstructionOperand& b);

}  // namespace baton::ptx
