// Arithmetic and logic.

#include <fmt/core.h>

#include <bit>
#include <iterator>

#include "sim/engine/isa/simd_video.h"
#include "sim/engine/lower/lower.h"

namespace baton::sim {
namespace {

// The handlers that know a type.
using Select = Handler (*)(const OpSpec&);
Select table_for(const OpTable& ops, Type type) {
  if (is_float_type(type)) return ops.floating;
  return is_half_type(type) ? ops.half : ops.integer;
}

}  // namespace

// Signature: the result, then the sources. T is the instruction's type, W the one twice as wide,
// u and s 32-bit integers, f the source type, b, B, 16, 32 and 64 bits of any kind.
void Lowering::emit_alu(const OpSpec& spec, std::string_view signature) {
  need_operands(signature.size(), signature.size());
  const auto type_of = [&](char c) {
    switch (c) {
      case 'W':
        return widened(spec.type);
      case 'u':
        return Type::kU32;
      case 's':
        return Type::kS32;
      case 'f':
        return spec.from;
      default:
        return spec.type;
    }
  };
  // Sources first: errors in them should name them, and they may be the result's register.
  SlotId sources[5] = {};
  for (std::size_t k = 1; k < signature.size(); ++k) {
    sources[k] = source(operand(k), type_of(signature[k]));
  }
  const SlotId result = target(operand(0), bits_of(type_of(signature[0])));
  Proto& proto = emit(table_for(ops_, spec.type)(spec));
  def(proto, 0, result);
  for (std::size_t k = 1; k < signature.size(); ++k) use(proto, static_cast<int>(k), sources[k]);
  proto.mode = static_cast<std::uint8_t>(spec.rounding);
}

namespace {

void check_plain_rounding(Rounding rounding) {
  if (rounding >= Rounding::kRna) {
    throw Unsupported{"this rounding modifier belongs to cvt alone"};
  }
}

}  // namespace

void Lowering::alu_add_sub() {
  Modifiers m(*insn_);
  if (m.take("cc")) return alu_chain();
  OpSpec spec;
  spec.op = insn_->opcode == "add" ? Op::kAdd : Op::kSub;
  spec.rounding = m.take_rounding();
  spec.ftz = m.take("ftz");
  spec.sat = m.take("sat");
  spec.relu = m.take("relu");
  spec.type = m.need_type();
  m.finish();
  check_plain_rounding(spec.rounding);
  emit_alu(spec, "TTT");
}

// add.cc, addc, sub.cc, subc, mad.cc and madc: the carry flag is one more operand.
void Lowering::alu_chain() {
  Modifiers m(*insn_);
  const bool out = m.take("cc");
  const std::string_view name = insn_->opcode;
  const bool in = name == "addc" || name == "subc" || name == "madc";
  const bool mad = name.starts_with("mad");
  const bool high = mad && m.take("hi");
  if (mad && !high && !m.take("lo")) throw Unsupported{"it needs .lo or .hi"};
  OpSpec spec;
  spec.type = m.need_type();
  m.finish();
  if (mad) {
    if (high) {
      spec.op = in ? (out ? Op::kMadcHiCc : Op::kMadcHi) : Op::kMadHiCc;
    } else {
      spec.op = in ? (out ? Op::kMadcLoCc : Op::kMadcLo) : Op::kMadLoCc;
    }
  } else if (name.starts_with("add")) {
    spec.op = in ? (out ? Op::kAddcCc : Op::kAddc) : Op::kAddCc;
  } else {
    spec.op = in ? (out ? Op::kSubcCc : Op::kSubc) : Op::kSubCc;
  }
  emit_alu(spec, mad ? "TTTT" : "TTT");
  Proto& proto = builder_.protos().back();
  // The flags of lanes that do not execute stay, so the operand is read as well as written: a
  // chain begun by .cc defines it.
  use(proto, 4, carry_);
  if (out) proto.defines |= 1 << 4;
}

void Lowering::alu_mul() {
  Modifiers m(*insn_);
  OpSpec spec;
  if (insn_->opcode == "mul24") {
    spec.op = m.take("hi") ? Op::kMul24Hi : Op::kMul24Lo;
    m.take("lo");
    spec.type = m.need_type();
    m.finish();
    return emit_alu(spec, "TTT");
  }
  const bool wide = m.take("wide");
  const bool high = m.take("hi");
  const bool low = m.take("lo");
  spec.rounding = m.take_rounding();
  spec.ftz = m.take("ftz");
  spec.sat = m.take("sat");
  spec.type = m.need_type();
  m.finish();
  check_plain_rounding(spec.rounding);
  if (is_float_type(spec.type) || is_half_type(spec.type)) {
    spec.op = Op::kMul;
  } else if (wide) {
    spec.op = Op::kMulWide;
  } else if (high) {
    spec.op = Op::kMulHi;
  } else if (low) {
    spec.op = Op::kMulLo;
  } else {
    throw Unsupported{"it needs .lo, .hi or .wide"};
  }
  emit_alu(spec, wide ? "WTT" : "TTT");
}

void Lowering::alu_mad() {
  Modifiers m(*insn_);
  const std::string_view name = insn_->opcode;
  if (name == "madc" || m.take("cc")) return alu_chain();
  OpSpec spec;
  if (name == "mad24") {
    spec.op = m.take("hi") ? Op::kMad24Hi : Op::kMad24Lo;
    m.take("lo");
    spec.sat = m.take("sat");
    spec.type = m.need_type();
    m.finish();
    return emit_alu(spec, "TTTT");
  }
  const bool wide = m.take("wide");
  const bool high = m.take("hi");
  const bool low = m.take("lo");
  spec.rounding = m.take_rounding();
  spec.ftz = m.take("ftz");
  spec.sat = m.take("sat");
  spec.relu = m.take("relu");
  spec.type = m.need_type();
  m.finish();
  check_plain_rounding(spec.rounding);
  if (is_float_type(spec.type) || is_half_type(spec.type)) {
    spec.op = Op::kFma;
  } else if (name == "fma") {
    throw Unsupported{"fma is for floating-point types"};
  } else if (wide) {
    spec.op = Op::kMadWide;
  } else if (high) {
    spec.op = Op::kMadHi;
  } else if (low) {
    spec.op = Op::kMadLo;
  } else {
    throw Unsupported{"it needs .lo, .hi or .wide"};
  }
  emit_alu(spec, wide ? "WTTW" : "TTTT");
}

void Lowering::alu_generic(Op op, std::string_view signature) {
  Modifiers m(*insn_);
  OpSpec spec;
  spec.op = op;
  spec.type = m.need_type();
  m.finish();
  emit_alu(spec, signature);
}

// Instructions whose only modifier is their type.
void Lowering::alu_simple() {
  const std::string_view name = insn_->opcode;
  if (name == "rem") return alu_generic(Op::kRem, "TTT");
  if (name == "sad") return alu_generic(Op::kSad, "TTTT");
  if (name == "popc") return alu_generic(Op::kPopc, "uT");
  if (name == "clz") return alu_generic(Op::kClz, "uT");
  if (name == "brev") return alu_generic(Op::kBrev, "TT");
  if (name == "fns") return alu_generic(Op::kFns, "uuus");
  return alu_generic(Op::kCopysign, "TTT");
}

void Lowering::alu_div() {
  Modifiers m(*insn_);
  OpSpec spec;
  spec.op = Op::kDiv;
  const bool approx = m.take("approx");
  m.take("full");  // within two units in the last place: the exact quotient is one such
  spec.rounding = m.take_rounding();
  spec.ftz = m.take("ftz");
  spec.type = m.need_type();
  m.finish();
  check_plain_rounding(spec.rounding);
  if (approx) spec.op = Op::kDivApprox;
  emit_alu(spec, "TTT");
}

void Lowering::alu_minmax() {
  // PTX ISA 8.8 has them for compute capability 10.0.
  if (insn_->operands.size() == 4) throw Unsupported{"min and max of three values"};
  Modifiers m(*insn_);
  OpSpec spec;
  spec.op = insn_->opcode == "min" ? Op::kMin : Op::kMax;
  spec.ftz = m.take("ftz");
  spec.nan = m.take("NaN");
  spec.relu = m.take("relu");
  if (m.take("xorsign")) spec.xorsign_abs = m.take("abs");
  spec.type = m.need_type();
  m.finish();
  emit_alu(spec, "TTT");
}

void Lowering::alu_sign() {
  Modifiers m(*insn_);
  OpSpec spec;
  spec.op = insn_->opcode == "abs" ? Op::kAbs : Op::kNeg;
  spec.ftz = m.take("ftz");
  spec.type = m.need_type();
  m.finish();
  emit_alu(spec, "TT");
}

void Lowering::alu_bits() {
  Modifiers m(*insn_);
  OpSpec spec;
  const std::string_view name = insn_->opcode;
  spec.op = name == "and"   ? Op::kAnd
            : name == "or"  ? Op::kOr
            : name == "xor" ? Op::kXor
            : name == "not" ? Op::kNot
                            : Op::kCnot;
  spec.type = m.need_type();
  m.finish();
  const bool one = spec.op == Op::kNot || spec.op == Op::kCnot;
  if (spec.type != Type::kPred) return emit_alu(spec, one ? "TT" : "TTT");
  need_operands(one ? 2 : 3, one ? 2 : 3);
  const SlotId result = predicate_target(operand(0));
  Proto& proto = emit(ops_.move(spec));
  def(proto, 0, result);
  use_predicate(proto, 1, operand(1));
  use_predicate(proto, 2, operand(one ? 1 : 2));
}

void Lowering::alu_shift() {
  alu_generic(insn_->opcode == "shl" ? Op::kShl : Op::kShr, "TTu");
}

void Lowering::alu_funnel() {
  Modifiers m(*insn_);
  OpSpec spec;
  const bool left = m.take("l");
  if (!left && !m.take("r")) throw Unsupported{"it needs .l or .r"};
  const bool wrap = m.take("wrap");
  if (!wrap && !m.take("clamp")) throw Unsupported{"it needs .wrap or .clamp"};
  spec.type = m.need_type();
  m.finish();
  if (spec.type != Type::kB32) throw Unsupported{"it is for .b32 alone"};
  spec.op =
      left ? (wrap ? Op::kShfLWrap : Op::kShfLClamp) : (wrap ? Op::kShfRWrap : Op::kShfRClamp);
  emit_alu(spec, "TTTu");
}

void Lowering::alu_lop3() {
  Modifiers m(*insn_);
  OpSpec spec;
  spec.op = Op::kLop3;
  // lop3.and and lop3.or write also a predicate: whether the result is not 0, and, or or,
  // operand 5.
  const auto combine = m.take_one_of({"and", "or"});
  spec.type = m.need_type();
  m.finish();
  need_operands(combine ? 6 : 5, combine ? 6 : 5);
  if (spec.type != Type::kB32) throw Unsupported{"it is for .b32 alone"};
  const ptx::InstructionOperand& table = operand(4);
  if (table.kind != ptx::InstructionOperand::Kind::kInteger || table.bits > 255) {
    invalid("the truth table of lop3 must be a number from 0 to 255");
  }
  spec.prmt = static_cast<std::uint8_t>(table.bits);
  const SlotId a = source(operand(1), spec.type);
  const SlotId b = source(operand(2), spec.type);
  const SlotId c = source(operand(3), spec.type);
  const ptx::InstructionOperand& result = operand(0);
  const bool pair =
      result.kind == ptx::InstructionOperand::Kind::kPair && result.children.size() == 2;
  if (pair != combine.has_value()) {
    invalid("lop3.and and lop3.or write a register and a predicate, lop3 a register");
  }
  SlotId d = target(pair ? result.children[0] : result, 32);
  if (pair && d == kSink) d = temporary(32);
  Proto& proto = emit(ops_.integer(spec));
  def(proto, 0, d);
  use(proto, 1, a);
  use(proto, 2, b);
  use(proto, 3, c);
  proto.imm = static_cast<std::int64_t>(table.bits);
  if (!pair) return;
  OpSpec test;
  test.op = Op::kSetp;
  test.compare = Compare::kNe;
  test.from = Type::kB32;
  Proto& sets = emit(ops_.compare(test));
  def(sets, 0, predicate_target(result.children[1]));
  def(sets, 1, kSink);
  use(sets, 2, d);
  use(sets, 3, fixed(builder_.constant(4, 0)));
  sets.mode = static_cast<std::uint8_t>(*combine == 0 ? Combine::kAnd : Combine::kOr);
  sets.bits = outcomes(test.compare);
  use_predicate(sets, 4, operand(5));
}

void Lowering::alu_prmt() {
  Modifiers m(*insn_);
  OpSpec spec;
  spec.op = Op::kPrmt;
  // The selectors that the low two bits of c choose from, 16 bits each (PTX ISA, "prmt").
  static constexpr std::uint64_t kModes[] = {0x6543'5432'4321'3210, 0x0123'7012'6701'5670,
                                             0x3333'2222'1111'0000, 0x3333'3222'3211'3210,
                                             0x3210'2210'1110'0000, 0x3232'1010'3232'1010};
  const auto mode = m.take_one_of({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  spec.type = m.need_type();
  m.finish();
  spec.prmt = mode ? 1 : 0;
  emit_alu(spec, "TTTu");
  if (mode) builder_.protos().back().imm = static_cast<std::int64_t>(kModes[*mode]);
}

void Lowering::alu_field() {
  Modifiers m(*insn_);
  OpSpec spec;
  const std::string_view name = insn_->opcode;
  if (name == "bfe") return alu_generic(Op::kBfe, "TTuu");
  if (name == "bfi") return alu_generic(Op::kBfi, "TTTuu");
  const bool wrap = m.take("wrap");
  const bool clamp = m.take("clamp");
  const bool shift = m.take("shiftamt");
  spec.type = m.need_type();
  m.finish();
  if (name == "bfind") {
    spec.op = shift ? Op::kBfindShift : Op::kBfind;
    return emit_alu(spec, "uT");
  }
  if (wrap == clamp) throw Unsupported{"it needs .wrap or .clamp"};
  if (name == "bmsk") {
    spec.op = wrap ? Op::kBmskWrap : Op::kBmskClamp;
    return emit_alu(spec, "Tuu");
  }
  spec.op = wrap ? Op::kSzextWrap : Op::kSzextClamp;
  emit_alu(spec, "TTu");
}

// rcp, sqrt, rsqrt, sin, cos, ex2, lg2, tanh
void Lowering::alu_approx() {
  Modifiers m(*insn_);
  OpSpec spec;
  const std::string_view name = insn_->opcode;
  const bool approx = m.take("approx");
  spec.rounding = m.take_rounding();
  spec.ftz = m.take("ftz");
  spec.type = m.need_type();
  m.finish();
  check_plain_rounding(spec.rounding);
  if (!approx && spec.rounding == Rounding::kNone) {
    throw Unsupported{"it needs .approx or a rounding modifier"};
  }
  if (name == "rcp") {
    spec.op = approx ? Op::kRcpApprox : Op::kRcp;
  } else if (name == "sqrt") {
    spec.op = approx ? Op::kSqrtApprox : Op::kSqrt;
  } else if (!approx) {
    throw Unsupported{"there is only the .approx form of it"};
  } else {
    spec.op = name == "rsqrt" ? Op::kRsqrtApprox
              : name == "sin" ? Op::kSin
              : name == "cos" ? Op::kCos
              : name == "ex2" ? Op::kEx2
              : name == "lg2" ? Op::kLg2
                              : Op::kTanh;
  }
  emit_alu(spec, "TT");
}

void Lowering::alu_dot() {
  Modifiers m(*insn_);
  OpSpec spec;
  if (insn_->opcode == "dp4a") {
    spec.op = Op::kDp4a;
  } else {
    spec.op = m.take("hi") ? Op::kDp2aHi : Op::kDp2aLo;
    m.take("lo");
  }
  spec.type = m.need_type();
  spec.from = m.need_type();
  m.finish();
  const auto word = [](Type type) { return type == Type::kU32 || type == Type::kS32; };
  if (!word(spec.type) || !word(spec.from)) throw Unsupported{"it takes .u32 and .s32"};
  emit_alu(spec, "uTfu");
}

// vadd4.u32.s32.u32.sat d, a, b, c and its like. Operands with selectors, as %r1.b7620, and results
// with masks do not parse as registers.
void Lowering::simd_video() {
  static constexpr std::string_view kNames[] = {"vadd", "vsub", "vavrg", "vabsdiff",
                                                "vmin", "vmax", "vset"};
  Modifiers m(*insn_);
  SimdSpec spec;
  const std::string_view name = insn_->opcode.substr(0, insn_->opcode.size() - 1);
  for (std::size_t k = 0; k < std::size(kNames); ++k) {
    if (kNames[k] == name) spec.op = static_cast<SimdOp>(k);
  }
  spec.parts = insn_->opcode.back() == '4' ? 4 : 2;
  const bool sets = spec.op == SimdOp::kSet;
  const Type result = sets ? Type::kU32 : m.need_type();
  const Type left = m.need_type();
  const Type right = m.need_type();
  if (sets) {
    const auto compare = m.take_one_of({"eq", "ne", "lt", "le", "gt", "ge"});
    if (!compare) throw Unsupported{"its comparison is not known"};
    spec.compare = static_cast<std::uint8_t>(*compare);
  }
  spec.signed_result = result == Type::kS32;
  spec.signed_a = left == Type::kS32;
  spec.signed_b = right == Type::kS32;
  spec.saturates = m.take("sat");
  spec.accumulates = m.take("add");
  m.finish();
  need_operands(4, 4);
  const SlotId a = source(operand(1), left);
  const SlotId b = source(operand(2), right);
  const SlotId c = source(operand(3), Type::kB32);
  const SlotId d = target(operand(0), 32);
  Proto& proto = emit(op_simd_video);
  def(proto, 0, d);
  use(proto, 1, a);
  use(proto, 2, b);
  use(proto, 3, c);
  proto.imm = std::bit_cast<std::int64_t>(spec);
}

void Lowering::alu_testp() {
  Modifiers m(*insn_);
  OpSpec spec;
  spec.op = Op::kTestp;
  const auto test =
      m.take_one_of({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (!test) throw Unsupported{"it does not say what to test"};
  spec.test = static_cast<Test>(*test);
  spec.type = m.need_type();
  m.finish();
  need_operands(2, 2);
  const SlotId a = source(operand(1), spec.type);
  const SlotId p = predicate_target(operand(0));
  Proto& proto = emit(ops_.floating(spec));
  def(proto, 0, p);
  use(proto, 1, a);
}

}  // namespace baton::sim
