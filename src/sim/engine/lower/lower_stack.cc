// alloca, stacksave and stackrestore.

#include <bit>

#include "sim/engine/lower/lower.h"
#include "sim/engine/run/stack.h"

namespace baton::sim {

Type Lowering::stack_type() {
  Modifiers m(*insn_);
  const Type type = m.need_type();
  m.finish();
  if (type != Type::kU32 && type != Type::kU64) throw Unsupported{"addresses are .u32 or .u64"};
  return type;
}

// alloca.type address, size{, alignment}: the alignment is a number, 8 where it is left out.
void Lowering::allocate_on_stack() {
  const Type type = stack_type();
  need_operands(2, 3);
  const std::uint64_t align =
      insn_->operands.size() == 3 ? literal(operand(2), Type::kU64) : std::uint64_t{8};
  if (!std::has_single_bit(align) || align > std::uint64_t{1} << 23) {
    invalid("the alignment is not a power of two up to 2^23");
  }
  const SlotId size = source(operand(1), type);
  const SlotId to = target(operand(0), bits_of(type));
  Proto& proto = emit(op_alloca);
  def(proto, 0, to);
  use(proto, 1, size);
  proto.mode = static_cast<std::uint8_t>(bits_of(type) / 8);
  proto.imm = static_cast<std::int64_t>(align);
}

// stacksave.type address.
void Lowering::save_stack() {
  const Type type = stack_type();
  need_operands(1, 1);
  const SlotId to = target(operand(0), bits_of(type));
  Proto& proto = emit(op_stacksave);
  def(proto, 0, to);
  proto.mode = static_cast<std::uint8_t>(bits_of(type) / 8);
}

// stackrestore.type address.
void Lowering::restore_stack() {
  const Type type = stack_type();
  need_operands(1, 1);
  const SlotId from = source(operand(0), type);
  Proto& proto = emit(op_stackrestore);
  use(proto, 0, from);
  proto.mode = static_cast<std::uint8_t>(bits_of(type) / 8);
}

}  // namespace baton::sim
