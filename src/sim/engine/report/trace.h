#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text/trace_events.h"
#include "driver/simulator.h"
#include "sim/engine/judge/ordering.h"

namespace baton::sim {

// A grid as the timeline shows it.
struct TracedGrid {
  std::uint64_t key = 0;        // that no other running grid has
  Ordering::Number number = 0;  // in Ordering; 0: none
  std::string kernel;           // as the image names it
  std::array<std::uint32_t, 3> blocks{}, threads{};
  std::uint32_t shared = 0;                         // bytes
  std::optional<std::uint64_t> tag = std::nullopt;  // LaunchNote::tag
  std::vector<Ordering::Number> early = {};         // grids that it waited for the triggers of
};

// A copy or a fill.
struct TracedMove {
  const char* kind = "";  // "copy", "fill"
  std::string to, from;   // "4 bytes inside buffer y (…)"; `from` is empty for a fill
  std::uint64_t bytes = 0;
};

// What a device did, as a timeline: grids by launch slots, their blocks by multiprocessors, where
// those triggered and waited, copies and fills. Times are the host's. Thread-safe.
class Trace {
 public:
  using Clock = std::chrono::steady_clock;
  // At most so many events are kept, a few hundred bytes each; then only grids are noted.
  static constexpr std::size_t kMostEvents = 200'000;

  Trace() : start_(Clock::now()) {}

  void begin_grid(TracedGrid grid);
  void note_triggered(std::uint64_t grid);
  void end_grid(std::uint64_t grid, const driver::Counters& counters);
  // `key` distinguishes blocks. `multiprocessor`: where the block is.
  void begin_block(const void* key, std::uint64_t grid, std::uint32_t multiprocessor,
                   const std::array<std::uint32_t, 3>& index);
  void note_trigger(const void* key);
  void begin_wait(const void* key);
  void end_wait(const void* key);
  void end_block(const void* key);
  void add_move(TracedMove move, Clock::time_point begin);
  // Begins here and does not end: "deadlock: 32 threads, norm.cu:3:5: …".
  void begin_stuck(const void* key, std::string text);

  // The tags of the grids so far, each once.
  std::vector<std::uint64_t> tags() const;
  // The Trace Event Format's JSON (Google, 2016), which Perfetto and Chrome open. `names`: by tags.
  std::string json(const std::map<std::uint64_t, driver::TracedLaunch>& names) const;

 private:
  // In the order in which a timeline shows them.
  enum class Row : std::uint8_t { kGrids, kMoves, kStuck, kBlocks };
  // One track: the bars on it never overlap.
  struct Track {
    Row row = Row::kGrids;
    std::uint32_t place = 0;  // the multiprocessor, of blocks
    std::uint32_t line = 0;   // of several at one place
    bool in_use = false;
    auto operator<=>(const Track&) const = default;
  };
  // The name of an event is that of its grid, which is known when the JSON is made.
  static constexpr std::size_t kNoGrid = SIZE_MAX;
  struct Event {
    std::uint32_t track = 0;
    const char* category = "";
    std::size_t grid = kNoGrid;  // index in grids_
    std::string name;            // empty: the grid's
    std::string args;            // members of a JSON object
    double at = 0;               // microseconds
    double duration = -1;        // negative: a moment
  };
  struct Open {
    Event event;
    double waits_since = -1;
    bool triggered = false;
  };
  struct Grid {
    TracedGrid facts;
    std::uint32_t track = 0;
    double begin = 0, trigger = -1, end = -1;  // negative: not yet
  };
  struct Key {
    Row row;
    std::uint64_t number;
    auto operator<=>(const Key&) const = default;
  };

  double now() const;
  double since_start(Clock::time_point time) const;
  std::uint32_t take_track(Row row, std::uint32_t place);
  void begin(const Key& key, std::uint32_t place, Event event);
  void moment(const Key& key, const char* category, const char* name);
  void end(const Key& key, const std::string& more_args);
  void end_wait(Open& open, double at);
  void add(Event event);
  // By index in tracks_, in the order of TraceEvents.
  std::vector<TraceEvents::Track> add_tracks(TraceEvents& events) const;
  void add_event(TraceEvents& events, TraceEvents::Track on, const Event& event, bool is_open,
                 const std::map<std::uint64_t, driver::TracedLaunch>& names) const;
  void add_arrows(TraceEvents& events, const std::vector<TraceEvents::Track>& tracks) const;
  static std::string name_of(const Track& track);
  static std::uint64_t number(const void* key) { return reinterpret_cast<std::uintptr_t>(key); }

  const Clock::time_point start_;
  mutable std::mutex mutex_;
  std::vector<Event> events_;
  std::vector<Grid> grids_;
  std::map<std::uint64_t, std::size_t> running_;  // index in grids_, by key
  std::map<Key, Open> open_;
  std::vector<Track> tracks_;
  std::uint64_t dropped_ = 0;
};

}  // namespace baton::sim
