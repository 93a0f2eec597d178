#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/error.h"

namespace baton {

// A parsed expression: its nodes in postfix order, which is the order they are computed in. What
// Expression and FloatExpression share. Immutable once parsed.
class ExpressionCode {
 public:
  // Integers are 64-bit and checked; in a float expression every value is a double, `/` divides,
  // and sqrt, exp, log and pow are known.
  enum class Kind : std::uint8_t { kInteger, kFloat };

  enum class Op : std::uint8_t {
    kLiteral,  // an integer, or the bits of a double in a float expression
    kName,     // the index of a name
    kNegate,
    kAdd,
    kSubtract,
    kMultiply,
    kDivide,
    kRemainder,
    kMin,
    kMax,
    kCeilDiv,
    kFloorDiv,
    kSqrt,
    kExp,
    kLog,
    kPow,
  };

  struct Node {
    Op op;
    std::uint32_t begin;  // the node's part of the text, for messages
    std::uint32_t end;
    std::int64_t value = 0;  // kLiteral, kName
  };

  // Values that wait for their operator at the same time, at the most: what nesting is limited by.
  static constexpr std::size_t kMaxStack = 256;

  Kind kind = Kind::kInteger;
  std::string text;
  SourceLocation where;  // of the text's first character; column 0: places inside are not known
  std::vector<Node> nodes;
  std::vector<std::string> names;  // each once, in order of appearance

  std::optional<std::int64_t> literal() const {
    if (kind != Kind::kInteger || nodes.size() != 1 || nodes[0].op != Op::kLiteral) return {};
    return nodes[0].value;
  }

  // `values` has one value for each of `names`. Throws kInvalidInput naming the sub-expression and
  // its values: overflow, division by zero, or a result that is not a finite number.
  std::int64_t evaluate(std::span<const std::int64_t> values) const;
  double evaluate_float(std::span<const std::int64_t> values) const;

  // The place of the character at `offset` of the text.
  SourceLocation place(std::size_t offset) const;
  // "N / K" with " (N = 1024, K = 0)", the values of the names in the node's part of the text.
  std::string_view part(const Node& node) const;
  std::string values_in(const Node& node, std::span<const std::int64_t> values) const;
};

// The place of the character at `offset` of a text that starts at `where`. A place whose column is
// unknown stays as it is.
SourceLocation place_in(const SourceLocation& where, std::string_view text, std::size_t offset);

// Operands of an operation: 0 for literals and names.
constexpr int arity(ExpressionCode::Op op) {
  using Op = ExpressionCode::Op;
  switch (op) {
    case Op::kLiteral:
    case Op::kName:
      return 0;
    case Op::kNegate:
    case Op::kSqrt:
    case Op::kExp:
    case Op::kLog:
      return 1;
    default:
      return 2;
  }
}

// Floor division and its remainder, which has the divisor's sign. `b` is not 0, and the quotient
// fits.
constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}
constexpr std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;  // the quotient of the least integer would not fit
  const std::int64_t remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

// Parses the whole text. Throws kInvalidInput at the offending character. Longer texts than 4096
// bytes and deeper nesting than 60 are refused.
std::shared_ptr<const ExpressionCode> parse_expression(ExpressionCode::Kind kind,
                                                       std::string_view text, SourceLocation where);

// Letters, digits and underscores, not starting with a digit, and not the name of a function: what
// symbols, indexes and buffers are called.
bool is_identifier(std::string_view text);
// The letters, digits and underscores that the text starts with, if that does not make a number.
std::string_view leading_word(std::string_view text);
// True for min, max, ceildiv, floordiv, sqrt, exp, log and pow.
bool is_function_name(std::string_view text);

// The value that one name must have for the expression to give `result`, where the expression is
// linear in it and the others' values are known. Nothing where it is not linear, or no integer
// solves it.
std::optional<std::int64_t> solve_for(const ExpressionCode& code, std::size_t unknown,
                                      std::span<const std::int64_t> values, std::int64_t result);

}  // namespace baton
