#include "compile/source/tokens.h"

#include <algorithm>
#include <string>

#include "compile/source/words.h"

namespace baton::compiler {
namespace {

using TokenKind = SourceToken::Kind;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  TokenizedText run() {
    while (at_ < text_.size()) step();
    return std::move(out_);
  }

 private:
  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void step() {
    const char c = peek();
    if (c == '\n') {
      line_starts_ = true;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
      ++at_;
    } else if (c == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      at_ += peek(1) == '\n' ? 2 : 3;
    } else if (c == '/' && peek(1) == '/') {
      skip_line();
    } else if (c == '/' && peek(1) == '*') {
      skip_block_comment();
    } else if (c == '#' && line_starts_) {
      directive();
    } else {
      line_starts_ = false;
      token();
    }
  }

  // To the end of the line, past those that end with a backslash.
  void skip_line() {
    while (at_ < text_.size() && peek() != '\n') {
      if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        at_ += peek(1) == '\n' ? 1 : 2;
      }
      ++at_;
    }
    at_ = std::min(at_, text_.size());
  }

  void skip_block_comment() {
    const std::size_t end = text_.find("*/", at_ + 2);
    at_ = end == std::string_view::npos ? text_.size() : end + 2;
  }

  void directive() {
    const std::size_t begin = at_++;
    while (peek() == ' ' || peek() == '\t') ++at_;
    const std::size_t word = at_;
    while (is_word(peek())) ++at_;
    const std::string_view name = text_.substr(word, at_ - word);
    const std::size_t rest = at_;
    // A comment may go on over lines.
    while (at_ < text_.size() && peek() != '\n') {
      if (peek() == '/' && peek(1) == '*') {
        skip_block_comment();
      } else if (peek() == '/' && peek(1) == '/') {
        skip_line();
      } else if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        at_ += peek(1) == '\n' ? 2 : 3;
      } else {
        ++at_;
      }
    }
    out_.directives.push_back({begin, at_});
    out_.has_line_directives |= name == "line" || (name.empty() && is_digit(peek_at(rest)));
    condition(name, text_.substr(rest, at_ - rest));
  }

  char peek_at(std::size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  void condition(std::string_view name, std::string_view rest) {
    if (name == "if" || name == "ifdef" || name == "ifndef") {
      const std::size_t value = rest.find_first_not_of(" \t");
      const bool is_off = name == "if" && value != std::string_view::npos && rest[value] == '0' &&
                          (value + 1 == rest.size() || !is_word(rest[value + 1]));
      conditions_.push_back({depth_, is_off, false});
    } else if (conditions_.empty()) {
      return;
    } else if (name == "else" || name == "elif" || name == "elifdef" || name == "elifndef") {
      Condition& now = conditions_.back();
      // Nothing of a branch that is off counts: it need not be a program.
      if (!now.is_off && depth_ != now.depth) now.is_unbalanced = true;
      now.is_off = now.is_unbalanced;
    } else if (name == "endif") {
      conditions_.pop_back();
    }
  }

  bool is_hidden() const {
    return std::any_of(conditions_.begin(), conditions_.end(),
                       [](const Condition& each) { return each.is_off; });
  }

  void token() {
    SourceToken token;
    token.begin = at_;
    const char c = peek();
    if (is_word(c) && !is_digit(c)) {
      while (is_word(peek())) ++at_;
      token.kind = TokenKind::kWord;
      const std::string_view word = text_.substr(token.begin, at_ - token.begin);
      const bool is_prefix = word == "L" || word == "u" || word == "U" || word == "u8";
      const bool is_raw =
          word.ends_with('R') && word.size() <= 3 &&
          (word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R");
      if (peek() == '"' && is_raw) {
        raw_string();
        token.kind = TokenKind::kQuoted;
      } else if ((peek() == '"' || peek() == '\'') && is_prefix) {
        quoted();
        token.kind = TokenKind::kQuoted;
      }
    } else if (is_digit(c) || (c == '.' && is_digit(peek(1)))) {
      number();
      token.kind = TokenKind::kNumber;
    } else if (c == '"' || c == '\'') {
      quoted();
      token.kind = TokenKind::kQuoted;
    } else {
      at_ += c == ':' && peek(1) == ':' ? 2 : 1;
    }
    token.end = at_;
    if (is_hidden()) return;
    if (token.kind == TokenKind::kSymbol) {
      if (c == '(' || c == '[' || c == '{') ++depth_;
      if (c == ')' || c == ']' || c == '}') --depth_;
    }
    out_.tokens.push_back(token);
  }

  void number() {
    while (at_ < text_.size()) {
      const char c = peek();
      const bool is_sign = (c == '+' || c == '-') &&
                           std::string_view("eEpP").find(text_[at_ - 1]) != std::string_view::npos;
      const bool separates = c == '\'' && is_word(peek(1));
      if (!is_word(c) && c != '.' && !is_sign && !separates) break;
      ++at_;
    }
  }

  // One that its line does not end, as in text that is not a program, ends with the line.
  void quoted() {
    const char quote = text_[at_++];
    while (at_ < text_.size() && peek() != quote && peek() != '\n') {
      at_ += peek() == '\\' && at_ + 1 < text_.size() ? 2 : 1;
    }
    if (peek() == quote) ++at_;
    at_ = std::min(at_, text_.size());
  }

  void raw_string() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) {
      at_ = text_.size();
      return;
    }
    std::string end = ")";
    end += text_.substr(at_ + 1, open - at_ - 1);
    end += '"';
    const std::size_t close = text_.find(end, open);
    at_ = close == std::string_view::npos ? text_.size() : close + end.size();
  }

  struct Condition {
    int depth = 0;  // of brackets at its beginning
    bool is_off = false;
    bool is_unbalanced = false;
  };

  std::string_view text_;
  std::size_t at_ = 0;
  bool line_starts_ = true;
  int depth_ = 0;
  std::vector<Condition> conditions_;
  TokenizedText out_;
};

}  // namespace

TokenizedText tokenize(std::string_view text) {
  return Tokenizer(text).run();
}

}  // namespace baton::compiler
