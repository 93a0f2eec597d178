#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "baton/attributes.h"
#include "baton/dim3.h"
#include "baton/error.h"
#include "baton/export.h"

namespace baton {

// How several times of one thing lie, in seconds: half of them from the lower to the upper
// quartile.
struct TimeStatistics {
  std::uint64_t count = 0;
  double least = 0, lower_quartile = 0, median = 0, upper_quartile = 0, greatest = 0;
};
// Nothing for no times. Quartiles between two times are interpolated.
BATON_API std::optional<TimeStatistics> time_statistics(std::vector<double> seconds);

// Something that the simulated GPU saw and a program should not do.
struct FindingReport {
  bool error = true;  // else a warning
  std::string kind;   // "out_of_bounds"
  std::string kernel;
  std::array<std::uint32_t, 3> block{}, thread{};  // indexes of the first occurrence
  std::string where;
  std::string message;
  std::uint64_t count = 1;
};

// One step as it was executed. Steps of a repeated group are reported one by one as long as the run
// has no more than kMaxReportedSteps of them; else each step of the program has one report for all
// its executions.
inline constexpr std::uint64_t kMaxReportedSteps = 4096;

struct StepReport {
  enum class Kind : std::uint8_t { kLaunch, kCopy, kFill };
  Kind kind = Kind::kLaunch;
  std::string label;  // "rmsnorm", "copy y -> z + N", "fill z"
  // The values of the enclosing groups' indexes: "layer = 3"; empty outside, and in a report for
  // many executions.
  std::string indexes;
  SourceLocation where;
  std::uint64_t executions = 1;
  std::uint64_t skipped = 0;  // of these, launches with an empty grid
  // Of a run that failed: executions that are not known to have come to their end.
  std::uint64_t unfinished = 0;

  Dim3 grid, block;                         // launches: of the last execution that was not skipped
  std::uint32_t shared = 0;                 // dynamic shared memory, in bytes
  std::vector<LaunchAttribute> attributes;  // as sent with that execution
  std::optional<double> seconds;            // in the first run
  std::optional<double> best_seconds;       // in the fastest of all runs
  std::optional<TimeStatistics> times;      // of the runs after the first, where there are any
  // Bytes read and written: exact for copies and fills, and for launches on a device that counts
  // them; else an estimate, what there is of the buffers from where they are passed on, or, in a
  // repeated group, up to where its next iteration has them.
  std::uint64_t bytes = 0;
  bool bytes_counted = false;
  std::optional<std::uint64_t> instructions;  // by all threads, where the device counts them
};

// What the graph executor has made, in all runs of the executable so far.
struct GraphReport {
  std::uint64_t builds = 0;   // graphs made: the first, and one for each change of nodes or edges
  std::uint64_t updates = 0;  // graphs that took the values of another `bind` in place
  std::uint64_t nodes = 0;    // of the graph that was launched last, and its edges, as the driver
  std::uint64_t edges = 0;    // has them
  std::uint64_t programmatic_edges = 0;  // of these
};

struct RunReport {
  std::vector<StepReport> steps;
  std::optional<GraphReport> graph;  // with ExecutorKind::kGraph
  std::vector<double> run_seconds;   // each run from its first step to its last; at most 10000 kept
  std::vector<FindingReport> findings;
  std::vector<std::string> warnings;
  // With RunOptions::trace: grids, blocks, waits and triggers, in the Trace Event Format's JSON,
  // which Perfetto opens. Also of a run that threw.
  std::string trace;
};

}  // namespace baton
