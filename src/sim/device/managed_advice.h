#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace baton::sim {

// What a program advised about the pages of one managed allocation. There is one place only for
// them, so the advice changes nothing and is kept to be asked for. Thread-safe.
class ManagedAdvice {
 public:
  static constexpr CUmemLocation kNowhere = {CU_MEM_LOCATION_TYPE_INVALID, 0};

  struct Page {
    bool is_read_mostly = false;
    CUmemLocation preferred = kNowhere;
    CUmemLocation prefetched = kNowhere;        // the last place
    std::set<std::pair<int, int>> accessed_by;  // types and numbers of locations
  };

  explicit ManagedAdvice(std::uint64_t bytes) { runs_.emplace(bytes, Page{}); }

  // Changes the pages that have bytes of the range.
  template <typename Change>
  void change(std::uint64_t offset, std::uint64_t bytes, Change change) {
    std::lock_guard lock(mutex_);
    const auto end = split(round_up(offset + bytes));
    for (auto run = split(offset - offset % kPageBytes); run != end; ++run) change(run->second);
  }
  // Shows what is known of the pages that have bytes of the range; at least one.
  template <typename Visit>
  void visit(std::uint64_t offset, std::uint64_t bytes, Visit visit) const {
    std::lock_guard lock(mutex_);
    for (auto run = runs_.upper_bound(offset); run != runs_.end(); ++run) {
      visit(run->second);
      if (run->first >= offset + bytes) return;
    }
  }

 private:
  static constexpr std::uint64_t kPageBytes = 4096;

  using Runs = std::map<std::uint64_t, Page>;  // by their ends
  static std::uint64_t round_up(std::uint64_t offset) {
    return (offset + kPageBytes - 1) / kPageBytes * kPageBytes;
  }
  // The run that begins there, of which some end is that place then.
  Runs::iterator split(std::uint64_t offset);

  mutable std::mutex mutex_;
  Runs runs_;
};

}  // namespace baton::sim
