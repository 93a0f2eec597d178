#pragma once

#include "sim/engine/isa/insn.h"
#include "sim/engine/run/exec.h"

namespace baton::sim {

// discard.L2: r[0] the generic address of kDiscardedBytes of global memory, whose values are lost
// (PTX ISA 9.0, "discard": a weak write of an unstable indeterminate value). Here it leaves a
// pattern; what still has it when the grid ends counts as never written.
inline constexpr std::uint32_t kDiscardedBytes = 128;
const Insn* op_discard(Exec* x, const Insn* i);

// Whether the instruction is one, whatever guards it.
bool is_discard(const Insn* i);

}  // namespace baton::sim
