#include "compile/source/macros.h"

#include <algorithm>
#include <array>

#include "compile/source/words.h"

namespace baton::compiler {

MacroDefinition macro_definition(std::string_view directive) {
  std::size_t at = directive.find_first_not_of(" \t", 1);
  constexpr std::string_view kDefine = "define";
  if (at == std::string_view::npos || !directive.substr(at).starts_with(kDefine)) return {};
  at = directive.find_first_not_of(" \t", at + kDefine.size());
  if (at == std::string_view::npos) return {};
  std::size_t end = at;
  while (end < directive.size() && is_word(directive[end])) ++end;
  MacroDefinition found{directive.substr(at, end - at), {}, end};
  if (end < directive.size() && directive[end] == '(') {
    found.body = std::min(directive.find(')', end), directive.size() - 1) + 1;
    found.parameters = directive.substr(end + 1, found.body - end - 2);
  }
  return found;
}

void for_each_word(std::string_view text, const std::function<void(std::string_view)>& visit) {
  for (const SourceToken& token : tokenize(text).tokens) {
    if (token.kind == SourceToken::Kind::kWord) {
      visit(text.substr(token.begin, token.end - token.begin));
    }
  }
}

std::vector<TextRange> compound_literals(std::string_view text) {
  const Outline outline(text);
  std::vector<TextRange> found;
  for (const SourceToken& token : outline.text().tokens) {
    const std::vector<TextRange> parts = outline.compound_literal(token.begin);
    found.insert(found.end(), parts.begin(), parts.end());
  }
  return found;
}

std::vector<TextRange> throw_statements(std::string_view text) {
  const std::vector<SourceToken> tokens = tokenize(text).tokens;
  const auto word = [&](std::size_t i) {
    return text.substr(tokens[i].begin, tokens[i].end - tokens[i].begin);
  };
  // What stands in front of a statement.
  constexpr std::array<std::string_view, 5> kBefore = {"{", "}", ";", ")", "else"};
  std::vector<TextRange> found;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (word(i) != "throw") continue;
    if (i > 0 && std::find(kBefore.begin(), kBefore.end(), word(i - 1)) == kBefore.end()) continue;
    std::size_t end = i;
    while (end < tokens.size() && word(end) != ";" && word(end) != "}") ++end;
    if (end == tokens.size() || word(end) != ";") continue;
    const TextRange range{tokens[i].begin, tokens[end].end};
    const bool is_one_line =
        text.substr(range.begin, range.end - range.begin).find('\n') == std::string_view::npos;
    if (is_one_line) found.push_back(range);
  }
  return found;
}

}  // namespace baton::compiler
