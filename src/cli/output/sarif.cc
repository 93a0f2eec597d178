#include "cli/output/sarif.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/output/result_rows.h"
#include "tools/explanations.h"
#include "tools/source_lines.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;
using Level = ResultRow::Level;

constexpr const char* kRootId = "SRCROOT";

std::string_view name_of(Level level) {
  switch (level) {
    case Level::kError:
      return "error";
    case Level::kWarning:
      return "warning";
    case Level::kNote:
      return "note";
    case Level::kPass:
      return "none";
  }
  return "none";
}

// A path as the path of a URI (RFC 3986): what is not unreserved is encoded by byte.
std::string encoded(const std::string& path) {
  constexpr std::string_view kKept =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string uri;
  for (const char c : path) {
    if (kKept.find(c) != std::string_view::npos) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

class Log {
 public:
  Log(const Json& result, int exit_status, const std::string& root)
      : root_(std::filesystem::path(root).lexically_normal()) {
    Json results = Json::array();
    for (const ResultRow& row : result_rows(result)) {
      if (row.level != Level::kPass) results.push_back(result_of(row));
    }
    Json driver = {
        {"name", "baton"}, {"semanticVersion", BATON_VERSION}, {"rules", std::move(rules_)}};
    // Statuses 0 and 1 are answers; the others say why there is none.
    Json invocation = {{"executionSuccessful", exit_status <= 1}, {"exitCode", exit_status}};
    Json run = {{"tool", {{"driver", std::move(driver)}}},
                {"invocations", Json::array({std::move(invocation)})},
                {"originalUriBaseIds",
                 {{kRootId, {{"uri", fmt::format("file://{}/", encoded(root_.string()))}}}}},
                {"columnKind", "unicodeCodePoints"},
                {"results", std::move(results)}};
    log_ = {{"$schema",
             "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
             "sarif-schema-2.1.0.json"},
            {"version", "2.1.0"},
            {"runs", Json::array({std::move(run)})}};
  }

  std::string text() const {
    return log_.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  }

 private:
  Json result_of(const ResultRow& row) {
    Json result = {{"ruleId", row.code},
                   {"ruleIndex", rule(row)},
                   {"level", name_of(row.level)},
                   {"message", {{"text", row.message}}}};
    Json location = Json::object();
    std::optional<Json> place = physical(row.where), launch = physical(row.related);
    if (place) {
      location["physicalLocation"] = std::move(*place);
    } else if (launch) {
      // A kernel that is text of the program has no file. Readers drop what has no place at all.
      location["physicalLocation"] = *std::exchange(launch, std::nullopt);
    }
    if (!row.subject.empty()) {
      location["logicalLocations"] =
          Json::array({{{"fullyQualifiedName", row.subject}, {"kind", "function"}}});
    }
    if (!location.empty()) result["locations"] = Json::array({std::move(location)});
    if (launch) {
      result["relatedLocations"] = Json::array(
          {{{"physicalLocation", std::move(*launch)}, {"message", {{"text", "launched here"}}}}});
    }
    if (row.suppressed) {
      result["suppressions"] = Json::array({{{"kind", "external"}, {"justification", row.reason}}});
    }
    return result;
  }

  // The place, where it is one in a file: kernels of a program's text have none.
  std::optional<Json> physical(const std::string& where) const {
    const std::optional<tools::TextPlace> place = tools::read_place(where);
    if (!place || place->line < 1 || place->file.empty() || place->file.starts_with('<')) {
      return std::nullopt;
    }
    const std::filesystem::path file = std::filesystem::path(place->file).lexically_normal();
    Json artifact;
    const std::filesystem::path inside = file.is_absolute() ? file.lexically_relative(root_) : file;
    if (inside.empty() || *inside.begin() == "..") {
      artifact["uri"] = file.is_absolute() ? fmt::format("file://{}", encoded(file.string()))
                                           : encoded(file.string());
    } else {
      artifact = {{"uri", encoded(inside.string())}, {"uriBaseId", kRootId}};
    }
    Json region = {{"startLine", place->line}};
    if (place->column > 0) region["startColumn"] = place->column;
    return Json{{"artifactLocation", std::move(artifact)}, {"region", std::move(region)}};
  }

  std::size_t rule(const ResultRow& row) {
    const auto [at, is_new] = numbers_.try_emplace(row.code, numbers_.size());
    if (!is_new) return at->second;
    Json made = {{"id", row.code}};
    for (const tools::Explanation& each : tools::explanations()) {
      if (each.id != row.code) continue;
      made["shortDescription"] = {{"text", each.meaning}};
      made["help"] = {
          {"text", fmt::format("See docs/{}, or run: baton explain {}", each.page, row.code)}};
      break;
    }
    made["defaultConfiguration"] = {{"level", name_of(row.level)}};
    rules_.push_back(std::move(made));
    return at->second;
  }

  std::filesystem::path root_;
  Json rules_ = Json::array();
  std::map<std::string, std::size_t> numbers_;  // of rules
  Json log_;
};

}  // namespace

std::string sarif_of(const Json& result, int exit_status, const std::string& root) {
  return Log(result, exit_status, root).text();
}

}  // namespace baton::cli
