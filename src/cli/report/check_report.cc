#include "cli/report/check_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>

#include "cli/output/attribute_format.h"
#include "cli/output/counted.h"
#include "cli/output/format.h"
#include "cli/output/json.h"
#include "cli/output/or_null.h"
#include "cli/output/table.h"
#include "cli/report/advice_table.h"
#include "cli/report/kernel_table.h"
#include "cli/report/sm_parts.h"
#include "tools/basics.h"
#include "tools/device_facts.h"
#include "tools/json_values.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

// Threads of a block that questions about a kernel assume where the image does not fix it.
constexpr std::uint32_t kTypicalThreads = 256;

// More rows of launches and edges than this only --verbose shows.
constexpr std::size_t kMostRows = 40;

Json extents_json(const Dim3& extent) {
  return Json::array({extent.x, extent.y, extent.z});
}

Json json_of(const KernelLimits& limits, bool estimated) {
  return {{"max_threads", limits.max_threads},
          {"max_dynamic_shared", limits.max_dynamic_shared},
          {"registers", limits.registers},
          {"registers_estimated", estimated},
          {"static_shared", limits.static_shared},
          {"blocks_per_multiprocessor", or_null(limits.blocks_per_multiprocessor)},
          {"max_cluster", or_null(limits.max_cluster)},
          {"max_cooperative_blocks", or_null(limits.max_cooperative_blocks)}};
}

std::string registers_text(const KernelLimits& limits, bool estimated) {
  return fmt::format("{}{}", estimated ? "~" : "", limits.registers);
}

// The config that an image's kernel is asked about.
LaunchConfig typical_config(const Kernel& kernel) {
  LaunchConfig config;
  const KernelFacts& facts = kernel.facts();
  config.block = Dim3(std::min(kTypicalThreads, kernel.max_threads()));
  if (facts.required_block) {
    const auto& block = *facts.required_block;
    config.block = Dim3(block[0], block[1], block[2]);
  }
  if (facts.required_cluster) {
    const auto& cluster = *facts.required_cluster;
    config.grid = Dim3(cluster[0], cluster[1], cluster[2]);
    config.attributes.set(baton::cluster(config.grid));
  }
  return config;
}

std::string_view to_string(Compatibility::Answer answer) {
  constexpr std::string_view kNames[] = {"runs", "compiles", "no", "unknown"};
  return kNames[static_cast<std::size_t>(answer)];
}

Table limits_table() {
  using enum Table::Align;
  return Table({{"kernel"},
                {"most threads", kRight},
                {"dynamic shared", kRight},
                {"registers", kRight},
                {"for a block of", kRight},
                {"blocks/SM", kRight},
                {"largest cluster", kRight},
                {"cooperative grid", kRight}});
}

// "256 of 1024": what is used of what there is.
std::string share(std::uint64_t used, std::uint64_t limit) {
  return fmt::format("{} of {}", used, limit);
}

// What is left of each limit; only what the launch asks for has one.
Json headroom_of(const LaunchConfig& config, const KernelLimits& limits) {
  Json json = {{"threads", limits.max_threads - config.block.count()},
               {"shared", limits.max_dynamic_shared - config.shared}};
  if (config.cooperative() && limits.max_cooperative_blocks) {
    json["cooperative_blocks"] = *limits.max_cooperative_blocks - config.grid.count();
  }
  if (config.cluster() && limits.max_cluster) {
    json["cluster"] = *limits.max_cluster - config.cluster()->count();
  }
  return json;
}

Json json_of(const LaunchReport& launch, bool estimated) {
  Json json = {{"kind", "launch"},
               {"number", launch.number},
               {"label", launch.kernel},
               {"where", launch.where.to_string()},
               {"executions", launch.executions},
               {"skipped", launch.skipped},
               {"grid", nullptr},
               {"block", nullptr},
               {"shared", nullptr},
               {"padding", nullptr},
               {"placement", nullptr},
               {"attributes", nullptr},
               {"limits", nullptr},
               {"headroom", nullptr}};
  if (launch.conditional) json["conditional"] = true;
  if (!launch.config) return json;
  if (launch.config->stream.part_sms != 0) json["sms"] = launch.config->stream.part_sms;
  json["grid"] = extents_json(launch.config->grid);
  json["block"] = extents_json(launch.config->block);
  json["shared"] = launch.config->shared;
  json["padding"] = launch.padding;
  json["placement"] = launch.placement.empty() ? Json() : Json(launch.placement);
  json["attributes"] = tools::json_of(launch.config->attributes.all());
  json["limits"] = json_of(*launch.limits, estimated);
  json["headroom"] = headroom_of(*launch.config, *launch.limits);
  return json;
}

std::string times_of(const LaunchReport& launch) {
  if (launch.executions == 0) return "never";
  if (launch.executions == launch.skipped) return "skipped";
  std::string text = launch.executions == 1 ? "" : fmt::format("{} times", launch.executions);
  if (launch.conditional) text += text.empty() ? "conditional" : ", conditional";
  if (launch.skipped > 0) text += fmt::format(", {} skipped", launch.skipped);
  return text;
}

std::vector<std::string> row_of(const LaunchReport& launch, bool estimated) {
  std::vector<std::string> row = {std::to_string(launch.number), launch.kernel, times_of(launch)};
  if (!launch.config) return row;
  const LaunchConfig& config = *launch.config;
  const KernelLimits& limits = *launch.limits;
  const bool cooperative = config.cooperative() && limits.max_cooperative_blocks;
  row.insert(row.end(),
             {format_extent(config.grid), format_extent(config.block),
              share(config.block.count(), limits.max_threads),
              fmt::format("{} of {}", format_bytes(config.shared),
                          format_bytes(limits.max_dynamic_shared)),
              registers_text(limits, estimated), format_known(limits.blocks_per_multiprocessor),
              cooperative ? share(config.grid.count(), *limits.max_cooperative_blocks) : "",
              format_attributes(config.attributes.all())});
  return row;
}

Json json_of(const EarlyRoom& room) {
  return {
      {"held", room.held}, {"beside", room.beside}, {"share", room.share}, {"limit", room.limit}};
}

// How many blocks of launches that start early find room, and what placement = "even" came to.
void show_room(const CheckReport& report, Output& output) {
  using enum Table::Align;
  Table rooms(
      {{"early"}, {"resident", kRight}, {"fit", kRight}, {"share", kRight}, {"limited by"}});
  bool any = false;
  for (const EdgeReport& edge : report.edges) {
    if (!edge.programmatic) continue;
    any = true;
    const std::string name = fmt::format("{} -> {}", edge.from, edge.to);
    if (edge.room) {
      rooms.add({name, std::to_string(edge.room->held), std::to_string(edge.room->beside),
                 std::to_string(edge.room->share), edge.room->limit});
    } else {
      rooms.add({name, "-", "-", "-", "no block is left: the launch before never triggers"});
    }
  }
  if (any) output.text(fmt::format("\n{}", rooms.format(output.terminal())));
  Table even({{"even"}, {"launch"}, {"padding", kRight}, {"result"}});
  any = false;
  for (const LaunchReport& launch : report.launches) {
    if (launch.placement.empty()) continue;
    any = true;
    even.add({std::to_string(launch.number), launch.kernel, format_bytes(launch.padding),
              launch.placement});
  }
  if (any) output.text(fmt::format("\n{}", even.format(output.terminal())));
}

// The warnings say which accesses may meet.
void show_parallels(const std::vector<ParallelReport>& parallels, Output& output) {
  Table table({{"parallel"}, {"branches", Table::Align::kRight}, {"verdict"}, {"reason"}});
  for (const ParallelReport& parallel : parallels) {
    const bool proven = parallel.verdict == EdgeVerdict::kProven;
    table.add({parallel.where.to_string(), std::to_string(parallel.branches),
               std::string(baton::to_string(parallel.verdict)),
               proven ? "branches share only what they read, update atomically, or order"
                      : "see the warnings"});
    output.result()["parallels"].push_back({{"where", parallel.where.to_string()},
                                            {"branches", parallel.branches},
                                            {"verdict", baton::to_string(parallel.verdict)},
                                            {"conflicts", parallel.conflicts}});
  }
  if (!parallels.empty()) output.text(fmt::format("\n{}", table.format(output.terminal())));
}

void show_parts(const CheckReport& report, Output& output) {
  for (const SmPartReport& part : report.parts) {
    output.result()["parts"].push_back(cli::json_of(part));
  }
  output.text(cli::format_sm_parts(report.parts, output.terminal()));
}

std::string_view decision_of(bool programmatic) {
  return programmatic ? "programmatic" : "full";
}

// Once for each cause: all kernels of an image mostly share it.
void show_missing_waits(const ImageFacts& facts, Output& output) {
  std::map<std::string, std::vector<std::string>> kernels;  // by cause
  for (const KernelFacts& kernel : facts.kernels) {
    const auto cause = missing_wait_cause(kernel);
    if (cause) kernels[*cause].push_back(printable(kernel.demangled));
  }
  for (const auto& [cause, without] : kernels) {
    output.line("\nno programmatic dependent launch of {}{}, which never wait{}: {}",
                without.front(),
                without.size() == 1 ? "" : fmt::format(" and {} more", without.size() - 1),
                without.size() == 1 ? "s" : "", cause);
  }
}

// Below a table that marks numbers with "~".
void explain_estimates(Output& output) {
  output.line("~ an estimate of the simulated GPU, which does not assemble PTX");
}

void show_left_out(std::size_t rows, Output& output) {
  if (rows > 0) output.line("  and {} more: --verbose lists all", rows);
}

Style style_of(EdgeVerdict verdict) {
  switch (verdict) {
    case EdgeVerdict::kProven:
      return Style::kGood;
    case EdgeVerdict::kUnsafe:
      return Style::kBad;
    case EdgeVerdict::kUnknown:
      return Style::kWarning;
  }
  return Style::kFaint;
}

// An edge of either kind, with the names of its ends.
struct NamedEdge {
  std::string name;
  EdgeVerdict verdict;
  bool programmatic;
  std::string decision_reason, reason;
};

std::string name_of(const EdgeEnd& end) {
  return end.launch ? std::to_string(*end.launch) : end.label;
}

std::vector<NamedEdge> named_edges(const CheckReport& report) {
  std::vector<NamedEdge> named;
  for (const EdgeReport& edge : report.edges) {
    named.push_back({fmt::format("{} -> {}", edge.from, edge.to), edge.verdict, edge.programmatic,
                     edge.decision_reason, edge.reason});
  }
  for (const CollectiveEdgeReport& edge : report.collective_edges) {
    named.push_back({fmt::format("{} -> {}", name_of(edge.from), name_of(edge.to)), edge.verdict,
                     edge.programmatic, edge.decision_reason, edge.reason});
  }
  return named;
}

// "16 edges: 14 proven, 2 unknown".
std::string count_of(const std::vector<NamedEdge>& edges) {
  std::string text;
  for (const EdgeVerdict verdict :
       {EdgeVerdict::kProven, EdgeVerdict::kUnsafe, EdgeVerdict::kUnknown}) {
    const auto count = std::ranges::count(edges, verdict, &NamedEdge::verdict);
    if (count == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, baton::to_string(verdict));
  }
  return fmt::format("{}: {}", counted(edges.size(), "edge"), text);
}

// The edges that are not as one wants them, proven and used; `verbose`: all.
void show_edges(const std::vector<NamedEdge>& edges, bool verbose, Output& output) {
  if (edges.empty()) return;
  Table table({{"edge"}, {"verdict"}, {"decision"}, {"because"}, {"reason for the verdict"}});
  std::size_t left_out = 0;
  for (const NamedEdge& edge : edges) {
    const bool expected = edge.verdict == EdgeVerdict::kProven && edge.programmatic;
    if (!verbose && expected) continue;
    if (!verbose && table.rows() == kMostRows) {
      ++left_out;
      continue;
    }
    table.add({edge.name,
               styled(baton::to_string(edge.verdict), style_of(edge.verdict), output.colour()),
               std::string(decision_of(edge.programmatic)), edge.decision_reason, edge.reason});
  }
  output.line("\n{}", count_of(edges));
  if (table.rows() > 0) output.text(table.format(output.terminal()));
  show_left_out(left_out, output);
}

}  // namespace

void show_forecasts(const std::vector<EdgeReport>& edges, bool all, Output& output) {
  std::vector<AdviceRow> rows;
  Json& json = output.result()["edges"];
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const EdgeReport& edge = edges[i];
    json[i]["advice"] = cli::json_of(edge.advice);
    for (const EdgeAdvice& advice : edge.advice) {
      rows.push_back({fmt::format("{} -> {}", edge.from, edge.to), advice});
    }
  }
  if (rows.empty()) return;
  show_advice(std::move(rows), all, output);
  output.line(
      "forecasts for a run, by the bytes of buffers and the cost of edges on an H200; baton run "
      "--trace measures");
}

void show_image(const FoundImage& found, const Device& device, Output& output) {
  const Image& image = found.image;
  const ImageFacts facts = read_facts(image);
  Compatibility fit = tools::runs_on_device(facts, device);
  std::optional<Module> module;
  std::optional<Error> refusal;
  try {
    module = tools::load_to_ask(device, image);
  } catch (Error& failure) {
    refusal = std::move(failure);
    if (fit.answer != Compatibility::Answer::kNo) {
      // The last note says why; the message names file and device, which stand beside it already.
      const std::vector<std::string>& notes = refusal->notes();
      fit = {Compatibility::Answer::kNo, notes.empty() ? refusal->message() : notes.back()};
    }
  }
  Json& result = output.result();
  // Both are there before either is referred to: a new key moves the others.
  for (const char* list : {"images", "kernels"}) {
    if (!result.contains(list)) result[list] = Json::array();
  }
  Json& images = result["images"];
  Json& kernels = result["kernels"];
  images.push_back({{"place", found.place},
                    {"kind", to_string(image.kind())},
                    {"arch", facts.arch.empty() ? Json() : Json(facts.arch)},
                    {"runs", to_string(fit.answer)},
                    {"reason", fit.reason}});
  output.line("\n{}: {}{}, {}{}", printable(image.name()), to_string(image.kind()),
              facts.arch.empty() ? "" : " for " + facts.arch, to_string(fit.answer),
              fit.reason.empty() ? "" : ": " + fit.reason);
  Table table = limits_table();
  bool any_estimate = false;
  for (const KernelFacts& kernel : facts.kernels) {
    Json json = cli::json_of(kernel);
    json["image"] = images.size() - 1;
    json["missing_wait_cause"] = or_null(missing_wait_cause(kernel));
    json["limits"] = nullptr;
    if (module) {
      const Kernel loaded = module->kernel(kernel.name);
      const LaunchConfig config = typical_config(loaded);
      const KernelLimits limits = kernel_limits(loaded, config);
      const bool estimated = tools::has_estimated_registers(loaded);
      any_estimate |= estimated;
      json["limits"] = json_of(limits, estimated);
      json["limits"]["block"] = extents_json(config.block);
      table.add({printable(signature_of(kernel)), std::to_string(limits.max_threads),
                 format_bytes(limits.max_dynamic_shared), registers_text(limits, estimated),
                 format_extent(config.block), format_known(limits.blocks_per_multiprocessor),
                 format_known(limits.max_cluster), format_known(limits.max_cooperative_blocks)});
    }
    kernels.push_back(std::move(json));
  }
  if (!refusal && !facts.kernels.empty()) output.text(table.format(output.terminal()));
  if (any_estimate) explain_estimates(output);
  show_missing_waits(facts, output);
  if (refusal) throw std::move(*refusal);
}

void show_check(const CheckReport& report, const Executable& executable, bool verbose,
                Output& output) {
  Json& json = output.result();
  json["run_steps"] = report.steps;
  json["steps"] = Json::array();
  const std::set<std::string> estimated = tools::kernels_with_estimated_registers(executable);
  using enum Table::Align;
  Table table({{"#", kRight},
               {"launch"},
               {""},
               {"grid", kRight},
               {"block", kRight},
               {"threads", kRight},
               {"dynamic shared", kRight},
               {"registers", kRight},
               {"blocks/SM", kRight},
               {"resident", kRight},
               {"attributes"}});
  for (const LaunchReport& launch : report.launches) {
    const bool is_estimate = estimated.contains(launch.kernel);
    json["steps"].push_back(json_of(launch, is_estimate));
    if (verbose || table.rows() < kMostRows) table.add(row_of(launch, is_estimate));
  }
  if (!report.launches.empty()) output.text(fmt::format("\n{}", table.format(output.terminal())));
  show_left_out(report.launches.size() - table.rows(), output);
  if (!estimated.empty()) explain_estimates(output);
  add_edges(report.edges, output);
  add_edges(report.collective_edges, output);
  show_edges(named_edges(report), verbose, output);
  show_room(report, output);
  show_forecasts(report.edges, verbose, output);
  show_parallels(report.parallels, output);
  show_parts(report, output);
  if (!report.objection) {
    output.line("\nok: {} {} all checks for {}", counted(report.steps, "step"),
                report.steps == 1 ? "passes" : "pass", executable.device().spec());
  }
  for (const std::string& warning : report.warnings) output.warning(warning);
}

void add_edges(const std::vector<CollectiveEdgeReport>& edges, Output& output) {
  if (edges.empty()) return;
  const auto json_of = [](const EdgeEnd& end) {
    return Json{
        {"label", end.label}, {"launch", or_null(end.launch)}, {"where", end.where.to_string()}};
  };
  Json& json = output.result()["collective_edges"] = Json::array();
  for (const CollectiveEdgeReport& edge : edges) {
    json.push_back({{"from", json_of(edge.from)},
                    {"to", json_of(edge.to)},
                    {"verdict", baton::to_string(edge.verdict)},
                    {"cause", baton::to_string(edge.cause)},
                    {"reason", edge.reason},
                    {"decision", decision_of(edge.programmatic)},
                    {"decision_cause", baton::to_string(edge.decision)},
                    {"decision_reason", edge.decision_reason}});
  }
}

void add_edges(const std::vector<EdgeReport>& edges, Output& output) {
  Json& json = output.result()["edges"] = Json::array();
  for (const EdgeReport& edge : edges) {
    json.push_back({{"from", edge.from},
                    {"to", edge.to},
                    {"verdict", baton::to_string(edge.verdict)},
                    {"cause", baton::to_string(edge.cause)},
                    {"reason", edge.reason},
                    {"decision", decision_of(edge.programmatic)},
                    {"decision_cause", baton::to_string(edge.decision)},
                    {"decision_reason", edge.decision_reason},
                    {"room", edge.room ? json_of(*edge.room) : Json()}});
  }
}

}  // namespace baton::cli
