#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace baton {

// A text as JSON, with its quotes.
std::string quoted_json(std::string_view text);

// A timeline in the JSON of the Trace Event Format (Google, 2016), which Perfetto and Chrome open.
// All timelines of Baton have the same rows, in this order: launches, copies and fills, stuck
// warps, and the block slots of each multiprocessor. Times are microseconds. `args` are the members
// of a JSON object, without its braces. One thread at a time.
class TraceEvents {
 public:
  // The track of a bar or a moment: a thread of the format. Numbers begin at 1. All are of one
  // process, since Perfetto orders processes by how much they hold, and threads by their number.
  using Track = std::uint64_t;

  // How the tracks are called. Readers of the JSON may know them by these.
  static constexpr std::string_view kMoves = "copies and fills";
  static std::string launch_slot(std::uint64_t slot);
  static std::string block_slot(std::uint32_t multiprocessor, std::uint64_t slot);

  TraceEvents();

  void name_track(Track track, std::string_view name);

  void bar(Track track, std::string_view category, std::string_view name, double at,
           double duration, std::string_view args);
  // A bar that has no end.
  void begin(Track track, std::string_view category, std::string_view name, double at,
             std::string_view args);
  void moment(Track track, std::string_view category, std::string_view name, double at,
              std::string_view args);
  // Between two bars. Both ends must be inside of them, and not at their very end. Written before
  // the moments: Perfetto takes a moment that came before, at the same time, for the arrow's end.
  void arrow(std::string_view category, std::string_view name, Track from, double from_at, Track to,
             double to_at);
  void counter(std::string_view name, double at, std::uint64_t value);

  // The whole text. `dropped`: events that were left out as there were too many. `more`: further
  // members of "otherData".
  std::string finish(std::uint64_t dropped, std::string_view more = "") &&;

 private:
  void event(std::string_view phase, Track track, std::string_view category, std::string_view name,
             double at, std::string_view members, std::string_view args);

  std::string json_;
  std::uint64_t arrows_ = 0;
};

}  // namespace baton
