// Operands (PTX ISA 9.0, "Operands") and constant expressions ("Constant Expressions").

#include <array>
#include <iterator>
#include <utility>

#include "ptx/parser.h"

namespace baton::ptx {
namespace {

// Binary operators by precedence, as in C. A comma, a bracket and so on have none.
int precedence(const Token& token) {
  struct Row {
    std::string_view op;
    int precedence;
  };
  static constexpr std::array<Row, 18> kRows = {{{"*", 10},
                                                 {"/", 10},
                                                 {"%", 10},
                                                 {"+", 9},
                                                 {"-", 9},
                                                 {"<<", 8},
                                                 {">>", 8},
                                                 {"<", 7},
                                                 {">", 7},
                                                 {"<=", 7},
                                                 {">=", 7},
                                                 {"==", 6},
                                                 {"!=", 6},
                                                 {"&", 5},
                                                 {"^", 4},
                                                 {"|", 3},
                                                 {"&&", 2},
                                                 {"||", 1}}};
  if (token.kind != TokenKind::kPunctuation) return 0;
  for (const Row& row : kRows) {
    if (token.text == row.op) return row.precedence;
  }
  return 0;
}

constexpr std::string_view kWarpSize = "WARP_SZ";

}  // namespace

class Parser::Nesting {
 public:
  explicit Nesting(Parser& parser) : parser_(parser) {
    if (parser_.depth_ == kMaxNesting) {
      parser_.fail(parser_.token_.position,
                   fmt::format("operands nest deeper than {} levels", kMaxNesting));
    }
    ++parser_.depth_;
  }
  ~Nesting() { --parser_.depth_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  Parser& parser_;
};

std::vector<InstructionOperand> Parser::take(std::size_t base) {
  const auto begin = scratch_.begin() + static_cast<std::ptrdiff_t>(base);
  std::vector<InstructionOperand> result(std::make_move_iterator(begin),
                                         std::make_move_iterator(scratch_.end()));
  scratch_.erase(begin, scratch_.end());
  return result;
}

InstructionOperand Parser::operand() {
  const Nesting nesting(*this);
  count_node();
  if (token_.kind == TokenKind::kIdentifier && token_.text != kWarpSize) return named_operand();
  if (token_.is('[')) return address();
  if (token_.is('{')) return sequence(InstructionOperand::Kind::kVector, '}');
  if (token_.is('(') && context_ == Context::kCall)
    return sequence(InstructionOperand::Kind::kGroup, ')');
  if (token_.kind == TokenKind::kString) {
    InstructionOperand result;
    result.kind = InstructionOperand::Kind::kString;
    result.position = token_.position;
    result.text = advance().text;
    return result;
  }
  if (token_.kind == TokenKind::kFloat || token_.kind == TokenKind::kDot)
    return float_operand(false);
  if (token_.is('!') || token_.is('-') || token_.is('+')) {
    const Token next = peek();
    if (next.kind == TokenKind::kIdentifier && next.text != kWarpSize && !token_.is('+')) {
      const Token sign = advance();
      InstructionOperand result = name();
      result.negated = true;
      result.is_minus = sign.is('-');
      result.position = sign.position;
      return result;
    }
    if (!token_.is('!') && (next.kind == TokenKind::kFloat || next.kind == TokenKind::kDot)) {
      return float_operand(true);
    }
  }
  return constant_operand();
}

// name or name.member
InstructionOperand Parser::name() {
  InstructionOperand result;
  result.position = token_.position;
  const Token first = advance();
  result.text = first.text;
  if (token_.kind == TokenKind::kDot && token_.text.data() == last_end_) {
    result.text = std::string_view(first.text.data(), first.text.size() + advance().text.size());
  }
  return result;
}

// name, name + offset, name|name, and in an initialiser name(…) and name = value
InstructionOperand Parser::named_operand() {
  InstructionOperand result = name();
  if (token_.is('|')) {
    advance();
    if (token_.kind != TokenKind::kIdentifier) unexpected("a register or \"_\" after \"|\"");
    InstructionOperand pair;
    pair.kind = InstructionOperand::Kind::kPair;
    pair.position = result.position;
    pair.children.reserve(2);
    pair.children.push_back(std::move(result));
    pair.children.push_back(name());
    return pair;
  }
  if (context_ == Context::kInitialiser) {
    if (token_.is('(')) return call(std::move(result));
    if (accept('=')) {
      result.kind = InstructionOperand::Kind::kField;
      result.children.push_back(operand());
      return result;
    }
  }
  result.offset = offset();
  return result;
}

// "+ constant" or "- constant" after a name, else 0.
std::int64_t Parser::offset() {
  if (token_.is('+')) {
    advance();
    return constant("a constant offset");
  }
  return token_.is('-') ? constant("a constant offset") : 0;
}

// generic(symbol), 0xFF00(symbol), with an offset after it.
InstructionOperand Parser::call(InstructionOperand callee) {
  InstructionOperand list = sequence(InstructionOperand::Kind::kCall, ')');
  callee.kind = InstructionOperand::Kind::kCall;
  callee.children = std::move(list.children);
  callee.offset = offset();
  return callee;
}

InstructionOperand Parser::address() {
  InstructionOperand result = sequence(InstructionOperand::Kind::kAddress, ']');
  if (result.children.empty()) fail(result.position, "expected an address between \"[\" and \"]\"");
  InstructionOperand& base = result.children.front();
  using Kind = InstructionOperand::Kind;
  if ((base.kind != Kind::kIdentifier && base.kind != Kind::kInteger) || base.negated) {
    fail(base.position, "expected a register, a symbol or an integer as the address");
  }
  result.offset = std::exchange(base.offset, 0);
  return result;
}

// Operands between the bracket at token_ and `close`. Only a vector and a group may be empty.
InstructionOperand Parser::sequence(InstructionOperand::Kind kind, char close) {
  InstructionOperand result;
  result.kind = kind;
  result.position = token_.position;
  advance();
  const std::size_t base = scratch_.size();
  if (!token_.is(close)) {
    do {
      InstructionOperand element = operand();
      scratch_.push_back(std::move(element));
    } while (accept(','));
  }
  if (!token_.is(close)) unexpected(fmt::format("\",\" or \"{}\" after the operand", close));
  advance();
  result.children = take(base);
  return result;
}

// A float literal, with its sign if `is_signed`.
InstructionOperand Parser::float_operand(bool is_signed) {
  InstructionOperand result;
  result.kind = InstructionOperand::Kind::kFloat;
  result.position = token_.position;
  const char* const begin = token_.text.data();
  const bool minus = is_signed && advance().is('-');
  if (token_.kind == TokenKind::kDot) {
    if (token_.text[1] < '0' || token_.text[1] > '9') unexpected("an operand");
    token_ = lexer_.number_at(token_);
  }
  result.is_single = token_.is_single;
  result.bits = token_.bits;
  if (minus) result.bits ^= std::uint64_t{1} << (token_.is_single ? 31 : 63);
  advance();
  result.text = std::string_view(begin, static_cast<std::size_t>(last_end_ - begin));
  return result;
}

// An integer, a constant expression, or the mask in front of a "(".
InstructionOperand Parser::constant_operand() {
  InstructionOperand result;
  result.kind = InstructionOperand::Kind::kInteger;
  result.position = token_.position;
  const char* const begin = token_.text.data();
  if (token_.kind == TokenKind::kInteger) {
    const Token literal = advance();
    result.text = literal.text;
    result.bits = literal.bits;
    if (token_.is(',') || token_.is(';')) return result;  // by far the commonest
    if (token_.is('(') && context_ == Context::kInitialiser) return call(std::move(result));
    const Constant value = constant_binary({literal.bits, literal.is_unsigned}, 1);
    result.bits = constant_choice(value).bits;
  } else {
    result.bits = constant_ternary().bits;
  }
  result.text = std::string_view(begin, static_cast<std::size_t>(last_end_ - begin));
  return result;
}

std::int64_t Parser::constant(std::string_view what) {
  const Nesting nesting(*this);
  if (token_.kind != TokenKind::kInteger && token_.kind != TokenKind::kPunctuation &&
      !token_.is_identifier(kWarpSize)) {
    unexpected(what);
  }
  return static_cast<std::int64_t>(constant_ternary().bits);
}

Parser::Constant Parser::constant_ternary() {
  return constant_choice(constant_binary(constant_unary(), 1));
}

Parser::Constant Parser::constant_choice(Constant condition) {
  if (!accept('?')) return condition;
  const Nesting nesting(*this);
  const Constant yes = constant_ternary();
  expect(':', "the first choice of \"?\"");
  const Constant no = constant_ternary();
  return {condition.bits != 0 ? yes.bits : no.bits, yes.is_unsigned || no.is_unsigned};
}

Parser::Constant Parser::constant_unary() {
  const Nesting nesting(*this);
  if (token_.kind == TokenKind::kInteger) {
    const Token literal = advance();
    return {literal.bits, literal.is_unsigned};
  }
  if (token_.is_identifier(kWarpSize)) {
    advance();
    return {32, false};
  }
  if (accept('+')) return constant_unary();
  if (accept('-')) {
    const Constant value = constant_unary();
    return {std::uint64_t{0} - value.bits, value.is_unsigned};
  }
  if (accept('!')) return {constant_unary().bits == 0 ? 1u : 0u, false};
  if (accept('~')) return {~constant_unary().bits, true};
  if (!token_.is('(')) unexpected("an operand");
  advance();
  if (token_.is_dot("s64") || token_.is_dot("u64")) {
    const bool is_unsigned = advance().text == ".u64";
    expect(')', "the type of a cast");
    return {constant_unary().bits, is_unsigned};
  }
  const Constant value = constant_ternary();
  expect(')', "the constant expression");
  return value;
}

// Precedence climbing: extends `left` by operators that bind at least as tightly as given.
Parser::Constant Parser::constant_binary(Constant left, int min_precedence) {
  for (;;) {
    const int level = precedence(token_);
    if (level == 0 || level < min_precedence) return left;
    const Token op = advance();
    const Constant right = constant_binary(constant_unary(), level + 1);
    left = apply(op, left, right);
  }
}

Parser::Constant Parser::apply(const Token& op, Constant left, Constant right) const {
  const bool is_unsigned = left.is_unsigned || right.is_unsigned;
  const auto a = static_cast<std::int64_t>(left.bits);
  const auto b = static_cast<std::int64_t>(right.bits);
  const auto truth = [](bool value) { return Constant{value ? 1u : 0u, false}; };
  const bool less = is_unsigned ? left.bits < right.bits : a < b;
  const std::string_view text = op.text;
  if (text == "+") return {left.bits + right.bits, is_unsigned};
  if (text == "-") return {left.bits - right.bits, is_unsigned};
  if (text == "*") return {left.bits * right.bits, is_unsigned};
  if (text == "/" || text == "%") {
    if (right.bits == 0) fail(op.position, "a constant expression divides by zero");
    // A remainder is of unsigned numbers, as ptxas 13.0 has it.
    if (text == "%") return {left.bits % right.bits, true};
    if (is_unsigned) return {left.bits / right.bits, true};
    // The one quotient that overflows: -2^63 / -1.
    if (b == -1) return {std::uint64_t{0} - left.bits, false};
    return {static_cast<std::uint64_t>(a / b), false};
  }
  if (text == "<<") return {right.bits < 64 ? left.bits << right.bits : 0, left.is_unsigned};
  if (text == ">>") {
    const std::uint64_t count = right.bits < 64 ? right.bits : 63;
    if (!left.is_unsigned) return {static_cast<std::uint64_t>(a >> count), false};
    return {right.bits < 64 ? left.bits >> count : 0, true};
  }
  if (text == "<") return truth(less);
  if (text == ">=") return truth(!less);
  if (text == "<=") return truth(less || left.bits == right.bits);
  if (text == ">") return truth(!less && left.bits != right.bits);
  if (text == "==") return truth(left.bits == right.bits);
  if (text == "!=") return truth(left.bits != right.bits);
  if (text == "&") return {left.bits & right.bits, true};
  if (text == "^") return {left.bits ^ right.bits, true};
  if (text == "|") return {left.bits | right.bits, true};
  if (text == "&&") return truth(left.bits != 0 && right.bits != 0);
  return truth(left.bits != 0 || right.bits != 0);
}

}  // namespace baton::ptx
