#pragma once

#include "ptx/flat.h"

namespace baton::overlap {

// Whether the instruction reads fewer bits of a register than the register has. Stores and
// conversions may (PTX ISA, "Operand Size Exceeding Instruction-Type Size").
bool reads_parts(const ptx::FlatFunction& function, const ptx::FlatInstruction& flat);

}  // namespace baton::overlap
