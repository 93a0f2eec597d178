#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>

namespace baton::compiler {

// What all processes together did with one cache folder since it was made or cleared.
struct CacheCounters {
  std::uint64_t hits = 0;       // counted in a file of their own (count_hit)
  std::uint64_t misses = 0;     // compiles that were done
  std::uint64_t repairs = 0;    // damaged entries that were replaced
  std::uint64_t evictions = 0;  // entries that were removed to make room
  std::uint64_t evicted_bytes = 0;
  // Of all entries, as far as writers told: one that was killed at the wrong moment did not.
  // Nothing where it is unknown.
  std::optional<std::uint64_t> stored_bytes;
};

// Counts one hit: appends one byte to the file `path`. Takes no lock, so that no process waits for
// another's statistics.
void count_hit(const std::filesystem::path& path);
// How many hits the file counts: its size.
std::uint64_t count_of_hits(const std::filesystem::path& path);

// The counters in a file, without hits; all zero where there is none, or a damaged one.
// Thread-safe.
CacheCounters read_counters(const std::filesystem::path& path);

// Changes them under the file's lock, and returns what they are then. Where the file cannot be
// locked or written the change is lost, and logged for debugging: counting never fails a compile.
CacheCounters change_counters(const std::filesystem::path& path,
                              const std::function<void(CacheCounters&)>& change);

}  // namespace baton::compiler
