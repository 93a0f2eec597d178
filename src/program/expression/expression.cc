#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "baton/program.h"
#include "program/expression/expression_code.h"

namespace baton {
namespace {

using ExpressionKind = ExpressionCode::Kind;
using Op = ExpressionCode::Op;

bool same_structure(const ExpressionCode& a, const ExpressionCode& b) {
  if (a.names != b.names || a.nodes.size() != b.nodes.size()) return false;
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    if (a.nodes[i].op != b.nodes[i].op || a.nodes[i].value != b.nodes[i].value) return false;
  }
  return true;
}

int precedence(const ExpressionCode& code) {
  switch (code.nodes.back().op) {
    case Op::kAdd:
    case Op::kSubtract:
      return 1;
    case Op::kMultiply:
    case Op::kDivide:
    case Op::kRemainder:
      return 2;
    case Op::kNegate:
      return 3;
    default:
      return 4;
  }
}

std::string operand(const Expression& expression, bool parenthesise) {
  return parenthesise ? '(' + expression.text() + ')' : expression.text();
}

// Joins two expressions as text and parses that, so that what was built in C++ reads, prints and
// fails as what was written.
Expression binary(const Expression& a, const char* op, int level, const Expression& b) {
  return operand(a, precedence(*a.code()) < level) + ' ' + op + ' ' +
         operand(b, precedence(*b.code()) <= level);
}

Expression call(const char* function, const Expression& a, const Expression& b) {
  return std::string(function) + '(' + a.text() + ", " + b.text() + ')';
}

}  // namespace

Expression::Expression(std::string_view text, SourceLocation where)
    : code_(parse_expression(ExpressionKind::kInteger, text, std::move(where))) {}

void Expression::require_signed(std::uint64_t value) {
  constexpr std::uint64_t kGreatest = std::numeric_limits<std::int64_t>::max();
  if (value <= kGreatest) return;
  throw error(ErrorCode::kInvalidInput,
              "the number {} is greater than {}, the greatest value of an expression; an argument "
              "of type u64 takes its bits as a negative number, {}",
              value, kGreatest, static_cast<std::int64_t>(value));
}

Expression::Expression(Literal, std::int64_t value) {
  auto code = std::make_shared<ExpressionCode>();
  code->text = std::to_string(value);
  code->nodes.push_back({Op::kLiteral, 0, static_cast<std::uint32_t>(code->text.size()), value});
  code_ = std::move(code);
}

const std::string& Expression::text() const {
  return code_->text;
}
const SourceLocation& Expression::where() const {
  return code_->where;
}
std::optional<std::int64_t> Expression::literal() const {
  return code_->literal();
}
const std::vector<std::string>& Expression::names() const {
  return code_->names;
}

bool operator==(const Expression& a, const Expression& b) {
  return same_structure(*a.code_, *b.code_);
}

Expression symbol(std::string_view name) {
  return Expression(name);
}

Expression operator+(const Expression& a, const Expression& b) {
  return binary(a, "+", 1, b);
}
Expression operator-(const Expression& a, const Expression& b) {
  return binary(a, "-", 1, b);
}
Expression operator*(const Expression& a, const Expression& b) {
  return binary(a, "*", 2, b);
}
Expression operator/(const Expression& a, const Expression& b) {
  return binary(a, "/", 2, b);
}
Expression operator%(const Expression& a, const Expression& b) {
  return binary(a, "%", 2, b);
}
Expression operator-(const Expression& a) {
  return '-' + operand(a, precedence(*a.code()) < 4);
}
Expression min(const Expression& a, const Expression& b) {
  return call("min", a, b);
}
Expression max(const Expression& a, const Expression& b) {
  return call("max", a, b);
}
Expression ceildiv(const Expression& a, const Expression& b) {
  return call("ceildiv", a, b);
}
Expression floordiv(const Expression& a, const Expression& b) {
  return call("floordiv", a, b);
}

FloatExpression::FloatExpression(std::string_view text, SourceLocation where)
    : code_(parse_expression(ExpressionKind::kFloat, text, std::move(where))) {}

const std::string& FloatExpression::text() const {
  return code_->text;
}
const SourceLocation& FloatExpression::where() const {
  return code_->where;
}
const std::vector<std::string>& FloatExpression::names() const {
  return code_->names;
}

bool operator==(const FloatExpression& a, const FloatExpression& b) {
  return same_structure(*a.code_, *b.code_);
}

}  // namespace baton
