#pragma once

// What instructions that compute do to the origins of their operands: one row for each opcode of
// the table of instructions that does less than mix all of its operands.

#include <cstdint>

#include "ptx/ast.h"
#include "ptx/isa.h"

namespace baton::overlap {

enum class ValueEffect : std::uint8_t {
  kUnknown,      // the table of instructions does not know it
  kMix,          // any function of its operands
  kMixLanes,     // any function of the operands of all lanes
  kCopy,         // the operand as it is
  kPlace,        // the first operand, in a block that the second one says
  kMove,         // the operand, its halves, or two halves
  kConvert,      // a conversion between types
  kAdd,          // a + b
  kSubtract,     // a - b
  kNegate,       // -a, with a number added
  kMultiplyAdd,  // f(a, b) + c
  kMask,         // a & b
  kToggle,       // a | b, a ^ b
  kChoose,       // one of a and b, as they compare
  kSelect,       // one of a and b, as the third operand says
  kCompare,      // whether a and b have a relation
  kShuffle,      // the first operand of some lane, as the others say
  kProperty,     // a property of an address
};

// `form`: the instruction's row of the table, or null.
ValueEffect value_effect(const ptx::Instruction& instruction, const ptx::Form* form);

}  // namespace baton::overlap
