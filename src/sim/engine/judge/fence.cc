#include "sim/engine/judge/fence.h"

#include "sim/engine/judge/shared_watch.h"
#include "sim/engine/run/state.h"

namespace baton::sim {

const Insn* op_fence(Exec* x, const Insn* i) {
  if (x->block->watch != nullptr) x->block->watch->fence(x);
  return i + 1;
}

}  // namespace baton::sim
