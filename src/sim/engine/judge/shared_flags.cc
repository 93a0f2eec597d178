// Fences and flags: release and acquire patterns between the warps of a cluster (PTX ISA 9.0, 8.7
// "Release and Acquire Patterns").

#include "sim/engine/judge/fence.h"
#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/memory/address.h"

namespace baton::sim {

// A pattern is a release followed by a strong write, or a fence followed by one; and a strong read
// that observes it, which is an acquire or has a fence after it (acquires_by). An update goes on
// with what it observes. A strong write of another warp begins anew.
void SharedWatch::access_flag(Exec* x, std::uint64_t address, AccessKind touch, MemoryOrder order,
                              MemoryScope scope) {
  if (is_global_address(address)) {
    if (x->grid->cluster_flags != nullptr && has_device(scope)) {
      access_grid_flag(x, address, touch, order);
    }
    if (x->grid->orders_peers) access_peer_flag(x, address, touch, order, scope);
  }
  const Who executing = who(x);
  const std::uint32_t rank = x->block->rank;
  const bool for_block = is_for_block(scope);
  const bool writes = touch != AccessKind::kRead;
  const bool releases_now = writes && releases(order);
  const bool fenced = has_fenced(executing);
  if (!releases_now && !fenced && flags_.empty()) return;
  if (touch != AccessKind::kWrite) {
    if (const auto found = flags_.find(address); found != flags_.end()) {
      const bool acquires_now = acquires_by(x, touch, order);
      for (std::uint32_t from = 0; from < found->second.told.size(); ++from) {
        const Told& told = found->second.told[from];
        if (from != rank && for_block) continue;
        if (acquires_now) {
          learn(x, executing, told.clock);
          if (from == rank) learn(x, executing, told.in_block);
        } else if (from == rank && memories_.size() > 1) {
          merge(fences_of(executing).seen_in_block, told.clock);
          merge(fences_of(executing).seen_in_block, told.in_block);
        } else {
          merge(fences_of(executing).seen, told.clock);
        }
      }
    }
  }
  if (!writes) return;
  if (releases_now) close(x, executing);
  if (touch == AccessKind::kWrite) {
    const auto found = flags_.find(address);
    const bool is_other = found != flags_.end() && (found->second.warp != executing.warp ||
                                                    (found->second.lanes & executing.lanes) == 0);
    if (is_other) flags_.erase(found);
  }
  if (!releases_now && !fenced) return;
  Flag& flag = flags_[address];
  flag.warp = executing.warp;
  flag.lanes = executing.lanes;
  flag.told.resize(memories_.size());
  Told& told = flag.told[rank];
  Knowledge& clock = for_block ? told.in_block : told.clock;
  if (releases_now) {
    tell(x, clock, executing);
  } else {
    each_fences(executing, [&](const Fences& fences) {
      merge(clock, fences.released);
      merge(told.in_block, fences.released_in_block);
    });
  }
}

void SharedWatch::fence(Exec* x, MemoryScope scope) {
  const Who executing = who(x);
  const bool for_block = is_for_block(scope);
  close(x, executing);
  Knowledge& knowledge = knowledge_of(executing);
  each_fences(executing, [&](const Fences& fences) {
    merge(knowledge, fences.seen_in_block);
    if (!for_block) merge(knowledge, fences.seen);
  });
  // What others of the lanes have seen is theirs still.
  Fences& fences = fences_of(executing);
  fences.seen_in_block.clear();
  if (!for_block) fences.seen.clear();
  if (x->grid->cluster_flags != nullptr && has_device(scope)) {
    const ClusterClock seen = known_to(executing).seen;
    take_in(x, knowledge, seen);
    knowledge.seen.clear();
    knowledge.released = known_to_grid(x, executing);
  }
  if (x->grid->orders_peers) fence_for_peers(x, scope);
  Knowledge& released = for_block ? fences.released_in_block : fences.released;
  released.clear();
  tell(x, released, executing);
}

// Whatever the warp knows is visible to copies that it asks for from here on, and to those of
// others that come after it (PTX ISA 9.0, "Proxy-preserved base causality order").
// For a relaxed arrival at the cluster's barrier (PTX ISA 9.0, "membar/fence").
void SharedWatch::fence_mbarriers(Exec* x) {
  const Who executing = who(x);
  close(x, executing);
  Times& made = fences_of(executing).released.made;
  merge(made, known_to(executing).over);
  raise(made, executing.warp, index_[executing.warp]);
}

void SharedWatch::fence_proxy(Exec* x) {
  const Who executing = who(x);
  close(x, executing);
  Knowledge& knowledge = knowledge_of(executing);
  const Knowledge& known = known_to(executing);
  merge(knowledge.fenced, known.over);
  raise(knowledge.fenced, executing.warp, index_[executing.warp]);
  knowledge.others.fenced.merge(known.others.over);
}

// The next segment of the lanes begins after what they are told.
void SharedWatch::learn(Exec* x, const Who& who, const Knowledge& told) {
  if (covers(known_to_each(who), told)) return;
  close(x, who);
  merge(knowledge_of(who), told);
  // Flags between devices order warps, and so what is known of them is the warp's.
  if (!who.is_whole) clocks_[who.warp].peers.merge(told.peers);
}

}  // namespace baton::sim
