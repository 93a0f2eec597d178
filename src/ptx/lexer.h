#pragma once

// Splits PTX text into tokens (PTX ISA 9.0, "Source Format", "Identifiers", "Constants"). Nothing
// is copied: tokens point into the text.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "ptx/ast.h"

namespace baton::ptx {

enum class TokenKind : std::uint8_t {
  kEnd,
  kIdentifier,   // name, %name, $name, "_"
  kDot,          // .name, .1d, .shared::cta; `text` holds the dot
  kInteger,      // `bits`
  kFloat,        // `bits`; also what .version is followed by
  kString,       // `text` without the quotes
  kPunctuation,  // one character, or one of << >> <= >= == != && ||
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  bool is_single = false;    // 0f…: `bits` hold 32 bits
  bool is_unsigned = false;  // an integer that ends in U, or that fits 64 bits only without a sign
  std::string_view text;
  std::uint64_t bits = 0;
  Position position;

  bool is(char c) const {
    return kind == TokenKind::kPunctuation && text.size() == 1 && text[0] == c;
  }
  bool is_operator(std::string_view op) const {
    return kind == TokenKind::kPunctuation && text == op;
  }
  bool is_identifier(std::string_view name) const {
    return kind == TokenKind::kIdentifier && text == name;
  }
  bool is_dot(std::string_view name) const {
    return kind == TokenKind::kDot && text.substr(1) == name;
  }
};

// "end of file", "\"foo\"" …: how a message names a token.
std::string describe(const Token& token);

// The error for a place in a module's text, with that line as a note.
Error syntax_error(std::string_view text, const std::string& name, Position position,
                   const std::string& message);

// Not thread-safe; the text and the name must outlive it and its tokens.
class Lexer {
 public:
  // Reads `part` of the whole `text`; `start` is where in it the part begins.
  Lexer(std::string_view text, const std::string& name, std::string_view part, Position start);

  // The next token; kEnd again and again at the end. Throws Error(kInvalidInput).
  Token next();
  // Reads again, as a number, a token such as ".5" that was read as a kDot.
  Token number_at(const Token& dot);
  // After a "{" token: skips to after the matching "}" and returns all of it, braces included.
  std::string_view skip_block(const Token& open);

  [[noreturn]] void fail(Position position, const std::string& message) const;

 private:
  Position here() const { return {line_, static_cast<std::uint32_t>(cursor_ - line_start_) + 1}; }
  void skip_space();
  void skip_comment();
  void newline() {
    ++line_;
    line_start_ = cursor_ + 1;
  }
  Token number(Position start);
  Token exact_float(Position start, bool is_single);
  Token decimal_float(Position start, const char* begin);
  Token string(Position start);
  Token take(TokenKind kind, const char* begin, Position start) const;

  std::string_view text_;
  const std::string& name_;
  const char* cursor_;
  const char* end_;
  const char* line_start_;
  std::uint32_t line_;
};

}  // namespace baton::ptx
