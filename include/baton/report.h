#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/access_counts.h"
#include "baton/attributes.h"
#include "baton/dim3.h"
#include "baton/edge.h"
#include "baton/error.h"
#include "baton/export.h"
#include "baton/finding.h"
#include "baton/sm_part.h"

namespace baton {

// The distribution of repeated measurements, in seconds. Half of them are between the lower and the
// upper quartile.
struct TimeStatistics {
  std::uint64_t count = 0;
  double least = 0, lower_quartile = 0, median = 0, upper_quartile = 0, greatest = 0;
};
// Returns the statistics; empty for no times. Quartiles between two times are interpolated.
BATON_API std::optional<TimeStatistics> time_statistics(std::vector<double> seconds);

// The report of one step. Steps of a repeated group have one report each, up to kMaxReportedSteps
// steps in a run. Above that, each step of the program has one report for all its executions.
inline constexpr std::uint64_t kMaxReportedSteps = 4096;

struct StepReport {
  enum class Kind : std::uint8_t { kLaunch, kCopy, kFill, kCollective };
  Kind kind = Kind::kLaunch;
  std::string label;  // "rmsnorm", "copy y -> z + N", "fill z"
  // The indexes of the enclosing groups: "layer = 3". Empty outside of groups, and in a report for
  // several executions.
  std::string indexes;
  SourceLocation where;
  std::uint64_t executions = 1;
  std::uint64_t skipped = 0;  // executions with an empty grid
  // In a failed run: the executions that are not known to have completed.
  std::uint64_t unfinished = 0;

  Dim3 grid, block;                         // of the last execution that was not skipped
  std::uint32_t shared = 0;                 // dynamic shared memory, in bytes
  std::vector<LaunchAttribute> attributes;  // of that execution
  std::optional<double> seconds;            // in the first run
  // The next step may start before this one has ended, and their time is that step's.
  bool timed_with_next = false;
  std::optional<double> best_seconds;   // in the fastest of all runs
  std::optional<TimeStatistics> times;  // over the runs after the first
  // The bytes read and written. They are exact for copies, fills and collectives, and for launches
  // on a device that counts them. Otherwise they are an estimate: for each buffer argument, the
  // bytes from the passed offset to the buffer's end, or to the next iteration's offset in a
  // repeated group.
  std::uint64_t bytes = 0;
  bool bytes_counted = false;
  std::optional<std::uint64_t> instructions;  // of all threads, if the device counts them
  // Of all warps. With 32 threads in each, `instructions` is 32 times as many without divergence.
  std::optional<std::uint64_t> warp_instructions;
  std::optional<AccessCounts> accesses;  // of the first run, with RunOptions::count_accesses
};

// The executions of an if or a while of the program in the first run.
struct ConditionReport {
  std::string label;  // "while go"
  SourceLocation where;
  bool is_loop = false;  // a while
  // Of its steps: the iterations of a while, all its executions together. Empty if the run failed
  // before that was known.
  std::optional<std::uint64_t> executions;
};

// The graphs of the executor, in all runs of the executable so far.
struct GraphReport {
  std::uint64_t builds = 0;   // graphs built: the first, and one for each change of nodes or edges
  std::uint64_t updates = 0;  // updates of a graph in place, for other values
  std::uint64_t nodes = 0;    // nodes and edges of the graph that was launched last, as the
  std::uint64_t edges = 0;    // driver counts them
  std::uint64_t programmatic_edges = 0;  // of these
};

// The executor of the collectives of a program with several ranks.
struct CollectivesReport {
  std::string executor;  // "nccl", "peer" or "host", of steps that do not say what executes them
  std::string version;   // of NCCL: "2.28.3"
  std::string library;   // the file of NCCL
  std::string reason;    // why it is the host
  // With NCCL and peers: the labels of steps that the host executed, since the others lack them.
  std::vector<std::string> host_steps;
  // Kernels between peers executed the all_reduce steps of all ranks up to so many bytes that do
  // not say what executes them; 0: they were the executor, or executed none of these.
  std::uint64_t peer_bytes = 0;
  // The labels of steps that name kernels between peers, where these are not the executor.
  std::vector<std::string> peer_steps;
};

// The first step of a run that made a NaN or an infinity of finite values.
struct NonFiniteReport {
  std::string launch;  // "launch 14 (topk), layer = 2", or the label of another step
  SourceLocation where;
  std::string buffer;
  std::vector<std::int64_t> index;  // of the first such element
  std::string value;                // "nan", "inf" or "-inf"
  std::int64_t count = 0;           // such elements of the buffer that the step wrote
};

// The cost of the edge between two launches in a traced run. All times but the idle one are means
// over the executions.
struct TracedEdge {
  std::uint32_t from = 0, to = 0;  // launches of the program
  std::string from_kernel, to_kernel;
  std::uint64_t executions = 0;
  std::uint64_t early = 0;     // executions whose later launch might start early
  double overlap_seconds = 0;  // from the begin of the later launch to the end of the earlier one
  double gap_seconds = 0;      // from the end of the earlier launch to the begin of the later one
  double wait_seconds = 0;     // in the wait, mean over the later launch's blocks
  double tail_seconds = 0;     // from the median of the ends of the earlier launch's blocks to the
                               // last one
  // Time of multiprocessors in which none of their blocks worked, summed over them and over all
  // executions. A block in its wait does not work.
  double idle_sm_seconds = 0;
  std::vector<EdgeAdvice> advice;  // what may save most is first
};

// A run that was traced by instrumented kernels (LoadOptions::instrument).
struct TraceReport {
  std::vector<TracedEdge> edges;         // in the order of their first execution
  std::optional<std::size_t> costliest;  // the index of the edge with the most idle time
  double seconds = 0;                    // from the first block's begin to the last one's end
  std::uint32_t multiprocessors = 0;     // of the device
  double idle_sm_seconds = 0;            // of the whole run, also where there is no edge
  std::uint64_t launches = 0;            // with times
  std::uint64_t blocks = 0;              // of these
  std::uint64_t clock_step_ns = 0;       // of the device's time (%globaltimer)
  std::vector<std::string> remarks;      // the launches that are missing, and inexact times
};

struct RunReport {
  std::vector<StepReport> steps;
  // In the program's order. Then each step of the program has one report for all its executions.
  std::vector<ConditionReport> conditions;
  std::optional<GraphReport> graph;              // with ExecutorKind::kGraph
  std::optional<CollectivesReport> collectives;  // where there are any, and several ranks
  std::vector<double> run_seconds;  // each run from its first step to its last; at most 10000 kept
  std::vector<FindingReport> findings;
  std::vector<std::string> warnings;
  std::vector<SmPartReport> parts;  // of the SMs, disjoint; `sms` of launches asks for them
  std::optional<NonFiniteReport> non_finite;  // with RunOptions::find_non_finite
  // With RunOptions::trace: grids, blocks, waits and triggers, as JSON in the Trace Event Format,
  // which Perfetto opens. A run that threw has it too, unless kernels were instrumented.
  std::string trace;
  std::optional<TraceReport> traced;  // with instrumented kernels
};

}  // namespace baton
