// Fences and flags: release and acquire patterns between the warps of a cluster (PTX ISA 9.0, 8.7
// "Release and Acquire Patterns").

#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/memory/address.h"

namespace baton::sim {

// A pattern is a release followed by a strong write, or a fence followed by one; and a strong read
// that observes it, which is an acquire or has a fence behind it. An update goes on with what it
// observes; it is taken for an acquire, as many a lock has no fence behind its compare-and-swap. A
// strong write of another warp begins anew.
void SharedWatch::access_flag(Exec* x, std::uint64_t address, AccessKind touch, MemoryOrder order,
                              MemoryScope scope) {
  if (window_of(address) == window_number(kGlobalWindow)) {
    if (x->grid->cluster_flags != nullptr && has_device(scope)) {
      access_grid_flag(x, address, touch, order);
    }
    if (x->grid->orders_peers) access_peer_flag(x, address, touch, order, scope);
  }
  const std::uint32_t warp = warp_of(x);
  const std::uint32_t rank = x->block->rank;
  const bool for_block = is_for_block(scope);
  const bool writes = touch != AccessKind::kRead;
  const bool releases_now = writes && releases(order);
  Fences& fences = fences_[warp];
  const bool has_fenced = !fences.released.empty() || !fences.released_in_block.empty();
  if (!releases_now && !has_fenced && flags_.empty()) return;
  if (touch != AccessKind::kWrite) {
    if (const auto found = flags_.find(address); found != flags_.end()) {
      const bool acquires_now = acquires(order) || touch == AccessKind::kUpdate;
      for (std::uint32_t from = 0; from < found->second.told.size(); ++from) {
        const Told& told = found->second.told[from];
        if (from != rank && for_block) continue;
        if (acquires_now) {
          learn(x, warp, told.clock);
          if (from == rank) learn(x, warp, told.in_block);
        } else if (from == rank && memories_.size() > 1) {
          merge(fences.seen_in_block, told.clock);
          merge(fences.seen_in_block, told.in_block);
        } else {
          merge(fences.seen, told.clock);
        }
      }
    }
  }
  if (!writes) return;
  if (releases_now) close(x, warp);
  if (touch == AccessKind::kWrite) {
    const auto found = flags_.find(address);
    if (found != flags_.end() && found->second.warp != warp) flags_.erase(found);
  }
  if (!releases_now && !has_fenced) return;
  Flag& flag = flags_[address];
  flag.warp = warp;
  flag.told.resize(memories_.size());
  Told& told = flag.told[rank];
  Knowledge& clock = for_block ? told.in_block : told.clock;
  if (releases_now) {
    join(clock, warp);
  } else {
    merge(clock, fences.released);
    merge(told.in_block, fences.released_in_block);
  }
}

void SharedWatch::fence(Exec* x, MemoryScope scope) {
  const std::uint32_t warp = warp_of(x);
  const bool for_block = is_for_block(scope);
  Fences& fences = fences_[warp];
  Knowledge& knowledge = clocks_[warp];
  close(x, warp);
  merge(knowledge, fences.seen_in_block);
  fences.seen_in_block.clear();
  if (!for_block) {
    merge(knowledge, fences.seen);
    fences.seen.clear();
  }
  if (x->grid->cluster_flags != nullptr && has_device(scope)) {
    take_in(x, knowledge, knowledge.seen);
    knowledge.seen.clear();
    knowledge.released = known_to(x, warp);
  }
  if (x->grid->orders_peers) fence_for_peers(x, scope);
  Knowledge& released = for_block ? fences.released_in_block : fences.released;
  released = knowledge;
  raise(released.over, warp, index_[warp]);
}

// Whatever the warp knows is visible to copies that it asks for from here on, and to those of
// others that come after it (PTX ISA 9.0, "Proxy-preserved base causality order").
void SharedWatch::fence_proxy(Exec* x) {
  const std::uint32_t warp = warp_of(x);
  close(x, warp);
  Knowledge& knowledge = clocks_[warp];
  merge(knowledge.fenced, knowledge.over);
  raise(knowledge.fenced, warp, index_[warp]);
  knowledge.others.fenced.merge(knowledge.others.over);
}

// The warp's next segment begins behind what it is told.
void SharedWatch::learn(Exec* x, std::uint32_t warp, const Knowledge& told) {
  if (covers(clocks_[warp], told)) return;
  close(x, warp);
  merge(clocks_[warp], told);
}

}  // namespace baton::sim
