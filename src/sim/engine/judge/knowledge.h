#pragma once

#include "sim/engine/judge/clock.h"
#include "sim/engine/judge/cluster_times.h"
#include "sim/engine/judge/peer_clock.h"

namespace baton::sim {

// What a warp knows of its own cluster; of others where races inside grids are looked for
// (grid_races.h); and of both, and of other grids, where devices access each other's memory
// (peer_order.h). All of it passes through barriers.
struct Knowledge : Clock {
  PeerKnowledge peers;
  ClusterClock others;
  ClusterClock seen;      // what flags that were read without an acquire add after a fence
  ClusterClock released;  // what a flag that is written without a release tells, by a fence before

  void clear() {
    Clock::clear();
    others.clear();
    seen.clear();
    released.clear();
    peers.clear();
  }
};

inline void merge(Knowledge& into, const Knowledge& from) {
  merge(static_cast<Clock&>(into), from);
  into.others.merge(from.others);
  into.seen.merge(from.seen);
  into.released.merge(from.released);
  into.peers.merge(from.peers);
}

// Whether `one` knows all that `other` knows.
inline bool covers(const Knowledge& one, const Knowledge& other) {
  return covers(static_cast<const Clock&>(one), other) && one.others.covers(other.others) &&
         one.seen.covers(other.seen) && one.released.covers(other.released) &&
         one.peers.covers(other.peers);
}

}  // namespace baton::sim
