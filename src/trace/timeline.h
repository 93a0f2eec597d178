#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/block_record.h"
#include "trace/launch_records.h"
#include "trace/sm_clocks.h"

namespace baton::trace {

// A block of a traced launch. Times are microseconds from the begin of the timeline; negative for
// what it did not do.
struct TimedBlock {
  std::uint64_t index = 0;  // in its grid
  std::uint32_t multiprocessor = 0;
  double begin = 0, end = 0;
  double wait_begin = -1, wait_end = -1;
  double trigger = -1;

  bool waited() const { return wait_begin >= 0; }
  // When its work that depends on the launch before begins.
  double free() const { return waited() ? wait_end : begin; }
};

// A step of a traced run. Without blocks it was not traced: a move, or a launch without records.
struct TimedStep {
  const NotedStep* step = nullptr;
  std::vector<TimedBlock> blocks;  // by their begin
  double begin = 0, end = 0;       // of the first and of the last block
  double trigger = -1;             // the last block triggered, or ended, where any did trigger

  bool is_timed() const { return !blocks.empty(); }
};

// What the steps of a run did, in the order in which they were sent.
struct RunTimeline {
  std::vector<TimedStep> steps;
  double end = 0;
  std::uint64_t step = 0;        // of the device's time, in nanoseconds; 0: not known
  double disagreement = 0;       // SmClocks::disagreement()
  std::uint64_t unfinished = 0;  // blocks whose end was not noted
};

// `steps` must outlive the result. `records`: those of all steps, of which `clocks` is made.
RunTimeline read_timeline(std::span<const NotedStep> steps, std::span<const BlockRecord> records,
                          const SmClocks& clocks);

}  // namespace baton::trace
