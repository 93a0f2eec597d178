#include "session/run/traced_run.h"

#include <cuda.h>

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "session/advice/edge_advice.h"
#include "trace/edge_costs.h"
#include "trace/timeline.h"
#include "trace/timeline_json.h"

namespace baton {
namespace {

constexpr double kMicrosecond = 1e-6;
// Nanoseconds that are worth a remark. Where the clocks of a GPU keep their frequency, it is
// some 20.
constexpr double kMostDisagreement = 500;

// What the trace does not show, or not exactly.
std::vector<std::string> remarks_of(const trace::RunTimeline& timeline,
                                    const trace::LaunchRecords& records,
                                    const load::KernelSet& kernels) {
  std::vector<std::string> remarks;
  for (const KernelModule& module : kernels.modules()) {
    for (const KernelTrace& kernel : module.traces) {
      if (kernel.obstacle.empty()) continue;
      remarks.push_back(fmt::format("{} is not traced: {}", kernel.kernel, kernel.obstacle));
    }
  }
  if (records.crowded_out() != 0) {
    remarks.push_back(
        fmt::format("there is place for the records of {} blocks, and {} of the "
                    "launches had none left; run with smaller grids or fewer iterations",
                    records.blocks(), records.crowded_out()));
  }
  if (records.repeated() != 0) {
    remarks.push_back(fmt::format(
        "the steps of a while are not traced in a graph, where one node executes all its "
        "iterations ({} of the launches); the stream executor traces each iteration",
        records.repeated()));
  }
  if (timeline.unfinished != 0) {
    remarks.push_back(fmt::format(
        "{} of the blocks did not note an end: for the timeline each ends with its last event",
        timeline.unfinished));
  }
  if (timeline.disagreement > kMostDisagreement) {
    remarks.push_back(
        fmt::format("the clock of a multiprocessor and the device's time disagree by {:.0f} ns at "
                    "the begin of a block: the clock changed its frequency there",
                    timeline.disagreement));
  }
  return remarks;
}

}  // namespace

TracedRun::TracedRun(const Device& device, const Stream& stream, trace::LaunchRecords& records)
    : device_(device),
      stream_(stream),
      records_(records),
      before_(trace::read_clock_edges(device, stream)) {
  records_.clear(stream_);
}

TraceReport TracedRun::report_of(const trace::RunTimeline& timeline, const Names& names,
                                 const bind::Tape& tape, const load::KernelSet& kernels,
                                 std::span<const EdgeReport> edges) const {
  TraceReport out;
  out.seconds = timeline.end * kMicrosecond;
  out.multiprocessors = device_.limits().multiprocessors;
  out.clock_step_ns = timeline.step;
  std::map<std::uint32_t, std::string> labels;
  for (const trace::TimedStep& step : timeline.steps) {
    if (!step.is_timed()) continue;
    ++out.launches;
    out.blocks += step.blocks.size();
    const auto name = names.find(step.step->number);
    labels.try_emplace(step.step->launch,
                       name == names.end() ? step.step->kernel : name->second.name);
  }
  const trace::EdgeCosts costs = trace::count_edge_costs(timeline, out.multiprocessors);
  out.idle_sm_seconds = costs.idle * kMicrosecond;
  out.remarks = remarks_of(timeline, records_, kernels);
  // Launches that run side by side have no order that idle time could be counted by.
  const bool has_order = tape.lanes() == 1;
  if (!has_order) {
    out.remarks.push_back(
        "branches of a parallel run side by side: idle time is not shared out among the edges");
  }
  for (const trace::EdgeCost& cost : costs.edges) {
    TracedEdge& edge = out.edges.emplace_back();
    edge.from = cost.from;
    edge.to = cost.to;
    edge.from_kernel = labels[cost.from];
    edge.to_kernel = labels[cost.to];
    edge.executions = cost.executions;
    edge.early = cost.early;
    edge.overlap_seconds = cost.overlap * kMicrosecond;
    edge.gap_seconds = cost.gap * kMicrosecond;
    edge.wait_seconds = cost.wait * kMicrosecond;
    edge.tail_seconds = cost.tail * kMicrosecond;
    edge.idle_sm_seconds = has_order ? cost.idle * kMicrosecond : 0;
    const auto judged = std::ranges::find_if(edges, [&](const EdgeReport& report) {
      return report.from == cost.from && report.to == cost.to;
    });
    edge.advice =
        advise(cost, judged == edges.end() ? nullptr : &*judged, edge.from_kernel, edge.to_kernel);
  }
  const auto costliest = std::ranges::max_element(out.edges, {}, &TracedEdge::idle_sm_seconds);
  if (costliest != out.edges.end() && costliest->idle_sm_seconds > 0) {
    out.costliest = static_cast<std::size_t>(costliest - out.edges.begin());
  }
  return out;
}

void TracedRun::finish(bind::Tape& tape, const play::LaunchTags& tags,
                       const load::KernelSet& kernels, std::span<const EdgeReport> edges,
                       RunReport& report) {
  const std::vector<trace::BlockRecord> records = records_.read(stream_);
  const trace::ClockEdges after = trace::read_clock_edges(device_, stream_);
  const double ghz = device_.attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * 1e-6;
  const trace::SmClocks clocks(before_, after, records, ghz);
  const trace::RunTimeline timeline = trace::read_timeline(records_.steps(), records, clocks);
  std::vector<std::uint64_t> wanted;
  for (const trace::NotedStep& step : records_.steps()) wanted.push_back(tags.tag(step.number));
  Names names;
  for (auto& [tag, name] : play::traced_launches(tape, tags, wanted)) {
    names.emplace(*tags.step(tag), std::move(name));
  }
  report.trace = trace::timeline_json(timeline, names, device_.limits().multiprocessors);
  report.traced = report_of(timeline, names, tape, kernels, edges);
}

}  // namespace baton
