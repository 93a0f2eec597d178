// Loads, stores, atomics and fences.

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "sim/engine/async/acquired_maps.h"
#include "sim/engine/judge/fence.h"
#include "sim/engine/judge/lane_access.h"
#include "sim/engine/lower/lower.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/memory/discard.h"
#include "sim/engine/run/control.h"

namespace baton::sim {
namespace {

using Kind = ptx::InstructionOperand::Kind;

// .relaxed, .acquire, .release and .acq_rel; without any of them nothing else is ordered.
MemoryOrder take_order(Modifiers& m) {
  return static_cast<MemoryOrder>(
      m.take_one_of({"relaxed", "acquire", "release", "acq_rel"}).value_or(0));
}

}  // namespace

Space Lowering::take_space(Modifiers& m) const {
  if (m.take("global")) return Space::kGlobal;
  if (m.take("shared") || m.take("shared::cta")) return Space::kShared;
  if (m.take("local")) return Space::kLocal;
  if (m.take("const")) return Space::kConst;
  if (m.take("param") || m.take("param::func")) return is_entry() ? Space::kParam : Space::kLocal;
  if (m.take("param::entry")) return Space::kParam;
  if (m.take("shared::cluster")) return Space::kSharedCluster;
  return Space::kGeneric;
}

// [register + offset] or [symbol + offset]. Constants are read by their generic addresses.
Lowering::Address Lowering::address(const ptx::InstructionOperand& o, Space space) {
  Address result = address_in_space(o, space);
  if (result.space != Space::kConst) return result;
  if (builder_.width(result.slot) != 8) {
    const SlotId wide = temporary(64);
    extend(wide, result.slot, false);
    result.slot = wide;
  }
  result.offset += static_cast<std::int64_t>(window(Space::kConst));
  return result;
}

Lowering::Address Lowering::address_in_space(const ptx::InstructionOperand& o, Space space) {
  if (o.kind != Kind::kAddress || o.children.size() != 1) {
    invalid("the address must be one register or symbol in brackets, with an offset");
  }
  const ptx::InstructionOperand& base = o.children[0];
  Address result;
  result.space = space;
  result.offset = o.offset;
  if (base.kind == Kind::kInteger) {
    result.slot = fixed(builder_.constant(8, base.bits));
    return result;
  }
  if (base.kind != Kind::kIdentifier) invalid("the address is neither a register nor a symbol");
  const auto reg = flat_.variable(at_->scope, base.text);
  if (reg && reg->variable->space == ptx::StateSpace::kReg) {
    const unsigned bits = register_of(*reg).bits;
    if (bits != 32 && bits != 64) {
      invalid(fmt::format("an address of {} bits", bits));
    }
    result.slot = source(base, bits == 64 ? Type::kB64 : Type::kB32);
    result.offset += base.offset;
    return result;
  }
  // Where a parameter of a call is named in an entry, it is the entry's own local variable.
  if (reg && space == Space::kParam && !kernel_params_.contains(reg->variable)) {
    result.space = Space::kLocal;
  }
  const std::optional<SlotId> slot = symbol_source(base, 8);
  if (!slot) invalid(fmt::format("\"{}\" is not declared", base.text));
  result.slot = *slot;
  if (space != Space::kGeneric) return result;
  // A symbol without a space: its own.
  const ptx::Variable* variable = reg ? reg->variable : shared_.facts.ptx->variable(base.text);
  if (variable == nullptr) invalid("a function has no memory to read");
  switch (variable->space) {
    case ptx::StateSpace::kShared:
      result.space = Space::kShared;
      break;
    case ptx::StateSpace::kLocal:
      result.space = Space::kLocal;
      break;
    case ptx::StateSpace::kParam:
      result.space = kernel_params_.contains(variable) ? Space::kParam : Space::kLocal;
      break;
    case ptx::StateSpace::kConst:
      result.space = Space::kConst;
      break;
    default:
      result.space = Space::kGlobal;
      break;
  }
  return result;
}

// Whether the access about to be emitted shares its address register with an earlier one. The
// earlier one learns of it when the second comes.
Sharing Lowering::join_group(const AccessSpec& spec, SlotId slot, std::uint8_t* pattern) {
  const bool suits = insn_->guard.empty() && !spec.strong &&
                     (spec.space == Space::kShared || spec.space == Space::kGlobal);
  if (!suits) return Sharing::kAlone;
  const auto found = std::find_if(groups_.begin(), groups_.end(),
                                  [&](const Group& group) { return group.slot == slot; });
  if (found == groups_.end()) {
    groups_.push_back({slot, spec, builder_.protos().size(), false, 0});
    return Sharing::kAlone;
  }
  if (!found->shared) {
    found->pattern = next_pattern_;
    next_pattern_ = (next_pattern_ + 1) % kPatterns;
    // The group that had this pattern ends here.
    std::erase_if(groups_, [&](const Group& group) {
      return group.shared && group.pattern == found->pattern && group.slot != slot;
    });
    const auto group = std::find_if(groups_.begin(), groups_.end(),
                                    [&](const Group& one) { return one.slot == slot; });
    AccessSpec first = group->first;
    first.sharing = Sharing::kFirst;
    Proto& proto = builder_.protos()[group->proto];
    const Handler handler = ops_.access(first);
    if (handler == nullptr || proto.has_list) return Sharing::kAlone;
    proto.fn = handler;
    proto.negated = group->pattern;
    group->shared = true;
    *pattern = group->pattern;
    return Sharing::kAgain;
  }
  *pattern = found->pattern;
  return Sharing::kAgain;
}

// Ends the groups that the instructions emitted since `first_proto` put an end to.
void Lowering::end_groups(std::size_t first_proto) {
  const std::vector<Proto>& protos = builder_.protos();
  for (std::size_t k = first_proto; k < protos.size() && !groups_.empty(); ++k) {
    const Proto& proto = protos[k];
    const auto writes = [&](SlotId slot) {
      for (int r = 0; r < 6; ++r) {
        if (!proto.raw[r] && (proto.defines >> r & 1) != 0 && proto.r[r] == slot) return true;
      }
      const auto end = proto.list.begin() + proto.list_written;
      return std::find(proto.list.begin(), end, slot) != end;
    };
    std::erase_if(groups_, [&](const Group& group) { return writes(group.slot); });
  }
}

std::uint16_t Lowering::next_region() {
  std::uint32_t& count = shared_.kernel.regions;
  // Beyond 65535 memory instructions, the last ones share an entry.
  if (count < UINT16_MAX) ++count;
  return static_cast<std::uint16_t>(count);
}

// ld.param at a fixed place of a kernel's parameters: the value is the same for all threads, so it
// is ready in the frame and the load disappears.
bool Lowering::load_param(const ptx::InstructionOperand& destination,
                          const ptx::InstructionOperand& from, Type type, unsigned elements) {
  if (from.kind != Kind::kAddress || from.children.size() != 1) return false;
  const ptx::InstructionOperand& base = from.children[0];
  const auto variable = flat_.variable(at_->scope, base.text);
  if (!variable) return false;
  const auto found = kernel_params_.find(variable->variable);
  if (found == kernel_params_.end()) return false;
  const unsigned bits = bits_of(type);
  if (bits > 64) return false;
  const unsigned bytes = bits / 8;
  const std::int64_t at = found->second + base.offset + from.offset;
  if (at < 0 || at + bytes * elements > shared_.kernel.param_bytes) {
    invalid(fmt::format("it reads bytes {} to {} of the kernel's parameters, which have {}", at,
                        at + bytes * elements, shared_.kernel.param_bytes));
  }
  if (at % (bytes * elements) != 0) return false;  // faults when executed
  const bool vector = destination.kind == Kind::kVector;
  for (unsigned k = 0; k < elements; ++k) {
    const ptx::InstructionOperand& one = vector ? destination.children[k] : destination;
    const SlotId to = target(one, bits, true);
    if (to == kSink) continue;
    const SlotId slot =
        fixed(builder_.param(builder_.width(to), static_cast<std::uint32_t>(at) + k * bytes,
                             static_cast<std::uint8_t>(bytes), is_signed_type(type)));
    if (!alias(one, slot)) emit_copy(to, slot);
  }
  return true;
}

// Lets the access be counted, where the kernel is to count.
void Lowering::count(Proto& proto, Space space, std::uint8_t address, unsigned bytes) const {
  const bool is_counted =
      space == Space::kGlobal || space == Space::kShared || space == Space::kGeneric;
  if (shared_.mode != DecodeMode::kCounting || !is_counted) return;
  proto.counted_bytes = static_cast<std::uint8_t>(bytes);
  proto.counted_address = address;
}

void Lowering::load() {
  access(false);
}
void Lowering::store() {
  access(true);
}

void Lowering::access(bool is_store) {
  Modifiers m(*insn_);
  AccessSpec spec;
  spec.store = is_store;
  const bool is_volatile = m.take("volatile");  // relaxed, for the system
  spec.strong = is_volatile;
  m.take("weak");
  const bool has_order = insn_->has("relaxed") || insn_->has("acquire") || insn_->has("release");
  spec.strong = spec.strong || m.take("mmio") || has_order;
  const MemoryOrder order = take_order(m);
  const MemoryScope stated = m.take_scope();
  const MemoryScope scope = is_volatile ? MemoryScope::kSystem : stated;
  shared_.kernel.has_flags |= spec.strong;
  const bool cached_policy = insn_->has("L2::cache_hint");
  const bool noncoherent = !is_store && insn_->has("nc");
  m.drop_hints();
  m.take("unified");
  const Space space = take_space(m);
  const auto vector = m.take_one_of({"v2", "v4", "v8"});
  const Type type = m.need_type();
  m.finish();
  spec.elements = vector ? static_cast<std::uint8_t>(2u << *vector) : 1;
  spec.bytes = static_cast<std::uint8_t>(bits_of(type) / 8);
  spec.is_signed = is_signed_type(type);
  need_operands(2, cached_policy ? 3 : 2);
  if (spec.bytes == 0) throw Unsupported{"predicates have no place in memory"};
  if (is_store && (space == Space::kConst)) throw Unsupported{"constant memory is not written"};

  // Braces around a single register are as good as none: compilers (Triton) write them.
  const ptx::InstructionOperand& written = operand(is_store ? 1 : 0);
  const bool braced_one = !vector && written.kind == Kind::kVector && written.children.size() == 1;
  const ptx::InstructionOperand& values = braced_one ? written.children[0] : written;
  const ptx::InstructionOperand& place = operand(is_store ? 0 : 1);
  if ((values.kind == Kind::kVector) != vector.has_value() ||
      (vector && values.children.size() != spec.elements)) {
    invalid(fmt::format("it moves {} elements, the operand has another number", spec.elements));
  }
  if (!is_store && space == Space::kParam && load_param(values, place, type, spec.elements)) return;

  Address where = address(place, space);
  if (where.space == Space::kSharedCluster) where = generic_of_cluster(where);
  spec.space = where.space;
  spec.address_slot = builder_.width(where.slot);
  SlotId slots[8] = {};
  bool sinks = false;
  spec.slot = 0;
  bool mixed = false;
  for (unsigned k = 0; k < spec.elements; ++k) {
    const ptx::InstructionOperand& one = vector ? values.children[k] : values;
    slots[k] = is_store ? source(one, type, true) : target(one, bits_of(type), true);
    if (slots[k] == kSink) {
      sinks = true;
      continue;
    }
    const std::uint8_t width = builder_.width(slots[k]);
    mixed = mixed || (spec.slot != 0 && spec.slot != width);
    spec.slot = width;
  }
  if (spec.slot == 0) spec.slot = bits_of(type) <= 32 ? 4 : bits_of(type) == 64 ? 8 : 16;
  if (mixed) throw Unsupported{"registers of different widths in one vector"};
  static_cast<void>(sinks);

  std::uint8_t pattern = 0;
  spec.sharing = join_group(spec, where.slot, &pattern);
  const Handler quick = ops_.access(spec);
  Proto& proto = emit(quick != nullptr ? quick : ops_.any_access);
  if (spec.sharing != Sharing::kAlone) proto.negated = pattern;
  use(proto, 0, where.slot);
  proto.imm = where.offset;
  proto.mode = access_mode(spec.space, order, scope);
  // Constants are read through a cache that nothing within a grid empties.
  const bool is_constant = !is_store && spec.space == Space::kConst;
  if (noncoherent || is_constant) proto.mode |= kNonCoherentBit;
  proto.cache = next_region();
  count(proto, spec.space, 0, spec.bytes * spec.elements);
  if (quick != nullptr && spec.elements <= 4) {
    for (unsigned k = 0; k < spec.elements; ++k) {
      if (is_store) {
        use(proto, static_cast<int>(k) + 1, slots[k]);
      } else {
        def(proto, static_cast<int>(k) + 1, slots[k]);
      }
    }
    return;
  }
  proto.has_list = true;
  proto.list_written = is_store ? 0 : spec.elements;
  proto.list.assign(slots, slots + spec.elements);
  if (quick != nullptr) return;
  proto.list_has_head = true;
  proto.list_head = spec.elements | std::uint32_t{spec.bytes} << 8 |
                    std::uint32_t{spec.slot} << 16 | (spec.is_signed ? 1u << 24 : 0) |
                    (spec.strong ? 1u << 25 : 0) | (is_store ? 1u << 26 : 0) |
                    std::uint32_t{spec.address_slot} << 27;
}

void Lowering::atomic() {
  Modifiers m(*insn_);
  AtomSpec spec;
  spec.returns = insn_->opcode == "atom";
  spec.order = take_order(m);
  spec.scope = m.take_scope();
  shared_.kernel.has_flags = true;
  const bool has_policy = insn_->has("L2::cache_hint");
  m.drop_hints();
  spec.ftz = m.take("ftz");
  m.take("noftz");
  m.take_rounding();
  spec.space = take_space(m);
  const auto op =
      m.take_one_of({"exch", "cas", "add", "min", "max", "inc", "dec", "and", "or", "xor"});
  if (!op) throw Unsupported{"its operation is not known"};
  spec.op = static_cast<AtomOp>(*op);
  const auto vector = m.take_one_of({"v2", "v4", "v8"});
  spec.type = m.need_type();
  m.finish();
  const bool cas = spec.op == AtomOp::kCas;
  const std::size_t first = spec.returns ? 1 : 0;
  const std::size_t count = first + (cas ? 3 : 2);
  need_operands(count, has_policy ? count + 1 : count);
  Address where = address(operand(first), spec.space);
  if (where.space == Space::kSharedCluster) where = generic_of_cluster(where);
  spec.space = where.space;
  if (vector) return atomic_vector(spec, where, 2u << *vector);
  const SlotId b = source(operand(first + 1), spec.type);
  const SlotId c = cas ? source(operand(first + 2), spec.type) : kSink;
  const SlotId d = spec.returns ? target(operand(0), bits_of(spec.type)) : kSink;
  emit_atomic(spec, where, d, b, c, bits_of(spec.type) / 8);
}

void Lowering::emit_atomic(const AtomSpec& spec, const Address& where, SlotId d, SlotId b, SlotId c,
                           unsigned aligned) {
  Handler handler = nullptr;
  if (spec.type != Type::kB128) {
    handler = ops_.atomic(spec);
  } else if (spec.op == AtomOp::kExch || spec.op == AtomOp::kCas) {
    handler = spec.op == AtomOp::kCas ? op_swap_wide : op_exchange_wide;
  }
  Proto& proto = emit(handler);
  if (d == kSink) {
    raw(proto, 0, 0);
  } else {
    def(proto, 0, d);
  }
  use(proto, 1, where.slot);
  use(proto, 2, b);
  use(proto, 3, c);
  proto.imm = where.offset;
  proto.mode = access_mode(spec.space, spec.order, spec.scope);
  // Atomics have no predicate operands: the bits say how wide the address register is, and by their
  // upper part what the address must be a multiple of.
  if (builder_.width(where.slot) == 4) proto.negated |= 1;
  proto.negated |= static_cast<std::uint8_t>(std::countr_zero(aligned) << 1);
  proto.cache = next_region();
  count(proto, spec.space, 1, bits_of(spec.type) / 8);
}

// atom.add.v4.f32 and its like: each element is an atomic operation of its own (PTX ISA, "atom").
void Lowering::atomic_vector(const AtomSpec& spec, Address where, unsigned elements) {
  const bool single = spec.type == Type::kF32 && spec.op == AtomOp::kAdd;
  const bool half = is_half_type(spec.type) &&
                    (spec.op == AtomOp::kAdd || spec.op == AtomOp::kMin || spec.op == AtomOp::kMax);
  const unsigned bytes = bits_of(spec.type) / 8;
  if ((!single && !half) || elements * bytes > 16) {
    throw Unsupported{"there is no vector form of this operation and type"};
  }
  const std::size_t first = spec.returns ? 1 : 0;
  const ptx::InstructionOperand& values = operand(first + 1);
  const auto check = [&](const ptx::InstructionOperand& o) {
    if (o.kind == Kind::kVector && o.children.size() == elements) return;
    invalid(fmt::format("it works on {} elements, the operand has another number", elements));
  };
  check(values);
  if (spec.returns) check(operand(0));
  // Results may be the registers of operands that are still to be read.
  std::vector<std::pair<SlotId, SlotId>> results;
  for (unsigned k = 0; k < elements; ++k) {
    const SlotId b = source(values.children[k], spec.type);
    SlotId d = kSink;
    if (spec.returns) {
      const SlotId to = target(operand(0).children[k], bits_of(spec.type));
      if (to != kSink) results.emplace_back(to, d = temporary(bits_of(spec.type)));
    }
    emit_atomic(spec, where, d, b, kSink, k == 0 ? bytes * elements : bytes);
    where.offset += bytes;
  }
  for (const auto& [to, from] : results) emit_copy(to, from);
}

// What only moves data between caches changes nothing here.
void Lowering::prefetch() {
  Modifiers m(*insn_);
  m.drop_hints();
  m.take_one_of({"L1", "L2", "tensormap"});
  m.take_one_of({"global", "local", "const", "param"});
  m.finish();
  emit(op_nop);
}

// discard{.global}.L2 [a], 128
void Lowering::discard() {
  Modifiers m(*insn_);
  const Space space = take_space(m);
  if (!m.take("L2")) throw Unsupported{"it discards from .L2"};
  m.finish();
  need_operands(2, 2);
  if (operand(1).kind != Kind::kInteger || operand(1).bits != kDiscardedBytes) {
    invalid(fmt::format("it discards {} bytes", kDiscardedBytes));
  }
  const SlotId where = generic_address(operand(0), space);
  use(emit(op_discard), 0, where);
}

// createpolicy.…b64 d, …: says how caches are to treat what is accessed under it. There are none
// here.
void Lowering::create_policy() {
  Modifiers m(*insn_);
  m.take_one_of({"fractional", "range", "cvt"});
  m.take("global");
  m.take("L2");
  for (const auto* name :
       {"L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged"}) {
    m.take(name);
  }
  if (m.need_type() != Type::kB64) throw Unsupported{"policies have 64 bits"};
  m.finish();
  need_operands(1, 4);
  emit_copy(target(operand(0), 64), fixed(builder_.constant(8, 0)));
}

// All memory operations are performed in program order, one after another, and asynchronous copies
// see what was written before them: fences have work for the judge alone.
void Lowering::fence() {
  Modifiers m(*insn_);
  const bool proxy = m.take("proxy");
  const bool orders = !proxy || insn_->has("acquire") || insn_->has("release");
  const bool is_async = insn_->has("async") || insn_->has("async::generic");
  const bool acquires_map = insn_->has("tensormap::generic") && insn_->has("acquire");
  if (proxy) {
    const auto kind = m.take_one_of({"alias", "async", "async::generic", "tensormap::generic"});
    if (!kind) throw Unsupported{"the proxies that it fences are not known"};
    m.take_one_of({"global", "shared::cta", "shared::cluster"});
  }
  const bool of_mbarriers = m.take("mbarrier_init");
  m.take_one_of({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  const MemoryScope scope = m.take_scope();
  shared_.kernel.has_flags |= orders;
  m.take_one_of({"gl"});
  m.take_one_of({"sc", "acq_rel", "acquire", "release"});
  m.finish();
  need_operands(acquires_map ? 2 : 0, acquires_map ? 2 : 0);
  SlotId map = kSink;
  if (acquires_map) {
    if (builder_.constant_in(source(operand(1), Type::kB32)) != kTensorMapBytes) {
      invalid(
          fmt::format("the second operand must be {}, the bytes of a tensor map", kTensorMapBytes));
    }
    map = generic_address(operand(0), Space::kGeneric);
  }
  Proto& proto = emit(acquires_map ? op_acquire_tensor_map
                      : is_async   ? op_fence_proxy
                      : orders     ? op_fence
                                   : op_nop);
  if (acquires_map) use(proto, 0, map);
  proto.mode = of_mbarriers ? kFenceOfMbarriers : orders ? kFenceOfAll : kFenceOfProxies;
  proto.imm = static_cast<std::int64_t>(scope);
}

}  // namespace baton::sim
