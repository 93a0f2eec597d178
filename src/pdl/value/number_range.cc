#include "pdl/value/number_range.h"

#include <algorithm>
#include <string_view>

namespace baton::overlap {
namespace {

using Range = std::optional<NumberRange>;

constexpr WideInteger power_of_2(unsigned exponent) {
  return WideInteger{1} << exponent;
}

constexpr WideInteger kMostMagnitude = power_of_2(100);

// Nothing where an end is too large to go on with.
Range checked(WideInteger least, WideInteger most) {
  if (least < -kMostMagnitude || most > kMostMagnitude) return std::nullopt;
  return NumberRange{least, most};
}

Range product(const NumberRange& a, const NumberRange& b) {
  WideInteger ends[4];
  if (__builtin_mul_overflow(a.least, b.least, &ends[0]) ||
      __builtin_mul_overflow(a.least, b.most, &ends[1]) ||
      __builtin_mul_overflow(a.most, b.least, &ends[2]) ||
      __builtin_mul_overflow(a.most, b.most, &ends[3])) {
    return std::nullopt;
  }
  const auto [least, most] = std::ranges::minmax(ends);
  return checked(least, most);
}

Range sum(const Range& a, const Range& b) {
  if (!a || !b) return std::nullopt;
  return checked(a->least + b->least, a->most + b->most);
}

Range negated(const Range& a) {
  if (!a) return std::nullopt;
  return NumberRange{-a->most, -a->least};
}

WideInteger floor_shift(WideInteger value, unsigned by) {
  return value >> by;  // of negative numbers too: gcc and clang keep the sign
}

struct NumberType {
  unsigned width = 0;
  bool is_signed = false;
};

// u8 to u64, s8 to s64, b8 to b64; a width of 0 for everything else.
NumberType type_of(std::string_view name) {
  const bool is_number = name.starts_with('u') || name.starts_with('s') || name.starts_with('b');
  if (!is_number) return {};
  const std::string_view digits = name.substr(1);
  const unsigned width = digits == "8"    ? 8
                         : digits == "16" ? 16
                         : digits == "32" ? 32
                         : digits == "64" ? 64
                                          : 0;
  return {width, name.starts_with('s')};
}

NumberRange meant(const Range& range, const NumberType& type) {
  return type.is_signed ? as_signed(range, type.width) : as_unsigned(range, type.width);
}

Range converted(const ptx::Instruction& i, const Range& from) {
  if (i.modifiers.size() != 2) return std::nullopt;
  const NumberType to = type_of(i.modifiers[0]), source = type_of(i.modifiers[1]);
  if (to.width == 0 || source.width == 0) return std::nullopt;
  // The destination may be wider than the type that is converted to.
  return meant(meant(from, source), to);
}

Range shifted_right(const NumberType& type, const Range& from, const Range& by) {
  if (!by || !by->is_constant() || by->least < 0 || by->least >= type.width) return std::nullopt;
  const auto bits = static_cast<unsigned>(by->least);
  const NumberRange value = meant(from, type);
  return NumberRange{floor_shift(value.least, bits), floor_shift(value.most, bits)};
}

Range masked(const NumberType& type, const Range& a, const Range& b) {
  // The bits of both are at most those of each.
  const WideInteger most =
      std::min(as_unsigned(a, type.width).most, as_unsigned(b, type.width).most);
  return NumberRange{0, most};
}

// or, xor: no carry, so at most the sum. An or has the bits of both. Of a constant, the bits above
// all of the other operand's stay.
Range joined(const NumberType& type, const Range& a, const Range& b, bool is_or) {
  NumberRange first = as_unsigned(a, type.width), second = as_unsigned(b, type.width);
  const WideInteger most = std::min(first.most + second.most, all_unsigned(type.width).most);
  NumberRange found{is_or ? std::max(first.least, second.least) : 0, most};
  if (first.is_constant()) std::swap(first, second);
  if (!second.is_constant()) return found;
  WideInteger changed = 0;
  while (changed < first.most) changed = 2 * changed + 1;
  const WideInteger kept = second.least - (second.least & changed);
  return NumberRange{std::max(found.least, kept), std::min(found.most, kept + changed)};
}

// bfe: so many bits, with zeros before them.
Range extracted(const NumberType& type, const Range& count) {
  if (type.is_signed || !count || !count->is_constant()) return std::nullopt;
  const WideInteger bits = as_unsigned(count, 8).least;
  return all_unsigned(static_cast<unsigned>(std::min<WideInteger>(bits, type.width)));
}

Range quotient(const NumberType& type, const Range& a, const Range& b) {
  const NumberRange value = meant(a, type), divisor = meant(b, type);
  if (value.least < 0 || divisor.least <= 0) return std::nullopt;
  return NumberRange{value.least / divisor.most, value.most / divisor.least};
}

Range remainder(const NumberType& type, const Range& a, const Range& b) {
  const NumberRange value = meant(a, type), divisor = meant(b, type);
  if (divisor.least <= 0) return std::nullopt;
  // What the sign of the result is depends on the machine.
  if (value.least < 0) return NumberRange{1 - divisor.most, divisor.most - 1};
  return NumberRange{0, std::min(value.most, divisor.most - 1)};
}

Range two_operands(const ptx::Instruction& i, const NumberType& type, std::span<const Range> from) {
  const std::string_view name = i.opcode;
  const Range &a = from[0], &b = from[1];
  if (name == "add") return sum(a, b);
  if (name == "sub") return sum(a, negated(b));
  if (name == "mul" && i.has("wide")) return product(meant(a, type), meant(b, type));
  if (name == "mul" && i.has("hi")) {
    const Range whole = product(meant(a, type), meant(b, type));
    if (!whole) return std::nullopt;
    return NumberRange{floor_shift(whole->least, type.width), floor_shift(whole->most, type.width)};
  }
  if (name == "mul" && i.has("lo")) return a && b ? product(*a, *b) : std::nullopt;
  if (name == "shl") {
    const bool is_known = a && b && b->is_constant() && b->least >= 0 && b->least < type.width;
    if (!is_known) return std::nullopt;
    return product(*a, NumberRange::constant(power_of_2(static_cast<unsigned>(b->least))));
  }
  if (name == "shr") return shifted_right(type, a, b);
  if (name == "and") return masked(type, a, b);
  if (name == "or" || name == "xor") return joined(type, a, b, name == "or");
  if (name == "div") return quotient(type, a, b);
  if (name == "rem") return remainder(type, a, b);
  if (name == "min" || name == "max") {
    const NumberRange x = meant(a, type), y = meant(b, type);
    if (name == "min") return NumberRange{std::min(x.least, y.least), std::min(x.most, y.most)};
    return NumberRange{std::max(x.least, y.least), std::max(x.most, y.most)};
  }
  return std::nullopt;
}

Range three_operands(const ptx::Instruction& i, const NumberType& type,
                     std::span<const Range> from) {
  if (i.opcode == "selp")
    return from[0] && from[1] ? Range(hull(*from[0], *from[1])) : std::nullopt;
  if (i.opcode == "bfe") return extracted(type, from[2]);
  if (i.opcode != "mad") return std::nullopt;
  if (i.has("wide")) return sum(product(meant(from[0], type), meant(from[1], type)), from[2]);
  if (i.has("lo"))
    return from[0] && from[1] ? sum(product(*from[0], *from[1]), from[2]) : std::nullopt;
  return std::nullopt;
}

// Whether the modifiers are those that the rules below are written for: ".relu", ".sat" and what
// else there may be change the result.
bool is_understood(const ptx::Instruction& i) {
  const std::size_t count = i.modifiers.size();
  if (i.opcode == "cvta") return i.has("global") && count == (i.has("to") ? 3 : 2);
  if (i.opcode == "cvt") return count == 2;
  const bool multiplies = i.opcode == "mul" || i.opcode == "mad";
  if (!multiplies) return count == 1;
  return count == 2 &&
         (i.modifiers[0] == "lo" || i.modifiers[0] == "hi" || i.modifiers[0] == "wide");
}

// The comparison that holds where the given one does not, or whose operands change places.
enum class NumberOrder : std::uint8_t {
  kEqual,
  kUnequal,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual
};

std::optional<NumberOrder> order_of(std::string_view name) {
  if (name == "eq") return NumberOrder::kEqual;
  if (name == "ne") return NumberOrder::kUnequal;
  if (name == "lt" || name == "lo") return NumberOrder::kLess;
  if (name == "le" || name == "ls") return NumberOrder::kLessEqual;
  if (name == "gt" || name == "hi") return NumberOrder::kGreater;
  if (name == "ge" || name == "hs") return NumberOrder::kGreaterEqual;
  return std::nullopt;
}

NumberOrder inverted(NumberOrder comparison) {
  switch (comparison) {
    case NumberOrder::kEqual:
      return NumberOrder::kUnequal;
    case NumberOrder::kUnequal:
      return NumberOrder::kEqual;
    case NumberOrder::kLess:
      return NumberOrder::kGreaterEqual;
    case NumberOrder::kLessEqual:
      return NumberOrder::kGreater;
    case NumberOrder::kGreater:
      return NumberOrder::kLessEqual;
    case NumberOrder::kGreaterEqual:
      return NumberOrder::kLess;
  }
  return comparison;
}

NumberOrder mirrored(NumberOrder comparison) {
  switch (comparison) {
    case NumberOrder::kEqual:
    case NumberOrder::kUnequal:
      return comparison;
    case NumberOrder::kLess:
      return NumberOrder::kGreater;
    case NumberOrder::kLessEqual:
      return NumberOrder::kGreaterEqual;
    case NumberOrder::kGreater:
      return NumberOrder::kLess;
    case NumberOrder::kGreaterEqual:
      return NumberOrder::kLessEqual;
  }
  return comparison;
}

}  // namespace

NumberRange hull(const NumberRange& a, const NumberRange& b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most)};
}

NumberRange all_unsigned(unsigned width) {
  return {0, power_of_2(width) - 1};
}

NumberRange all_signed(unsigned width) {
  return {-power_of_2(width - 1), power_of_2(width - 1) - 1};
}

namespace {

// The range itself, or the one a multiple of 2^width away, that lies in `all`; else `all`.
NumberRange moved_into(const NumberRange& all, const Range& range, unsigned width) {
  if (!range) return all;
  const WideInteger turns = floor_shift(range->least - all.least, width);
  const NumberRange moved{range->least - turns * power_of_2(width),
                          range->most - turns * power_of_2(width)};
  return moved.most <= all.most ? moved : all;
}

}  // namespace

NumberRange as_unsigned(const std::optional<NumberRange>& range, unsigned width) {
  return moved_into(all_unsigned(width), range, width);
}

NumberRange as_signed(const std::optional<NumberRange>& range, unsigned width) {
  return moved_into(all_signed(width), range, width);
}

std::optional<NumberRange> range_of(const Operation& operation,
                                    std::span<const std::optional<NumberRange>> from) {
  const ptx::Instruction& i = *operation.instruction;
  if (!is_understood(i)) return std::nullopt;
  for (const ptx::InstructionOperand& operand : i.operands) {
    if (operand.negated) return std::nullopt;
  }
  if (i.opcode == "cvt") return from.size() == 1 ? converted(i, from[0]) : std::nullopt;
  const NumberType type = type_of(i.modifiers.back());
  if (type.width == 0) return std::nullopt;
  switch (from.size()) {
    case 1:
      if (i.opcode == "mov" || i.opcode == "cvta") return from[0];
      if (i.opcode == "neg") return negated(from[0]);
      if (i.opcode == "not") return sum(negated(from[0]), NumberRange::constant(-1));
      if (i.opcode == "popc" || i.opcode == "clz") return NumberRange{0, type.width};
      return std::nullopt;
    case 2:
      return two_operands(i, type, from);
    case 3:
      return three_operands(i, type, from);
    default:
      return std::nullopt;
  }
}

std::optional<NumberRange> restricted(const Operation& setp, bool holds, bool swapped,
                                      const std::optional<NumberRange>& range,
                                      const std::optional<NumberRange>& bound) {
  const ptx::Instruction& i = *setp.instruction;
  if (i.modifiers.size() != 2) return range;
  const auto named = order_of(i.modifiers[0]);
  const NumberType type = type_of(i.modifiers[1]);
  if (!named || type.width == 0) return range;
  NumberOrder comparison = holds ? *named : inverted(*named);
  if (swapped) comparison = mirrored(comparison);
  NumberRange number = meant(range, type), limit = meant(bound, type);
  // Numbers are equal with a sign if they are without.
  const bool is_equality = comparison == NumberOrder::kEqual || comparison == NumberOrder::kUnequal;
  const bool has_sign = is_equality && number == all_unsigned(type.width);
  if (has_sign) {
    number = as_signed(range, type.width);
    limit = as_signed(bound, type.width);
  }
  NumberRange allowed = number;
  switch (comparison) {
    case NumberOrder::kEqual:
      allowed = limit;
      break;
    case NumberOrder::kUnequal:
      if (limit.is_constant() && number.most == limit.most) allowed.most = limit.most - 1;
      if (limit.is_constant() && number.least == limit.least) allowed.least = limit.least + 1;
      break;
    case NumberOrder::kLess:
      allowed.most = limit.most - 1;
      break;
    case NumberOrder::kLessEqual:
      allowed.most = limit.most;
      break;
    case NumberOrder::kGreater:
      allowed.least = limit.least + 1;
      break;
    case NumberOrder::kGreaterEqual:
      allowed.least = limit.least;
      break;
  }
  const NumberRange found{std::max(number.least, allowed.least),
                          std::min(number.most, allowed.most)};
  const NumberRange all =
      type.is_signed || has_sign ? all_signed(type.width) : all_unsigned(type.width);
  return found == all ? range : found;
}

}  // namespace baton::overlap
