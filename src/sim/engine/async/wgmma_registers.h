#pragma once

#include <cstdint>

#include "sim/engine/async/wgmma_state.h"
#include "sim/engine/lower/function.h"
#include "sim/engine/run/exec.h"

namespace baton::sim {

// Registers that wgmma has in use. Where an instruction may touch one of them is known when a
// function is decoded (lower/wgmma_flow.h), and nowhere else anything is looked at: what follows
// stands in front of such instructions and finds out whether it happens.

// u.data: a vector of RegisterTouch.
const Insn* op_use_registers(Exec* x, const Insn* i);

void check_fenced(Exec* x, const Insn* i, const WgmmaRegisters& registers);
void keep_busy(Exec* x, const Insn* i, const WgmmaRegisters& registers);

WgmmaWarp& wgmma_warp(Exec* x);

}  // namespace baton::sim
