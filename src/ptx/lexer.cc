#include "ptx/lexer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "base/text/text.h"

namespace baton::ptx {
namespace {

enum Class : std::uint8_t { kSpace = 1, kDigit = 2, kLetter = 4, kSigil = 8, kHex = 16 };
constexpr std::uint8_t kFollow = kDigit | kLetter | kSigil;

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> table{};
  for (char c : {' ', '\t', '\r', '\v', '\f'}) table[static_cast<unsigned char>(c)] = kSpace;
  for (int c = '0'; c <= '9'; ++c) table[c] = kDigit | kHex;
  for (int c = 0; c < 26; ++c) {
    const std::uint8_t hex = c < 6 ? kHex : 0;
    table['a' + c] = kLetter | hex;
    table['A' + c] = kLetter | hex;
  }
  table['_'] = table['$'] = kSigil;
  return table;
}
constexpr std::array<std::uint8_t, 256> kClasses = make_classes();

bool is(char c, std::uint8_t classes) {
  return (kClasses[static_cast<unsigned char>(c)] & classes) != 0;
}

const char* skip(const char* cursor, const char* end, std::uint8_t classes) {
  while (cursor != end && is(*cursor, classes)) ++cursor;
  return cursor;
}

constexpr std::array<std::string_view, 8> kOperators = {
    "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};

// Compares characters: every punctuation mark of a text comes here.
bool is_operator(char first, char second) {
  return std::ranges::any_of(
      kOperators, [&](std::string_view op) { return op[0] == first && op[1] == second; });
}

}  // namespace

std::string describe(const Token& token) {
  if (token.kind == TokenKind::kEnd) return "the end of the text";
  if (token.kind == TokenKind::kString)
    return fmt::format("the string \"{}\"", printable(token.text, 40));
  return fmt::format("\"{}\"", printable(token.text, 40));
}

Error syntax_error(std::string_view text, const std::string& name, Position position,
                   const std::string& message) {
  // A tree's columns count bytes, those of messages count characters.
  const char* line = text.data();
  const char* const end = text.data() + text.size();
  for (std::uint32_t n = 1; n < position.line; ++n) {
    const void* newline = std::memchr(line, '\n', static_cast<std::size_t>(end - line));
    if (newline == nullptr) break;
    line = static_cast<const char*>(newline) + 1;
  }
  int column = 1;
  for (std::uint32_t n = 1; n < position.column && line + n - 1 < end; ++n) {
    if ((static_cast<unsigned char>(line[n - 1]) & 0xC0) != 0x80) ++column;
  }
  const int line_number = static_cast<int>(position.line);
  Error result(ErrorCode::kInvalidInput, message, {name, line_number, column});
  std::string excerpt = source_excerpt(text, line_number, column);
  if (!excerpt.empty()) result.note(std::move(excerpt));
  return result;
}

Lexer::Lexer(std::string_view text, const std::string& name, std::string_view part, Position start)
    : text_(text),
      name_(name),
      cursor_(part.data()),
      end_(part.data() + part.size()),
      line_start_(part.data() - (start.column - 1)),
      line_(start.line) {}

void Lexer::fail(Position position, const std::string& message) const {
  throw syntax_error(text_, name_, position, message);
}

Token Lexer::take(TokenKind kind, const char* begin, Position start) const {
  Token token;
  token.kind = kind;
  token.text = std::string_view(begin, static_cast<std::size_t>(cursor_ - begin));
  token.position = start;
  return token;
}

void Lexer::skip_comment() {
  const Position start = here();
  if (cursor_[1] == '/') {
    const void* newline = std::memchr(cursor_, '\n', static_cast<std::size_t>(end_ - cursor_));
    cursor_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
    return;
  }
  for (cursor_ += 2; cursor_ != end_; ++cursor_) {
    if (*cursor_ == '\n') newline();
    if (*cursor_ == '*' && end_ - cursor_ > 1 && cursor_[1] == '/') {
      cursor_ += 2;
      return;
    }
  }
  fail(start, "this comment is never closed; expected \"*/\"");
}

void Lexer::skip_space() {
  while (cursor_ != end_) {
    if (is(*cursor_, kSpace)) {
      ++cursor_;
    } else if (*cursor_ == '\n') {
      newline();
      ++cursor_;
    } else if (*cursor_ == '/' && end_ - cursor_ > 1 && (cursor_[1] == '/' || cursor_[1] == '*')) {
      skip_comment();
    } else {
      return;
    }
  }
}

Token Lexer::next() {
  skip_space();
  const Position start = here();
  const char* const begin = cursor_;
  if (cursor_ == end_) return take(TokenKind::kEnd, begin, start);
  const char c = *cursor_;
  const char following = end_ - cursor_ > 1 ? cursor_[1] : '\0';

  if (is(c, kLetter | kSigil) || (c == '%' && is(following, kFollow))) {
    cursor_ = skip(cursor_ + 1, end_, kFollow);
    return take(TokenKind::kIdentifier, begin, start);
  }
  if (c == '.' && is(following, kFollow)) {
    cursor_ = skip(cursor_ + 1, end_, kFollow);
    while (end_ - cursor_ > 2 && cursor_[0] == ':' && cursor_[1] == ':' &&
           is(cursor_[2], kFollow)) {
      cursor_ = skip(cursor_ + 2, end_, kFollow);
    }
    return take(TokenKind::kDot, begin, start);
  }
  if (is(c, kDigit)) return number(start);
  if (c == '"') return string(start);
  if (std::string_view("{}()[]<>,;:=+-*/%|&^!~?@").find(c) != std::string_view::npos) {
    cursor_ += is_operator(c, following) ? 2 : 1;
    return take(TokenKind::kPunctuation, begin, start);
  }
  if (c == '#') fail(start, "preprocessor lines do not belong in PTX; preprocess the text first");
  fail(start, fmt::format("\"{}\" begins no token of PTX", printable({begin, 1})));
}

// Quotes inside are written \".
Token Lexer::string(Position start) {
  const char* const begin = ++cursor_;
  for (; cursor_ != end_ && *cursor_ != '\n'; ++cursor_) {
    if (*cursor_ == '"') {
      Token token = take(TokenKind::kString, begin, start);
      ++cursor_;
      return token;
    }
    if (*cursor_ == '\\' && end_ - cursor_ > 1 && cursor_[1] != '\n') ++cursor_;
  }
  fail(start, "this string is not closed on its line; expected \"\\\"\"");
}

// 0f and 8 hexadecimal digits, or 0d and 16: the bits of the number.
Token Lexer::exact_float(Position start, bool is_single) {
  const char* const begin = cursor_;
  const char* const digits = cursor_ + 2;
  cursor_ = skip(digits, end_, kFollow);
  Token token = take(TokenKind::kFloat, begin, start);
  token.is_single = is_single;
  const auto [stop, status] = std::from_chars(digits, cursor_, token.bits, 16);
  const long expected = is_single ? 8 : 16;
  if (status != std::errc() || stop != cursor_ || cursor_ - digits != expected) {
    fail(start, fmt::format("expected {} hexadecimal digits after \"{}\", but found {}", expected,
                            std::string_view(begin, 2), describe(token)));
  }
  return token;
}

Token Lexer::decimal_float(Position start, const char* begin) {
  if (cursor_ != end_ && *cursor_ == '.') cursor_ = skip(cursor_ + 1, end_, kDigit);
  if (cursor_ != end_ && (*cursor_ == 'e' || *cursor_ == 'E')) {
    ++cursor_;
    if (cursor_ != end_ && (*cursor_ == '+' || *cursor_ == '-')) ++cursor_;
  }
  cursor_ = skip(cursor_, end_, kFollow);
  Token token = take(TokenKind::kFloat, begin, start);
  double value = 0;
  const auto [stop, status] = std::from_chars(begin, cursor_, value);
  if (stop != cursor_ || status == std::errc::invalid_argument) {
    fail(start, fmt::format("{} is not a number", describe(token)));
  }
  if (status == std::errc::result_out_of_range) {
    fail(start, fmt::format("{} does not fit a double", describe(token)));
  }
  std::memcpy(&token.bits, &value, sizeof value);
  return token;
}

Token Lexer::number(Position start) {
  const char* const begin = cursor_;
  int base = 10;
  const char* digits = begin;
  if (*begin == '0' && end_ - begin > 1) {
    const char prefix = static_cast<char>(begin[1] | 0x20);
    if (prefix == 'f' || prefix == 'd') return exact_float(start, prefix == 'f');
    if (prefix == 'x' || prefix == 'b') {
      base = prefix == 'x' ? 16 : 2;
      digits = begin + 2;
    } else if (is(begin[1], kDigit)) {
      base = 8;
    }
  }
  if (base == 10 || base == 8) {
    cursor_ = skip(cursor_, end_, kDigit);
    if (cursor_ != end_ && (*cursor_ == '.' || *cursor_ == 'e' || *cursor_ == 'E')) {
      return decimal_float(start, begin);
    }
  }
  cursor_ = skip(cursor_, end_, kFollow);
  Token token = take(TokenKind::kInteger, begin, start);
  const char* stop = cursor_;
  if (stop[-1] == 'U') {
    --stop;
    token.is_unsigned = true;
  }
  const auto [parsed, status] = std::from_chars(digits, stop, token.bits, base);
  if (status == std::errc::result_out_of_range) {
    fail(start, fmt::format("{} does not fit 64 bits", describe(token)));
  }
  if (status != std::errc() || parsed != stop) {
    fail(start, fmt::format("{} is not a number", describe(token)));
  }
  token.is_unsigned |= (token.bits >> 63) != 0;
  return token;
}

Token Lexer::number_at(const Token& dot) {
  cursor_ = dot.text.data();
  return decimal_float(dot.position, cursor_);
}

std::string_view Lexer::skip_block(const Token& open) {
  const char* const begin = open.text.data();
  std::size_t depth = 1;
  while (cursor_ != end_) {
    switch (*cursor_) {
      case '{':
        ++depth;
        break;
      case '}':
        if (--depth == 0) {
          ++cursor_;
          return std::string_view(begin, static_cast<std::size_t>(cursor_ - begin));
        }
        break;
      case '\n':
        newline();
        break;
      case '"':
        string(here());
        continue;
      case '/':
        if (end_ - cursor_ > 1 && (cursor_[1] == '/' || cursor_[1] == '*')) {
          skip_comment();
          continue;
        }
        break;
      default:
        break;
    }
    ++cursor_;
  }
  fail(open.position, "this \"{\" is never closed; expected \"}\"");
}

}  // namespace baton::ptx
