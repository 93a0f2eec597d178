#include "compile/source/outline.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/text/text.h"

namespace baton::compiler {
namespace {

template <std::size_t n>
bool is_one_of(std::string_view word, const std::array<std::string_view, n>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// What has arguments in front of a declarator's own.
constexpr std::array<std::string_view, 8> kWithArguments = {
    "alignas",  "__align__", "__attribute__",     "__declspec",
    "noexcept", "decltype",  "__launch_bounds__", "__cluster_dims__"};
constexpr std::array<std::string_view, 3> kAccess = {"public", "private", "protected"};
constexpr std::array<std::string_view, 4> kLoops = {"for", "while", "switch", "catch"};
constexpr std::array<std::string_view, 3> kClassKeys = {"class", "struct", "union"};

}  // namespace

// Splits a scope into its declarations.
class OutlineParser {
 public:
  explicit OutlineParser(const Outline& outline) : outline_(outline) {}

  std::vector<Declaration> scope(std::size_t first, std::size_t last) {
    std::vector<Declaration> found;
    for (std::size_t i = first; i < last;) {
      if (is(i, ";") || is(i, "}")) {
        ++i;
      } else if (i + 1 < last && is_one_of(word(i), kAccess) && is(i + 1, ":")) {
        i += 2;
      } else {
        i = declaration(i, last, found.emplace_back());
      }
    }
    return found;
  }

 private:
  std::string_view word(std::size_t i) const { return outline_.word(i); }
  bool is(std::size_t i, std::string_view what) const { return outline_.is(i, what); }
  std::size_t after(std::size_t open) const { return outline_.closing(open) + 1; }
  std::size_t begin_of(std::size_t i) const { return outline_.tokenized_.tokens[i].begin; }
  std::size_t end_of(std::size_t i) const { return outline_.tokenized_.tokens[i].end; }

  // Reads one, and returns the token after it.
  std::size_t declaration(std::size_t first, std::size_t last, Declaration& out) {
    const std::size_t end = std::max(parse(first, last, out), first + 1);
    out.range = {begin_of(first), end_of(std::min(end, last) - 1)};
    note_marks(first, std::min(end, last), out);
    return end;
  }

  void note_marks(std::size_t first, std::size_t last, Declaration& out) const {
    const std::size_t head = out.body.empty() ? out.range.end : out.body.begin;
    bool host = false, device = false, other = false;
    for (std::size_t i = first; i < last; ++i) {
      const bool is_host = is(i, "__host__");
      const bool is_device = is(i, "__device__");
      const bool is_other = is(i, "__global__") || is(i, "__constant__") || is(i, "__shared__") ||
                            is(i, "__managed__");
      out.mentions_device |= is_device || is_other;
      if (begin_of(i) >= head) continue;
      host |= is_host;
      device |= is_device;
      other |= is_other;
      out.is_constexpr |= is(i, "constexpr") || is(i, "consteval");
    }
    if (out.kind == Declaration::Kind::kFunction || out.kind == Declaration::Kind::kOther) {
      out.is_for_device = other || (device && !host);
    }
  }

  std::size_t parse(std::size_t first, std::size_t last, Declaration& out) {
    std::size_t i = first;
    while (i < last && is(i, "template") && i + 1 < last && is(i + 1, "<")) {
      out.is_specialization |= i + 2 < last && is(i + 2, ">");
      i = outline_.after_angles(i + 1, last);
    }
    std::size_t name = i;
    if (name < last && is(name, "inline")) ++name;
    const bool is_linkage = is(i, "extern") && i + 2 < last &&
                            outline_.tokenized_.tokens[i + 1].kind == SourceToken::Kind::kQuoted &&
                            is(i + 2, "{");
    if (is_linkage || (name < last && is(name, "namespace"))) {
      std::size_t open = i;
      while (open < last && !is(open, "{") && !is(open, ";")) ++open;
      if (open >= last || is(open, ";")) return open + 1;
      out.kind = Declaration::Kind::kNamespace;
      out.members = scope(open + 1, outline_.closing(open));
      return after(open);
    }
    return rest(i, last, out);
  }

  std::size_t rest(std::size_t i, std::size_t last, Declaration& out) {
    bool has_parameters = false, is_class = false, is_enum = false, has_value = false;
    while (i < last) {
      if (is(i, ";")) return i + 1;
      if (is(i, "}")) return i;
      if (is(i, "operator")) {
        i += i + 2 < last && is(i + 1, "(") && is(i + 2, ")") ? 3 : 1;
        while (i < last && !is(i, "(") && !is(i, ";") && !is(i, "{")) ++i;
      } else if (is(i, "(") || is(i, "[")) {
        has_parameters |= is(i, "(") && (i == 0 || !is_one_of(word(i - 1), kWithArguments));
        i = after(i);
      } else if (is(i, "=")) {
        has_value = true;
        ++i;
      } else if (is(i, ":") && has_parameters && !has_value && !is_class) {
        return function(i, last, out);
      } else if (is(i, "try") && has_parameters) {
        return function(i, last, out);
      } else if (is(i, "{")) {
        if (has_parameters && !has_value) return function(i, last, out);
        if (is_class && !has_value && out.kind != Declaration::Kind::kClass) {
          out.kind = Declaration::Kind::kClass;
          out.members = scope(i + 1, outline_.closing(i));
        }
        i = after(i);
      } else {
        is_enum |= is(i, "enum");
        is_class |= !is_enum && is_one_of(word(i), kClassKeys);
        ++i;
      }
    }
    return last;
  }

  // From the "{", "try" or the ":" of a constructor.
  std::size_t function(std::size_t i, std::size_t last, Declaration& out) {
    out.kind = Declaration::Kind::kFunction;
    out.body.begin = begin_of(i);
    const bool is_try = is(i, "try");
    if (is_try && i + 1 < last) ++i;
    if (is(i, ":")) {
      // name(...), name{...}, ... until the "{" that follows one of these.
      for (++i; i < last; ++i) {
        if (is(i, ";")) break;
        const bool is_body = is(i, "{") && (is(i - 1, ")") || is(i - 1, "}") || is(i - 1, "."));
        if (is_body) break;
        if (is(i, "(") || is(i, "{")) i = outline_.closing(i);
      }
    }
    if (i >= last || !is(i, "{")) {
      out.body = {};
      return std::min(i, last);
    }
    out.statements = {end_of(i), begin_of(outline_.closing(i))};
    i = after(i);
    while (is_try && i + 1 < last && is(i, "catch") && is(i + 1, "(")) {
      i = after(i + 1);
      if (i < last && is(i, "{")) i = after(i);
    }
    out.body.end = end_of(std::min(i, last) - 1);
    return i;
  }

  const Outline& outline_;
};

Outline::Outline(std::string_view text) : source_(text), tokenized_(tokenize(text)) {
  const std::vector<SourceToken>& tokens = tokenized_.tokens;
  pairs_.resize(tokens.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    pairs_[i] = i;
    if (is(i, "(") || is(i, "[") || is(i, "{")) open.push_back(i);
    if (is(i, ")") || is(i, "]") || is(i, "}")) {
      const std::string_view wanted = is(i, ")") ? "(" : is(i, "]") ? "[" : "{";
      while (!open.empty() && !is(open.back(), wanted)) open.pop_back();
      if (open.empty()) continue;
      pairs_[open.back()] = i;
      open.pop_back();
    }
  }
  declarations_ = OutlineParser(*this).scope(0, tokens.size());
}

std::string_view Outline::word(std::size_t token) const {
  if (token >= tokenized_.tokens.size()) return {};
  const SourceToken& found = tokenized_.tokens[token];
  if (found.kind == SourceToken::Kind::kQuoted) return "\"";
  return source_.substr(found.begin, found.end - found.begin);
}

std::size_t Outline::token_at(std::size_t place) const {
  const auto found =
      std::upper_bound(tokenized_.tokens.begin(), tokenized_.tokens.end(), place,
                       [](std::size_t at, const SourceToken& token) { return at < token.end; });
  return static_cast<std::size_t>(found - tokenized_.tokens.begin());
}

std::vector<std::string_view> Outline::template_parameters(std::size_t first) const {
  std::vector<std::string_view> parameters;
  const std::size_t last = after_angles(first + 1, tokenized_.tokens.size()) - 1;
  std::size_t begin = first + 2;
  int depth = 0;
  for (std::size_t i = begin; i <= last && last < tokenized_.tokens.size(); ++i) {
    if (is(i, "(") || is(i, "[") || is(i, "{")) i = closing(i);
    if (is(i, "<")) ++depth;
    if (is(i, ">") && i < last) --depth;
    if ((!is(i, ",") || depth != 0) && i != last) continue;
    const std::size_t from = tokenized_.tokens[begin].begin;
    if (i > begin)
      parameters.push_back(trim(source_.substr(from, tokenized_.tokens[i].begin - from)));
    begin = i + 1;
  }
  return parameters;
}

std::vector<KernelTemplate> Outline::kernel_templates() const {
  std::vector<KernelTemplate> found;
  const auto visit = [&](const auto& self, const std::vector<Declaration>& scope,
                         const std::string& within) -> void {
    for (const Declaration& each : scope) {
      const std::size_t first = token_at(each.range.begin);
      if (each.kind == Declaration::Kind::kNamespace) {
        // One with a name; "extern "C"" has none.
        const bool is_named = is(first, "namespace") && is(first + 2, "{");
        self(self, each.members,
             is_named ? fmt::format("{}{}::", within, word(first + 1)) : within);
      }
      if (each.kind != Declaration::Kind::kFunction || each.is_specialization) continue;
      if (!is(first, "template") || !each.is_for_device) continue;
      bool is_kernel = false;
      for (std::size_t i = specifiers_token(first); tokenized_.tokens[i].begin < each.body.begin;
           ++i) {
        is_kernel |= is(i, "__global__");
        if (!is(i, "(")) continue;
        const bool is_name = !is_one_of(word(i - 1), kWithArguments);
        if (is_name && is_kernel) {
          found.push_back({within + std::string(word(i - 1)), template_parameters(first)});
        }
        if (is_name) break;
        i = closing(i);
      }
    }
  };
  visit(visit, declarations_, "");
  return found;
}

std::vector<const Declaration*> Outline::at(std::size_t place) const {
  std::vector<const Declaration*> chain;
  const std::vector<Declaration>* scope = &declarations_;
  while (scope != nullptr) {
    const auto found = std::find_if(scope->begin(), scope->end(), [&](const Declaration& each) {
      return each.range.contains(place);
    });
    if (found == scope->end()) break;
    chain.push_back(&*found);
    scope = &found->members;
  }
  return chain;
}

// Past the parameters of a template, from their "<".
std::size_t Outline::after_angles(std::size_t i, std::size_t last) const {
  int depth = 0;
  for (; i < last; ++i) {
    if (is(i, "<")) ++depth;
    if (is(i, ">") && --depth == 0) return i + 1;
    if (is(i, "(") || is(i, "[") || is(i, "{")) i = closing(i);
    if (is(i, ";")) break;
  }
  return i;
}

std::size_t Outline::specifiers(std::size_t declaration) const {
  const std::size_t i = specifiers_token(token_at(declaration));
  return i < tokenized_.tokens.size() ? tokenized_.tokens[i].begin : source_.size();
}

std::size_t Outline::specifiers_token(std::size_t i) const {
  const std::size_t last = tokenized_.tokens.size();
  while (i + 1 < last && is(i, "template") && is(i + 1, "<")) i = after_angles(i + 1, last);
  if (i + 1 < last && is(i, "extern") &&
      tokenized_.tokens[i + 1].kind == SourceToken::Kind::kQuoted) {
    i += 2;
  }
  return i;
}

std::size_t Outline::statement_end(std::size_t first, std::size_t last) const {
  const auto skip_group = [&](std::size_t i) {
    return i < last && (is(i, "(") || is(i, "{")) ? closing(i) + 1 : i;
  };
  if (first >= last) return last;
  if (is(first, "{")) return closing(first) + 1;
  if (is(first, "if")) {
    const std::size_t condition = is(first + 1, "constexpr") ? first + 2 : first + 1;
    const std::size_t end = statement_end(skip_group(condition), last);
    return end < last && is(end, "else") ? statement_end(end + 1, last) : end;
  }
  if (is_one_of(word(first), kLoops)) return statement_end(skip_group(first + 1), last);
  if (is(first, "do")) {
    const std::size_t end = statement_end(first + 1, last);
    return std::min(skip_group(end + 1) + 1, last);
  }
  if (is(first, "try")) {
    std::size_t end = skip_group(first + 1);
    while (end < last && is(end, "catch")) end = skip_group(skip_group(end + 1));
    return end;
  }
  if (is(first, "case") || is(first, "default")) {
    std::size_t end = first;
    while (end < last && !is(end, ":")) ++end;
    return std::min(end + 1, last);
  }
  for (std::size_t i = first; i < last; ++i) {
    if (is(i, ";")) return i + 1;
    if (is(i, "(") || is(i, "[") || is(i, "{")) i = closing(i);
  }
  return last;
}

TextRange Outline::statement(const TextRange& within, std::size_t place) const {
  const std::vector<SourceToken>& tokens = tokenized_.tokens;
  const std::size_t last = token_at(within.end == 0 ? 0 : within.end - 1);
  const auto is_within = [&](std::size_t i) {
    return i < tokens.size() && tokens[i].begin < within.end;
  };
  std::size_t limit = std::min(is_within(last) ? last + 1 : last, tokens.size());
  for (std::size_t first = token_at(within.begin); first < limit;) {
    const std::size_t end = std::max(statement_end(first, limit), first + 1);
    const TextRange range{tokens[first].begin, tokens[std::min(end, limit) - 1].end};
    if (place < range.begin) return {};
    if (!range.contains(place)) {
      first = end;
      continue;
    }
    // Into the block of it that holds the place, but not into a lambda's or a list's.
    for (std::size_t i = first; i < end && i < limit; ++i) {
      if (is(i, "(") || is(i, "[")) {
        i = closing(i);
        continue;
      }
      if (!is(i, "{")) continue;
      const bool follows_group = i > first && is(i - 1, ")");
      const auto opens = [&](std::size_t open) { return closing(open) == i - 1; };
      std::size_t keyword = i;
      for (std::size_t k = first; follows_group && k + 1 < i; ++k) {
        if (is(k + 1, "(") && opens(k + 1)) keyword = k;
      }
      const bool is_block =
          i == first || is(i - 1, "else") || is(i - 1, "do") || is(i - 1, "try") ||
          (follows_group && (is_one_of(word(keyword), kLoops) || is(keyword, "if") ||
                             (is(keyword, "constexpr") && is(keyword - 1, "if"))));
      const TextRange inside{tokens[i].end, tokens[closing(i)].begin};
      if (is_block && inside.contains(place)) {
        const TextRange inner = statement(inside, place);
        return inner.empty() ? range : inner;
      }
      i = closing(i);
    }
    return range;
  }
  return {};
}

std::vector<TextRange> Outline::statements_with(const TextRange& within,
                                                std::string_view what) const {
  std::vector<TextRange> found;
  for (std::size_t i = token_at(within.begin); i < tokenized_.tokens.size(); ++i) {
    const std::size_t place = tokenized_.tokens[i].begin;
    if (place >= within.end) break;
    if (!is(i, what) || (i > 0 && is(i - 1, "."))) continue;
    const TextRange range = statement(within, place);
    if (!range.empty() && (found.empty() || found.back().begin != range.begin)) {
      found.push_back(range);
    }
  }
  return found;
}

Outline::Try Outline::try_at(std::size_t place) const {
  const std::vector<SourceToken>& tokens = tokenized_.tokens;
  const std::size_t at = token_at(place);
  Try found;
  if (!is(at, "try") || !is(at + 1, "{")) return found;
  const std::size_t end = statement_end(at, tokens.size());
  const std::size_t close = closing(at + 1);
  found.keyword = {tokens[at].begin, tokens[at].end};
  found.block = {tokens[at + 1].begin, tokens[close].end};
  if (end > close + 1) found.handlers = {tokens[close + 1].begin, tokens[end - 1].end};
  return found;
}

std::vector<TextRange> Outline::compound_literal(std::size_t place) const {
  const std::vector<SourceToken>& tokens = tokenized_.tokens;
  const std::size_t open = token_at(place);
  if (!is(open, "{") || open == 0 || !is(open - 1, ")")) return {};
  std::size_t first = open - 1;
  while (first > 0 && !(is(first, "(") && closing(first) == open - 1)) --first;
  if (!is(first, "(") || first + 2 > open - 1) return {};
  std::vector<TextRange> parts = {{tokens[first].begin, tokens[first].end},
                                  {tokens[open - 1].begin, tokens[open - 1].end}};
  std::size_t name = first + 1;
  if (is_one_of(word(name), kClassKeys)) {
    parts.push_back({tokens[name].begin, tokens[name].end});
    ++name;
  }
  // One name, which may be qualified or have arguments: of nothing else "T{" is an expression.
  bool wants_name = true;
  for (std::size_t i = name; i < open - 1; ++i) {
    const bool is_name = tokens[i].kind == SourceToken::Kind::kWord;
    if (is(i, "<")) {
      i = open - 2;
      if (!is(i, ">")) return {};
      continue;
    }
    if (is_name != wants_name || (!is_name && !is(i, "::"))) return {};
    wants_name = !wants_name;
  }
  return wants_name ? std::vector<TextRange>() : parts;
}

TextRange Outline::lambda_marks(std::size_t place) const {
  const std::vector<SourceToken>& tokens = tokenized_.tokens;
  const std::size_t end = token_at(place);
  std::size_t first = end;
  while (first > 0 && tokens[first - 1].kind == SourceToken::Kind::kWord) --first;
  if (first == 0 || first == end || !is(first - 1, "]")) return {};
  return {tokens[first].begin, tokens[end - 1].end};
}

}  // namespace baton::compiler
