#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace baton::sim {

// What a device did, as a timeline: grids, their blocks, and where those triggered and waited.
// Times are the host's. Thread-safe.
class Trace {
 public:
  using Clock = std::chrono::steady_clock;
  // At most so many events are kept, a few hundred bytes each; then only grids are noted.
  static constexpr std::size_t kMostEvents = 200'000;

  Trace() : start_(Clock::now()) {}

  // `key` tells grids and blocks apart: any number that no other running one has.
  void begin_grid(std::uint64_t key, const std::string& kernel, const std::string& extents,
                  bool is_dependent);
  void note_triggered(std::uint64_t key);
  void end_grid(std::uint64_t key);
  void begin_block(const void* key, const std::string& kernel, const std::string& index);
  void note_trigger(const void* key);
  void begin_wait(const void* key);
  void end_wait(const void* key);
  void end_block(const void* key);

  // The Trace Event Format's JSON (Google, 2016), which Perfetto and Chrome open.
  std::string json() const;

 private:
  enum class Row : std::uint8_t { kGrids = 1, kBlocks = 2 };
  struct Event {
    Row row = Row::kGrids;
    std::uint32_t line = 0;
    std::string name;
    std::string detail;
    double at = 0;         // microseconds
    double duration = -1;  // negative: a moment
  };
  struct Open {
    Row row = Row::kGrids;
    std::uint32_t line = 0;
    std::string name, detail;
    double since = 0;
    double waits_since = -1;
    bool triggered = false;
  };
  using Key = std::pair<Row, std::uint64_t>;

  double now() const;
  void begin(const Key& key, std::string name, std::string detail);
  void moment(const Key& key, const char* name);
  void end(const Key& key);
  void end_wait(Open& open, double at);
  void add(Event event);
  static std::uint64_t number(const void* key) { return reinterpret_cast<std::uintptr_t>(key); }

  const Clock::time_point start_;
  mutable std::mutex mutex_;
  std::vector<Event> events_;
  std::map<Key, Open> open_;
  std::vector<bool> lines_[3];  // that are in use, of each row
  std::uint64_t dropped_ = 0;
};

}  // namespace baton::sim
