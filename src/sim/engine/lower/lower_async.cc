// mbarrier objects and asynchronous copies.

#include <fmt/core.h>

#include <bit>
#include <utility>
#include <vector>

#include "sim/engine/async/bulk_copy.h"
#include "sim/engine/async/cp_async.h"
#include "sim/engine/async/mbarrier.h"
#include "sim/engine/async/tensor_copy.h"
#include "sim/engine/isa/reduce.h"
#include "sim/engine/judge/lane_access.h"
#include "sim/engine/lower/lower.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/run/control.h"

namespace baton::sim {
namespace {

using Kind = ptx::InstructionOperand::Kind;

// Memory is sequentially consistent here, so orders and scopes make no difference.
void drop_order(Modifiers& m) {
  m.take_one_of({"weak", "relaxed", "acquire", "release"});
  m.take_one_of({"cta", "cluster", "gpu", "sys"});
}

AtomOp take_reduction(Modifiers& m) {
  static constexpr AtomOp kOps[] = {AtomOp::kAdd, AtomOp::kMin, AtomOp::kMax, AtomOp::kInc,
                                    AtomOp::kDec, AtomOp::kAnd, AtomOp::kOr,  AtomOp::kXor};
  const auto op = m.take_one_of({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  if (!op) throw Unsupported{"its operation is not known"};
  return kOps[*op];
}

}  // namespace

// The address with its offset added; generic for shared memory.
SlotId Lowering::generic_address(const ptx::InstructionOperand& o, Space space) {
  Address where = address(o, space);
  const bool shared = where.space == Space::kShared || where.space == Space::kSharedCluster;
  if (shared) {
    where = generic_of_cluster(where);
  } else if (builder_.width(where.slot) != 8) {
    const SlotId wide = temporary(64);
    extend(wide, where.slot, false);
    where.slot = wide;
  }
  // That of constants is generic.
  if (!shared && where.space != Space::kConst) {
    where.offset += static_cast<std::int64_t>(window(where.space));
  }
  if (where.offset == 0) return where.slot;
  OpSpec spec;
  spec.op = Op::kAdd;
  spec.type = spec.from = Type::kU64;
  const SlotId sum = temporary(64);
  const SlotId offset = fixed(builder_.constant(8, static_cast<std::uint64_t>(where.offset)));
  Proto& proto = emit(ops_.integer(spec));
  def(proto, 0, sum);
  use(proto, 1, where.slot);
  use(proto, 2, offset);
  return sum;
}

void Lowering::mbarrier() {
  Modifiers m(*insn_);
  const auto action = m.take_one_of({"init", "inval", "arrive", "arrive_drop", "expect_tx",
                                     "complete_tx", "test_wait", "try_wait", "pending_count"});
  if (!action) throw Unsupported{"its operation is not known"};
  static constexpr MbarrierOp kOps[] = {
      MbarrierOp::kInit,       MbarrierOp::kInval,  MbarrierOp::kArrive,
      MbarrierOp::kArriveDrop, MbarrierOp::kExpect, MbarrierOp::kComplete,
      MbarrierOp::kTest,       MbarrierOp::kTry,    MbarrierOp::kPendingCount};
  MbarrierOp op = kOps[*action];
  const bool arrives = op == MbarrierOp::kArrive || op == MbarrierOp::kArriveDrop;
  const bool tests = op == MbarrierOp::kTest || op == MbarrierOp::kTry;
  bool expects = false;
  if (arrives) expects = m.take("expect_tx");
  const bool no_complete = arrives && m.take("noComplete");
  const bool by_parity = tests && m.take("parity");
  const bool is_relaxed = insn_->has("relaxed");
  const bool is_of_block = insn_->has("cta");
  drop_order(m);
  const Space space = take_space(m);
  if (m.need_type() != Type::kB64) throw Unsupported{"an mbarrier has type .b64"};
  m.finish();
  if (by_parity) op = op == MbarrierOp::kTest ? MbarrierOp::kTestParity : MbarrierOp::kTryParity;

  std::uint8_t mode = static_cast<std::uint8_t>(op);
  if (no_complete) mode |= kMbarrierNoComplete;
  if (expects) mode |= kMbarrierExpects;
  if (is_relaxed) mode |= kMbarrierRelaxed;
  if (is_of_block) mode |= kMbarrierOfBlock;
  if (op == MbarrierOp::kPendingCount) {
    need_operands(2, 2);
    const SlotId state = source(operand(1), Type::kB64);
    const SlotId to = target(operand(0), 32);
    Proto& proto = emit(op_mbarrier);
    proto.mode = mode;
    def(proto, 0, to);
    use(proto, 1, state);
    return;
  }
  // The state that an arrival gives may be left out, as it must where another block's is arrived
  // at.
  const bool gives = tests || (arrives && operand(0).kind != Kind::kAddress);
  const std::size_t first = gives ? 1 : 0;
  const std::size_t count = insn_->operands.size();
  need_operands(first + 1, first + 3);
  const SlotId where = generic_address(operand(first), space);
  SlotId value = kSink;
  if (count > first + 1) {
    const bool wide = tests && !by_parity;
    value = source(operand(first + 1), wide ? Type::kB64 : Type::kU32);
  }
  const bool needs_value = !arrives && op != MbarrierOp::kInval;
  if ((needs_value || expects) != (count > first + 1) && !arrives) {
    invalid(fmt::format("mbarrier.{} has {} operands, which is not what it takes",
                        insn_->modifiers.at(0), count));
  }
  if (expects && count != first + 2) invalid("it announces bytes, and names none");
  if (count == first + 3 && op != MbarrierOp::kTry && op != MbarrierOp::kTryParity) {
    invalid("there is an operand too many");
  }
  SlotId result = kSink;
  if (gives) {
    result = tests ? predicate_target(operand(0)) : target(operand(0), 64);
  }
  if (tests) guard_by_branch();
  Proto& proto = emit(op_mbarrier);
  proto.mode = mode;
  def(proto, 0, result);
  use(proto, 1, where);
  use(proto, expects ? 3 : 2, value);
}

// The groups of cp.async and of bulk copies.
void Lowering::wait_async(bool bulk) {
  Modifiers m(*insn_);
  m.take("async");
  m.take("bulk");
  const auto action = m.take_one_of({"commit_group", "wait_group", "wait_all"});
  const bool read = bulk && m.take("read");
  m.finish();
  if (*action == 0) {
    need_operands(0, 0);
    emit(bulk ? op_bulk_commit : op_cp_async_commit);
    return;
  }
  std::int64_t left = -1;
  if (*action == 1) {
    need_operands(1, 1);
    if (operand(0).kind != Kind::kInteger || operand(0).bits > INT32_MAX) {
      invalid("the number of groups must be a constant");
    }
    left = static_cast<std::int64_t>(operand(0).bits);
  }
  Proto& proto = emit(bulk ? op_bulk_wait : op_cp_async_wait);
  proto.imm = left;
  proto.mode = read ? 1 : 0;
}

// cp.async.mbarrier.arrive{.noinc}{.shared}.b64 [mbarrier]
void Lowering::arrive_async() {
  Modifiers m(*insn_);
  m.take("async");
  m.take("mbarrier");
  m.take("arrive");
  const bool no_inc = m.take("noinc");
  const Space space = take_space(m);
  if (m.need_type() != Type::kB64) throw Unsupported{"an mbarrier has type .b64"};
  m.finish();
  need_operands(1, 1);
  const SlotId where = generic_address(operand(0), space);
  Proto& proto = emit(op_cp_async_arrive);
  use(proto, 0, where);
  proto.mode = no_inc ? 1 : 0;
}

// cp.async.{ca,cg}.shared.global [to], [from], bytes{, size | predicate}{, policy}
void Lowering::copy_thread() {
  Modifiers m(*insn_);
  m.take("async");
  const bool has_policy = insn_->has("L2::cache_hint");
  m.drop_hints();
  if (!m.take("shared") && !m.take("shared::cta")) throw Unsupported{"it copies to .shared"};
  if (!m.take("global")) throw Unsupported{"it copies from .global"};
  m.finish();
  const std::size_t most = has_policy ? 5 : 4;
  need_operands(3, most);
  const ptx::InstructionOperand& size = operand(2);
  const bool known =
      size.kind == Kind::kInteger && (size.bits == 4 || size.bits == 8 || size.bits == 16);
  if (!known) invalid("cp.async copies 4, 8 or 16 bytes");
  const SlotId to = generic_address(operand(0), Space::kShared);
  const SlotId from = generic_address(operand(1), Space::kGlobal);
  const std::size_t extra = insn_->operands.size() - 3 - (has_policy ? 1 : 0);
  bool ignores = false;
  if (extra == 1 && operand(3).kind == Kind::kIdentifier) {
    const auto reg = flat_.variable(at_->scope, operand(3).text);
    ignores = reg && reg->variable->space == ptx::StateSpace::kReg && register_of(*reg).bits == 1;
  }
  const SlotId count = extra == 1 && !ignores ? source(operand(3), Type::kU32) : kSink;
  std::uint8_t mode = static_cast<std::uint8_t>(size.bits);
  if (extra == 1) mode |= ignores ? kCopyHasIgnore : kCopyHasSize;
  Proto& proto = emit(op_cp_async);
  proto.mode = mode;
  use(proto, 0, to);
  use(proto, 1, from);
  use(proto, 2, count);
  if (ignores) use_predicate(proto, 3, operand(3));
  proto.cache = next_region();
}

// cp.async.bulk and cp.reduce.async.bulk, between global and shared memory and between blocks.
void Lowering::copy_bulk() {
  Modifiers m(*insn_);
  BulkForm form;
  form.reduces = m.take("reduce");
  m.take("async");
  m.take("bulk");
  const bool has_policy = insn_->has("L2::cache_hint");
  m.drop_hints();
  if (m.take("prefetch")) {
    m.take("L2");
    m.take("global");
    m.finish();
    need_operands(2, 3);
    emit(op_nop);
    return;
  }
  form.to_shared = m.take("mbarrier::complete_tx::bytes");
  if (!form.to_shared && !m.take("bulk_group")) throw Unsupported{"nothing reports its end"};
  form.multicast = m.take("multicast::cluster");
  form.masked = m.take("cp_mask");
  const bool global = m.take("global");
  const bool cluster = m.take("shared::cluster");
  const bool block = m.take("shared::cta");
  form.from_shared = form.to_shared ? !global : true;
  const bool known =
      form.to_shared ? (global ? cluster != block : cluster && block) : global && block && !cluster;
  if (!known) throw Unsupported{"it does not copy between these state spaces"};
  if (form.reduces) {
    m.take("noftz");
    form.op = take_reduction(m);
    form.type = m.need_type();
    if (!find_reduction(form.op, form.type)) {
      throw Unsupported{"there is no such reduction of this type"};
    }
  }
  m.finish();
  const std::size_t least = form.to_shared ? 4 : 3;
  const std::size_t count = least + (has_policy ? 1 : 0) + (form.multicast || form.masked ? 1 : 0);
  need_operands(count, count);
  const SlotId to =
      generic_address(operand(0), form.to_shared ? Space::kSharedCluster : Space::kGlobal);
  const SlotId from =
      generic_address(operand(1), form.from_shared ? Space::kShared : Space::kGlobal);
  const SlotId bytes = source(operand(2), Type::kU32);
  const SlotId mbarrier =
      form.to_shared ? generic_address(operand(3), Space::kSharedCluster) : kSink;
  // The mask of blocks stands before the policy, that of bytes behind it.
  SlotId mask = kSink;
  if (form.multicast) mask = source(operand(4), Type::kB16);
  if (form.masked) mask = source(operand(count - 1), Type::kB16);
  if (form.from_shared) shared_.kernel.copies_read_shared = true;
  if (form.to_shared) shared_.kernel.copies_write_shared = true;
  Proto& proto = emit(op_bulk_copy);
  proto.cache = next_region();
  use(proto, 0, to);
  use(proto, 1, from);
  use(proto, 2, bytes);
  use(proto, 3, mbarrier);
  use(proto, 4, mask);
  proto.imm = std::bit_cast<std::int64_t>(form);
}

// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and cp.async.bulk.prefetch.tensor in the modes
// tile and im2col.
void Lowering::copy_tensor() {
  Modifiers m(*insn_);
  TensorForm form;
  form.reduces = m.take("reduce");
  m.take("async");
  m.take("bulk");
  m.take("tensor");
  form.prefetches = m.take("prefetch");
  const bool has_policy = insn_->has("L2::cache_hint");
  m.drop_hints();
  form.has_offsets = m.take("im2col");
  form.unfolds = form.has_offsets || m.take("im2col_no_offs");
  for (const std::string_view mode : insn_->modifiers) {
    const bool known = mode.starts_with("im2col::") || mode.starts_with("tile::");
    if (known) throw Unsupported{fmt::format("copies by tensor maps in mode {}", mode)};
  }
  if (!form.unfolds) m.take("tile");
  const auto rank = m.take_one_of({"1d", "2d", "3d", "4d", "5d"});
  if (!rank) throw Unsupported{"its number of dimensions is not known"};
  form.rank = static_cast<std::uint8_t>(*rank + 1);
  if (form.unfolds && form.rank < 3) throw Unsupported{"images have at least 3 dimensions"};
  form.to_shared = m.take("mbarrier::complete_tx::bytes");
  form.multicast = m.take("multicast::cluster");
  if (!m.take("global")) throw Unsupported{"it does not name global memory"};
  const bool cluster = m.take("shared::cluster");
  const bool block = m.take("shared::cta");
  if (form.prefetches) {
    m.take("L2");
  } else if (form.to_shared ? cluster == block : !block || cluster || !m.take("bulk_group")) {
    throw Unsupported{"it does not copy between these state spaces"};
  }
  if (form.reduces) form.op = take_reduction(m);
  m.finish();
  if (form.has_offsets && !form.to_shared && !form.prefetches) {
    throw Unsupported{"what leaves shared memory has no offsets of pixels"};
  }

  // [tile], [map, {…}], [mbarrier], offsets, mask or [map, {…}], [tile] or [map, {…}], offsets.
  const std::size_t offsets_at = form.prefetches ? 1 : form.to_shared ? 3 : 2;
  const std::size_t least = offsets_at + (form.has_offsets ? 1 : 0);
  const std::size_t count = least + (form.multicast ? 1 : 0) + (has_policy ? 1 : 0);
  need_operands(count, count);
  const std::size_t map_at = form.to_shared ? 1 : 0;
  ptx::InstructionOperand map = operand(map_at);
  if (map.kind != Kind::kAddress || map.children.size() != 2 ||
      map.children[1].kind != Kind::kVector || map.children[1].children.size() != form.rank) {
    invalid(
        fmt::format("a tensor map of {} dimensions comes with {} coordinates, as in [map, {{x}}]",
                    form.rank, form.rank));
  }
  std::vector<SlotId> coordinates;
  for (const ptx::InstructionOperand& each : map.children[1].children) {
    coordinates.push_back(source(each, Type::kS32));
  }
  if (form.has_offsets) {
    const ptx::InstructionOperand& offsets = operand(offsets_at);
    const std::size_t wanted = form.rank - 2u;
    if (offsets.kind != Kind::kVector || offsets.children.size() != wanted) {
      invalid(fmt::format("a tensor map of {} dimensions comes with {} offsets of pixels",
                          form.rank, wanted));
    }
    for (const ptx::InstructionOperand& each : offsets.children) {
      coordinates.push_back(source(each, Type::kU16));
    }
  }
  map.children.pop_back();
  const SlotId where = generic_address(map, Space::kGeneric);
  const Space tiles = form.to_shared ? Space::kSharedCluster : Space::kShared;
  const SlotId tile =
      form.prefetches ? kSink : generic_address(operand(form.to_shared ? 0 : 1), tiles);
  const SlotId mbarrier =
      form.to_shared ? generic_address(operand(2), Space::kSharedCluster) : kSink;
  const SlotId mask = form.multicast ? source(operand(least), Type::kB16) : kSink;
  if (form.to_shared) shared_.kernel.copies_write_shared = true;
  if (!form.to_shared && !form.prefetches) shared_.kernel.copies_read_shared = true;
  Proto& proto = emit(op_tensor_copy);
  proto.cache = next_region();
  use(proto, 0, tile);
  use(proto, 1, where);
  use(proto, 2, mbarrier);
  use(proto, 3, mask);
  proto.has_list = true;
  proto.list = std::move(coordinates);
  proto.imm = std::bit_cast<std::int64_t>(form);
}

// st.async{.v2,.v4}.type and red.async.op.type [to], value, [mbarrier]
void Lowering::async_store() {
  Modifiers m(*insn_);
  BulkForm form;
  form.to_shared = true;
  form.reduces = insn_->opcode == "red";
  m.take("async");
  drop_order(m);
  if (!m.take("mbarrier::complete_tx::bytes")) throw Unsupported{"no mbarrier awaits it"};
  m.take("shared::cluster");
  if (form.reduces) form.op = take_reduction(m);
  const auto vector = m.take_one_of({"v2", "v4"});
  const Type type = m.need_type();
  m.finish();
  const unsigned bits = bits_of(type);
  form.elements = vector ? static_cast<std::uint8_t>(2u << *vector) : 1;
  if ((bits != 32 && bits != 64) || bits * form.elements > 128) {
    throw Unsupported{"it stores elements of 32 or 64 bits, 128 bits at most"};
  }
  form.type = form.reduces ? type : bits == 64 ? Type::kB64 : Type::kB32;
  if (form.reduces && (is_float_type(type) || !find_reduction(form.op, type))) {
    throw Unsupported{"there is no such reduction of this type"};
  }
  need_operands(3, 3);
  const ptx::InstructionOperand& values = operand(1);
  if ((values.kind == Kind::kVector) != vector.has_value() ||
      (vector && values.children.size() != form.elements)) {
    invalid(fmt::format("it stores {} elements, the operand has another number", form.elements));
  }
  const SlotId to = generic_address(operand(0), Space::kSharedCluster);
  const SlotId mbarrier = generic_address(operand(2), Space::kSharedCluster);
  SlotId slots[4] = {};
  for (unsigned k = 0; k < form.elements; ++k) {
    slots[k] = source(vector ? values.children[k] : values, type);
  }
  Proto& proto = emit(op_async_store);
  use(proto, 0, to);
  use(proto, 1, mbarrier);
  for (unsigned k = 0; k < form.elements; ++k) use(proto, static_cast<int>(k) + 2, slots[k]);
  proto.imm = std::bit_cast<std::int64_t>(form);
}

// st.bulk{.weak}{.shared::cta} [to], size, 0
void Lowering::store_bulk() {
  Modifiers m(*insn_);
  m.take("bulk");
  m.take("weak");
  const Space space = m.take("shared::cta") ? Space::kShared : Space::kGeneric;
  m.finish();
  need_operands(3, 3);
  if (operand(2).kind != Kind::kInteger || operand(2).bits != 0) invalid("it stores zeros only");
  const SlotId to = generic_address(operand(0), space);
  const SlotId size = source(operand(1), Type::kB64);
  Proto& proto = emit(op_store_zeros);
  use(proto, 0, to);
  use(proto, 1, size);
}

}  // namespace baton::sim
