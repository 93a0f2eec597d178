#pragma once

#include <cstdint>

#include "sim/engine/run/exec.h"

namespace baton::sim {

// Copies of cp.async, which happen as late as they may: when a thread waits for them, or looks at
// the mbarrier at which they arrive.

// cp.async: r[0] the generic address to write, r[1] the global address to read, r[2] how many bytes
// of it, r[3] a predicate that says to read none. `mode` is the bytes that are written, with flags.
inline constexpr std::uint8_t kCopyHasSize = 0x20;
inline constexpr std::uint8_t kCopyHasIgnore = 0x40;
const Insn* op_cp_async(Exec* x, const Insn* i);
const Insn* op_cp_async_commit(Exec* x, const Insn* i);
// All but the last `imm` groups; negative: whatever was asked for.
const Insn* op_cp_async_wait(Exec* x, const Insn* i);
// r[0] the mbarrier's generic address; mode 1: .noinc.
const Insn* op_cp_async_arrive(Exec* x, const Insn* i);

// Lets the arrivals of cp.async.mbarrier.arrive at the block's mbarrier happen, and before them the
// copies that they come after. False after a fault.
bool perform_arrivals(Exec* x, const Insn* i, int lane, BlockState& block, std::uint32_t offset);

}  // namespace baton::sim
