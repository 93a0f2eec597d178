#include "tools/explanations.h"

#include <algorithm>
#include <iterator>

#include "driver/finding_kind.h"
#include "tools/basics.h"

namespace baton::tools {
namespace {

std::string_view name_of(driver::FindingSeverity severity) {
  switch (severity) {
    case driver::FindingSeverity::kWarning:
      return "warning";
    case driver::FindingSeverity::kError:
      return "error";
    case driver::FindingSeverity::kFault:
      return "error that ends the grid";
    case driver::FindingSeverity::kErrorOrFault:
      return "error, which may end the grid";
  }
  return "error";
}

// What names several codes at once.
struct Group {
  std::string_view name;
  bool (*has)(const Explanation& row);
};
constexpr Group kGroups[] = {
    {"findings", [](const Explanation& row) { return row.table == "finding"; }},
    {"observations", [](const Explanation& row) { return row.table == "observation"; }},
    {"causes", [](const Explanation& row) { return row.table == "cause of a verdict"; }},
    {"decisions", [](const Explanation& row) { return row.table == "decision about an edge"; }},
    {"errors", [](const Explanation& row) { return row.table == "error"; }},
    {"warnings", [](const Explanation& row) { return row.detail == "warning"; }}};

struct Remedy {
  std::string_view table, id, text;
};
constexpr Remedy kRemedies[] = {
#define BATON_REMEDY(table, id, text) {table, id, text},
#include "tools/remedies.inc"
#undef BATON_REMEDY
};

std::string_view remedy_of(const Explanation& row) {
  const auto* const found = std::ranges::find_if(kRemedies, [&](const Remedy& remedy) {
    return remedy.table == row.table && remedy.id == row.id;
  });
  return found == std::end(kRemedies) ? std::string_view() : found->text;
}

std::vector<Explanation> all_rows() {
  std::vector<Explanation> rows;
  for (const driver::FindingRow& row : driver::finding_table()) {
    rows.push_back({row.id, "finding", name_of(row.severity), row.meaning, row.page, {}});
  }
#define BATON_OBSERVATION(name, id, meaning) \
  rows.push_back({id, "observation", "error", meaning, "exec.md", {}});
#include "tools/process/observations.inc"
#undef BATON_OBSERVATION
#define BATON_EDGE_CAUSE(name, id, verdicts, meaning) \
  rows.push_back({id, "cause of a verdict", verdicts, meaning, "pdl-verdicts.md", {}});
#include "pdl/verdict/edge_causes.inc"
#undef BATON_EDGE_CAUSE
#define BATON_EDGE_DECISION(name, id, meaning) \
  rows.push_back({id, "decision about an edge", "", meaning, "pdl-verdicts.md", {}});
#include "edges/edge_decisions.inc"
#undef BATON_EDGE_DECISION
#define BATON_ERROR_CODE(name, id, exit_status, meaning) \
  rows.push_back({id, "error", "status " #exit_status, meaning, "cli-json.md", {}});
#include "base/error_codes.inc"
#undef BATON_ERROR_CODE
  // An error of the command line alone.
  rows.push_back({"warnings",
                  "error",
                  "status 1",
                  "there was a warning, and `--strict` allows none",
                  "cli-json.md",
                  {}});
  for (Explanation& row : rows) row.remedy = remedy_of(row);
  return rows;
}

}  // namespace

const std::vector<Explanation>& explanations() {
  static const std::vector<Explanation> rows = all_rows();
  return rows;
}

std::vector<std::string_view> explained_groups() {
  std::vector<std::string_view> names;
  for (const Group& group : kGroups) names.push_back(group.name);
  return names;
}

std::vector<Explanation> explain(std::string_view id) {
  std::vector<Explanation> found;
  std::vector<std::string_view> ids = explained_groups();
  const auto* const group = std::ranges::find(kGroups, id, &Group::name);
  for (const Explanation& row : explanations()) {
    if (row.id == id || (group != std::end(kGroups) && group->has(row))) found.push_back(row);
    ids.push_back(row.id);
  }
  // A word that messages use, such as "race", is a part of codes.
  if (found.empty() && !id.empty()) {
    std::ranges::copy_if(explanations(), std::back_inserter(found), [&](const Explanation& row) {
      return row.id.find(id) != std::string_view::npos;
    });
  }
  if (found.empty()) {
    throw error(ErrorCode::kNotFound, "there is no code \"{}\"{}", printable(id),
                suggestion_or(id, ids, "baton explain lists all"));
  }
  return found;
}

}  // namespace baton::tools
