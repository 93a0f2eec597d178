#include "sim/engine/judge/fence.h"

#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/run/state.h"

namespace baton::sim {

bool acquires_by(const Exec* x, AccessKind touch, MemoryOrder order) {
  return acquires(order) || (touch == AccessKind::kUpdate && !x->grid->launch.keeps_to_model);
}

const Insn* op_fence(Exec* x, const Insn* i) {
  const auto scope = static_cast<MemoryScope>(i->imm);
  SharedWatch* const watch = x->block->watch;
  if (i->mode == kFenceOfMbarriers) {
    if (watch != nullptr) watch->fence_mbarriers(x);
    return i + 1;
  }
  if (watch != nullptr) watch->fence(x, scope);
  Warp& warp = *x->warp;
  if (has_device(scope)) {
    warp.ordered.join(warp.seen, x->mask);
    warp.seen.replace({}, x->mask);
    warp.released_to_device.replace(warp.ordered, x->mask);
    warp.fenced_for_device |= x->mask;
  } else {
    // Of flags of other grids it makes nothing.
    warp.ordered.add(1, warp.seen.waited() & x->mask);
  }
  warp.released.replace(warp.ordered, x->mask);
  warp.fenced |= x->mask;
  return i + 1;
}

const Insn* op_fence_proxy(Exec* x, const Insn* i) {
  if (x->block->watch != nullptr) x->block->watch->fence_proxy(x);
  return i->mode == kFenceOfAll ? op_fence(x, i) : i + 1;
}

}  // namespace baton::sim
