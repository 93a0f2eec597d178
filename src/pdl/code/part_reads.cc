#include "pdl/code/part_reads.h"

#include <algorithm>

#include "pdl/code/instruction.h"
#include "pdl/order/shared_place.h"

namespace baton::overlap {
namespace {

bool has_wider(const ptx::FlatFunction& function, std::uint32_t scope,
               const ptx::InstructionOperand& operand, unsigned width) {
  if (operand.kind == ptx::InstructionOperand::Kind::kIdentifier) {
    const auto found = function.variable(scope, operand.text);
    const bool is_register = found && found->variable->space == ptx::StateSpace::kReg;
    return is_register && 8 * variable_bytes(*found->variable) > width;
  }
  return std::ranges::any_of(operand.children, [&](const ptx::InstructionOperand& child) {
    return has_wider(function, scope, child, width);
  });
}

}  // namespace

bool reads_parts(const ptx::FlatFunction& function, const ptx::FlatInstruction& flat) {
  const ptx::Instruction& i = *flat.instruction;
  if ((i.opcode != "st" && i.opcode != "cvt") || i.operands.size() < 2) return false;
  const unsigned width = shape_of(i, flat.form).width;
  return width != 0 && has_wider(function, flat.scope, i.operands[1], width);
}

}  // namespace baton::overlap
