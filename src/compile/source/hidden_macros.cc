// What the compiler refuses in the text of a macro: it is mended where the macro is defined.

#include <set>

#include "compile/source/hidden_code.h"
#include "compile/source/macros.h"
#include "compile/source/statement_expression.h"
#include "compile/source/words.h"

namespace baton::compiler {
namespace {

// What may be a macro's use: a word, and what follows it in brackets.
std::string_view use_at(std::string_view text, std::size_t place) {
  std::size_t end = std::min(place, text.size());
  while (end < text.size() && is_word(text[end])) ++end;
  if (end < text.size() && text[end] == '(') {
    int depth = 0;
    do {
      depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
      ++end;
    } while (depth > 0 && end < text.size());
  }
  return text.substr(std::min(place, end), end - place);
}

}  // namespace

void HiddenCode::visit_macros(std::string_view use, const VisitMacro& visit) const {
  std::set<std::string_view> seen;
  std::vector<std::string_view> pending;
  const auto note = [&](std::string_view word) {
    if (seen.insert(word).second) pending.push_back(word);
  };
  for_each_word(use, note);
  while (!pending.empty()) {
    const std::string_view name = pending.back();
    pending.pop_back();
    for (const auto& [file_name, file] : files_) {
      for (const DirectiveLine& each : file->outline.text().directives) {
        const std::string_view line =
            std::string_view(file->source).substr(each.begin, each.end - each.begin);
        const MacroDefinition macro = macro_definition(line);
        if (macro.name.empty() || macro.name != name) continue;
        const std::string_view text = line.substr(macro.body);
        visit(*file, each.begin + macro.body, text, macro);
        for_each_word(text, note);
      }
    }
  }
}

// What a macro at the place stands for is mended where the macro is defined.
bool HiddenCode::hide_in_macros(File& file, std::size_t place, std::string_view message) {
  const bool is_literal = message == "expected an expression";
  const bool is_throw = message.find("exception handling") != std::string_view::npos;
  bool is_new = false;
  if (!is_literal && !is_throw) return false;
  visit_macros(use_at(file.source, place), [&](File& in, std::size_t begin, std::string_view text,
                                               const MacroDefinition&) {
    for (TextRange part : is_literal ? compound_literals(text) : throw_statements(text)) {
      part = {part.begin + begin, part.end + begin};
      is_new |= add(in, part, is_throw ? Edit::Kind::kCall : Edit::Kind::kBlank);
    }
  });
  return is_new;
}

// Turns statement expressions into lambdas: those of the declaration at the place, and of the macro
// that it names.
bool HiddenCode::make_lambdas(File& file, std::size_t place) {
  if (keeps_statement_expressions_) return false;
  // A macro with parameters may make a statement of what it is given.
  const auto may_return = [&](std::string_view word) {
    bool found = false;
    visit_macros(word,
                 [&](File&, std::size_t, std::string_view text, const MacroDefinition& macro) {
                   found |= macro.parameters.data() != nullptr;
                   for_each_word(text, [&](std::string_view each) { found |= each == "return"; });
                 });
    return found;
  };
  bool is_new = false;
  const auto make = [&](File& in, std::size_t begin, std::string_view text,
                        const MacroDefinition& macro) {
    const auto leaves = [&](std::string_view word, bool may_be_statement) {
      const bool is_given = word == "__VA_ARGS__" || contains_word(macro.parameters, word);
      return (is_given && may_be_statement) || may_return(word);
    };
    for (Insertion each : lambdas_for_statement_expressions(text, leaves)) {
      each.at += begin;
      is_new |= insert(in, each);
    }
  };
  visit_macros(use_at(file.source, place), make);
  const std::vector<const Declaration*> chain = file.outline.at(place);
  if (!chain.empty()) {
    const TextRange& range = chain.back()->range;
    make(file, range.begin,
         std::string_view(file.source).substr(range.begin, range.end - range.begin), {});
  }
  return is_new;
}

}  // namespace baton::compiler
