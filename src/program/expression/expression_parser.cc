#include <array>
#include <charconv>
#include <utility>

#include "base/error.h"
#include "base/text/suggest.h"
#include "base/text/text.h"
#include "program/expression/expression_code.h"

namespace baton {
namespace {

using ExpressionKind = ExpressionCode::Kind;
using Op = ExpressionCode::Op;

constexpr std::size_t kMaxLength = 4096;
// Each level of nesting holds three waiting values at the most: of a sum, a product and a call.
constexpr int kMaxNesting = 60;
static_assert((kMaxNesting + 1) * 3 + 1 < static_cast<int>(ExpressionCode::kMaxStack));

struct BuiltinFunction {
  std::string_view name;
  Op op;
  bool variadic;    // two or more arguments, folded from the left
  bool float_only;  // known in float expressions alone
};
constexpr std::array<BuiltinFunction, 8> kFunctions = {{
    {"min", Op::kMin, true, false},
    {"max", Op::kMax, true, false},
    {"ceildiv", Op::kCeilDiv, false, false},
    {"floordiv", Op::kFloorDiv, false, false},
    {"sqrt", Op::kSqrt, false, true},
    {"exp", Op::kExp, false, true},
    {"log", Op::kLog, false, true},
    {"pow", Op::kPow, false, true},
}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Recursive descent; nodes are appended once their operands are, which gives postfix order.
class ExpressionParser {
 public:
  explicit ExpressionParser(ExpressionCode& code) : code_(code), text_(code.text) {}

  void parse() {
    skip_spaces();
    if (at_end()) fail(0, "the expression is empty");
    parse_sum();
    if (!at_end()) fail(position_, "expected an operator or the end, found {}", found());
  }

 private:
  template <typename... Args>
  [[noreturn]] void fail(std::size_t offset, fmt::format_string<Args...> format, Args&&... args) {
    throw error_at(code_.place(offset), ErrorCode::kInvalidInput, "{}, in \"{}\"",
                   fmt::format(format, std::forward<Args>(args)...), printable(text_));
  }

  bool at_end() const { return position_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  void skip_spaces() {
    while (!at_end() && is_space(text_[position_])) ++position_;
  }
  void advance(std::size_t count) {
    position_ += count;
    last_end_ = position_;
    skip_spaces();
  }
  bool accept(char c) {
    if (at_end() || text_[position_] != c) return false;
    advance(1);
    return true;
  }
  std::string found() const {
    if (at_end()) return "the end";
    const std::string_view rest = text_.substr(position_);
    std::size_t length = leading_word(rest).size();
    if (length == 0) {
      length = 1;  // a whole UTF-8 character
      while (length < rest.size() && (static_cast<unsigned char>(rest[length]) & 0xC0) == 0x80) {
        ++length;
      }
    }
    return '"' + printable(rest.substr(0, length)) + '"';
  }

  void push(Op op, std::size_t begin, std::int64_t value = 0) {
    code_.nodes.push_back(
        {op, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(last_end_), value});
  }

  void parse_sum() {
    const std::size_t begin = position_;
    parse_product();
    while (peek() == '+' || peek() == '-') {
      const Op op = peek() == '+' ? Op::kAdd : Op::kSubtract;
      advance(1);
      parse_product();
      push(op, begin);
    }
  }

  void parse_product() {
    const std::size_t begin = position_;
    parse_unary();
    while (peek() == '*' || peek() == '/' || peek() == '%') {
      const Op op = peek() == '*' ? Op::kMultiply : peek() == '/' ? Op::kDivide : Op::kRemainder;
      advance(1);
      parse_unary();
      push(op, begin);
    }
  }

  void parse_unary() {
    const std::size_t begin = position_;
    if (!accept('-')) return parse_primary();
    if (is_digit(peek())) return parse_number(begin, true);
    enter();
    parse_unary();
    leave();
    push(Op::kNegate, begin);
  }

  void parse_primary() {
    const std::size_t begin = position_;
    if (is_digit(peek()) || peek() == '.') return parse_number(begin, false);
    if (accept('(')) {
      enter();
      parse_sum();
      leave();
      if (!accept(')')) fail(position_, "expected \")\", found {}", found());
      // The parentheses belong to the part that messages show.
      code_.nodes.back().begin = static_cast<std::uint32_t>(begin);
      code_.nodes.back().end = static_cast<std::uint32_t>(last_end_);
      return;
    }
    const std::string_view name = leading_word(text_.substr(position_));
    if (name.empty()) fail(position_, "expected a number, a name or \"(\", found {}", found());
    advance(name.size());
    if (peek() == '(') return parse_call(name, begin);
    if (is_function_name(name)) fail(begin, "the function {} has no arguments", name);
    push(Op::kName, begin, name_index(name));
  }

  void parse_call(std::string_view name, std::size_t begin) {
    const BuiltinFunction* function = nullptr;
    for (const BuiltinFunction& known : kFunctions) {
      if (known.name == name && (!known.float_only || code_.kind == ExpressionKind::kFloat)) {
        function = &known;
      }
    }
    if (function == nullptr) fail_unknown_function(name, begin);
    accept('(');
    enter();
    int count = 0;
    do {
      parse_sum();
      ++count;
      if (function->variadic && count >= 2) push(function->op, begin);
    } while (accept(','));
    leave();
    if (!accept(')')) fail(position_, "expected \",\" or \")\", found {}", found());
    if (function->variadic) {
      if (count < 2) fail(begin, "{} takes two or more arguments, 1 was given", name);
      code_.nodes.back().end = static_cast<std::uint32_t>(last_end_);
    } else {
      const int wanted = arity(function->op);
      if (count != wanted) {
        fail(begin, "{} takes {} argument{}, {} {} given", name, wanted, wanted == 1 ? "" : "s",
             count, count == 1 ? "was" : "were");
      }
      push(function->op, begin);
    }
  }

  [[noreturn]] void fail_unknown_function(std::string_view name, std::size_t begin) {
    std::vector<std::string_view> known;
    for (const BuiltinFunction& function : kFunctions) {
      if (function.float_only && code_.kind == ExpressionKind::kInteger) {
        if (function.name == name) {
          fail(begin, "{} is known in float expressions only, such as {{ f32 = \"{}(...)\" }}",
               name, name);
        }
        continue;
      }
      known.push_back(function.name);
    }
    throw error_at(code_.place(begin), ErrorCode::kInvalidInput, "unknown function {}, in \"{}\"{}",
                   name, printable(text_), suggestion(name, known));
  }

  // `begin` is where the sign stands, if there is one.
  void parse_number(std::size_t begin, bool negative) {
    std::size_t length = 0;
    const std::string_view rest = text_.substr(position_);
    const auto digits = [&] {
      while (length < rest.size() && is_digit(rest[length])) ++length;
    };
    digits();
    const std::size_t integer_length = length;
    if (length < rest.size() && rest[length] == '.') {
      ++length;
      digits();
    }
    if (length < rest.size() && (rest[length] == 'e' || rest[length] == 'E')) {
      ++length;
      if (length < rest.size() && (rest[length] == '+' || rest[length] == '-')) ++length;
      digits();
    }
    // Spaces may follow the sign.
    const std::string with_sign = negative ? std::string("-").append(rest.substr(0, length)) : "";
    const std::string_view number = negative ? with_sign : rest.substr(0, length);
    const char* const first = number.data();
    const char* const last = first + number.size();
    std::int64_t value = 0;
    std::from_chars_result result{};
    if (code_.kind == ExpressionKind::kFloat) {
      double real = 0;
      result = std::from_chars(first, last, real);
      value = std::bit_cast<std::int64_t>(real);
    } else {
      if (length != integer_length) fail(begin, "{} is not an integer", number);
      result = std::from_chars(first, last, value);
    }
    if (result.ec == std::errc::result_out_of_range) {
      fail(begin, "{} does not fit {}", number,
           code_.kind == ExpressionKind::kFloat ? "a double" : "64 bits");
    }
    if (result.ec != std::errc() || result.ptr != last) fail(begin, "{} is not a number", number);
    advance(length);
    if (is_letter(peek()) && position_ == last_end_) {
      fail(position_, "expected an operator or the end, found {}", found());
    }
    push(Op::kLiteral, begin, value);
  }

  std::int64_t name_index(std::string_view name) {
    for (std::size_t i = 0; i < code_.names.size(); ++i) {
      if (code_.names[i] == name) return static_cast<std::int64_t>(i);
    }
    code_.names.emplace_back(name);
    return static_cast<std::int64_t>(code_.names.size() - 1);
  }

  void enter() {
    if (++nesting_ > kMaxNesting) {
      fail(position_, "the expression is nested deeper than {} levels", kMaxNesting);
    }
  }
  void leave() { --nesting_; }

  ExpressionCode& code_;
  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t last_end_ = 0;  // of the last token, without the spaces after it
  int nesting_ = 0;
};

}  // namespace

bool is_function_name(std::string_view text) {
  for (const BuiltinFunction& function : kFunctions) {
    if (function.name == text) return true;
  }
  return false;
}

std::string_view leading_word(std::string_view text) {
  if (text.empty() || !is_letter(text[0])) return {};
  std::size_t length = 1;
  while (length < text.size() && (is_letter(text[length]) || is_digit(text[length]))) ++length;
  return text.substr(0, length);
}

bool is_identifier(std::string_view text) {
  return !text.empty() && leading_word(text) == text && !is_function_name(text);
}

std::shared_ptr<const ExpressionCode> parse_expression(ExpressionKind kind, std::string_view text,
                                                       SourceLocation where) {
  if (text.size() > kMaxLength) {
    throw error_at(where, ErrorCode::kInvalidInput,
                   "an expression of {} bytes is longer than the limit of {}", text.size(),
                   kMaxLength);
  }
  auto code = std::make_shared<ExpressionCode>();
  code->kind = kind;
  code->text = text;
  code->where = std::move(where);
  ExpressionParser(*code).parse();
  return code;
}

}  // namespace baton
