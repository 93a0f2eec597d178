// What grids of several devices tell each other by flags. Patterns are those of shared_flags.cc. A
// release or a fence tells those whom its scope has, and a flag is read for those of its own scope.

#include "sim/engine/judge/fence.h"
#include "sim/engine/judge/hazards.h"
#include "sim/engine/judge/peer_order.h"
#include "sim/engine/judge/shared_watch.h"

namespace baton::sim {
namespace {

bool has_waited(const Exec* x) {
  return (x->warp->ordered.waited() & x->mask) != 0;
}

}  // namespace

// What the warp did, and what it knows, for other devices.
PeerClock SharedWatch::told_to_peers(const Exec* x, std::uint32_t warp) {
  const Ordering::Number number = x->grid->launch.number;
  PeerClock told({number, has_waited(x), known_to_grid(x, {warp, kAllLanes, true}).over});
  told.merge(clocks_[warp].peers.parts().known);
  told.merge(inherited(*x->grid, has_waited(x)));
  return told;
}

void SharedWatch::learn_of_peers(Exec* x, Knowledge& knowledge, const PeerClock& known,
                                 const PeerClock& narrow) const {
  const PeerKnowledge::Parts& present = knowledge.peers.parts();
  if (present.known.covers(known) && present.narrow.covers(narrow)) return;
  knowledge.peers.change([&](PeerKnowledge::Parts& parts) {
    parts.known.merge(known);
    parts.narrow.merge(narrow);
  });
  PeerOrder::instance().learn(x->grid->launch.number, has_waited(x), known);
}

void SharedWatch::access_peer_flag(Exec* x, std::uint64_t address, AccessKind touch,
                                   MemoryOrder order, MemoryScope scope) {
  const std::uint32_t warp = warp_of(x);
  const int device = x->grid->memory->impl().ordinal;
  PeerOrder& peers = PeerOrder::instance();
  Knowledge& knowledge = clocks_[warp];
  if (touch != AccessKind::kWrite && has_device(scope)) {
    PeerOrder::Told told = peers.told(address, device, scope == MemoryScope::kSystem);
    if (acquires_by(x, touch, order)) {
      told.all.merge(told.device);
      learn_of_peers(x, knowledge, told.all, told.narrow);
    } else if (!told.all.empty() || !told.device.empty() || !told.narrow.empty()) {
      knowledge.peers.change([&](PeerKnowledge::Parts& parts) {
        parts.seen.merge(told.all);
        parts.seen_on_device.merge(told.device);
        parts.seen_narrow.merge(told.narrow);
      });
    }
  }
  if (touch == AccessKind::kRead) return;
  PeerClock all, on_device;
  if (releases(order) && has_device(scope)) {
    close(x, who(x));
    on_device = told_to_peers(x, warp);
    if (scope == MemoryScope::kSystem) all = on_device;
  } else if (has_device(scope)) {
    const PeerKnowledge::Parts& parts = knowledge.peers.parts();
    on_device = parts.released_on_device;
    if (scope == MemoryScope::kSystem) all = parts.released;
  }
  const PeerOrder::Writer writer{device, x->grid->launch.number, x->block->cluster->number, warp};
  peers.tell(address, writer, touch == AccessKind::kUpdate, all, on_device);
}

// What was told to all devices counts after a fence for the system alone: after one for the
// device it is too narrow.
void SharedWatch::fence_for_peers(Exec* x, MemoryScope scope) {
  if (!has_device(scope)) return;
  const std::uint32_t warp = warp_of(x);
  Knowledge& knowledge = clocks_[warp];
  const PeerKnowledge::Parts parts = knowledge.peers.parts();
  const bool is_wide = scope == MemoryScope::kSystem;
  PeerClock known = parts.seen_on_device;
  PeerClock narrow = parts.seen_narrow;
  (is_wide ? known : narrow).merge(parts.seen);
  learn_of_peers(x, knowledge, known, narrow);
  const PeerClock told = told_to_peers(x, warp);
  knowledge.peers.change([&](PeerKnowledge::Parts& changed) {
    changed.seen.clear();
    changed.seen_on_device.clear();
    changed.seen_narrow.clear();
    changed.released_on_device = told;
    if (is_wide) changed.released = told;
  });
}

}  // namespace baton::sim
