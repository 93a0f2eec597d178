// Accesses of global memory that flags between devices may order.

#include <mutex>

#include "sim/engine/judge/hazards.h"
#include "sim/engine/judge/peer_order.h"
#include "sim/engine/judge/shared_watch.h"

namespace baton::sim {

PeerClock inherited(GridState& grid, bool has_waited) {
  std::lock_guard lock(grid.mutex);
  std::optional<PeerClock>& known = grid.inherited[has_waited ? 1 : 0];
  if (!known) known = PeerOrder::instance().inherited(grid.launch.number, has_waited);
  return *known;
}

// Whether flags between devices order the lane after the other's access.
bool GlobalWatch::is_told(Toucher other, bool other_writes, int lane, std::uint64_t offset) {
  if (!PeerOrder::instance().is_active()) return false;
  const Ordering::Number number = other.number(Ordering::instance().last());
  const auto knows = [&](const PeerClock& clock) {
    return PeerOrder::comes_after(clock, number, other_writes, shadow_->accesses, offset, bytes_);
  };
  if (x_->grid->orders_peers) {
    const SharedWatch& watch = *x_->block->watch;
    if (knows(watch.knowledge_of(watch.warp_of(x_)).peers.parts().known)) return true;
  }
  return knows(inherited(*x_->grid, (x_->warp->ordered.waited() >> lane & 1) != 0));
}

bool GlobalWatch::is_told_too_narrowly(Toucher other, bool other_writes,
                                       std::uint64_t offset) const {
  if (!x_->grid->orders_peers) return false;
  const SharedWatch& watch = *x_->block->watch;
  return PeerOrder::comes_after(watch.knowledge_of(watch.warp_of(x_)).peers.parts().narrow,
                                other.number(Ordering::instance().last()), other_writes,
                                shadow_->accesses, offset, bytes_);
}

bool GlobalWatch::is_of_other_device(Toucher other) const {
  const Ordering& ordering = Ordering::instance();
  const int device = ordering.device(other.number(ordering.last()));
  return device >= 0 && device != ordering.device(x_->grid->launch.number);
}

bool GlobalWatch::is_narrow(Toucher other) {
  if (!PeerOrder::instance().is_active()) return false;
  return PeerOrder::instance().is_narrow(other.number(Ordering::instance().last()), other.insn());
}

// Instructions that have no number are taken for wide.
void GlobalWatch::note_narrow() const {
  if (i_->cache >= Toucher::kNoInsn) return;
  PeerOrder::instance().note_narrow(x_->grid->launch.number, i_->cache);
}

}  // namespace baton::sim
