#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "baton/check.h"
#include "baton/report.h"
#include "baton/stream.h"
#include "load/kernel_set.h"
#include "play/launch_tags.h"
#include "trace/launch_records.h"
#include "trace/sm_clocks.h"
#include "trace/timeline.h"

namespace baton {

// One run of instrumented kernels: their records from its begin to its end, and what came of it.
// One thread at a time.
class TracedRun {
 public:
  // All outlive it. Waits for the stream's work.
  TracedRun(const Device& device, const Stream& stream, trace::LaunchRecords& records);

  // After the run. Waits, and gives the report the timeline and the costs of its edges.
  // `edges`: of the tape's launches.
  void finish(bind::Tape& tape, const play::LaunchTags& tags, const load::KernelSet& kernels,
              std::span<const EdgeReport> edges, RunReport& report);

 private:
  // By the numbers of steps.
  using Names = std::map<std::uint64_t, driver::TracedLaunch>;

  TraceReport report_of(const trace::RunTimeline& timeline, const Names& names,
                        const bind::Tape& tape, const load::KernelSet& kernels,
                        std::span<const EdgeReport> edges) const;

  const Device& device_;
  const Stream& stream_;
  trace::LaunchRecords& records_;
  trace::ClockEdges before_;
};

}  // namespace baton
