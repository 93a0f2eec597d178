#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "sim/engine/judge/cluster_times.h"
#include "sim/engine/judge/ordering.h"

namespace baton::sim {

// When warps touched the bytes of an allocation, by the clocks of their clusters: what flags
// between grids order one by one (peer_order.h). A shadow's touchers say which grid it was, and not
// when. Thread-safe.
class AccessNotes {
 public:
  struct Access {
    Ordering::Number grid = 0;
    std::uint64_t cluster = 0;
    std::uint32_t party = 0;  // of the cluster's clocks: a warp, or what copies for one
    std::uint32_t segment = 0;
    bool writes = false;
  };
  void add(std::uint64_t offset, std::uint64_t bytes, const Access& access);

  // Whether all accesses by that grid to any of these bytes, of which are asked for those that
  // write or those that read, are over by that clock. What was never noted is.
  bool are_over(std::uint64_t offset, std::uint64_t bytes, Ordering::Number grid, bool writes,
                const ClusterTimes& over) const;
  void clear();

 private:
  static constexpr std::uint64_t kSector = 32;  // bytes
  struct Note {
    Access access;
    std::uint32_t bytes = 0;  // of the sector, a bit each
  };
  static std::uint32_t bytes_in(std::uint64_t sector, std::uint64_t offset, std::uint64_t end);
  static void add(std::vector<Note>& notes, const Note& note);

  mutable std::mutex mutex_;
  std::atomic<bool> any_{false};
  std::unordered_map<std::uint64_t, std::vector<Note>> sectors_;
};

}  // namespace baton::sim
