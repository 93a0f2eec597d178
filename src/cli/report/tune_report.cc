#include "cli/report/tune_report.h"

#include <nlohmann/json.hpp>
#include <string>

#include "cli/output/counted.h"
#include "cli/output/format.h"
#include "cli/output/or_null.h"
#include "cli/output/table.h"
#include "tools/basics.h"
#include "tools/measure/tuned_program.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(ExecutorKind executor) {
  return executor == ExecutorKind::kGraph ? "graph" : "stream";
}

Json json_of(const TuneVariant& variant) {
  Json rewrites = Json::object(), parameters = Json::object();
  for (const auto& [kernel, mode] : variant.choices.rewrites) rewrites[kernel] = to_string(mode);
  for (const auto& [symbol, value] : variant.choices.parameters) parameters[symbol] = value;
  Json json = {{"text", to_text(variant)},
               {"executor", name_of(variant.executor)},
               {"rewrites", rewrites},
               {"even", variant.choices.even},
               {"full_edges", variant.choices.full_edges},
               {"parameters", parameters}};
  for (const auto& [number, by] : variant.choices.collectives) {
    json["collectives"].push_back({{"number", number}, {"by", to_string(by)}});
  }
  return json;
}

Json json_of(const TuneRatio& ratio) {
  return {
      {"ratio", ratio.ratio}, {"low", ratio.low}, {"high", ratio.high}, {"samples", ratio.samples}};
}

Json json_of(const TuneRecord& record) {
  Json json = json_of(record.variant);
  json["cost"] = record.cost;
  json["change"] = json_of(record.ratio);
  json["noise"] = record.noise;
  return json;
}

Json json_of(const TuneTrial& trial) {
  Json json = json_of(trial.variant);
  json["pass"] = trial.pass;
  json["refused"] = trial.refused.empty() ? Json() : Json(trial.refused);
  json["cost"] = trial.refused.empty() ? Json(trial.cost) : Json();
  json["change"] = trial.ratio ? json_of(*trial.ratio) : Json();
  json["best"] = trial.best;
  return json;
}

// "-3.1 %"
std::string change_text(double ratio) {
  return fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

void show_trials(const TuneReport& report, bool is_time, Output& output) {
  using enum Table::Align;
  Table table({{"varied"},
               {"variant"},
               {is_time ? "time" : "warp instructions", kRight},
               {"against the best", kRight},
               {"at 95 %", kRight},
               {"result"}});
  for (const TuneTrial& trial : report.trials) {
    if (!trial.refused.empty()) {
      table.add({trial.pass, to_text(trial.variant), "", "", "", "refused: " + trial.refused});
      continue;
    }
    const bool has_interval = trial.ratio && trial.ratio->samples > 1;
    table.add({trial.pass, to_text(trial.variant), tune_cost_text(trial.cost, is_time),
               trial.ratio ? change_text(trial.ratio->ratio) : "",
               has_interval ? fmt::format("{} to {}", change_text(trial.ratio->low),
                                          change_text(trial.ratio->high))
                            : "",
               trial.best ? "the best so far" : ""});
  }
  if (table.rows() != 0) output.text("\n" + table.format(output.terminal()));
}

std::string result_text(const TuneReport& report, bool is_time) {
  const TuneRecord& record = report.record;
  if (!record.accepted) {
    if (report.trials.empty()) return "the program stays untuned: " + report.remark;
    if (record.ratio.samples == 0) return "untuned is best";
    return fmt::format(
        "untuned is best: the best variant is at {} in fresh runs, with a noise of "
        "{:.1f} %",
        change_text(record.ratio.ratio), 100 * record.noise);
  }
  const std::string text = fmt::format("{}: {}", to_text(record.variant), tools::gain_text(record));
  if (!is_time) return text;
  return fmt::format("{} ({} to {} at 95 %, {}; noise {:.1f} %)", text,
                     change_text(record.ratio.low), change_text(record.ratio.high),
                     counted(record.ratio.samples, "pair of fresh runs", "pairs of fresh runs"),
                     100 * record.noise);
}

}  // namespace

std::string tune_cost_text(double cost, bool is_time) {
  return is_time ? format_duration(cost) : format_count(static_cast<std::uint64_t>(cost));
}

void show_tuned(const std::optional<TuneRecord>& record, Output& output) {
  if (!record) return;
  output.result()["executor"] = name_of(record->variant.executor);
  output.result()["tuned"] = json_of(*record);
  output.line("tuned    {}: {} when it was measured; --untuned leaves it out",
              to_text(record->variant), tools::gain_text(*record));
}

void show_search(const TuneReport& report, Output& output) {
  Json& json = output.result();
  const TuneRecord& record = report.record;
  const bool is_time = record.cost == "seconds";
  json["cost"] = record.cost;
  json["untuned"] = report.base_cost;
  json["trials"] = Json::array();
  for (const TuneTrial& trial : report.trials) json["trials"].push_back(json_of(trial));
  json["accepted"] = record.accepted;
  json["tuned"] = json_of(record);
  json["remark"] = report.remark.empty() ? Json() : Json(report.remark);
  json["out_of_time"] = report.out_of_time;
  json["seconds"] = report.seconds;
  json["record"] = report.file.empty() ? Json() : Json(report.file.string());

  if (report.base_cost > 0) {
    output.line("untuned  {} a run{}", tune_cost_text(report.base_cost, is_time),
                is_time ? "" : " in warp instructions, which say nothing of overlap or of a GPU");
  }
  show_trials(report, is_time, output);
  output.line("\nresult   {}",
              styled(result_text(report, is_time), record.accepted ? Style::kGood : Style::kBold,
                     output.colour()));
  if (!report.remark.empty() && !report.trials.empty()) output.line("         {}", report.remark);
  if (report.out_of_time && report.remark.empty()) {
    output.line("         the budget ended before the search; --budget gives it more time");
  }
  if (!report.file.empty()) output.line("record   {}", report.file.string());
}

}  // namespace baton::cli
