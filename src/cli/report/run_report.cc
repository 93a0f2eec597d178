#include "cli/report/run_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/output/attribute_format.h"
#include "cli/output/counted.h"
#include "cli/output/format.h"
#include "cli/output/json.h"
#include "cli/output/table.h"
#include "cli/report/check_report.h"
#include "cli/report/sm_parts.h"
#include "tools/basics.h"
#include "tools/draft/readable_names.h"

namespace baton::cli {
namespace {

using tools::with_readable_names;
using Json = nlohmann::ordered_json;

// More rows than this are put together, one for each step of the program.
constexpr std::size_t kMostStepRows = 40;

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
    row.unfinished += step.unfinished;
    row.bytes += step.bytes;
    add(row.seconds, step.seconds);
    row.times.reset();  // those of several steps do not add up
    if (step.instructions) row.instructions = row.instructions.value_or(0) + *step.instructions;
  }
  return rows;
}

std::string times_of(const StepReport& step) {
  if (step.executions == 0) return "not executed";
  if (step.skipped == step.executions) return step.executions == 1 ? "skipped" : "all skipped";
  std::string text = step.executions == 1 ? "" : fmt::format("{} times", step.executions);
  if (step.skipped > 0) text += fmt::format(", {} skipped", step.skipped);
  if (step.unfinished == 0) return text;
  if (step.executions == 1) return "perhaps unfinished";
  return text + fmt::format(", {} perhaps unfinished", step.unfinished);
}

// `in_graph`: the run was one launch, so that steps have no times of their own.
std::vector<std::string> row_of(const StepReport& step, bool in_graph) {
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
          ran && step.seconds           ? format_duration(*step.seconds)
          : ran && in_graph             ? "-"
          : ran && step.timed_with_next ? "with next"
                                        : "",
          ran && step.times ? format_duration(step.times->median) : "",
          ran ? format_bytes(step.bytes) : "",
          ran && step.instructions ? format_count(*step.instructions) : ""};
}

StepReport total_of(const std::vector<StepReport>& steps, const RunReport& report) {
  StepReport total;
  total.kind = StepReport::Kind::kFill;  // has no grid
  total.label = "total";
  for (const StepReport& step : steps) {
    total.bytes += step.bytes;
    add(total.seconds, step.seconds);
    if (step.instructions) total.instructions = total.instructions.value_or(0) + *step.instructions;
  }
  if (report.graph && !report.run_seconds.empty()) total.seconds = report.run_seconds.front();
  return total;
}

// The first run is the one that is compared; the others are for timing.
std::string summary_of(const std::vector<double>& seconds) {
  if (seconds.size() < 2) return {};
  const TimeStatistics later = *time_statistics({seconds.begin() + 1, seconds.end()});
  std::string text = fmt::format("{} runs: first {}, then median {}", seconds.size(),
                                 format_duration(seconds.front()), format_duration(later.median));
  if (later.count == 1) return text;
  return text + fmt::format(" (half of them {} to {}, all {} to {})",
                            format_duration(later.lower_quartile),
                            format_duration(later.upper_quartile), format_duration(later.least),
                            format_duration(later.greatest));
}

}  // namespace

baton::RunOptions timed_options(const std::optional<double>& timeout,
                                const std::atomic<bool>& interrupt) {
  baton::RunOptions options;
  if (timeout) options.timeout = std::chrono::duration<double>(*timeout);
  options.interrupt = &interrupt;
  return options;
}

void show_program(const Program& program, const std::filesystem::path& file, Output& output) {
  output.result()["program"] = program.name();
  output.line("program  {} ({})", program.name(), file.string());
  // What nothing uses may be what an argument that is refused should have been.
  for (const std::string& warning : program.warnings()) output.hold_warning(warning);
}

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
    if (symbol.source == "the program") continue;
    text += fmt::format(" ({})", symbol.source == "the call" ? "--set" : symbol.source);
  }
  output.result()["symbols"] = std::move(json);
  if (!text.empty()) output.line("symbols  {}", text);
}

void show_collectives(const RunReport& report, Output& output) {
  if (!report.collectives) return;
  const CollectivesReport& by = *report.collectives;
  output.result()["collectives"] = cli::json_of(by);
  const auto show_peers = [&] {
    if (by.peer_steps.empty()) return;
    output.line("             by kernels between peers: {}", fmt::join(by.peer_steps, ", "));
  };
  if (by.executor == "host") {
    output.line("collectives  by the host: {}", by.reason);
    return show_peers();
  }
  const bool is_nccl = by.executor == "nccl";
  output.line("collectives  {}", is_nccl ? fmt::format("by NCCL {} ({})", by.version, by.library)
                                         : "by kernels between peers");
  if (by.peer_bytes != 0) {
    output.line("             by kernels between peers: each all_reduce of all ranks up to {}",
                format_bytes(by.peer_bytes));
  }
  show_peers();
  if (by.host_steps.empty()) return;
  output.line("             by the host, since {} or they name it: {}",
              is_nccl ? "NCCL lacks them" : "these kernels lack them",
              fmt::join(by.host_steps, ", "));
}

void show_steps(const RunReport& report, const std::vector<EdgeReport>& edges, Output& output,
                bool in_full) {
  Json& json = output.result();
  json["steps"] = Json::array();
  for (const StepReport& step : report.steps) json["steps"].push_back(cli::json_of(step));
  add_edges(edges, output);
  json["run_seconds"] = report.run_seconds;
  if (report.graph) json["graph"] = cli::json_of(*report.graph);
  for (const SmPartReport& part : report.parts) json["parts"].push_back(cli::json_of(part));
  for (const ConditionReport& condition : report.conditions) {
    json["conditions"].push_back(cli::json_of(condition));
  }
  if (report.steps.empty()) return;
  std::uint64_t all = 0, unfinished = 0;
  for (const StepReport& step : report.steps) {
    all += step.executions;
    unfinished += step.unfinished;
  }
  if (!in_full && unfinished != 0) {
    output.line("\nthe run ended early: {} of {} known to be done; --verbose lists them",
                all - unfinished, counted(all, "step"));
    return;
  }

  const bool together = report.steps.size() > kMostStepRows;
  const std::vector<StepReport> steps = together ? by_program_step(report.steps) : report.steps;
  using enum Table::Align;
  Table table({{"step"},
               {""},
               {"grid", kRight},
               {"block", kRight},
               {"shared", kRight},
               {"attributes"},
               {"time", kRight},
               {"then", kRight},
               {"moved", kRight},
               {"instructions", kRight}});
  const bool in_graph = report.graph.has_value();
  for (const StepReport& step : steps) table.add(row_of(step, in_graph));
  const bool finished = std::all_of(steps.begin(), steps.end(),
                                    [](const StepReport& step) { return step.unfinished == 0; });
  if ((steps.size() > 1 || in_graph) && finished) {
    table.add(row_of(total_of(steps, report), in_graph));
  }
  output.text("\n" + table.format(output.terminal()));
  if (in_graph) {
    output.line("one graph of {} and {}, {} of them programmatic: the time is the whole run's",
                counted(report.graph->nodes, "node"), counted(report.graph->edges, "edge"),
                report.graph->programmatic_edges);
  }
  for (const ConditionReport& condition : report.conditions) {
    if (!condition.executions) continue;
    output.line("{} ({}): {}", condition.label, condition.where.to_string(),
                counted(*condition.executions, condition.is_loop ? "iteration" : "execution"));
  }
  output.text(cli::format_sm_parts(report.parts, output.terminal()));
  const std::string runs = summary_of(report.run_seconds);
  if (!runs.empty()) output.line("{}", runs);
}

void show_non_finite(const RunReport& report, Output& output) {
  Json& json = output.result()["non_finite"] = nullptr;
  if (!report.non_finite) {
    output.line("no step made a NaN or an infinity of finite values");
    return;
  }
  const NonFiniteReport& found = *report.non_finite;
  json = {{"launch", found.launch}, {"where", found.where.to_string()},
          {"buffer", found.buffer}, {"index", found.index},
          {"value", found.value},   {"count", found.count}};
}

void show_finding(const FindingReport& finding, std::string_view before, Output& output) {
  const std::string times = finding.count == 1 ? "" : fmt::format(" ({} times)", finding.count);
  const std::string where = finding.where.empty() ? "" : fmt::format(" ({})", finding.where);
  output.diagnostic(finding.error ? Style::kBad : Style::kWarning,
                    finding.error ? "error" : "warning",
                    fmt::format("{}{}{}kernel {}, block ({}), thread ({}): {}{}{}", before,
                                finding.launch, finding.launch.empty() ? "" : ": ",
                                with_readable_names(finding.kernel), fmt::join(finding.block, ", "),
                                fmt::join(finding.thread, ", "), finding.message, times, where),
                    finding.where);
}

void show_findings(const RunReport& report, bool error_findings, Output& output) {
  Json& json = output.result()["findings"] = Json::array();
  for (const FindingReport& finding : report.findings) {
    json.push_back(cli::json_of(finding));
    if (finding.error && !error_findings) continue;
    show_finding(finding, {}, output);
  }
}

Error explained(Error failure, const std::vector<FindingReport>& findings) {
  std::vector<std::string_view> kinds;
  for (const FindingReport& finding : findings) {
    if (!finding.error || std::ranges::find(kinds, finding.kind) != kinds.end()) continue;
    kinds.push_back(finding.kind);
    failure.note(fmt::format("baton explain {} says what helps", finding.kind));
  }
  return failure;
}

void show_warnings(const RunReport& report, Output& output) {
  for (const std::string& warning : report.warnings) output.warning(warning);
}

}  // namespace baton::cli
