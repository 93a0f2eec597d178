#include "pdl/value/value.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace baton::overlap {
namespace {

std::uint64_t mask(std::uint64_t bits, unsigned width) {
  return width >= 64 || width == 0 ? bits : bits & ((std::uint64_t{1} << width) - 1);
}

std::int64_t extended(std::uint64_t bits, unsigned width) {
  if (width == 0 || width >= 64) return static_cast<std::int64_t>(bits);
  const unsigned shift = 64 - width;
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

unsigned bits_of(std::string_view type) {
  return type == "u32" || type == "s32"   ? 32
         : type == "u64" || type == "s64" ? 64
         : type == "u16" || type == "s16" ? 16
                                          : 0;
}

// Whether the instruction is arithmetic of integers and nothing more: its type, and before it the
// part of a product that is meant. Every other modifier may change the result.
bool is_integer_arithmetic(const ptx::Instruction& i) {
  const std::vector<std::string_view>& modifiers = i.modifiers;
  const auto is_integer = [](std::string_view type) {
    return bits_of(type) != 0 || type == "b16" || type == "b32" || type == "b64" || type == "pred";
  };
  if (i.opcode == "cvta") return true;
  if (i.opcode == "cvt") return modifiers.size() == 2;
  const bool multiplies = i.opcode == "mul" || i.opcode == "mad";
  const std::size_t parts = multiplies ? 1 : 0;
  if (modifiers.size() != parts + 1 || !is_integer(modifiers.back())) return false;
  return !multiplies || modifiers[0] == "lo" || modifiers[0] == "wide";
}

// The greatest number of a type that is the same with and without a sign.
std::uint64_t cvt_bound(std::string_view type) {
  return mask(UINT64_MAX, bits_of(type)) >> (type.starts_with('s') ? 1 : 0);
}

Value converted(const ptx::Instruction& i, std::uint64_t bits) {
  if (i.modifiers.size() != 2) return Value::varies();
  const unsigned to = bits_of(i.modifiers[0]);
  const unsigned from = bits_of(i.modifiers[1]);
  if (to == 0 || from == 0) return Value::varies();
  const std::uint64_t value = i.modifiers[1].starts_with('s')
                                  ? static_cast<std::uint64_t>(extended(bits, from))
                                  : mask(bits, from);
  // A wider destination gets the sign (PTX ISA, "Operand Size Exceeding Instruction-Type Size").
  // How wide it is, is not known here: what reads a narrower one cuts the sign off again.
  return Value::constant(loaded_bits(value, to, i.modifiers[0].starts_with('s')));
}

// Of ranges, as long as nothing wraps around: bits are then what signed and unsigned numbers
// alike have, but for those below 0.
Value ranged(const Operation& operation, std::span<const Value> from) {
  const ptx::Instruction& i = *operation.instruction;
  const std::string_view name = i.opcode;
  const bool known =
      std::all_of(from.begin(), from.end(), [](const Value& value) { return value.is_range(); });
  if (!known || from.empty()) return Value::varies();
  const unsigned width = operation.width;
  const std::uint64_t all = mask(UINT64_MAX, width);
  // Of operands: half as wide as the result of a ".wide". A sign that may be set counts.
  const unsigned taken = i.has("wide") ? width / 2 : width;
  const bool is_signed = i.modifiers.back().starts_with('s');
  const std::uint64_t bound = mask(UINT64_MAX, taken) >> (is_signed ? 1 : 0);
  const auto fits = [&](std::size_t k) { return from[k].most <= bound; };
  const auto give = [&](bool overflows, std::uint64_t least, std::uint64_t most) {
    return overflows || most > all ? Value::varies() : Value::range(least, most);
  };
  const auto product = [&](std::uint64_t& least, std::uint64_t& most) {
    least = from[0].bits * from[1].bits;
    return __builtin_mul_overflow(from[0].most, from[1].most, &most);
  };
  if (width == 0) return Value::varies();
  if (from.size() == 1 && name == "mov") return give(false, from[0].bits, from[0].most);
  if (from.size() == 1 && name == "cvt") {
    const auto holds = [&](std::string_view type) {
      return bits_of(type) != 0 && from[0].most <= cvt_bound(type);
    };
    // The result has all bits of an unsigned number, so each number keeps its value.
    const bool same = i.modifiers.size() == 2 && holds(i.modifiers[0]) && holds(i.modifiers[1]);
    return same ? from[0] : Value::varies();
  }
  if (from.size() == 3 && name == "mad" && fits(0) && fits(1)) {
    std::uint64_t least = 0, most = 0;
    bool overflows = product(least, most);
    overflows |= __builtin_add_overflow(most, from[2].most, &most);
    return give(overflows, least + from[2].bits, most);
  }
  if (from.size() != 2) return Value::varies();
  if (name == "mul" && fits(0) && fits(1)) {
    std::uint64_t least = 0, most = 0;
    const bool overflows = product(least, most);
    return give(overflows, least, most);
  }
  if (name == "add") {
    std::uint64_t most = 0;
    const bool overflows = __builtin_add_overflow(from[0].most, from[1].most, &most);
    return give(overflows, from[0].bits + from[1].bits, most);
  }
  if (name == "sub") {
    const bool wraps = from[0].bits < from[1].most;
    return give(wraps, from[0].bits - from[1].most, from[0].most - from[1].bits);
  }
  if (name == "and") return give(false, 0, std::min(from[0].most, from[1].most));
  if (name == "or" || name == "xor") {
    const std::uint64_t most = std::max(from[0].most, from[1].most);
    return give(false, 0, UINT64_MAX >> std::countl_zero(most | 1));
  }
  if (name == "shl" && from[1].is_constant() && from[1].bits < width) {
    const bool wraps = from[0].most > (all >> from[1].bits);
    return give(wraps, from[0].bits << from[1].bits, from[0].most << from[1].bits);
  }
  if (name == "shr" && from[1].is_constant() && from[1].bits < width && fits(0)) {
    return give(false, from[0].bits >> from[1].bits, from[0].most >> from[1].bits);
  }
  if ((name == "div" || name == "rem") && from[1].is_constant() && from[1].bits != 0 && fits(0) &&
      fits(1)) {
    if (name == "rem") return give(false, 0, std::min(from[0].most, from[1].bits - 1));
    return give(false, from[0].bits / from[1].bits, from[0].most / from[1].bits);
  }
  if ((name == "min" || name == "max") && fits(0) && fits(1)) {
    const bool least = name == "min";
    return give(
        false, least ? std::min(from[0].bits, from[1].bits) : std::max(from[0].bits, from[1].bits),
        least ? std::min(from[0].most, from[1].most) : std::max(from[0].most, from[1].most));
  }
  return Value::varies();
}

// A product with 0 is 0, and an intersection is no more than one of both, whatever the other is.
Value absorbed(const Operation& operation, std::span<const Value> from) {
  const std::string_view name = operation.instruction->opcode;
  const auto is_zero = [&](std::size_t k) { return from[k].is_constant() && from[k].bits == 0; };
  if (from.size() < 2) return Value::varies();
  const bool gone = is_zero(0) || is_zero(1);
  if ((name == "mul" || name == "and") && gone) return Value::constant(0);
  for (std::size_t k = 0; k < 2 && name == "and"; ++k) {
    if (from[k].is_constant()) return Value::range(0, mask(from[k].bits, operation.width));
  }
  if (name == "mad" && from.size() == 3 && gone && from[2].is_constant()) return from[2];
  return Value::varies();
}

// shfl.sync.idx from the thread's own lane.
Value shuffled(const ptx::Instruction& i, std::span<const Value> from, const Value& own) {
  if (!i.has("idx") || from.size() < 2 || !from[1].is_constant() || !own.is_constant() ||
      from[1].bits != own.bits) {
    return Value::varies();
  }
  return from[0];
}

Value selected(std::span<const Value> from) {
  if (from[2].is_constant()) return from[(from[2].bits & 1) != 0 ? 0 : 1];
  const bool same = from[0].is_constant() && from[1].is_constant() && from[0].bits == from[1].bits;
  return same ? from[0] : Value::varies();
}

Value compared(const Operation& operation, std::span<const Value> from) {
  const ptx::Instruction& i = *operation.instruction;
  const unsigned width = operation.width;
  // setp.CmpOp.type: no second predicate is mixed in.
  if (from.size() != 2 || i.modifiers.size() != 2 || width == 0) return Value::varies();
  const std::string_view type = i.modifiers[1];
  if (type.starts_with('f')) return Value::varies();
  const std::string_view name = i.modifiers[0];
  // Nothing unsigned is below 0.
  const bool is_unsigned = type.starts_with('u');
  if (from[1].is_constant() && from[1].bits == 0 && is_unsigned) {
    if (name == "lt" || name == "lo") return Value::constant(0);
    if (name == "ge" || name == "hs") return Value::constant(1);
  }
  if (!from[0].is_range() || !from[1].is_range()) return Value::varies();
  // Compared as unsigned numbers, signed ones have their order where the sign is turned.
  const bool is_signed = type.starts_with('s');
  const std::uint64_t all = mask(UINT64_MAX, width), sign = is_signed ? all / 2 + 1 : 0;
  std::uint64_t least[2], most[2];
  for (std::size_t k = 0; k < 2; ++k) {
    // Of what was cut off, or has signs of both kinds, nothing is known.
    const Value& value = from[k];
    const bool whole = value.most <= all && (value.bits & sign) == (value.most & sign);
    if (!whole && !value.is_constant()) return Value::varies();
    least[k] = mask(value.bits, width) ^ sign;
    most[k] = mask(value.most, width) ^ sign;
  }
  const auto give = [](bool holds, bool fails) {
    return holds || fails ? Value::constant(holds ? 1 : 0) : Value::varies();
  };
  const bool below = most[0]<least[1], above = least[0]> most[1];
  const bool not_above = most[0] <= least[1], not_below = least[0] >= most[1];
  const bool equal = least[0] == most[0] && least[1] == most[1] && least[0] == least[1];
  if (name == "eq") return give(equal, below || above);
  if (name == "ne") return give(below || above, equal);
  if (name == "lt" || name == "lo") return give(below, not_below);
  if (name == "le" || name == "ls") return give(not_above, above);
  if (name == "gt" || name == "hi") return give(above, not_above);
  if (name == "ge" || name == "hs") return give(not_below, below);
  return Value::varies();
}

}  // namespace

Value joined(const Value& a, const Value& b) {
  if (a.state == Value::State::kNothing) return b;
  if (b.state == Value::State::kNothing) return a;
  const bool is_alike = a.state == b.state && a.root == b.root && a.is_generic == b.is_generic;
  if (!is_alike) return Value::varies();
  Value hull = a;
  hull.bits = std::min(a.bits, b.bits);
  hull.most = std::max(a.most, b.most);
  hull.is_remote |= b.is_remote;
  return hull;
}

std::uint64_t loaded_bits(std::uint64_t bits, unsigned width, bool is_signed) {
  return is_signed ? static_cast<std::uint64_t>(extended(bits, width)) : mask(bits, width);
}

Value result_of(const Operation& operation, std::span<const Value> from, const Value& lane) {
  const ptx::Instruction& i = *operation.instruction;
  const std::string_view name = i.opcode;
  bool constant = true;
  for (const Value& each : from) constant = constant && each.is_constant();
  // Written "-x" or "!p" the operand is another value.
  for (const ptx::InstructionOperand& operand : i.operands) {
    if (operand.negated && operand.kind == ptx::InstructionOperand::Kind::kIdentifier) {
      return Value::varies();
    }
  }
  if (name == "shfl") return shuffled(i, from, lane);
  if (name == "setp") return compared(operation, from);
  if (name == "selp" && from.size() == 3) return selected(from);
  // Of bf16, or of two 16-bit halves: no arithmetic of one integer.
  if (operation.width == 0 || !is_integer_arithmetic(i)) return Value::varies();
  if (!constant) {
    const Value found = ranged(operation, from);
    return found.is_range() ? found : absorbed(operation, from);
  }
  const unsigned width = operation.width;
  const bool is_signed = i.modifiers.back().starts_with('s');
  // Of operands: half as wide as the result of a ".wide".
  const unsigned taken = i.has("wide") ? width / 2 : width;
  const auto value = [&](std::size_t k) {
    return is_signed ? static_cast<std::uint64_t>(extended(from[k].bits, taken))
                     : mask(from[k].bits, taken);
  };
  const auto give = [&](std::uint64_t bits) { return Value::constant(mask(bits, width)); };
  if (from.size() == 1) {
    if (name == "mov" || name == "cvta") return give(from[0].bits);
    if (name == "cvt") return converted(i, from[0].bits);
    if (name == "not") return give(~from[0].bits);
    if (name == "neg") return give(0 - from[0].bits);
  }
  if (from.size() == 2) {
    if (name == "add") return give(value(0) + value(1));
    if (name == "sub") return give(value(0) - value(1));
    if (name == "mul") return give(value(0) * value(1));
    if (name == "and") return give(from[0].bits & from[1].bits);
    if (name == "or") return give(from[0].bits | from[1].bits);
    if (name == "xor") return give(from[0].bits ^ from[1].bits);
    if (name == "shl") return give(from[1].bits >= width ? 0 : from[0].bits << from[1].bits);
    if (name == "shr" && !is_signed) {
      return give(from[1].bits >= width ? 0 : mask(from[0].bits, width) >> from[1].bits);
    }
    if (name == "shr") {
      const auto by = static_cast<unsigned>(std::min<std::uint64_t>(from[1].bits, 63));
      return give(static_cast<std::uint64_t>(extended(from[0].bits, width) >> by));
    }
    if (!is_signed && mask(from[1].bits, width) != 0) {
      if (name == "div") return give(value(0) / value(1));
      if (name == "rem") return give(value(0) % value(1));
    }
  }
  if (from.size() == 3 && name == "mad") {
    return give(value(0) * value(1) + from[2].bits);
  }
  return ranged(operation, from);
}

}  // namespace baton::overlap
