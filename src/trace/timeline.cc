#include "trace/timeline.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace baton::trace {
namespace {

// Clocks that change their frequency during a run say nothing of the device's time. What a read
// takes, and what the compiler puts between two reads, stays below.
constexpr double kMostDisagreement = 500;

std::uint32_t multiprocessor_of(const BlockRecord& record) {
  return static_cast<std::uint32_t>(record.place - 1);
}

// How far the time by a block's clock is outside of the step that the device's time had then, in
// nanoseconds.
double disagreement_of(std::uint32_t multiprocessor, std::uint64_t clock, std::uint64_t time,
                       const SmClocks& clocks) {
  const auto by_clock = clocks.time_of(multiprocessor, clock);
  if (!by_clock) return std::numeric_limits<double>::infinity();
  const double late = *by_clock - static_cast<double>(time);
  const auto step = static_cast<double>(clocks.step());
  return late < 0 ? -late : std::max(late - step, 0.0);
}

// At the begin of a block, and at its end.
double disagreement_of(const BlockRecord& record, const SmClocks& clocks) {
  const std::uint32_t sm = multiprocessor_of(record);
  const double begin = disagreement_of(sm, record.entry_clock, record.entry_time, clocks);
  if (record.exit_clock == 0) return begin;
  return std::max(begin, disagreement_of(sm, record.exit_clock, record.exit_time, clocks));
}

// Times of one block's events in nanoseconds.
class Reader {
 public:
  Reader(const SmClocks& clocks, bool by_clocks) : clocks_(clocks), by_clocks_(by_clocks) {}

  double time_of(const BlockRecord& record, std::uint64_t clock) const {
    const std::uint32_t sm = multiprocessor_of(record);
    if (by_clocks_) {
      if (const auto time = clocks_.time_of(sm, clock)) return *time;
    }
    const auto ticks = static_cast<double>(static_cast<std::int64_t>(clock - record.entry_clock));
    return static_cast<double>(record.entry_time) + ticks / clocks_.frequency(sm);
  }

  TimedBlock block(const BlockRecord& record, std::uint64_t index) const {
    TimedBlock block;
    block.index = index;
    block.multiprocessor = multiprocessor_of(record);
    block.begin = time_of(record, record.entry_clock);
    double last = block.begin;
    const auto event = [&](double& target, std::uint64_t clock) {
      target = std::max(time_of(record, clock), block.begin);
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

 private:
  const SmClocks& clocks_;
  bool by_clocks_;
};

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
  for (const BlockRecord& record : records) {
    if (!record.began()) continue;
    if (record.exit_clock == 0) ++out.unfinished;
    out.disagreement = std::max(out.disagreement, disagreement_of(record, clocks));
  }
  out.by_clocks = out.disagreement <= kMostDisagreement;
  const Reader reader(clocks, out.by_clocks);
  double origin = std::numeric_limits<double>::infinity();
  for (const NotedStep& step : steps) {
    TimedStep& timed = out.steps.emplace_back();
    timed.step = &step;
    if (!step.records) continue;
    for (std::uint64_t index = 0; index < step.blocks(); ++index) {
      const BlockRecord& record = records[*step.records + index];
      if (!record.began()) continue;
      timed.blocks.push_back(reader.block(record, index));
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
