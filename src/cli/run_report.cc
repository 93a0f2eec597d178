#include "cli/run_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "cli/attribute_format.h"
#include "cli/check_report.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/table.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

// More rows than this are put together, one for each step of the program.
constexpr std::size_t kMostRows = 40;
constexpr std::int64_t kShownElements = 4;

void add(std::optional<double>& sum, const std::optional<double>& value) {
  if (value) sum = sum.value_or(0) + *value;
}

std::vector<StepReport> by_program_step(const std::vector<StepReport>& steps) {
  std::vector<StepReport> rows;
  std::map<std::pair<std::string, std::string>, std::size_t> row_of;
  for (const StepReport& step : steps) {
    const auto [found, fresh] =
        row_of.try_emplace({step.where.to_string(), step.label}, rows.size());
    if (fresh) {
      rows.push_back(step);
      rows.back().indexes.clear();
      continue;
    }
    StepReport& row = rows[found->second];
    if (row.skipped == row.executions)
      std::tie(row.grid, row.block, row.attributes) =
          std::tie(step.grid, step.block, step.attributes);
    row.executions += step.executions;
    row.skipped += step.skipped;
    row.bytes += step.bytes;
    add(row.seconds, step.seconds);
    if (step.instructions) row.instructions = row.instructions.value_or(0) + *step.instructions;
  }
  return rows;
}

std::string times_of(const StepReport& step) {
  if (step.skipped == step.executions) return step.executions == 1 ? "skipped" : "all skipped";
  std::string text = step.executions == 1 ? "" : fmt::format("{} times", step.executions);
  if (step.skipped > 0) text += fmt::format(", {} skipped", step.skipped);
  return text;
}

std::vector<std::string> row_of(const StepReport& step) {
  const bool ran = step.skipped < step.executions;
  const bool launched = ran && step.kind == StepReport::Kind::kLaunch;
  std::string label = step.label;
  if (!step.indexes.empty()) label += fmt::format(" ({})", step.indexes);
  return {std::move(label),
          times_of(step),
          launched ? format_extent(step.grid) : "",
          launched ? format_extent(step.block) : "",
          launched && step.shared > 0 ? format_bytes(step.shared) : "",
          launched ? format_attributes(step.attributes) : "",
          ran && step.seconds ? format_duration(*step.seconds) : "",
          ran ? format_bytes(step.bytes) : "",
          ran && step.instructions ? format_count(*step.instructions) : ""};
}

StepReport total_of(const std::vector<StepReport>& steps) {
  StepReport total;
  total.kind = StepReport::Kind::kFill;  // has no grid
  total.label = "total";
  for (const StepReport& step : steps) {
    total.bytes += step.bytes;
    add(total.seconds, step.seconds);
    if (step.instructions) total.instructions = total.instructions.value_or(0) + *step.instructions;
  }
  return total;
}

std::string summary_of(std::vector<double> seconds) {
  if (seconds.size() < 2) return {};
  const double first = seconds.front();
  std::sort(seconds.begin(), seconds.end());
  const std::size_t middle = seconds.size() / 2;
  const double median =
      seconds.size() % 2 != 0 ? seconds[middle] : (seconds[middle - 1] + seconds[middle]) / 2;
  return fmt::format("{} runs: first {}, median {}, from {} to {}", seconds.size(),
                     format_duration(first), format_duration(median),
                     format_duration(seconds.front()), format_duration(seconds.back()));
}

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
  return text + fmt::format(" (rtol {:g}, atol {:g}; largest difference {:.2g})",
                            comparison.tolerance.rtol, comparison.tolerance.atol,
                            comparison.worst_error);
}

Json json_of(const OutputResult& result) {
  Json json = {{"name", result.name},
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
  if (comparison.elements > 0) {
    json["worst"] = {{"index", comparison.worst_index},
                     {"got", json_number(comparison.got)},
                     {"want", json_number(comparison.want)},
                     {"error", json_number(comparison.worst_error)}};
  }
  return json;
}

}  // namespace

void show_device(const Device& device, Output& output) {
  output.result()["device"] = device.spec();
  output.result()["device_name"] = device.name();
  output.line("device   {} ({}, {})", device.spec(), device.name(), device.compile_arch());
}

void show_symbols(const std::vector<Executable::BoundSymbol>& symbols, Output& output) {
  Json json = Json::object();
  std::string text;
  for (const Executable::BoundSymbol& symbol : symbols) {
    json[symbol.name] = symbol.value;
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", symbol.name, symbol.value);
    if (symbol.source != "the program") text += fmt::format(" ({})", symbol.source);
  }
  output.result()["symbols"] = std::move(json);
  if (!text.empty()) output.line("symbols  {}", text);
}

void show_steps(const RunReport& report, const std::vector<EdgeReport>& edges, Output& output) {
  Json& json = output.result();
  json["steps"] = Json::array();
  for (const StepReport& step : report.steps) json["steps"].push_back(cli::json_of(step));
  add_edges(edges, output);
  json["run_seconds"] = report.run_seconds;
  if (report.steps.empty()) return;

  const bool together = report.steps.size() > kMostRows;
  const std::vector<StepReport> steps = together ? by_program_step(report.steps) : report.steps;
  using enum Table::Align;
  Table table({{"step"},
               {""},
               {"grid", kRight},
               {"block", kRight},
               {"shared", kRight},
               {"attributes"},
               {"time", kRight},
               {"moved", kRight},
               {"instructions", kRight}});
  for (const StepReport& step : steps) table.add(row_of(step));
  if (steps.size() > 1) table.add(row_of(total_of(steps)));
  output.text("\n" + table.format(output.colour()));
  const std::string runs = summary_of(report.run_seconds);
  if (!runs.empty()) output.line("{}", runs);
}

void show_outputs(const std::vector<OutputResult>& results, Output& output) {
  Json& json = output.result()["outputs"] = Json::array();
  if (results.empty()) return;
  Table table({{"output"}, {"dtype"}, {"shape"}, {"values"}, {"comparison"}});
  for (const OutputResult& result : results) {
    json.push_back(json_of(result));
    table.add({result.name, std::string(to_string(result.array->dtype)),
               format_shape(result.array->shape), format_elements(*result.array, kShownElements),
               verdict_of(result, output.colour())});
  }
  output.text("\n" + table.format(output.colour()));
}

void show_findings(const RunReport& report, bool error_findings, Output& output) {
  Json& json = output.result()["findings"] = Json::array();
  for (const FindingReport& finding : report.findings) {
    json.push_back(cli::json_of(finding));
    if (finding.error && !error_findings) continue;
    const std::string times = finding.count == 1 ? "" : fmt::format(" ({} times)", finding.count);
    const std::string where = finding.where.empty() ? "" : fmt::format(" ({})", finding.where);
    output.line("\n{}: kernel {}, block ({}), thread ({}): {}{}{}",
                styled(finding.error ? "error" : "warning",
                       finding.error ? Style::kBad : Style::kWarning, output.colour()),
                finding.kernel, fmt::join(finding.block, ", "), fmt::join(finding.thread, ", "),
                finding.message, times, where);
  }
}

}  // namespace baton::cli
