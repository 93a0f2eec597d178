#pragma once

#include <cstddef>

#include "ptx/ast.h"

namespace baton::ptx {

// Whether the operand's registers, which are written, are read before that: what the instruction
// writes depends on what they were.
bool updates_operand(const Instruction& instruction, std::size_t operand);

}  // namespace baton::ptx
