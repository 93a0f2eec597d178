#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/engine/judge/clock.h"
#include "sim/engine/judge/knowledge.h"

namespace baton::sim {

// Of a race that only another lane's order prevents.
inline constexpr const char* kLaneOrderAdvice =
    "what orders the two warps was told, or waited for, by another lane alone: execute "
    "__syncwarp() before the one tells, and after the other one's wait";

// Some lanes of a warp that told others what they did, or were told, apart from the rest of it.
// Besides the warp, which stands for all of its lanes, they are a party of clocks.
struct LaneParty {
  std::uint32_t party = 0;
  std::uint32_t warp = 0;
  std::uint32_t lanes = 0;
};

// Those of one cluster. Both kinds of parties count the segments of their warp.
class LaneParties {
 public:
  static constexpr std::size_t kMostOfWarp = 8;

  std::size_t size() const { return all_.size(); }
  void clear() { all_.clear(); }
  void add(const LaneParty& one) { all_.push_back(one); }
  const LaneParty* find(std::uint32_t warp, std::uint32_t lanes) const {
    const auto found = std::find_if(all_.begin(), all_.end(), [&](const LaneParty& one) {
      return one.warp == warp && one.lanes == lanes;
    });
    return found == all_.end() ? nullptr : &*found;
  }
  template <class Use>
  void each(std::uint32_t warp, Use use) const {
    for (const LaneParty& one : all_) {
      if (one.warp == warp) use(one);
    }
  }
  bool is_full(std::uint32_t warp) const {
    return std::count_if(all_.begin(), all_.end(), [&](const LaneParty& one) {
             return one.warp == warp;
           }) >= static_cast<std::ptrdiff_t>(kMostOfWarp);
  }
  // The lanes of the warp that are known to be done with that segment.
  std::uint32_t done(const Times& over, std::uint32_t warp, std::uint32_t segment) const {
    if (at(over, warp) > segment) return ~std::uint32_t{0};
    std::uint32_t lanes = 0;
    for (const LaneParty& one : all_) {
      if (one.warp == warp && at(over, one.party) > segment) lanes |= one.lanes;
    }
    return lanes;
  }
  // What lanes did counts for their warps.
  void raise_warps(Times& times) const {
    for (const LaneParty& one : all_) raise(times, one.warp, at(times, one.party));
  }

 private:
  std::vector<LaneParty> all_;
};

// What a warp's latest fence released, and what it has seen of flags since: for all of the cluster,
// and, where that has several blocks, for its own one.
struct Fences {
  Knowledge released, seen;
  Knowledge released_in_block, seen_in_block;
};

inline void merge(Fences& into, const Fences& from) {
  merge(into.released, from.released);
  merge(into.seen, from.seen);
  merge(into.released_in_block, from.released_in_block);
  merge(into.seen_in_block, from.seen_in_block);
}

// What some lanes of a warp know besides what all of it knows, until its lanes meet.
struct ApartLanes {
  std::uint32_t lanes = 0;
  Knowledge knows;
  Fences fences;
};

// The same of a segment.
struct ApartClock {
  std::uint32_t lanes = 0;
  Clock knows;
};

}  // namespace baton::sim
