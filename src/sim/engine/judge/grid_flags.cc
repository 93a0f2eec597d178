// What clusters of one grid tell each other by flags in global memory. Patterns are those of
// shared_flags.cc; a fence, and what it lets a flag tell, counts beyond barriers: thread 0 may
// write the flag after a barrier that other threads reach after their fences.

#include "sim/engine/judge/grid_flags.h"

#include "sim/engine/judge/fence.h"
#include "sim/engine/judge/shared_watch.h"

namespace baton::sim {

// Returns what the lanes did, and what they know, for other clusters.
ClusterClock SharedWatch::known_to_grid(const Exec* x, const Who& who) {
  const Knowledge& knowledge = known_to(who);
  Times own = knowledge.over;
  merge(own, waited_[who.warp]);
  raise(own, party_of(x, who), index_[who.warp]);
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

void SharedWatch::learn_of_others(Exec* x, const Who& who, const ClusterClock& told) {
  if (known_to_each(who).others.covers(told)) return;
  close(x, who);
  take_in(x, knowledge_of(who), told);
}

void SharedWatch::access_grid_flag(Exec* x, std::uint64_t address, AccessKind touch,
                                   MemoryOrder order) {
  const Who executing = who(x);
  const std::uint64_t cluster = x->block->cluster->number;
  GridFlags& flags = *x->grid->cluster_flags;
  auto found = flags.find(address);
  if (touch != AccessKind::kWrite && found != flags.end()) {
    const ClusterClock& released = found->second.released;
    const Knowledge& known = known_to_each(executing);
    const bool is_known = known.others.covers(released) || known.seen.covers(released);
    x->gives_way = x->gives_way || !is_known;
    if (acquires_by(x, touch, order)) {
      learn_of_others(x, executing, released);
    } else {
      knowledge_of(executing).seen.merge(released);
    }
  }
  if (touch == AccessKind::kRead) {
    x->block->cluster->looked_at_flag = true;
    return;
  }
  if (releases(order)) close(x, executing);
  const ClusterClock told =
      releases(order) ? known_to_grid(x, executing) : known_to(executing).released;
  if (found == flags.end()) {
    if (told.empty()) return;
    found = flags.try_emplace(address).first;
  }
  GridFlag& flag = found->second;
  if (touch == AccessKind::kWrite && (flag.cluster != cluster || flag.warp != executing.warp ||
                                      (flag.lanes & executing.lanes) == 0)) {
    flag.released.clear();
  }
  flag.released.merge(told);
  flag.cluster = cluster;
  flag.warp = executing.warp;
  flag.lanes = executing.lanes;
}

}  // namespace baton::sim
