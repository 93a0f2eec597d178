#include "program/expression/requirement.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/text/text.h"
#include "program/expression/expression_code.h"
#include "program/names.h"
#include "program/writer/toml_table.h"

namespace baton {
namespace {

using Kind = DocumentNode::Kind;

constexpr std::string_view kWritten = "==, !=, <, <=, > or >=";

// An expression between two places of the text, without the spaces around it.
Expression side(std::string_view text, std::size_t begin, std::size_t end,
                const SourceLocation& where) {
  const std::string_view part = text.substr(begin, end - begin);
  const std::string_view trimmed = trim(part);
  if (trimmed.empty()) {
    throw error_at(place_in(where, text, begin), ErrorCode::kInvalidInput,
                   "\"{}\" lacks an expression on one side of its comparison", printable(text));
  }
  const auto first = static_cast<std::size_t>(trimmed.data() - text.data());
  return {trimmed, place_in(where, text, first)};
}

Requirement requirement_of(const Document& document, const DocumentNode& node) {
  if (node.kind != Kind::kString) {
    throw error_at(document.place(node), ErrorCode::kInvalidInput,
                   "a requirement must be a comparison in a string, such as \"N % 8 == 0\", not {}",
                   describe(node.kind));
  }
  return Requirement(node.string, document.content_place(node));
}

void add_named(const Document& document, const DocumentNode& table, std::vector<Requirement>& out) {
  for (const DocumentNode::Member& member : table.members) {
    out.push_back(requirement_of(document, member.value));
    out.back().name = member.key;
  }
}

}  // namespace

Requirement::Requirement(std::string_view text, SourceLocation place) : where(std::move(place)) {
  const std::size_t begin = text.find_first_of("=!<>");
  const std::size_t written = begin == std::string_view::npos    ? 0
                              : text.substr(begin + 1, 1) == "=" ? 2
                                                                 : 1;
  const auto found = written == 0 ? kRelationNames.end()
                                  : std::find(kRelationNames.begin(), kRelationNames.end(),
                                              text.substr(begin, written));
  if (found == kRelationNames.end()) {
    const bool assigns = written == 1 && text[begin] == '=';
    throw error_at(written == 0 ? where : place_in(where, text, begin), ErrorCode::kInvalidInput,
                   "\"{}\" is not a comparison; write {}", printable(text),
                   assigns ? "== for \"is equal to\"" : kWritten);
  }
  relation = static_cast<Relation>(found - kRelationNames.begin());
  left = side(text, 0, begin, where);
  right = side(text, begin + written, text.size(), where);
}

std::string Requirement::text() const {
  return fmt::format("{} {} {}", left.text(), to_string(relation), right.text());
}

bool operator==(const Requirement& a, const Requirement& b) {
  return std::tie(a.name, a.left, a.relation, a.right) ==
         std::tie(b.name, b.left, b.relation, b.right);
}

std::vector<Requirement> read_requirements(const Document& document, const DocumentNode& node) {
  std::vector<Requirement> requirements;
  if (node.kind == Kind::kTable) {
    add_named(document, node, requirements);
    return requirements;
  }
  if (node.kind != Kind::kArray) {
    throw error_at(document.place(node), ErrorCode::kInvalidInput,
                   "require must be a table or an array of comparisons, not {}",
                   describe(node.kind));
  }
  for (const DocumentNode& item : node.items) {
    if (item.kind == Kind::kTable) {
      add_named(document, item, requirements);
    } else {
      requirements.push_back(requirement_of(document, item));
    }
  }
  return requirements;
}

std::string toml_requirements(const std::vector<Requirement>& requirements) {
  std::string out = "[\n";
  for (const Requirement& requirement : requirements) {
    std::string value = toml_string(requirement.text());
    if (!requirement.name.empty()) {
      TomlTable named;
      named.add(requirement.name, std::move(value));
      value = named.as_value();
    }
    out += "  " + value + ",\n";
  }
  return out + "]";
}

}  // namespace baton
