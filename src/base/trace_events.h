#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace baton {

// A text as JSON, with its quotes.
std::string quoted_json(std::string_view text);

// A timeline in the JSON of the Trace Event Format (Google, 2016), which Perfetto and Chrome open.
// All timelines of Baton have the same rows: processes for launches, for copies and fills, for
// stuck warps, and one for each multiprocessor. Times are microseconds. `args` are the members of a
// JSON object, without its braces. One thread at a time.
class TraceEvents {
 public:
  static constexpr std::uint32_t kLaunches = 1, kMoves = 3, kStuck = 4;
  static constexpr std::uint32_t kFirstMultiprocessor = 100;
  static std::uint32_t multiprocessor(std::uint32_t number) {
    return kFirstMultiprocessor + number;
  }

  // What a bar or a moment is on. Threads have different numbers in all processes.
  struct Track {
    std::uint32_t process = 0;
    std::uint64_t thread = 0;
  };

  TraceEvents();

  // Processes are shown in the order of their numbers, and the tracks of one in that of `order`.
  void name_process(std::uint32_t process, std::string_view name);
  void name_track(const Track& track, std::string_view name, std::uint64_t order);

  void bar(const Track& track, std::string_view category, std::string_view name, double at,
           double duration, std::string_view args);
  // A bar that has no end.
  void begin(const Track& track, std::string_view category, std::string_view name, double at,
             std::string_view args);
  void moment(const Track& track, std::string_view category, std::string_view name, double at,
              std::string_view args);
  // Between two bars. Both ends must be inside of them, and not at their very end.
  void arrow(std::string_view category, std::string_view name, const Track& from, double from_at,
             const Track& to, double to_at);
  void counter(std::uint32_t process, std::string_view name, double at, std::uint64_t value);

  // The whole text. `dropped`: events that were left out as there were too many. `more`: further
  // members of "otherData".
  std::string finish(std::uint64_t dropped, std::string_view more = "") &&;

 private:
  void event(std::string_view phase, const Track& track, std::string_view category,
             std::string_view name, double at, std::string_view members, std::string_view args);
  void separate();

  std::string json_;
  std::uint64_t arrows_ = 0;
  bool is_empty_ = true;
};

}  // namespace baton
