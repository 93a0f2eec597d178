#include "sim/engine/judge/fence.h"

#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/run/state.h"

namespace baton::sim {

const Insn* op_fence(Exec* x, const Insn* i) {
  if (x->block->watch != nullptr) x->block->watch->fence(x, static_cast<MemoryScope>(i->imm));
  if (i->mode == kFenceOfMbarriers) return i + 1;  // it releases no flag
  Warp& warp = *x->warp;
  warp.ordered.join(warp.seen, x->mask);
  warp.seen.replace({}, x->mask);
  warp.released.replace(warp.ordered, x->mask);
  warp.fenced |= x->mask;
  return i + 1;
}

const Insn* op_fence_proxy(Exec* x, const Insn* i) {
  if (x->block->watch != nullptr) x->block->watch->fence_proxy(x);
  return i->mode == kFenceOfAll ? op_fence(x, i) : i + 1;
}

}  // namespace baton::sim
