#pragma once

#include <cstdint>

#include "sim/engine/isa/insn.h"

namespace baton::sim {

// Insn::mode of a fence: which accesses it orders between threads. fence.mbarrier_init orders no
// accesses but initialisations of mbarriers.
enum FenceMode : std::uint8_t { kFenceOfProxies, kFenceOfAll, kFenceOfMbarriers };

// fence and membar of the present lanes (PTX ISA 9.0, "membar/fence"). Memory is sequentially
// consistent here: what they order counts for the judge alone.
const Insn* op_fence(Exec* x, const Insn* i);
// fence.proxy.async: what was written becomes visible to asynchronous copies in bulk. With
// kFenceOfAll it is a fence between threads as well.
const Insn* op_fence_proxy(Exec* x, const Insn* i);

}  // namespace baton::sim
