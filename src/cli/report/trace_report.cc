#include "cli/report/trace_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "cli/output/format.h"
#include "cli/output/or_null.h"
#include "cli/output/table.h"
#include "cli/report/advice_table.h"
#include "tools/basics.h"

namespace baton::cli {
namespace {

using TraceJson = nlohmann::ordered_json;
using KernelModule = Executable::KernelModule;

// More rows than this are not read.
constexpr std::size_t kMostEdges = 30;
constexpr std::size_t kLongestRemark = 300;

double share_of(const TracedEdge& edge, const TraceReport& traced) {
  return traced.idle_sm_seconds > 0 ? edge.idle_sm_seconds / traced.idle_sm_seconds : 0;
}

std::string name_of(const TracedEdge& edge) {
  return fmt::format("{} -> {}", printable(edge.from_kernel), printable(edge.to_kernel));
}

TraceJson json_of(const TraceReport& traced, const std::vector<KernelModule>& modules) {
  TraceJson edges = TraceJson::array(), kernels = TraceJson::array();
  for (const TracedEdge& edge : traced.edges) {
    edges.push_back({{"from", edge.from},
                     {"to", edge.to},
                     {"from_kernel", edge.from_kernel},
                     {"to_kernel", edge.to_kernel},
                     {"executions", edge.executions},
                     {"early", edge.early},
                     {"overlap_seconds", edge.overlap_seconds},
                     {"gap_seconds", edge.gap_seconds},
                     {"wait_seconds", edge.wait_seconds},
                     {"tail_seconds", edge.tail_seconds},
                     {"idle_sm_seconds", edge.idle_sm_seconds},
                     {"advice", cli::json_of(edge.advice)}});
  }
  for (const KernelModule& module : modules) {
    for (const KernelTrace& kernel : module.traces) {
      kernels.push_back(
          {{"kernel", kernel.kernel},
           {"obstacle", kernel.obstacle.empty() ? TraceJson() : TraceJson(kernel.obstacle)},
           {"registers_before", or_null(kernel.registers_before)},
           {"registers", or_null(kernel.registers)}});
    }
  }
  return {{"seconds", traced.seconds},
          {"launches", traced.launches},
          {"blocks", traced.blocks},
          {"multiprocessors", traced.multiprocessors},
          {"idle_sm_seconds", traced.idle_sm_seconds},
          {"clock_step_ns", traced.clock_step_ns},
          {"costliest", traced.costliest ? TraceJson(*traced.costliest) : TraceJson()},
          {"edges", edges},
          {"kernels", kernels},
          {"remarks", traced.remarks}};
}

void show_edges(const TraceReport& traced, Output& output) {
  if (traced.edges.empty()) return;
  std::vector<std::size_t> order(traced.edges.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.size() > kMostEdges) {
    std::ranges::stable_sort(order, std::greater(),
                             [&](std::size_t k) { return traced.edges[k].idle_sm_seconds; });
    order.resize(kMostEdges);
  }
  using enum Table::Align;
  Table table({{"edge"},
               {"times", kRight},
               {"early", kRight},
               {"overlap", kRight},
               {"gap", kRight},
               {"wait", kRight},
               {"tail", kRight},
               {"idle SM time", kRight},
               {"of all", kRight}});
  for (const std::size_t k : order) {
    const TracedEdge& edge = traced.edges[k];
    table.add({name_of(edge), std::to_string(edge.executions), std::to_string(edge.early),
               format_duration(edge.overlap_seconds), format_duration(edge.gap_seconds),
               format_duration(edge.wait_seconds), format_duration(edge.tail_seconds),
               format_duration(edge.idle_sm_seconds),
               fmt::format("{:.0f} %", 100 * share_of(edge, traced))});
  }
  output.text(fmt::format("\n{}", table.format(output.terminal())));
  if (traced.edges.size() > kMostEdges) {
    output.line("  and {} edges that cost less", traced.edges.size() - kMostEdges);
  }
}

std::vector<AdviceRow> advice_of(const TraceReport& traced) {
  std::vector<AdviceRow> rows;
  for (const TracedEdge& edge : traced.edges) {
    for (const EdgeAdvice& advice : edge.advice) rows.push_back({name_of(edge), advice});
  }
  return rows;
}

}  // namespace

void show_traced(const RunReport& report, const std::vector<Executable::KernelModule>& modules,
                 bool is_simulated, Output& output) {
  if (!report.traced) return;
  const TraceReport& traced = *report.traced;
  output.result()["trace"] = json_of(traced, modules);
  show_edges(traced, output);
  const double capacity = traced.seconds * traced.multiprocessors;
  if (capacity > 0) {
    output.line("traced {} launches of {} blocks in {}: {:.0f} % of the SMs' time is idle",
                traced.launches, traced.blocks, format_duration(traced.seconds),
                100 * traced.idle_sm_seconds / capacity);
  }
  if (traced.costliest) {
    const TracedEdge& edge = traced.edges[*traced.costliest];
    output.line("the edge that costs most is {}: {} of idle SM time, {:.0f} % of all",
                name_of(edge), format_duration(edge.idle_sm_seconds), 100 * share_of(edge, traced));
  }
  show_advice(advice_of(traced), false, output);
  for (const KernelModule& module : modules) {
    for (const KernelTrace& kernel : module.traces) {
      if (!kernel.registers || !kernel.registers_before) continue;
      if (*kernel.registers == *kernel.registers_before) continue;
      output.line("instrumented, {} has {} registers and not {}", printable(kernel.kernel),
                  *kernel.registers, *kernel.registers_before);
    }
  }
  if (is_simulated) {
    output.line("times of the simulated GPU count instructions, and say nothing about a GPU");
  }
  for (const std::string& remark : traced.remarks)
    output.line("{}", printable(remark, kLongestRemark));
}

}  // namespace baton::cli
