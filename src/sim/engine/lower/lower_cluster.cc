// Clusters: their barrier, and addresses in the shared memory of their blocks.

#include <fmt/core.h>

#include "sim/engine/lower/lower.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/run/cluster_barrier.h"

namespace baton::sim {

// barrier.cluster.arrive{.release,.relaxed}{.aligned}, barrier.cluster.wait{.acquire}{.aligned}.
// Memory is sequentially consistent here, so the orders make a difference to the judge alone.
void Lowering::cluster_barrier() {
  Modifiers m(*insn_);
  m.take("cluster");
  const auto action = m.take_one_of({"arrive", "wait"});
  if (!action) throw Unsupported{"it neither arrives nor waits"};
  const bool arrives = *action == 0;
  const bool relaxed = m.take("relaxed");
  m.take_one_of({"release", "acquire"});
  m.take("aligned");
  m.finish();
  need_operands(0, 0);
  guard_by_branch();
  Proto& proto = emit(arrives ? op_cluster_arrive : op_cluster_wait);
  proto.mode = relaxed ? 1 : 0;
  raw(proto, 4, index_ + 1);
}

namespace {

Type address_type(Modifiers& m) {
  m.take_one_of({"shared::cluster"});
  const Type type = m.need_type();
  m.finish();
  if (type != Type::kU32 && type != Type::kU64) throw Unsupported{"addresses are .u32 or .u64"};
  return type;
}

}  // namespace

// mapa{.shared::cluster}.type d, a, rank: the address with the rank in its place (address.h).
void Lowering::map_address() {
  Modifiers m(*insn_);
  const Type type = address_type(m);
  need_operands(3, 3);
  const bool wide = type == Type::kU64;
  const SlotId address = source(operand(1), type);
  SlotId rank = source(operand(2), Type::kU32);
  if (wide) {
    const SlotId extended = temporary(64);
    extend(extended, rank, false);
    rank = extended;
  }
  OpSpec spec;
  spec.op = Op::kBfi;
  spec.type = wide ? Type::kB64 : Type::kB32;
  const SlotId to = target(operand(0), bits_of(type));
  Proto& proto = emit(ops_.integer(spec));
  def(proto, 0, to);
  use(proto, 1, rank);
  use(proto, 2, address);
  use(proto, 3, fixed(builder_.constant(4, kRankShift)));
  use(proto, 4, fixed(builder_.constant(4, kRankBits)));
}

// getctarank{.shared::cluster}.type d, a.
void Lowering::rank_of_address() {
  Modifiers m(*insn_);
  const Type type = address_type(m);
  need_operands(2, 2);
  SlotId address = source(operand(1), type);
  if (type == Type::kU64) {
    const SlotId low = temporary(32);
    extend(low, address, false);
    address = low;
  }
  OpSpec spec;
  spec.op = Op::kBfe;
  spec.type = Type::kU32;
  const SlotId to = target(operand(0), 32);
  Proto& proto = emit(ops_.integer(spec));
  def(proto, 0, to);
  use(proto, 1, address);
  use(proto, 2, fixed(builder_.constant(4, kRankShift)));
  use(proto, 3, fixed(builder_.constant(4, kRankBits)));
}

// An address in the shared memory of a cluster as a generic one.
Lowering::Address Lowering::generic_of_cluster(const Address& where) {
  SlotId wide = where.slot;
  if (builder_.width(wide) != 8) {
    wide = temporary(64);
    extend(wide, where.slot, false);
  }
  OpSpec spec;
  spec.op = Op::kAdd;
  spec.type = spec.from = Type::kU64;
  Address result = where;
  result.space = Space::kGeneric;
  result.slot = temporary(64);
  Proto& proto = emit(ops_.integer(spec));
  def(proto, 0, result.slot);
  use(proto, 1, wide);
  use(proto, 2, fixed(builder_.constant(8, kSharedWindow)));
  return result;
}

}  // namespace baton::sim
