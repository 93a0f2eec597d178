#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/timeline.h"

namespace baton::trace {

// What the edge between two launches of a program cost, over all its executions. Times are
// microseconds; all but `idle` are means over the executions.
struct EdgeCost {
  std::uint32_t from = 0, to = 0;  // launches of the program
  std::uint64_t executions = 0;
  std::uint64_t early = 0;  // of these, the later launch might start before the earlier had ended
  double overlap = 0;       // from the begin of the later launch to the end of the earlier one
  double gap = 0;           // the other way round
  double wait = 0;          // mean over the later launch's blocks: in its wait
  double early_work = 0;    // mean over the same blocks: before their wait
  std::uint64_t triggered = 0;  // executions in which blocks of the earlier launch triggered
  double lead = 0;              // of these: from its last trigger to its end
  double tail = 0;  // from the median of the ends of the earlier launch's blocks to the last
  // Time of multiprocessors in which none of their blocks worked, of all executions together: those
  // that had no further work of the earlier launch, until its end, and those that had not begun
  // their work of the later one, after that end. A block in its wait does not work.
  double idle = 0;
};

struct EdgeCosts {
  std::vector<EdgeCost> edges;  // in the order of their first execution
  double idle = 0;              // of the whole run: also where there is no edge
  double capacity = 0;          // the run's time on all multiprocessors
};

// The edges between launches that were traced and sent right after each other. `multiprocessors`:
// of the device, also those without blocks.
EdgeCosts count_edge_costs(const RunTimeline& timeline, std::uint32_t multiprocessors);

}  // namespace baton::trace
