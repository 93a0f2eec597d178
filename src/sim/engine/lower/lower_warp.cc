// Instructions in which the lanes of a warp work together.

#include <fmt/core.h>

#include "sim/engine/lower/lower.h"
#include "sim/engine/lower/outright_use.h"
#include "sim/engine/run/warp_ops.h"

namespace baton::sim {
namespace {

using Kind = ptx::InstructionOperand::Kind;

}  // namespace

void Lowering::shuffle() {
  Modifiers m(*insn_);
  const bool sync = m.take("sync");
  const auto mode = m.take_one_of({"up", "down", "bfly", "idx"});
  const Type type = m.need_type();
  m.finish();
  if (!mode) throw Unsupported{"its mode is not known"};
  if (!sync) throw Unsupported{"the form without .sync is not for this target"};
  if (bits_of(type) != 32) throw Unsupported{"it moves 32 bits"};
  need_operands(5, 5);
  const ptx::InstructionOperand& result = operand(0);
  const bool two = result.kind == Kind::kPair;
  const SlotId a = source(operand(1), type);
  const SlotId b = source(operand(2), Type::kB32);
  const SlotId c = source(operand(3), Type::kB32);
  const SlotId members = source(operand(4), Type::kB32);
  const SlotId d = target(two ? result.children.at(0) : result, 32);
  const SlotId p = two ? predicate_target(result.children.at(1)) : kSink;
  guard_by_branch();
  // Lanes may name different members where these are not constant.
  if (!is_fixed(members)) {
    Proto& meet = emit(op_meet);
    use(meet, 5, members);
    raw(meet, 4, index_);
  }
  Proto& proto = emit(ops_.shuffle(static_cast<ShflMode>(*mode)));
  proto.mode = is_used_outright(flat_, flow_, index_) ? 1 : 0;
  def(proto, 0, d);
  def(proto, 1, p);
  use(proto, 2, a);
  use(proto, 3, b);
  use(proto, 4, c);
  use(proto, 5, members);
}

void Lowering::vote() {
  Modifiers m(*insn_);
  const bool sync = m.take("sync");
  const auto mode = m.take_one_of({"all", "any", "uni", "ballot"});
  const Type type = m.need_type();
  m.finish();
  if (!mode) throw Unsupported{"its mode is not known"};
  const bool ballot = static_cast<VoteMode>(*mode) == VoteMode::kBallot;
  if (type != (ballot ? Type::kB32 : Type::kPred)) throw Unsupported{"its type is not its mode's"};
  need_operands(sync ? 3 : 2, sync ? 3 : 2);
  const SlotId members = sync ? source(operand(2), Type::kB32) : kSink;
  const SlotId d = target(operand(0), bits_of(type));
  guard_by_branch();
  Proto& proto = emit(op_vote);
  proto.mode = static_cast<std::uint8_t>(*mode);
  def(proto, 0, d);
  use_predicate(proto, 1, operand(1));
  raw(proto, 4, index_);
  if (sync) {
    use(proto, 5, members);
  } else {
    raw(proto, 5, 0);
  }
}

void Lowering::activemask() {
  Modifiers m(*insn_);
  const Type type = m.need_type();
  m.finish();
  need_operands(1, 1);
  const SlotId d = target(operand(0), bits_of(type));
  guard_by_branch();
  def(emit(op_activemask), 0, d);
}

void Lowering::match() {
  Modifiers m(*insn_);
  const bool all = m.take("all");
  if (!all && !m.take("any")) throw Unsupported{"it needs .any or .all"};
  if (!m.take("sync")) throw Unsupported{"it needs .sync"};
  const Type type = m.need_type();
  m.finish();
  need_operands(3, 3);
  const bool wide = bits_of(type) == 64;
  const ptx::InstructionOperand& result = operand(0);
  const bool two = result.kind == Kind::kPair;
  const SlotId a = source(operand(1), type);
  const SlotId members = source(operand(2), Type::kB32);
  const SlotId d = target(two ? result.children.at(0) : result, 32);
  const SlotId p = two ? predicate_target(result.children.at(1)) : kSink;
  guard_by_branch();
  Proto& proto = emit(all ? (wide ? op_match_all64 : op_match_all32)
                          : (wide ? op_match_any64 : op_match_any32));
  def(proto, 0, d);
  def(proto, 1, p);
  use(proto, 2, a);
  use(proto, 5, members);
  raw(proto, 4, index_);
}

void Lowering::redux() {
  Modifiers m(*insn_);
  if (!m.take("sync")) throw Unsupported{"it needs .sync"};
  const auto name = m.take_one_of({"add", "min", "max", "and", "or", "xor"});
  const Type type = m.need_type();
  m.finish();
  if (!name || bits_of(type) != 32 || is_float_type(type)) {
    throw Unsupported{"its operation or type is not known"};
  }
  const bool is_signed = type == Type::kS32;
  static constexpr ReduxOp kOps[] = {ReduxOp::kAdd, ReduxOp::kMinU, ReduxOp::kMaxU,
                                     ReduxOp::kAnd, ReduxOp::kOr,   ReduxOp::kXor};
  ReduxOp op = kOps[*name];
  if (is_signed && op == ReduxOp::kMinU) op = ReduxOp::kMinS;
  if (is_signed && op == ReduxOp::kMaxU) op = ReduxOp::kMaxS;
  need_operands(3, 3);
  const SlotId a = source(operand(1), type);
  const SlotId members = source(operand(2), Type::kB32);
  const SlotId d = target(operand(0), 32);
  guard_by_branch();
  Proto& proto = emit(op_redux);
  proto.mode = static_cast<std::uint8_t>(op);
  def(proto, 0, d);
  raw(proto, 4, index_);
  use(proto, 2, a);
  use(proto, 5, members);
}

void Lowering::elect() {
  Modifiers m(*insn_);
  if (!m.take("sync")) throw Unsupported{"it needs .sync"};
  m.finish();
  need_operands(2, 2);
  const ptx::InstructionOperand& result = operand(0);
  if (result.kind != Kind::kPair || result.children.size() != 2) {
    invalid("elect.sync writes a register and a predicate");
  }
  const SlotId members = source(operand(1), Type::kB32);
  const SlotId d = target(result.children[0], 32);
  const SlotId p = predicate_target(result.children[1]);
  guard_by_branch();
  Proto& proto = emit(op_elect);
  def(proto, 0, d);
  raw(proto, 4, index_);
  def(proto, 1, p);
  use(proto, 5, members);
}

void Lowering::warp_barrier() {
  Modifiers m(*insn_);
  m.take("warp");
  if (!m.take("sync")) throw Unsupported{"it needs .sync"};
  m.finish();
  need_operands(1, 1);
  const SlotId members = source(operand(0), Type::kB32);
  guard_by_branch();
  Proto& proto = emit(op_warp_sync);
  use(proto, 5, members);
  raw(proto, 4, index_);
  // Lanes that came from different places go on together.
  if (index_ + 1 < joins_.size()) joins_[index_ + 1] = true;
}

void Lowering::nanosleep() {
  Modifiers m(*insn_);
  m.need_type();
  m.finish();
  need_operands(1, 1);
  use(emit(op_nanosleep), 0, source(operand(0), Type::kU32));
}

void Lowering::griddepcontrol() {
  Modifiers m(*insn_);
  const auto action = m.take_one_of({"wait", "launch_dependents"});
  m.finish();
  if (!action) throw Unsupported{"it neither waits nor launches"};
  guard_by_branch();
  emit(*action == 0 ? op_grid_wait : op_launch_dependents);
  if (*action == 0) shared_.kernel.has_grid_wait = true;
}

}  // namespace baton::sim
