#include "program/expression/expression_code.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text/text.h"

namespace baton {
namespace {

using Op = ExpressionCode::Op;
using Node = ExpressionCode::Node;

template <typename... Args>
[[noreturn]] void fail(const ExpressionCode& code, const Node& node,
                       std::span<const std::int64_t> values, fmt::format_string<Args...> format,
                       Args&&... args) {
  throw error_at(code.place(node.begin), ErrorCode::kInvalidInput, "{}: {}{}",
                 printable(code.part(node)), fmt::format(format, std::forward<Args>(args)...),
                 code.values_in(node, values));
}

// Runs the postfix code over a stack of T. `apply` computes one operation from its operands (the
// second is 0 where there is none), `load` gives literals and names.
template <typename T, typename Load, typename Apply>
T run(const ExpressionCode& code, Load&& load, Apply&& apply) {
  T stack[ExpressionCode::kMaxStack];
  std::size_t top = 0;
  for (const Node& node : code.nodes) {
    const int operands = arity(node.op);
    if (operands == 0) {
      stack[top++] = load(node);
      continue;
    }
    const T b = operands == 2 ? stack[--top] : T{};
    stack[top - 1] = apply(node, stack[top - 1], b);
  }
  return stack[0];
}

}  // namespace

std::int64_t ExpressionCode::evaluate(std::span<const std::int64_t> values) const {
  const auto load = [&](const Node& node) {
    return node.op == Op::kName ? values[static_cast<std::size_t>(node.value)] : node.value;
  };
  const auto apply = [&](const Node& node, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    bool overflow = false;
    switch (node.op) {
      case Op::kNegate:
        overflow = __builtin_sub_overflow(std::int64_t{0}, a, &result);
        break;
      case Op::kAdd:
        overflow = __builtin_add_overflow(a, b, &result);
        break;
      case Op::kSubtract:
        overflow = __builtin_sub_overflow(a, b, &result);
        break;
      case Op::kMultiply:
        overflow = __builtin_mul_overflow(a, b, &result);
        break;
      case Op::kDivide:
      case Op::kFloorDiv:
      case Op::kCeilDiv:
        if (b == 0) fail(*this, node, values, "division by zero");
        overflow = a == INT64_MIN && b == -1;
        if (!overflow) {
          result = floor_divide(a, b);
          if (node.op == Op::kCeilDiv && floor_remainder(a, b) != 0) ++result;
        }
        break;
      case Op::kRemainder:
        if (b == 0) fail(*this, node, values, "division by zero");
        result = floor_remainder(a, b);
        break;
      case Op::kMin:
        result = std::min(a, b);
        break;
      case Op::kMax:
        result = std::max(a, b);
        break;
      default:  // the parser lets the others into float expressions alone
        throw error(ErrorCode::kInternal, "\"{}\" is not an integer expression", printable(text));
    }
    if (overflow) fail(*this, node, values, "the result does not fit 64 bits");
    return result;
  };
  return run<std::int64_t>(*this, load, apply);
}

double ExpressionCode::evaluate_float(std::span<const std::int64_t> values) const {
  const auto load = [&](const Node& node) {
    return node.op == Op::kName ? static_cast<double>(values[static_cast<std::size_t>(node.value)])
                                : std::bit_cast<double>(node.value);
  };
  const auto apply = [&](const Node& node, double a, double b) {
    double result = 0;
    switch (node.op) {
      case Op::kNegate:
        result = -a;
        break;
      case Op::kAdd:
        result = a + b;
        break;
      case Op::kSubtract:
        result = a - b;
        break;
      case Op::kMultiply:
        result = a * b;
        break;
      case Op::kDivide:
      case Op::kFloorDiv:
      case Op::kCeilDiv:
      case Op::kRemainder:
        if (b == 0) fail(*this, node, values, "division by zero");
        result = a / b;
        if (node.op == Op::kFloorDiv) result = std::floor(result);
        if (node.op == Op::kCeilDiv) result = std::ceil(result);
        if (node.op == Op::kRemainder) result = a - b * std::floor(result);
        break;
      case Op::kMin:
        result = std::min(a, b);
        break;
      case Op::kMax:
        result = std::max(a, b);
        break;
      case Op::kSqrt:
        result = std::sqrt(a);
        break;
      case Op::kExp:
        result = std::exp(a);
        break;
      case Op::kLog:
        result = std::log(a);
        break;
      case Op::kPow:
        result = std::pow(a, b);
        break;
      case Op::kLiteral:
      case Op::kName:
        break;  // have no operands
    }
    if (!std::isfinite(result)) fail(*this, node, values, "the result is {}, not a number", result);
    return result;
  };
  return run<double>(*this, load, apply);
}

SourceLocation ExpressionCode::place(std::size_t offset) const {
  return place_in(where, text, offset);
}

SourceLocation place_in(const SourceLocation& where, std::string_view text, std::size_t offset) {
  SourceLocation location = where;
  if (location.column == 0) return location;
  for (const char c : text.substr(0, offset)) {
    if (c == '\n') {
      ++location.line;
      location.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {  // not inside a UTF-8 character
      ++location.column;
    }
  }
  return location;
}

std::string_view ExpressionCode::part(const Node& node) const {
  return std::string_view(text).substr(node.begin, node.end - node.begin);
}

std::string ExpressionCode::values_in(const Node& node,
                                      std::span<const std::int64_t> values) const {
  std::string list;
  std::vector<bool> listed(names.size());
  for (const Node& other : nodes) {
    if (other.op != Op::kName || other.begin < node.begin || other.end > node.end) continue;
    const auto index = static_cast<std::size_t>(other.value);
    if (listed[index]) continue;
    listed[index] = true;
    list += fmt::format("{}{} = {}", list.empty() ? " (" : ", ", names[index], values[index]);
  }
  return list.empty() ? list : list + ')';
}

namespace {

__extension__ using Wide = __int128;

// scale * unknown + constant.
struct Linear {
  Wide scale = 0;
  Wide constant = 0;
  bool valid = true;
};

// Beyond this nothing is worth solving, and a product of two still fits.
constexpr Wide kWideLimit = Wide{1} << 63;

Linear checked(Linear value) {
  const auto fits = [](Wide part) { return part <= kWideLimit && part >= -kWideLimit; };
  // Nothing is left of a value that does not fit: sums of such values would overflow.
  if (!value.valid || !fits(value.scale) || !fits(value.constant)) return {0, 0, false};
  return value;
}

}  // namespace

std::optional<std::int64_t> solve_for(const ExpressionCode& code, std::size_t unknown,
                                      std::span<const std::int64_t> values, std::int64_t result) {
  const auto load = [&](const Node& node) -> Linear {
    if (node.op == Op::kLiteral) return {0, node.value};
    const auto index = static_cast<std::size_t>(node.value);
    if (index == unknown) return {1, 0};
    return {0, values[index]};
  };
  const auto apply = [](const Node& node, const Linear& a, const Linear& b) -> Linear {
    const bool valid = a.valid && b.valid;
    switch (node.op) {
      case Op::kNegate:
        return checked({-a.scale, -a.constant, valid});
      case Op::kAdd:
        return checked({a.scale + b.scale, a.constant + b.constant, valid});
      case Op::kSubtract:
        return checked({a.scale - b.scale, a.constant - b.constant, valid});
      case Op::kMultiply:
        if (a.scale != 0 && b.scale != 0) return {0, 0, false};
        if (!valid) return {0, 0, false};
        return checked({a.scale * b.constant + b.scale * a.constant, a.constant * b.constant});
      default:
        // The rest is linear only where the unknown plays no part, which evaluation then shows.
        return {0, 0, false};
    }
  };
  const Linear form = run<Linear>(code, load, apply);
  if (!form.valid || form.scale == 0) return std::nullopt;
  const Wide difference = Wide{result} - form.constant;
  if (difference % form.scale != 0) return std::nullopt;
  const Wide solution = difference / form.scale;
  if (solution > INT64_MAX || solution < INT64_MIN) return std::nullopt;
  return static_cast<std::int64_t>(solution);
}

}  // namespace baton
