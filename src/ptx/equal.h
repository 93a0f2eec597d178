#pragma once

// Whether two trees say the same, wherever in their texts they say it: everything is compared but
// positions.

#include "ptx/ast.h"

namespace baton::ptx {

// Parses the bodies that are not parsed yet, and throws what that throws.
bool equal(const Module& a, const Module& b);
bool equal(const Statement& a, const Statement& b);
bool equal(const Operand& a, const Operand& b);

}  // namespace baton::ptx
