#pragma once

#include <cstdint>

#include "sim/engine/isa/insn.h"
#include "sim/engine/judge/watch.h"

namespace baton::sim {

// Insn::mode of a fence: which accesses it orders between threads. fence.mbarrier_init orders no
// accesses but initialisations of mbarriers.
enum FenceMode : std::uint8_t { kFenceOfProxies, kFenceOfAll, kFenceOfMbarriers };

// Whether an access of a flag acquires what the flag tells, without a fence after it. An update is
// taken for an acquire, as many a lock has no fence after its compare-and-swap. The memory model
// does not say so (Launch::keeps_to_model).
bool acquires_by(const Exec* x, AccessKind touch, MemoryOrder order);

// fence and membar of the present lanes (PTX ISA 9.0, "membar/fence"). Memory is sequentially
// consistent here: what they order counts for the judge alone.
const Insn* op_fence(Exec* x, const Insn* i);
// fence.proxy.async: what was written becomes visible to asynchronous copies in bulk. With
// kFenceOfAll it is a fence between threads as well.
const Insn* op_fence_proxy(Exec* x, const Insn* i);

}  // namespace baton::sim
