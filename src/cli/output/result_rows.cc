#include "cli/output/result_rows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "tools/draft/readable_names.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;
using Level = ResultRow::Level;

// Empty where it is missing or null.
std::string text_of(const Json& object, std::string_view key) {
  const auto found = object.find(key);
  return found == object.end() || !found->is_string() ? "" : found->get<std::string>();
}

const Json& list_of(const Json& object, std::string_view key) {
  static const Json kNone = Json::array();
  const auto found = object.find(key);
  return found == object.end() || !found->is_array() ? kNone : *found;
}

// "launch 1 (b), at p.toml:23:1" ends in the place.
std::string place_in(const std::string& launch) {
  constexpr std::string_view kBefore = ", at ";
  const std::size_t at = launch.rfind(kBefore);
  return at == std::string::npos ? "" : launch.substr(at + kBefore.size());
}

ResultRow row_of_finding(const Json& finding) {
  ResultRow row;
  row.level = text_of(finding, "severity") == "error" ? Level::kError : Level::kWarning;
  row.code = text_of(finding, "kind");
  row.subject = tools::with_readable_names(text_of(finding, "kernel"));
  if (!row.subject.empty()) {
    row.message = fmt::format("kernel {}", row.subject);
    // A GPU tells neither.
    if (finding.at("block").is_array()) {
      row.message += fmt::format(", block ({}), thread ({})",
                                 fmt::join(finding.at("block").get<std::vector<int>>(), ", "),
                                 fmt::join(finding.at("thread").get<std::vector<int>>(), ", "));
    }
    row.message += ": ";
  }
  row.message += text_of(finding, "message");
  const auto count = finding.value("count", std::uint64_t{1});
  if (count > 1) row.message += fmt::format(" ({} times)", count);
  const std::string launch = text_of(finding, "launch");
  if (!launch.empty()) row.message += fmt::format("; {}", launch);
  row.where = text_of(finding, "where");
  row.related = place_in(launch);
  return row;
}

// The launches in the order of the program; edges have their numbers.
std::vector<const Json*> launches_of(const Json& result) {
  std::vector<const Json*> launches;
  for (const Json& step : list_of(result, "steps")) {
    if (text_of(step, "kind") == "launch") launches.push_back(&step);
  }
  return launches;
}

ResultRow row_of_edge(const Json& edge, const std::vector<const Json*>& launches) {
  const std::string verdict = text_of(edge, "verdict"), decision = text_of(edge, "decision");
  ResultRow row;
  if (verdict == "unsafe") {
    // A full edge waits for the whole grid: the launches are right as they are.
    row.level = decision == "programmatic" ? Level::kError : Level::kNote;
  } else {
    row.level = verdict == "proven" ? Level::kPass : Level::kNote;
  }
  row.code = text_of(edge, "cause");
  const auto name = [&](std::string_view end) {
    // An edge of a record has its kernels with it, and stands for all that are alike.
    const std::string kernel = text_of(edge, std::string(end) + "_kernel");
    if (!kernel.empty()) return tools::with_readable_names(kernel);
    const auto number = edge.at(end).get<std::size_t>();
    return number < launches.size()
               ? fmt::format("launch {} ({})", number, text_of(*launches[number], "label"))
               : fmt::format("launch {}", number);
  };
  row.subject = fmt::format("{} -> {}", name("from"), name("to"));
  row.message = fmt::format("{}: programmatic dependent launch is {}", row.subject, verdict);
  const std::string reason = text_of(edge, "reason");
  if (!reason.empty()) row.message += fmt::format(": {}", reason);
  row.message += fmt::format("; the edge is {}: {}", decision, text_of(edge, "decision_reason"));
  const auto to = edge.at("to").get<std::size_t>();
  row.where = text_of(edge, "where");
  if (to < launches.size()) row.where = text_of(*launches[to], "where");
  return row;
}

// Rows of one of several files: each has a place, and one that passes says that the file does.
std::vector<ResultRow> rows_of_file(const Json& part) {
  const std::string file = text_of(part, "file");
  std::vector<ResultRow> rows = result_rows(part);
  if (rows.empty()) {
    const std::string skipped = text_of(part, "skipped");
    rows.push_back(
        {skipped.empty() ? Level::kPass : Level::kNote, skipped.empty() ? "check" : "skipped", "",
         skipped.empty() ? "it passes all checks" : "not checked: " + skipped, "", "", false, ""});
  }
  for (ResultRow& row : rows) {
    row.subject = row.subject.empty() ? file : fmt::format("{}: {}", file, row.subject);
    // Many messages begin with it.
    if (!row.message.starts_with(file)) row.message = fmt::format("{}: {}", file, row.message);
    if (row.where.empty()) row.where = file + ":1";
  }
  return rows;
}

}  // namespace

std::vector<ResultRow> result_rows(const Json& result) {
  std::vector<ResultRow> rows;
  for (const Json& finding : list_of(result, "findings")) rows.push_back(row_of_finding(finding));
  for (const Json& finding : list_of(result, "suppressed")) {
    ResultRow& row = rows.emplace_back(row_of_finding(finding));
    row.suppressed = true;
    row.reason = text_of(finding, "reason");
  }
  const std::vector<const Json*> launches = launches_of(result);
  for (const Json& edge : list_of(result, "edges")) rows.push_back(row_of_edge(edge, launches));
  for (const Json& warning : list_of(result, "warnings")) {
    rows.push_back({Level::kWarning, "warning", "", warning.get<std::string>(), "", "", false, ""});
  }
  for (const Json& part : list_of(result, "files")) {
    for (ResultRow& row : rows_of_file(part)) rows.push_back(std::move(row));
  }
  const bool told = std::ranges::any_of(
      rows, [](const ResultRow& row) { return row.level == Level::kError && !row.suppressed; });
  const auto error = result.find("error");
  if (error != result.end() && error->is_object() && !told) {
    rows.push_back({Level::kError, text_of(*error, "code"), "", text_of(*error, "what"),
                    text_of(*error, "where"), "", false, ""});
  }
  return rows;
}

}  // namespace baton::cli
