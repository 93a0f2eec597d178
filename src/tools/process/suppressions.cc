#include "tools/process/suppressions.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/file/file.h"
#include "base/text/suggest.h"
#include "program/reader/document.h"
#include "tools/draft/readable_names.h"
#include "tools/explanations.h"

namespace baton::tools {
namespace {

using Kind = DocumentNode::Kind;

std::regex pattern_of(const Document& document, const DocumentNode::Member& member) {
  try {
    return std::regex(member.value.string);
  } catch (const std::regex_error& failure) {
    throw error_at(document.place(member.value), ErrorCode::kInvalidInput,
                   "{} = \"{}\" is not a regular expression: {}", member.key, member.value.string,
                   failure.what());
  }
}

// Of the simulated GPU, of a GPU under observation, and of its edges.
std::string kind_of(const Document& document, const DocumentNode::Member& member) {
  constexpr std::string_view kTables[] = {"finding", "observation", "cause of a verdict"};
  std::vector<std::string> kinds;
  for (const Explanation& row : explanations()) {
    if (std::ranges::find(kTables, row.table) != std::end(kTables)) kinds.emplace_back(row.id);
  }
  const std::string& kind = member.value.string;
  if (std::ranges::find(kinds, kind) != kinds.end()) return kind;
  throw error_at(document.place(member.value), ErrorCode::kInvalidInput,
                 "there is no finding of kind \"{}\"{}", kind, suggestion(kind, kinds));
}

Suppression read_one(const Document& document, const DocumentNode& table) {
  Suppression made;
  made.place = document.place(table);
  if (table.kind != Kind::kTable) {
    throw error_at(made.place, ErrorCode::kInvalidInput,
                   "suppress must be tables, [[suppress]], not {}", describe(table.kind));
  }
  static const std::vector<std::string> kKeys = {"kind", "kernel", "where", "message", "reason"};
  for (const DocumentNode::Member& member : table.members) {
    if (std::ranges::find(kKeys, member.key) == kKeys.end()) {
      throw error_at(document.place(member), ErrorCode::kInvalidInput,
                     "a suppression has no key \"{}\"{}", member.key,
                     suggestion(member.key, kKeys));
    }
    if (member.value.kind != Kind::kString) {
      throw error_at(document.place(member.value), ErrorCode::kInvalidInput,
                     "{} must be a string, not {}", member.key, describe(member.value.kind));
    }
    if (member.key == "kind") made.kind = kind_of(document, member);
    if (member.key == "kernel") made.kernel = pattern_of(document, member);
    if (member.key == "where") made.where = pattern_of(document, member);
    if (member.key == "message") made.message = pattern_of(document, member);
    if (member.key == "reason") made.reason = member.value.string;
  }
  if (made.kind.empty() && !made.kernel && !made.where && !made.message) {
    throw error_at(made.place, ErrorCode::kInvalidInput,
                   "the suppression names no finding; give it a kind, kernel, where or message");
  }
  return made;
}

bool matches(const Suppression& rule, const FindingReport& finding) {
  const auto holds = [](const std::optional<std::regex>& pattern, const std::string& text) {
    return !pattern || std::regex_search(text, *pattern);
  };
  return (rule.kind.empty() || rule.kind == finding.kind) &&
         (holds(rule.kernel, finding.kernel) ||
          holds(rule.kernel, with_readable_names(finding.kernel))) &&
         holds(rule.where, finding.where) && holds(rule.message, finding.message);
}

}  // namespace

std::vector<Suppression> read_suppressions(const std::filesystem::path& file) {
  const Document document(read_file(file), file.string());
  std::vector<Suppression> rules;
  for (const DocumentNode::Member& member : document.root().members) {
    if (member.key != "suppress") {
      throw error_at(document.place(member), ErrorCode::kInvalidInput,
                     "a file of suppressions has no key \"{}\"; it has tables [[suppress]]",
                     member.key);
    }
    if (member.value.kind != Kind::kArray) {
      throw error_at(document.place(member), ErrorCode::kInvalidInput,
                     "suppress must be tables, [[suppress]], not {}", describe(member.value.kind));
    }
    for (const DocumentNode& table : member.value.items) {
      rules.push_back(read_one(document, table));
    }
  }
  return rules;
}

Suppression* find_suppression(std::vector<Suppression>& all, const FindingReport& finding) {
  const auto found =
      std::ranges::find_if(all, [&](const Suppression& rule) { return matches(rule, finding); });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace baton::tools
