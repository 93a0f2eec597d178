#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace baton::cli {

// One row of a report in a format of others (SARIF, JUnit).
struct ResultRow {
  enum class Level : std::uint8_t { kError, kWarning, kNote, kPass };
  Level level = Level::kError;
  std::string code;     // as `baton explain` takes it: "shared_race"
  std::string subject;  // a kernel, or "launch 0 -> launch 1"; may be empty
  std::string message;  // in whole sentences
  std::string where;    // "norm.cu:12:7"; may be empty
  std::string related;  // the place of the launch in the program file; may be empty
  bool suppressed = false;
  std::string reason;  // why it is suppressed; may be empty
};

// Findings, edges, warnings, and the error where no row says the same, of a command's JSON object.
std::vector<ResultRow> result_rows(const nlohmann::ordered_json& result);

}  // namespace baton::cli
