#include "cli/report/output_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/output/format.h"
#include "cli/output/table.h"
#include "tools/basics.h"
#include "tools/json_values.h"

namespace baton::cli {
namespace {

using tools::json_number;
using tools::OutputResult;

constexpr std::int64_t kShownElements = 4;

std::string verdict_of(const OutputResult& result, bool colour) {
  if (!result.comparison) return {};
  const Comparison& comparison = *result.comparison;
  if (!comparison.ok) {
    return styled("differs", Style::kBad, colour) +
           fmt::format(" in {} of {} from {}", comparison.mismatches, comparison.elements,
                       result.expected_file);
  }
  std::string text = styled("as expected", Style::kGood, colour);
  if (!is_float(result.array->dtype)) return text;
  return text + fmt::format(" (rtol {:g}, atol {:g}; worst off by {:.2g})",
                            comparison.tolerance.rtol, comparison.tolerance.atol,
                            comparison.worst_error);
}

nlohmann::ordered_json json_of(const OutputResult& result) {
  nlohmann::ordered_json json = {{"name", result.name},
                                 {"dtype", to_string(result.array->dtype)},
                                 {"shape", result.array->shape},
                                 {"expected", nullptr},
                                 {"worst", nullptr}};
  if (!result.comparison) return json;
  const Comparison& comparison = *result.comparison;
  json["expected"] = result.expected_file;
  json["ok"] = comparison.ok;
  json["mismatches"] = comparison.mismatches;
  json["rtol"] = json_number(comparison.tolerance.rtol);
  json["atol"] = json_number(comparison.tolerance.atol);
  if (comparison.elements == 0) return json;
  json["worst"] = {{"index", comparison.worst_index},
                   {"got", json_number(comparison.got)},
                   {"want", json_number(comparison.want)},
                   {"error", json_number(comparison.worst_error)}};
  json["largest"] = {{"absolute", comparison.largest_absolute},
                     {"relative", comparison.largest_relative},
                     {"ulps", nullptr}};
  if (is_float(result.array->dtype)) json["largest"]["ulps"] = comparison.largest_ulps;
  if (comparison.ok) return json;
  json["pattern"] = comparison.pattern;
  json["first"] = nlohmann::ordered_json::array();
  for (const Mismatch& mismatch : comparison.first) {
    json["first"].push_back({{"index", mismatch.index},
                             {"got", json_number(mismatch.got)},
                             {"want", json_number(mismatch.want)}});
  }
  return json;
}

// Where an output differs, by how much, and its first wrong elements.
void show_mismatches(const OutputResult& result, Output& output) {
  const Comparison& comparison = *result.comparison;
  const double share =
      100.0 * static_cast<double>(comparison.mismatches) / static_cast<double>(comparison.elements);
  const bool has_ulps = is_float(result.array->dtype);
  output.line("");
  output.line("{}: {:.3g} % of the elements differ{}{}", result.name, share,
              comparison.pattern.empty() ? "" : ": ", comparison.pattern);
  // Where all that differs should be 0, no error is relative to anything.
  const bool has_relative = comparison.largest_relative > 0;
  output.line("  largest error: {:.3g}{}{}", comparison.largest_absolute,
              has_relative ? fmt::format(", relative {:.3g}", comparison.largest_relative) : "",
              has_ulps ? fmt::format(", {} ulps", comparison.largest_ulps) : "");
  using enum Table::Align;
  Table table({{"index"}, {"got", kRight}, {"want", kRight}});
  for (const Mismatch& mismatch : comparison.first) {
    table.add({format_shape(mismatch.index), mismatch.got_text, mismatch.want_text});
  }
  output.text(table.format(output.terminal()));
}

}  // namespace

void show_outputs(const std::vector<OutputResult>& results, Output& output) {
  nlohmann::ordered_json& json = output.result()["outputs"] = nlohmann::ordered_json::array();
  if (results.empty()) return;
  Table table({{"output"}, {"dtype"}, {"shape"}, {"values"}, {"comparison"}});
  for (const OutputResult& result : results) {
    json.push_back(json_of(result));
    table.add({result.name, std::string(to_string(result.array->dtype)),
               format_shape(result.array->shape), format_elements(*result.array, kShownElements),
               verdict_of(result, output.colour())});
  }
  output.text("\n" + table.format(output.terminal()));
  const bool any_compared = std::any_of(results.begin(), results.end(), [](const OutputResult& r) {
    return r.comparison.has_value();
  });
  if (!any_compared) {
    output.line("not compared with anything; --expect {}=FILE.npy compares", results.front().name);
  }
  for (const OutputResult& result : results) {
    if (result.comparison && !result.comparison->ok) show_mismatches(result, output);
  }
}

void show_non_finite_outputs(const std::vector<OutputResult>& results, Output& output) {
  std::string text;
  for (const OutputResult& result : results) {
    const bool is_expected = result.comparison && result.comparison->ok;
    if (result.non_finite == 0 || is_expected) continue;
    text += fmt::format("{}{} has {} of {}", text.empty() ? "" : ", ", result.name,
                        result.non_finite, result.array->elements());
  }
  if (text.empty()) return;
  output.line(
      "elements that are NaN or infinite: {}; --find-nan names the step that made the first", text);
}

}  // namespace baton::cli
