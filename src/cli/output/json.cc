#include "cli/output/json.h"

#include <nlohmann/json.hpp>
#include <span>

#include "cli/output/or_null.h"
#include "tools/json_values.h"

namespace baton::cli {
namespace {

using Json = nlohmann::ordered_json;

Json extent(const Dim3& value) {
  return Json::array({value.x, value.y, value.z});
}

std::string_view to_string(StepReport::Kind kind) {
  switch (kind) {
    case StepReport::Kind::kLaunch:
      return "launch";
    case StepReport::Kind::kCopy:
      return "copy";
    case StepReport::Kind::kFill:
      return "fill";
    case StepReport::Kind::kCollective:
      return "collective";
  }
  return "";
}

// What is known of a parameter; a scalar by its dtype.
std::string kind_of(const ParamFacts& param) {
  switch (param.kind) {
    case ParamKind::kUnknown:
      return "unknown";
    case ParamKind::kPointer:
      return "pointer";
    case ParamKind::kScalar:
      return param.dtype ? std::string(baton::to_string(*param.dtype)) : "scalar";
    case ParamKind::kInteger:
      return "integer";
    case ParamKind::kBytes:
      return "bytes";
  }
  return "unknown";
}

}  // namespace

Json json_of(const TimeStatistics& times) {
  return {{"count", times.count},
          {"least", times.least},
          {"lower_quartile", times.lower_quartile},
          {"median", times.median},
          {"upper_quartile", times.upper_quartile},
          {"greatest", times.greatest}};
}

Json json_of(const SmPartReport& part) {
  return {{"asked", part.asked}, {"given", part.given}, {"launches", part.launches}};
}

Json json_of(const StepReport& step) {
  Json json = {{"kind", to_string(step.kind)},
               {"label", step.label},
               {"where", step.where.to_string()},
               {"executions", step.executions},
               {"skipped", step.skipped}};
  if (!step.indexes.empty()) json["indexes"] = step.indexes;
  if (step.kind == StepReport::Kind::kLaunch) {
    json["grid"] = extent(step.grid);
    json["block"] = extent(step.block);
    json["shared"] = step.shared;
    json["attributes"] = tools::json_of(std::span<const LaunchAttribute>(step.attributes));
  }
  json["seconds"] = or_null(step.seconds);
  if (step.timed_with_next) json["timed_with_next"] = true;
  json["best_seconds"] = or_null(step.best_seconds);
  json["times"] = step.times ? json_of(*step.times) : Json();
  json["bytes"] = step.bytes;
  json["bytes_counted"] = step.bytes_counted;
  json["instructions"] = or_null(step.instructions);
  json["warp_instructions"] = or_null(step.warp_instructions);
  return json;
}

Json json_of(const ConditionReport& condition) {
  return {{"kind", condition.is_loop ? "while" : "if"},
          {"label", condition.label},
          {"where", condition.where.to_string()},
          {"executions", or_null(condition.executions)}};
}

Json json_of(const CollectivesReport& by) {
  Json json = {{"executor", by.executor}};
  if (!by.reason.empty()) json["reason"] = by.reason;
  if (by.peer_bytes != 0) json["peer_bytes"] = by.peer_bytes;
  if (!by.peer_steps.empty()) json["peer_steps"] = by.peer_steps;
  if (by.executor == "host") return json;
  if (by.executor == "nccl") {
    json["version"] = by.version;
    json["library"] = by.library;
  }
  json["host_steps"] = by.host_steps;
  return json;
}

Json json_of(const GraphReport& graph) {
  return {{"nodes", graph.nodes},
          {"edges", graph.edges},
          {"programmatic_edges", graph.programmatic_edges},
          {"builds", graph.builds},
          {"updates", graph.updates}};
}

Json json_of(const FindingReport& finding) {
  return {{"severity", finding.error ? "error" : "warning"},
          {"kind", finding.kind},
          {"kernel", finding.kernel},
          {"block", finding.block},
          {"thread", finding.thread},
          {"where", finding.where},
          {"message", finding.message},
          {"count", finding.count},
          {"launch", finding.launch.empty() ? Json() : Json(finding.launch)}};
}

Json json_of(const KernelFacts& kernel) {
  Json params;
  if (kernel.params) {
    params = Json::array();
    for (const ParamFacts& param : *kernel.params) {
      params.push_back({{"offset", param.offset},
                        {"size", param.size},
                        {"kind", kind_of(param)},
                        {"type", param.type}});
    }
  }
  Json json = {{"name", kernel.name},
               {"demangled", kernel.demangled},
               {"params", std::move(params)},
               {"registers", or_null(kernel.registers)},
               {"static_shared", or_null(kernel.static_shared)},
               {"max_dynamic_shared", or_null(max_dynamic_shared(kernel))},
               {"local_bytes", or_null(kernel.local_bytes)},
               {"spill_bytes", or_null(kernel.spill_bytes)},
               {"max_threads", or_null(kernel.max_threads)},
               {"max_registers", or_null(kernel.max_registers)},
               {"required_block", or_null(kernel.required_block)},
               {"required_cluster", or_null(kernel.required_cluster)},
               {"max_cluster", or_null(kernel.max_cluster)},
               {"min_blocks", or_null(kernel.min_blocks)},
               {"grid_in_clusters", or_null(kernel.grid_in_clusters)},
               {"barriers", or_null(kernel.barriers)},
               {"arch", nullptr},
               {"waits", or_null(kernel.waits)},
               {"triggers", or_null(kernel.triggers)},
               {"grid_sync", or_null(kernel.grid_sync)},
               {"polls", or_null(kernel.polls)}};
  if (!kernel.arch.empty()) json["arch"] = kernel.arch;
  return json;
}

}  // namespace baton::cli
