#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "baton/edge.h"
#include "cli/commands/record.h"
#include "cli/output/counted.h"
#include "cli/output/table.h"
#include "tools/basics.h"
#include "tools/draft/readable_names.h"
#include "tools/process/record_folder.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;
using record::RecordEdge;
using Align = Table::Align;

// Bytes of a text of a record.
constexpr std::size_t kLongest = 2000;

std::string_view launched_as(const RecordEdge& edge) {
  return edge.programmatic ? "programmatic" : "full";
}

// What follows of the verdict for whoever launches.
std::string_view advice_of(const RecordEdge& edge) {
  switch (edge.verdict) {
    case EdgeVerdict::kProven:
      return edge.programmatic ? "right as it is" : "PDL would be safe";
    case EdgeVerdict::kUnsafe:
      return edge.programmatic ? "races" : "PDL would race";
    case EdgeVerdict::kUnknown:
      return edge.programmatic ? "may race" : "leave it full";
  }
  return "";
}

Style style_of_edge(const RecordEdge& edge) {
  switch (edge.verdict) {
    case EdgeVerdict::kProven:
      return Style::kGood;
    case EdgeVerdict::kUnsafe:
      return Style::kBad;
    case EdgeVerdict::kUnknown:
      return Style::kWarning;
  }
  return Style::kFaint;
}

Json json_of(const RecordEdge& edge, std::uint32_t process) {
  return {{"process", process},
          {"from", edge.from},
          {"to", edge.to},
          {"from_kernel", edge.from_kernel},
          {"to_kernel", edge.to_kernel},
          {"count", edge.count},
          {"verdict", to_string(edge.verdict)},
          {"cause", to_string(edge.cause)},
          {"reason", edge.reason},
          {"decision", launched_as(edge)},
          {"decision_reason", advice_of(edge)},
          {"where", edge.where}};
}

// "Edges of process 12", with a row for each kind of edge.
void show_edges_of(const record::RecordJudgement& judged, Output& output) {
  if (judged.edges.empty()) return;
  Table table({{"edge"},
               {"count", Align::kRight},
               {"launched"},
               {"verdict"},
               {"so"},
               {"reason for the verdict"}});
  for (const RecordEdge& edge : judged.edges) {
    table.add({fmt::format("{} -> {}", printable(tools::with_readable_names(edge.from_kernel)),
                           printable(tools::with_readable_names(edge.to_kernel))),
               std::to_string(edge.count), std::string(launched_as(edge)),
               styled(to_string(edge.verdict), style_of_edge(edge), output.colour()),
               std::string(advice_of(edge)), printable(edge.reason, kLongest)});
  }
  output.text(table.format(output.terminal()));
}

// What no verdict is about.
void show_rest(const record::RecordJudgement& judged, Output& output) {
  for (const record::RecordKernel& kernel : judged.kernels) {
    if (kernel.unseen.empty()) continue;
    output.line("not seen: {} ({}): {}", printable(tools::with_readable_names(kernel.readable)),
                counted(kernel.launches, "launch", "launches"), kernel.unseen);
  }
  if (judged.separated > 0) {
    output.line("{} after other work of the stream (copies, events, waits): never early",
                counted(judged.separated, "launch", "launches"));
  }
  if (judged.graph_kernels > 0) {
    output.line("not judged: {} of graphs, with several dependencies or other parameters",
                counted(judged.graph_kernels, "kernel node"));
  }
  if (judged.graph_launches > 0) {
    output.line("{} of graphs: their launches are judged once",
                counted(judged.graph_launches, "launch", "launches"));
  }
  if (judged.failed > 0) {
    output.line("{} that the driver refused", counted(judged.failed, "launch", "launches"));
  }
  for (const std::string& remark : judged.remarks) output.warning(printable(remark, kLongest));
}

}  // namespace

void check_record(const CheckCommand& command, const std::filesystem::path& file, Output& output) {
  const tools::RecordContents record = tools::read_record(file);
  Json& json = output.result();
  json["file"] = file.string();
  json["kind"] = "record";
  json["device"] = record.device;
  json["device_name"] = nullptr;
  json["processes"] = Json::array();
  json["edges"] = Json::array();
  std::optional<std::string> race;
  for (const record::ProcessRecord& process : record.processes) {
    output.progress(fmt::format("check process {}", process.process));
    const record::RecordJudgement judged = tools::judge_process(record, process);
    output.line("\nprocess {}: {}, {}, {}", process.process, printable(process.program),
                counted(judged.launches, "launch", "launches"),
                counted(judged.kernels.size(), "kernel"));
    show_edges_of(judged, output);
    show_rest(judged, output);
    Json kernels = Json::array();
    for (const record::RecordKernel& kernel : judged.kernels) {
      kernels.push_back({{"name", kernel.name},
                         {"readable", kernel.readable},
                         {"launches", kernel.launches},
                         {"waits", kernel.waits ? Json(*kernel.waits) : Json()},
                         {"triggers", kernel.triggers ? Json(*kernel.triggers) : Json()},
                         {"unseen", kernel.unseen.empty() ? Json() : Json(kernel.unseen)}});
    }
    json["processes"].push_back({{"process", process.process},
                                 {"program", process.program},
                                 {"launches", judged.launches},
                                 {"failed", judged.failed},
                                 {"separated", judged.separated},
                                 {"graph_launches", judged.graph_launches},
                                 {"graph_kernels", judged.graph_kernels},
                                 {"kernels", std::move(kernels)}});
    for (const RecordEdge& edge : judged.edges) {
      json["edges"].push_back(json_of(edge, process.process));
      if (!edge.programmatic || edge.verdict != EdgeVerdict::kUnsafe || race) continue;
      race = fmt::format("process {} launches {} with PDL after {} ({}), which is unsafe: {}",
                         process.process, tools::with_readable_names(edge.to_kernel),
                         tools::with_readable_names(edge.from_kernel), counted(edge.count, "time"),
                         edge.reason);
    }
  }
  if (record.processes.empty() && record.damage.empty()) {
    output.line("{}: no process used the CUDA driver: there is no launch", file.string());
  }
  if (command.verbose) output.line("\nthe images of the record: baton inspect {}", file.string());
  tools::require_whole(record);
  if (race) {
    throw error(ErrorCode::kFault,
                "{}; move the access after cudaGridDependencySynchronize(), or launch it without "
                "PDL",
                *race);
  }
}

}  // namespace baton::cli
