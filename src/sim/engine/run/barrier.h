#pragma once

#include <cstdint>

#include "sim/engine/run/exec.h"

namespace baton::sim {

enum class BarrierKind : std::uint8_t { kSync, kArrive, kRedPopc, kRedAnd, kRedOr };

// bar.sync, bar.arrive and bar.red for the present fragment. r[0] result (a register or, for
// and/or, a predicate), r[1] the barrier, r[2] the number of threads (0: frame offset of none),
// r[3] the predicate; mode is a BarrierKind; bit 0 of imm is set where r[2] counts, bit 1
// where all lanes of a warp must come together (.aligned).
const Insn* op_barrier(Exec* x, const Insn* i);

// `count` lanes of the block left the kernel: barriers that waited for them may complete.
void leave_barriers(Exec* x, std::uint32_t count);

}  // namespace baton::sim
