#include "sim/engine/report/trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

namespace baton::sim {
namespace {

using Names = std::map<std::uint64_t, driver::TracedLaunch>;

std::string extent(const std::array<std::uint32_t, 3>& value) {
  return fmt::format("[{},{},{}]", value[0], value[1], value[2]);
}

}  // namespace

double Trace::since_start(Clock::time_point time) const {
  return std::chrono::duration<double, std::micro>(time - start_).count();
}

double Trace::now() const {
  return since_start(Clock::now());
}

void Trace::add(Event event) {
  const bool is_detail = event.grid != kNoGrid && tracks_[event.track].row == Row::kBlocks;
  if (is_detail && events_.size() >= kMostEvents) {
    ++dropped_;
    return;
  }
  events_.push_back(std::move(event));
}

std::uint32_t Trace::take_track(Row row, std::uint32_t place) {
  std::uint32_t line = 0;
  for (std::uint32_t k = 0; k < tracks_.size(); ++k) {
    Track& track = tracks_[k];
    if (track.row != row || track.place != place) continue;
    if (!track.in_use) {
      track.in_use = true;
      return k;
    }
    ++line;
  }
  tracks_.push_back({row, place, line, true});
  return static_cast<std::uint32_t>(tracks_.size() - 1);
}

void Trace::begin(const Key& key, std::uint32_t place, Event event) {
  event.track = take_track(key.row, place);
  event.at = now();
  open_[key] = {std::move(event), -1, false};
}

void Trace::moment(const Key& key, const char* category, const char* name) {
  const auto found = open_.find(key);
  if (found == open_.end() || std::exchange(found->second.triggered, true)) return;
  const Event& open = found->second.event;
  add({open.track, category, open.grid, name, "", now(), -1});
}

void Trace::end_wait(Open& open, double at) {
  if (open.waits_since < 0) return;
  add({open.event.track, "wait", open.event.grid, "griddepcontrol.wait", "", open.waits_since,
       at - open.waits_since});
  open.waits_since = -1;
}

void Trace::end(const Key& key, const std::string& more_args) {
  const auto found = open_.find(key);
  if (found == open_.end()) return;
  Open& open = found->second;
  const double at = now();
  end_wait(open, at);
  tracks_[open.event.track].in_use = false;
  open.event.duration = at - open.event.at;
  open.event.args += more_args;
  add(std::move(open.event));
  open_.erase(found);
}

void Trace::begin_grid(TracedGrid grid) {
  std::lock_guard lock(mutex_);
  const Key key{Row::kGrids, grid.key};
  std::string args =
      fmt::format("\"kernel\":{},\"grid\":{},\"block\":{},\"shared\":{},\"dependent\":{}",
                  quoted_json(grid.kernel), extent(grid.blocks), extent(grid.threads), grid.shared,
                  !grid.early.empty());
  running_[grid.key] = grids_.size();
  begin(key, 0, {0, "launch", grids_.size(), "", std::move(args)});
  const Event& event = open_[key].event;
  grids_.push_back({std::move(grid), event.track, event.at});
}

void Trace::note_triggered(std::uint64_t grid) {
  std::lock_guard lock(mutex_);
  const auto found = running_.find(grid);
  if (found == running_.end() || grids_[found->second].trigger >= 0) return;
  moment({Row::kGrids, grid}, "trigger", "all blocks triggered");
  grids_[found->second].trigger = now();
}

void Trace::end_grid(std::uint64_t grid, const driver::Counters& counters) {
  std::lock_guard lock(mutex_);
  end({Row::kGrids, grid},
      fmt::format(",\"bytes_read\":{},\"bytes_written\":{},\"instructions\":{}",
                  counters.bytes_read, counters.bytes_written, counters.lane_instructions));
  const auto found = running_.find(grid);
  if (found == running_.end()) return;
  grids_[found->second].end = now();
  running_.erase(found);
}

void Trace::begin_block(const void* key, std::uint64_t grid, std::uint32_t multiprocessor,
                        const std::array<std::uint32_t, 3>& index) {
  std::lock_guard lock(mutex_);
  const auto found = running_.find(grid);
  if (found == running_.end()) return;
  begin({Row::kBlocks, number(key)}, multiprocessor,
        {0, "block", found->second, "", fmt::format("\"index\":{}", extent(index))});
}

void Trace::note_trigger(const void* key) {
  std::lock_guard lock(mutex_);
  moment({Row::kBlocks, number(key)}, "trigger", "launch_dependents");
}

void Trace::begin_wait(const void* key) {
  std::lock_guard lock(mutex_);
  const auto found = open_.find({Row::kBlocks, number(key)});
  if (found != open_.end() && found->second.waits_since < 0) found->second.waits_since = now();
}

void Trace::end_wait(const void* key) {
  std::lock_guard lock(mutex_);
  const auto found = open_.find({Row::kBlocks, number(key)});
  if (found != open_.end()) end_wait(found->second, now());
}

void Trace::end_block(const void* key) {
  std::lock_guard lock(mutex_);
  end({Row::kBlocks, number(key)}, "");
}

void Trace::add_move(TracedMove move, Clock::time_point begin) {
  std::lock_guard lock(mutex_);
  const double at = since_start(begin);
  const std::uint32_t track = take_track(Row::kMoves, 0);
  tracks_[track].in_use = false;
  std::string args = fmt::format("\"bytes\":{},\"to\":{}", move.bytes, quoted_json(move.to));
  if (!move.from.empty()) args += fmt::format(",\"from\":{}", quoted_json(move.from));
  add({track, move.kind, kNoGrid, move.kind, std::move(args), at, now() - at});
}

void Trace::begin_stuck(const void* key, std::string text) {
  std::lock_guard lock(mutex_);
  begin({Row::kStuck, number(key)}, 0, {0, "stuck", kNoGrid, std::move(text), ""});
}

std::vector<std::uint64_t> Trace::tags() const {
  std::lock_guard lock(mutex_);
  std::set<std::uint64_t> tags;
  for (const Grid& grid : grids_) {
    if (grid.facts.tag) tags.insert(*grid.facts.tag);
  }
  return {tags.begin(), tags.end()};
}

std::string Trace::name_of(const Track& track) {
  switch (track.row) {
    case Row::kGrids:
      return TraceEvents::launch_slot(track.line);
    case Row::kMoves:
      return std::string(TraceEvents::kMoves);
    case Row::kStuck:
      return fmt::format("stuck warps {}", track.line);
    case Row::kBlocks:
      return TraceEvents::block_slot(track.place, track.line);
  }
  return {};
}

std::vector<TraceEvents::Track> Trace::add_tracks(TraceEvents& events) const {
  std::vector<std::size_t> order(tracks_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t k) { return tracks_[k]; });
  std::vector<TraceEvents::Track> numbers(tracks_.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    numbers[order[place]] = place + 1;
    events.name_track(place + 1, name_of(tracks_[order[place]]));
  }
  return numbers;
}

void Trace::add_event(TraceEvents& events, TraceEvents::Track on, const Event& event, bool is_open,
                      const Names& names) const {
  std::string name = event.name;
  std::string args = event.args;
  const auto add_arg = [&](const char* key, const std::string& value) {
    if (!args.empty()) args += ',';
    args += fmt::format("\"{}\":{}", key, value);
  };
  if (event.grid != kNoGrid) {
    const TracedGrid& grid = grids_[event.grid].facts;
    const auto found = grid.tag ? names.find(*grid.tag) : names.end();
    if (name.empty()) name = found == names.end() ? grid.kernel : found->second.name;
    if (found != names.end()) {
      add_arg("step", fmt::format("{}", found->second.step));
      if (!found->second.indexes.empty()) add_arg("indexes", quoted_json(found->second.indexes));
      if (event.category == std::string_view("launch"))
        add_arg("at", quoted_json(found->second.where));
    }
  }
  if (const Track& track = tracks_[event.track]; track.row == Row::kBlocks) {
    add_arg("sm", fmt::format("{}", track.place));
  }
  if (is_open) return events.begin(on, event.category, name, event.at, args);
  if (event.duration < 0) return events.moment(on, event.category, name, event.at, args);
  events.bar(on, event.category, name, event.at, event.duration, args);
}

// From where a grid's last block triggered, or where the grid began, to the begin of each grid that
// waited for no more than that.
void Trace::add_arrows(TraceEvents& events, const std::vector<TraceEvents::Track>& tracks) const {
  std::map<Ordering::Number, std::size_t> by_number;
  for (std::size_t k = 0; k < grids_.size(); ++k) by_number[grids_[k].facts.number] = k;
  // A reader looks for the bar that the arrow's end is in: it must not be the bar's very end.
  constexpr double kInside = 0.001;
  for (const Grid& later : grids_) {
    for (const Ordering::Number number : later.facts.early) {
      const auto found = by_number.find(number);
      if (found == by_number.end()) continue;
      const Grid& first = grids_[found->second];
      double from = first.trigger >= 0 ? std::min(first.trigger, later.begin) : first.begin;
      if (first.end >= 0) from = std::min(from, first.end - kInside);
      events.arrow("trigger", "starts early", tracks[first.track], std::max(from, first.begin),
                   tracks[later.track], later.begin + kInside);
    }
  }
}

std::string Trace::json(const Names& names) const {
  std::lock_guard lock(mutex_);
  TraceEvents events;
  const std::vector<TraceEvents::Track> tracks = add_tracks(events);
  const auto add_all = [&](bool are_moments) {
    for (const Event& event : events_) {
      if ((event.duration < 0) != are_moments) continue;
      add_event(events, tracks[event.track], event, false, names);
    }
  };
  add_all(false);
  // What has not ended, as in a deadlock, goes on to the right.
  for (const auto& [key, open] : open_) {
    add_event(events, tracks[open.event.track], open.event, true, names);
    if (open.waits_since < 0) continue;
    add_event(events, tracks[open.event.track],
              {open.event.track, "wait", open.event.grid, "griddepcontrol.wait", "",
               open.waits_since, -1},
              true, names);
  }
  add_arrows(events, tracks);
  add_all(true);
  return std::move(events).finish(dropped_);
}

}  // namespace baton::sim
