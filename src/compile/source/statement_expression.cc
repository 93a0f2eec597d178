#include "compile/source/statement_expression.h"

#include <algorithm>
#include <array>

#include "compile/source/tokens.h"

namespace baton::compiler {
namespace {

// What a statement begins with that has no value.
constexpr std::array<std::string_view, 9> kWithoutValue = {
    "if", "else", "for", "while", "do", "switch", "goto", "break", "continue"};

class StatementExpressions {
 public:
  explicit StatementExpressions(std::string_view text)
      : text_(text), tokens_(tokenize(text).tokens) {}

  std::vector<Insertion> run(const MayReturn& may_return) const {
    std::vector<Insertion> found;
    for (std::size_t open = 1; open < tokens_.size(); ++open) {
      if (!is(open, "{") || !is(open - 1, "(")) continue;
      const std::size_t close = closing(open);
      // A list of initialisers holds no ";".
      if (close + 1 >= tokens_.size() || !is(close + 1, ")") || !is(close - 1, ";")) continue;
      if (is_left(open, close, may_return)) continue;
      found.push_back({tokens_[open].begin, "[&]"});
      const std::size_t last = last_statement(open + 1, close);
      if (has_value(last, close)) found.push_back({tokens_[last].begin, "return "});
      found.push_back({tokens_[close].end, "()"});
    }
    return found;
  }

 private:
  std::string_view word(std::size_t i) const {
    return text_.substr(tokens_[i].begin, tokens_[i].end - tokens_[i].begin);
  }
  bool is(std::size_t i, std::string_view what) const { return word(i) == what; }

  bool is_left(std::size_t open, std::size_t close, const MayReturn& may_return) const {
    std::vector<std::string_view> brackets;
    for (std::size_t i = open; i < close; ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) brackets.push_back(word(i));
      if (is(i, ")") || is(i, "]") || is(i, "}")) brackets.pop_back();
      const bool may_be_statement = !brackets.empty() && brackets.back() == "{";
      if (is(i, "return") || may_return(word(i), may_be_statement)) return true;
    }
    return false;
  }

  std::size_t closing(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      if (is(i, "(") || is(i, "[") || is(i, "{")) ++depth;
      if ((is(i, ")") || is(i, "]") || is(i, "}")) && --depth == 0) return i;
    }
    return tokens_.size();
  }

  // Its first token. A block ends a statement as ";" does.
  std::size_t last_statement(std::size_t first, std::size_t close) const {
    std::size_t last = first;
    for (std::size_t i = first; i + 1 < close; ++i) {
      const bool is_block = is(i, "{");
      if (is(i, "(") || is(i, "[") || is_block) i = closing(i);
      if ((is_block || is(i, ";")) && i + 1 < close) last = i + 1;
    }
    return last;
  }

  bool has_value(std::size_t first, std::size_t close) const {
    if (first >= close || is(first, "{") || is(first, ";")) return false;
    return std::none_of(kWithoutValue.begin(), kWithoutValue.end(),
                        [&](std::string_view keyword) { return is(first, keyword); });
  }

  std::string_view text_;
  std::vector<SourceToken> tokens_;
};

}  // namespace

std::vector<Insertion> lambdas_for_statement_expressions(std::string_view text,
                                                         const MayReturn& may_return) {
  return StatementExpressions(text).run(may_return);
}

}  // namespace baton::compiler
