// What clusters of one grid tell each other by flags in global memory. Patterns are those of
// shared_flags.cc; a fence, and what it lets a flag tell, counts beyond barriers: thread 0 may
// write the flag behind a barrier that other threads reach behind their fences.

#include "sim/engine/judge/grid_flags.h"

#include "sim/engine/judge/shared_watch.h"

namespace baton::sim {

// What the warp did, and what it knows, for other clusters.
ClusterClock SharedWatch::known_to(const Exec* x, std::uint32_t warp) const {
  const Knowledge& knowledge = clocks_[warp];
  Times own = knowledge.over;
  raise(own, warp, index_[warp]);
  ClusterClock known = knowledge.others;
  const std::uint64_t clusters = x->grid->total_clusters;
  const std::uint64_t cluster = x->block->cluster->number;
  known.over.merge({clusters, cluster, std::move(own)});
  if (!knowledge.fenced.empty()) known.fenced.merge({clusters, cluster, knowledge.fenced});
  return known;
}

// What other clusters told becomes known, and with it what they had been told of this one.
void SharedWatch::take_in(const Exec* x, Knowledge& knowledge, const ClusterClock& told) const {
  const std::uint64_t cluster = x->block->cluster->number;
  knowledge.others.merge(told);
  if (const Times* own = told.over.of(cluster)) merge(knowledge.over, *own);
  if (const Times* own = told.fenced.of(cluster)) merge(knowledge.fenced, *own);
}

void SharedWatch::learn_of_others(Exec* x, std::uint32_t warp, const ClusterClock& told) {
  if (clocks_[warp].others.covers(told)) return;
  close(x, warp);
  take_in(x, clocks_[warp], told);
}

void SharedWatch::access_grid_flag(Exec* x, std::uint64_t address, AccessKind touch,
                                   MemoryOrder order) {
  const std::uint32_t warp = warp_of(x);
  const std::uint64_t cluster = x->block->cluster->number;
  GridFlags& flags = *x->grid->cluster_flags;
  auto found = flags.find(address);
  if (touch != AccessKind::kWrite && found != flags.end()) {
    const ClusterClock& released = found->second.released;
    const bool is_known =
        clocks_[warp].others.covers(released) || clocks_[warp].seen.covers(released);
    x->gives_way = x->gives_way || !is_known;
    if (acquires(order) || touch == AccessKind::kUpdate) {
      learn_of_others(x, warp, released);
    } else {
      clocks_[warp].seen.merge(released);
    }
  }
  if (touch == AccessKind::kRead) {
    x->block->cluster->looked_at_flag = true;
    return;
  }
  if (releases(order)) close(x, warp);
  const ClusterClock told = releases(order) ? known_to(x, warp) : clocks_[warp].released;
  if (found == flags.end()) {
    if (told.empty()) return;
    found = flags.try_emplace(address).first;
  }
  GridFlag& flag = found->second;
  if (touch == AccessKind::kWrite && (flag.cluster != cluster || flag.warp != warp)) {
    flag.released.clear();
  }
  flag.released.merge(told);
  flag.cluster = cluster;
  flag.warp = warp;
}

}  // namespace baton::sim
