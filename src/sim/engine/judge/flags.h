#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "sim/engine/judge/ordering.h"

namespace baton::sim {

// Order between grids that passes through memory: a thread releases a flag, a thread of another
// grid, or of the same one, acquires it (PTX ISA 9.0, "Release and Acquire Patterns").

// What a release comes after: what its grid did, and what that grid waits for, where its thread was
// ordered after that. Of the grid no threads are distinguished.
struct FlagSource {
  Ordering::Number grid = 0;
  bool has_waited = false;
  // The grid whose thread told it with the scope of a block or cluster, and so no other grid. 0: it
  // was told to the device.
  Ordering::Number told_within = 0;
  bool operator==(const FlagSource&) const = default;
};

// Flags by their addresses. Thread-safe.
class FlagTable {
 public:
  void add(std::uint64_t address, const FlagSource& source);
  // In place of all that the flag had, or nothing in place of it.
  void replace(std::uint64_t address, const FlagSource& source);
  void remove(std::uint64_t address);
  // Calls `use` with each source of the flag.
  template <class Use>
  void each(std::uint64_t address, Use use) const {
    if (!any_.load(std::memory_order_acquire)) return;
    std::lock_guard lock(mutex_);
    const auto found = sources_.find(address);
    if (found == sources_.end()) return;
    for (const FlagSource& source : found->second) use(source);
  }
  void clear();

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::vector<FlagSource>> sources_;
  std::atomic<bool> any_{false};
};

// What lanes of a warp come after besides what was done before their grid began: for each source a
// mask of lanes. Source 0 is what griddepcontrol.wait waits for, the others are the grid's own
// (AcquiredGrids).
class OrderedLanes {
 public:
  static constexpr int kSources = 4;
  using Sources = std::uint8_t;  // a bit a source

  std::uint32_t waited() const { return lanes_[0]; }
  std::uint32_t of(int source) const { return lanes_[static_cast<std::size_t>(source)]; }
  const std::uint32_t* data() const { return lanes_.data(); }
  std::uint32_t* data() { return lanes_.data(); }

  // What one of the lanes comes after.
  Sources sources_of(std::uint32_t lanes) const {
    Sources sources = 0;
    for (int k = 0; k < kSources; ++k) {
      if ((of(k) & lanes) != 0) sources = static_cast<Sources>(sources | 1u << k);
    }
    return sources;
  }
  void add(Sources sources, std::uint32_t lanes) {
    for (int k = 0; k < kSources; ++k) {
      if ((sources >> k & 1) != 0) lanes_[static_cast<std::size_t>(k)] |= lanes;
    }
  }
  // Takes the other's order over, of these lanes: besides their own, or in place of it.
  void join(const OrderedLanes& other, std::uint32_t lanes) {
    for (std::size_t k = 0; k < kSources; ++k) lanes_[k] |= other.lanes_[k] & lanes;
  }
  void replace(const OrderedLanes& other, std::uint32_t lanes) {
    for (std::size_t k = 0; k < kSources; ++k) {
      lanes_[k] = (lanes_[k] & ~lanes) | (other.lanes_[k] & lanes);
    }
  }

 private:
  std::array<std::uint32_t, kSources> lanes_ = {};
};

// The other grids whose flags threads of one grid acquired, as sources of OrderedLanes. What finds
// no source of its own shares the last one. Thread-safe.
class AcquiredGrids {
 public:
  OrderedLanes::Sources sources_of(const FlagSource& acquired);
  std::vector<FlagSource> of(int source) const;

 private:
  mutable std::mutex mutex_;
  std::array<std::vector<FlagSource>, OrderedLanes::kSources> acquired_;
};

}  // namespace baton::sim
