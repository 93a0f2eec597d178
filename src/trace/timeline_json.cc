#include "trace/timeline_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/trace_events.h"

namespace baton::trace {
namespace {

using Track = TraceEvents::Track;

// More bars of blocks are too many for a viewer.
constexpr std::size_t kMostBlocks = 60'000;
// Inside of a bar, as a reader of arrows wants it.
constexpr double kInside = 0.001;

std::string extent(const std::array<std::uint32_t, 3>& value) {
  return fmt::format("[{},{},{}]", value[0], value[1], value[2]);
}

std::string index_text(const NotedStep& step, std::uint64_t block) {
  const std::uint64_t row = block / step.grid[0];
  return fmt::format("[{},{},{}]", block % step.grid[0], row % step.grid[1], row / step.grid[1]);
}

// Tracks of one place, each with bars that do not overlap.
class Slots {
 public:
  // For a bar: the first slot that is free then. Bars come by their begin.
  std::size_t take(double begin, double end) {
    std::size_t slot = 0;
    while (slot < ends_.size() && ends_[slot] > begin) ++slot;
    if (slot == ends_.size()) ends_.push_back(0);
    ends_[slot] = end;
    return slot;
  }

 private:
  std::vector<double> ends_;
};

class TimelineWriter {
 public:
  TimelineWriter(const RunTimeline& timeline,
                 const std::map<std::uint64_t, driver::TracedLaunch>& names,
                 std::uint32_t multiprocessors)
      : timeline_(timeline), names_(names), multiprocessors_(multiprocessors) {}

  std::string write() {
    add_launches();
    add_untimed();
    add_blocks();
    add_counters();
    return std::move(events_).finish(
        dropped_, fmt::format("\"by\":\"instrumentation\",\"globaltimer_step_ns\":{},"
                              "\"disagreement_ns\":{:.0f}",
                              timeline_.step, timeline_.disagreement));
  }

 private:
  // Numbered as they first come, which is their order on the screen.
  Track track(const std::string& name) {
    const auto [found, is_new] = tracks_.try_emplace(name, tracks_.size() + 1);
    if (is_new) events_.name_track(found->second, name);
    return found->second;
  }

  const driver::TracedLaunch* name_of(const TimedStep& step) const {
    const auto found = names_.find(step.step->number);
    return found == names_.end() ? nullptr : &found->second;
  }
  std::string_view title_of(const TimedStep& step) const {
    const driver::TracedLaunch* name = name_of(step);
    if (name != nullptr) return name->name;
    return step.step->move.empty() ? std::string_view(step.step->kernel) : step.step->move;
  }
  std::string args_of(const TimedStep& step) const {
    const driver::TracedLaunch* name = name_of(step);
    if (name == nullptr) return "";
    std::string args = fmt::format(",\"step\":{}", name->step);
    if (!name->indexes.empty()) {
      args += fmt::format(",\"indexes\":{}", quoted_json(name->indexes));
    }
    return args;
  }
  std::string launch_args(const TimedStep& step) const {
    const NotedStep& of = *step.step;
    const driver::TracedLaunch* name = name_of(step);
    return fmt::format("\"kernel\":{},\"grid\":{},\"block\":{},\"shared\":{},\"dependent\":{}{}{}",
                       quoted_json(of.kernel), extent(of.grid), extent(of.block), of.shared,
                       of.early, args_of(step),
                       name == nullptr ? "" : ",\"at\":" + quoted_json(name->where));
  }

  void add_launches() {
    std::vector<const TimedStep*> launches;
    for (const TimedStep& step : timeline_.steps) {
      if (step.is_timed()) launches.push_back(&step);
    }
    std::ranges::stable_sort(launches, {}, &TimedStep::begin);
    Slots slots;
    std::map<const TimedStep*, Track> tracks;
    for (const TimedStep* launch : launches) {
      const Track on = track(TraceEvents::launch_slot(slots.take(launch->begin, launch->end)));
      tracks[launch] = on;
      events_.bar(on, "launch", title_of(*launch), launch->begin, launch->end - launch->begin,
                  launch_args(*launch));
    }
    const TimedStep* before = nullptr;
    for (const TimedStep& step : timeline_.steps) {
      if (before != nullptr && step.is_timed() && step.step->early) {
        double from = before->trigger >= 0 ? before->trigger : before->begin;
        from = std::min({from, step.begin, before->end - kInside});
        events_.arrow("trigger", "starts early", tracks[before], std::max(from, before->begin),
                      tracks[&step], step.begin + kInside);
      }
      before = step.is_timed() ? &step : nullptr;
    }
    for (const TimedStep* launch : launches) {
      if (launch->trigger < 0) continue;
      // After an arrow's end, which Perfetto would give to the mark if both had one time.
      const double at = std::max(launch->trigger, launch->begin + 2 * kInside);
      events_.moment(tracks[launch], "trigger", "all blocks triggered", at,
                     args_of(*launch).erase(0, 1));
    }
  }

  // Those between two launches with times are one bar, as it is unknown where one ends.
  void add_untimed() {
    double from = 0;
    std::vector<const TimedStep*> open;
    bool has_neighbour = false;
    for (const TimedStep& step : timeline_.steps) {
      if (!step.is_timed()) {
        open.push_back(&step);
        continue;
      }
      if (has_neighbour && !open.empty() && step.begin > from) add_between(open, from, step.begin);
      open.clear();
      from = has_neighbour ? std::max(from, step.end) : step.end;
      has_neighbour = true;
    }
  }

  void add_between(const std::vector<const TimedStep*>& steps, double begin, double end) {
    constexpr std::size_t kNamed = 4;
    std::string title;
    for (std::size_t k = 0; k < std::min(steps.size(), kNamed); ++k) {
      title += fmt::format("{}{}", k == 0 ? "" : ", ", title_of(*steps[k]));
    }
    if (steps.size() > kNamed) title += fmt::format(" and {} more", steps.size() - kNamed);
    const bool is_launch =
        std::ranges::any_of(steps, [](const TimedStep* step) { return step->step->move.empty(); });
    const Track on = track(is_launch ? "not traced" : std::string(TraceEvents::kMoves));
    events_.bar(on, is_launch ? "untraced" : steps[0]->step->move, title, begin, end - begin,
                fmt::format("\"estimated\":true,\"steps\":{}{}", steps.size(), args_of(*steps[0])));
  }

  struct Shown {
    const TimedStep* step;
    const TimedBlock* block;
  };

  // Whole launches, up to the bound.
  void add_blocks() {
    std::map<std::uint32_t, std::vector<Shown>> by_multiprocessor;
    std::size_t shown = 0;
    for (const TimedStep& step : timeline_.steps) {
      if (shown + step.blocks.size() > kMostBlocks) {
        dropped_ += step.blocks.size();
        continue;
      }
      shown += step.blocks.size();
      for (const TimedBlock& block : step.blocks) {
        by_multiprocessor[block.multiprocessor].push_back({&step, &block});
      }
    }
    for (auto& [number, blocks] : by_multiprocessor) {
      std::ranges::stable_sort(blocks, {}, [](const Shown& of) { return of.block->begin; });
      Slots slots;
      for (const Shown& of : blocks) {
        add_block(
            track(TraceEvents::block_slot(number, slots.take(of.block->begin, of.block->end))), of);
      }
    }
  }

  void add_block(Track on, const Shown& of) {
    const TimedBlock& block = *of.block;
    const std::string args = fmt::format("\"sm\":{}{}", block.multiprocessor, args_of(*of.step));
    events_.bar(on, "block", title_of(*of.step), block.begin, block.end - block.begin,
                fmt::format("\"index\":{},{}", index_text(*of.step->step, block.index), args));
    if (block.waited()) {
      events_.bar(on, "wait", "griddepcontrol.wait", block.wait_begin,
                  block.wait_end - block.wait_begin, args);
    }
    if (block.trigger >= 0) {
      events_.moment(on, "trigger", "launch_dependents", block.trigger, args);
    }
  }

  // How many blocks are resident, and how many multiprocessors have none.
  void add_counters() {
    struct Change {
      double at;
      std::uint32_t multiprocessor;
      int by;
    };
    std::vector<Change> changes;
    std::uint32_t all = multiprocessors_;
    for (const TimedStep& step : timeline_.steps) {
      for (const TimedBlock& block : step.blocks) {
        changes.push_back({block.begin, block.multiprocessor, 1});
        changes.push_back({block.end, block.multiprocessor, -1});
        all = std::max(all, block.multiprocessor + 1);
      }
    }
    if (changes.size() > 2 * kMostBlocks) return;
    std::ranges::stable_sort(changes, {}, &Change::at);
    std::vector<std::uint32_t> resident(all);
    std::uint64_t blocks = 0;
    std::uint32_t idle = all;
    for (std::size_t k = 0; k < changes.size(); ++k) {
      std::uint32_t& here = resident[changes[k].multiprocessor];
      if (here == 0) --idle;
      here += static_cast<std::uint32_t>(changes[k].by);
      blocks += static_cast<std::uint64_t>(static_cast<std::int64_t>(changes[k].by));
      if (here == 0) ++idle;
      if (k + 1 < changes.size() && changes[k + 1].at == changes[k].at) continue;
      events_.counter("blocks resident", changes[k].at, blocks);
      events_.counter("SMs without a block", changes[k].at, idle);
    }
  }

  const RunTimeline& timeline_;
  const std::map<std::uint64_t, driver::TracedLaunch>& names_;
  const std::uint32_t multiprocessors_;
  TraceEvents events_;
  std::map<std::string, Track> tracks_;
  std::uint64_t dropped_ = 0;
};

}  // namespace

std::string timeline_json(const RunTimeline& timeline,
                          const std::map<std::uint64_t, driver::TracedLaunch>& names,
                          std::uint32_t multiprocessors) {
  return TimelineWriter(timeline, names, multiprocessors).write();
}

}  // namespace baton::trace
