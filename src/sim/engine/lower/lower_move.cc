// Moves, conversions, comparisons and selection.

#include <fmt/core.h>

#include <bit>
#include <optional>

#include "sim/engine/lower/lower.h"
#include "sim/engine/memory/address.h"
#include "sim/engine/run/warp_ops.h"

namespace baton::sim {
namespace {

using Kind = ptx::InstructionOperand::Kind;

OpSpec spec_of(Op op, Type type, Type from) {
  OpSpec spec;
  spec.op = op;
  spec.type = type;
  spec.from = from;
  return spec;
}

Type bits_type(unsigned bits) {
  switch (bits) {
    case 8:
      return Type::kB8;
    case 16:
      return Type::kB16;
    case 32:
      return Type::kB32;
    case 64:
      return Type::kB64;
    default:
      return Type::kB128;
  }
}

}  // namespace

void Lowering::emit_copy(SlotId to, SlotId from) {
  OpSpec spec = spec_of(Op::kMov, Type::kB32, Type::kB32);
  spec.wide_to = builder_.width(to);
  Proto& proto = emit(ops_.move(spec));
  def(proto, 0, to);
  use(proto, 1, from);
}

// To a register of another width.
void Lowering::extend(SlotId to, SlotId from, bool is_signed) {
  const bool widens = builder_.width(to) == 8;
  OpSpec spec = spec_of(Op::kCvt, widens ? (is_signed ? Type::kS64 : Type::kU64) : Type::kU32,
                        widens ? (is_signed ? Type::kS32 : Type::kU32) : Type::kU64);
  Proto& proto = emit(ops_.convert(spec));
  def(proto, 0, to);
  use(proto, 1, from);
}

void Lowering::move() {
  Modifiers m(*insn_);
  const Type type = m.need_type();
  m.finish();
  need_operands(2, 2);
  if (pack_or_unpack(type)) return;
  const ptx::InstructionOperand& from = operand(1);
  if (type == Type::kPred) {
    const SlotId to = predicate_target(operand(0));
    Proto& proto = emit(ops_.move(spec_of(Op::kMov, type, type)));
    def(proto, 0, to);
    use_predicate(proto, 1, from);
    use_predicate(proto, 2, from);
    return;
  }
  if (from.kind == Kind::kIdentifier &&
      (from.text.starts_with("%clock") || from.text.starts_with("%globaltimer"))) {
    return mov_time(from.text);
  }
  const SlotId slot = source(from, type);
  const SlotId to = target(operand(0), bits_of(type));
  if (alias(operand(0), slot)) return;
  emit_copy(to, slot);
}

void Lowering::mov_time(std::string_view name) {
  struct Time {
    std::string_view name;
    Handler handler;
    unsigned bits;
    int shift;
  };
  static const Time kTimes[] = {{"%clock", op_clock, 32, 0},
                                {"%clock_hi", op_clock, 32, 32},
                                {"%clock64", op_clock, 64, 0},
                                {"%globaltimer", op_globaltimer, 64, 0},
                                {"%globaltimer_lo", op_globaltimer, 32, 0},
                                {"%globaltimer_hi", op_globaltimer, 32, 32}};
  for (const Time& row : kTimes) {
    if (row.name != name) continue;
    const SlotId to = target(operand(0), row.bits);
    // The clock counts what was executed, which is told at branches and here.
    Proto& proto = emit(row.handler);
    def(proto, 0, to);
    proto.mode = row.bits == 64 ? 8 : 4;
    proto.imm = row.shift;
    return;
  }
  throw Unsupported{fmt::format("the special register {}", name)};
}

// mov.b64 %rd, {%r1, %r2} and mov.b64 {%r1, %r2}, %rd. False where it is neither.
bool Lowering::pack_or_unpack(Type type) {
  const bool packs = operand(1).kind == Kind::kVector;
  const bool unpacks = operand(0).kind == Kind::kVector;
  if (!packs && !unpacks) return false;
  if (packs && unpacks) throw Unsupported{"mov between two vectors"};
  const std::vector<ptx::InstructionOperand>& parts = operand(packs ? 1 : 0).children;
  const unsigned bits = bits_of(type);
  if (parts.empty() || parts.size() > 4 || bits % parts.size() != 0) {
    invalid(fmt::format("{} bits cannot be divided into {} parts", bits, parts.size()));
  }
  const Type part = bits_type(static_cast<unsigned>(bits / parts.size()));
  const SlotId whole = packs ? target(operand(0), bits) : source(operand(1), bits_type(bits));
  Proto& proto = emit(ops_.move(spec_of(packs ? Op::kPack : Op::kUnpack, bits_type(bits), part)));
  proto.r[0] = whole;
  if (packs) proto.defines |= 1;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const int at = static_cast<int>(k) + 1;
    if (packs) {
      use(proto, at, source(parts[k], part));
    } else {
      def(proto, at, target(parts[k], bits_of(part)));
    }
  }
  return true;
}

std::uint64_t Lowering::window(Space space) const {
  switch (space) {
    case Space::kGeneric:
    case Space::kGlobal:  // generic addresses of global memory are the addresses themselves
      return 0;
    case Space::kConst:
      return shared_.facts.constant_base();
    case Space::kShared:
    case Space::kSharedCluster:
      return kSharedWindow;
    case Space::kLocal:
      return kLocalWindow;
    case Space::kParam:
      return kParamWindow;
  }
  return 0;
}

void Lowering::cvta() {
  Modifiers m(*insn_);
  const bool to_space = m.take("to");
  static constexpr Space kSpaces[] = {Space::kGlobal, Space::kConst,         Space::kShared,
                                      Space::kShared, Space::kSharedCluster, Space::kLocal,
                                      Space::kParam,  Space::kParam};
  const auto space = m.take_one_of({"global", "const", "shared", "shared::cta", "shared::cluster",
                                    "local", "param", "param::entry"});
  const Type type = m.need_type();
  m.finish();
  need_operands(2, 2);
  if (!space) throw Unsupported{"it names no state space"};
  if (type != Type::kU64 && type != Type::kB64) throw Unsupported{"it is for 64-bit addresses"};
  const SlotId from = source(operand(1), Type::kU64);
  const SlotId to = target(operand(0), 64);
  const std::uint64_t apart = window(kSpaces[*space]);
  const std::optional<std::uint64_t> known = builder_.constant_in(from);
  if (apart == 0 || known) {
    const std::uint64_t sum = known.value_or(0) + (to_space ? 0 - apart : apart);
    const SlotId same = apart == 0 ? from : fixed(builder_.constant(8, sum));
    if (!alias(operand(0), same)) emit_copy(to, same);
    return;
  }
  const SlotId base = fixed(builder_.constant(8, apart));
  Proto& proto =
      emit(ops_.integer(spec_of(to_space ? Op::kSub : Op::kAdd, Type::kU64, Type::kU64)));
  def(proto, 0, to);
  use(proto, 1, from);
  use(proto, 2, base);
}

void Lowering::convert() {
  Modifiers m(*insn_);
  if (m.take("pack")) return convert_pack();
  OpSpec spec;
  spec.op = Op::kCvt;
  spec.rounding = m.take_rounding();
  spec.ftz = m.take("ftz");
  spec.sat = m.take("sat");
  spec.relu = m.take("relu");
  spec.satfinite = m.take("satfinite");
  spec.type = m.need_type();
  spec.from = m.need_type();
  m.finish();
  // The hardware does not flush what it narrows to f16.
  const bool flushes = spec.ftz && spec.type != Type::kF16;
  // The flags for handlers that take them from the instruction (ops_cvt_half.inc).
  const std::int64_t flags =
      (spec.sat ? 1 : 0) | (spec.relu ? 2 : 0) | (spec.satfinite ? 4 : 0) | (flushes ? 8 : 0);
  const bool packed = spec.type == Type::kF16x2 || spec.type == Type::kBF16x2 ||
                      spec.type == Type::kE4M3x2 || spec.type == Type::kE5M2x2;
  if (packed && spec.from == Type::kF32) {
    need_operands(3, 3);
    const SlotId high = source(operand(1), spec.from);
    const SlotId low = source(operand(2), spec.from);
    const SlotId to = target(operand(0), bits_of(spec.type));
    Proto& proto = emit(ops_.convert(spec));
    def(proto, 0, to);
    use(proto, 1, high);
    use(proto, 2, low);
    proto.mode = static_cast<std::uint8_t>(spec.rounding);
    proto.imm = flags;
    return;
  }
  need_operands(2, 2);
  SlotId from = source(operand(1), spec.from, true);
  const SlotId to = target(operand(0), bits_of(spec.type), true);
  // A register may be wider than the type: what is read of it are its low bits, what is written is
  // extended by its sign.
  if (builder_.width(from) == 8 && bits_of(spec.from) < 64) {
    const SlotId narrow = temporary(32);
    extend(narrow, from, false);
    from = narrow;
  }
  const bool wide_result = builder_.width(to) == 8 && bits_of(spec.type) < 64;
  const SlotId result = wide_result ? temporary(32) : to;
  Proto& proto = emit(ops_.convert(spec));
  def(proto, 0, result);
  use(proto, 1, from);
  proto.mode = static_cast<std::uint8_t>(spec.rounding);
  proto.imm = flags;
  if (wide_result) extend(to, result, is_signed_type(spec.type));
}

// cvt.pack.sat.type.s32 d, a, b and, for parts of 8 bits and less, cvt.pack.sat.type.s32.b32 with
// c.
void Lowering::convert_pack() {
  Modifiers m(*insn_);
  m.take("pack");
  if (!m.take("sat")) throw Unsupported{"it needs .sat"};
  static constexpr unsigned kBits[] = {16, 16, 8, 8, 4, 4, 2, 2};
  const auto part = m.take_one_of({"u16", "s16", "u8", "s8", "u4", "s4", "u2", "s2"});
  if (!part) throw Unsupported{"the type of its parts is not known"};
  const bool three = m.take("b32");
  if (!m.take("s32")) throw Unsupported{"its operands are .s32"};
  m.finish();
  if (three != (*part > 1)) throw Unsupported{"parts of this width have another form"};
  need_operands(three ? 4 : 3, three ? 4 : 3);
  OpSpec spec;
  spec.op = Op::kCvtPack;
  const SlotId a = source(operand(1), Type::kS32);
  const SlotId b = source(operand(2), Type::kS32);
  const SlotId c = three ? source(operand(3), Type::kB32) : kSink;
  const SlotId d = target(operand(0), 32);
  Proto& proto = emit(ops_.convert(spec));
  def(proto, 0, d);
  use(proto, 1, a);
  use(proto, 2, b);
  use(proto, 3, c);
  proto.mode = static_cast<std::uint8_t>(kBits[*part] | (*part % 2 != 0 ? 0x80 : 0));
}

void Lowering::select() {
  Modifiers m(*insn_);
  const Type type = m.need_type();
  m.finish();
  need_operands(4, 4);
  OpSpec spec = spec_of(Op::kSelp, Type::kB32, Type::kB32);
  spec.wide_to = bits_of(type) == 64 ? 8 : 4;
  const SlotId a = source(operand(1), type);
  const SlotId b = source(operand(2), type);
  const SlotId d = target(operand(0), bits_of(type));
  Proto& proto = emit(ops_.move(spec));
  def(proto, 0, d);
  use(proto, 1, a);
  use(proto, 2, b);
  use_predicate(proto, 3, operand(3));
}

void Lowering::slct() {
  Modifiers m(*insn_);
  const bool ftz = m.take("ftz");
  const Type type = m.need_type();
  const Type by = m.need_type();
  m.finish();
  need_operands(4, 4);
  if (by != Type::kS32 && by != Type::kF32) throw Unsupported{"it selects by .s32 or .f32"};
  OpSpec spec = spec_of(by == Type::kS32 ? Op::kSlctS32 : Op::kSlctF32, Type::kB32, by);
  spec.wide_to = bits_of(type) == 64 ? 8 : 4;
  spec.ftz = ftz;
  const SlotId a = source(operand(1), type);
  const SlotId b = source(operand(2), type);
  const SlotId c = source(operand(3), by);
  const SlotId d = target(operand(0), bits_of(type));
  Proto& proto = emit(ops_.move(spec));
  def(proto, 0, d);
  use(proto, 1, a);
  use(proto, 2, b);
  use(proto, 3, c);
}

namespace {

std::optional<Compare> take_compare(Modifiers& m) {
  static constexpr std::pair<std::string_view, Compare> kNames[] = {
      {"eq", Compare::kEq},   {"ne", Compare::kNe},   {"lt", Compare::kLt},
      {"le", Compare::kLe},   {"gt", Compare::kGt},   {"ge", Compare::kGe},
      {"lo", Compare::kLt},   {"ls", Compare::kLe},   {"hi", Compare::kGt},
      {"hs", Compare::kGe},   {"equ", Compare::kEqu}, {"neu", Compare::kNeu},
      {"ltu", Compare::kLtu}, {"leu", Compare::kLeu}, {"gtu", Compare::kGtu},
      {"geu", Compare::kGeu}, {"num", Compare::kNum}, {"nan", Compare::kNan}};
  for (const auto& [name, compare] : kNames) {
    if (m.take(name)) return compare;
  }
  return std::nullopt;
}

Combine take_combine(Modifiers& m) {
  const auto found = m.take_one_of({"and", "or", "xor"});
  return found ? static_cast<Combine>(*found + 1) : Combine::kNone;
}

}  // namespace

void Lowering::set_predicate() {
  Modifiers m(*insn_);
  OpSpec spec;
  spec.op = Op::kSetp;
  const std::optional<Compare> compare = take_compare(m);
  if (!compare) throw Unsupported{"its comparison is not known"};
  spec.compare = *compare;
  const Combine combine = take_combine(m);
  spec.ftz = m.take("ftz");
  spec.from = m.need_type();
  m.finish();
  need_operands(combine == Combine::kNone ? 3 : 4, combine == Combine::kNone ? 3 : 4);
  const ptx::InstructionOperand& result = operand(0);
  const bool two = result.kind == Kind::kPair;
  if (two && result.children.size() != 2) invalid("setp writes one or two predicates");
  const SlotId a = source(operand(1), spec.from);
  const SlotId b = source(operand(2), spec.from);
  const SlotId p = predicate_target(two ? result.children[0] : result);
  const SlotId q = two ? predicate_target(result.children[1]) : kSink;
  Proto& proto = emit(ops_.compare(spec));
  def(proto, 0, p);
  def(proto, 1, q);
  use(proto, 2, a);
  use(proto, 3, b);
  proto.mode = static_cast<std::uint8_t>(combine);
  proto.bits = outcomes(spec.compare);
  if (combine != Combine::kNone) use_predicate(proto, 4, operand(3));
}

void Lowering::set_register() {
  Modifiers m(*insn_);
  OpSpec spec;
  spec.op = Op::kSet;
  const std::optional<Compare> compare = take_compare(m);
  if (!compare) throw Unsupported{"its comparison is not known"};
  spec.compare = *compare;
  const Combine combine = take_combine(m);
  spec.ftz = m.take("ftz");
  const Type type = m.need_type();
  spec.from = m.need_type();
  m.finish();
  need_operands(combine == Combine::kNone ? 3 : 4, combine == Combine::kNone ? 3 : 4);
  // What "true" is in the result's type.
  std::int64_t one = 0xffffffff;
  switch (type) {
    case Type::kF32:
      one = 0x3f800000;
      break;
    case Type::kF16:
    case Type::kF16x2:
      one = 0x3c00;
      break;
    case Type::kBF16:
    case Type::kBF16x2:
      one = 0x3f80;
      break;
    case Type::kU16:
    case Type::kS16:
    case Type::kU32:
    case Type::kS32:
      break;
    default:
      throw Unsupported{"its result has a type that set does not have"};
  }
  const bool packed = spec.from == Type::kF16x2 || spec.from == Type::kBF16x2;
  const bool word = type == Type::kU32 || type == Type::kS32;
  if (packed ? type != spec.from && !word : type == Type::kF16x2 || type == Type::kBF16x2) {
    throw Unsupported{"its result has not the parts that its operands have"};
  }
  if (packed && word) one = 0xffff;  // of each half
  const SlotId a = source(operand(1), spec.from);
  const SlotId b = source(operand(2), spec.from);
  const SlotId d = target(operand(0), bits_of(type));
  Proto& proto = emit(ops_.compare(spec));
  def(proto, 0, d);
  use(proto, 2, a);
  use(proto, 3, b);
  proto.mode = static_cast<std::uint8_t>(combine);
  proto.imm = one;
  proto.bits = outcomes(spec.compare);
  if (combine != Combine::kNone) use_predicate(proto, 4, operand(3));
}

void Lowering::isspacep() {
  Modifiers m(*insn_);
  const auto space = m.take_one_of({"global", "const", "shared", "shared::cta", "shared::cluster",
                                    "local", "param", "param::entry"});
  m.finish();
  need_operands(2, 2);
  if (!space) throw Unsupported{"it names no state space"};
  // Constants have the upper half of the window of global memory.
  static constexpr std::uint64_t kWindows[] = {kGlobalWindow, kGlobalWindow, kSharedWindow,
                                               kSharedWindow, kSharedWindow, kLocalWindow,
                                               kParamWindow,  kParamWindow};
  const SlotId a = source(operand(1), Type::kU64);
  const SlotId p = predicate_target(operand(0));
  Proto& proto = emit(op_isspacep);
  def(proto, 0, p);
  use(proto, 1, a);
  proto.imm = window_number(kWindows[*space]);
  // Shared memory without a further word is the executing block's own.
  static constexpr std::uint8_t kModes[] = {1, 2, 3, 3, 0, 0, 0, 0};
  proto.mode = kModes[*space];
}

}  // namespace baton::sim
