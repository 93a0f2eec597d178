#include "trace/timeline.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace baton::trace {
namespace {

// Times of one block's events in nanoseconds.
TimedBlock timed_block(const BlockRecord& record, std::uint64_t index, const SmClocks& clocks) {
  TimedBlock block;
  block.index = index;
  block.multiprocessor = record.multiprocessor();
  block.begin = clocks.time_of(record, record.entry_clock);
  double last = block.begin;
  const auto event = [&](double& target, std::uint64_t clock) {
    target = std::max(clocks.time_of(record, clock), block.begin);
    last = std::max(last, target);
  };
  if (record.wait_begin_clock != 0 && record.wait_end_clock != 0) {
    event(block.wait_begin, record.wait_begin_clock);
    event(block.wait_end, record.wait_end_clock);
  }
  if (record.trigger_clock != 0) event(block.trigger, record.trigger_clock);
  block.end = last;
  if (record.exit_clock != 0) event(block.end, record.exit_clock);
  block.end = std::max(block.end, last);
  return block;
}

void finish(TimedStep& step) {
  std::ranges::sort(step.blocks, {},
                    [](const TimedBlock& block) { return std::pair(block.begin, block.index); });
  step.begin = step.blocks.front().begin;
  bool triggers = false;
  for (const TimedBlock& block : step.blocks) {
    step.end = std::max(step.end, block.end);
    triggers |= block.trigger >= 0;
    step.trigger = std::max(step.trigger, block.trigger >= 0 ? block.trigger : block.end);
  }
  if (!triggers) step.trigger = -1;
}

void move(TimedBlock& block, double origin) {
  for (double* time :
       {&block.begin, &block.end, &block.wait_begin, &block.wait_end, &block.trigger}) {
    if (*time >= 0) *time = (*time - origin) / 1000;
  }
}

}  // namespace

RunTimeline read_timeline(std::span<const NotedStep> steps, std::span<const BlockRecord> records,
                          const SmClocks& clocks) {
  RunTimeline out;
  out.step = clocks.step();
  out.disagreement = clocks.disagreement();
  double origin = std::numeric_limits<double>::infinity();
  for (const NotedStep& step : steps) {
    TimedStep& timed = out.steps.emplace_back();
    timed.step = &step;
    if (!step.records) continue;
    for (std::uint64_t index = 0; index < step.blocks(); ++index) {
      const BlockRecord& record = records[*step.records + index];
      if (!record.began()) continue;
      if (record.exit_clock == 0) ++out.unfinished;
      timed.blocks.push_back(timed_block(record, index, clocks));
      origin = std::min(origin, timed.blocks.back().begin);
    }
  }
  for (TimedStep& step : out.steps) {
    if (!step.is_timed()) continue;
    for (TimedBlock& block : step.blocks) move(block, origin);
    finish(step);
    out.end = std::max(out.end, step.end);
  }
  return out;
}

}  // namespace baton::trace
