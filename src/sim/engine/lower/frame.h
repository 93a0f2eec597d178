#pragma once

#include <cstdint>

#include "sim/engine/run/state.h"

namespace baton::sim {

// Fills the slots of a fresh frame that no instruction writes. What changes from block to block of
// one rank (%ctaid) is left to fill_block_slots.
void fill_frame(const GridState& grid, const BlockState& block, const DecodedFunction& function,
                std::uint32_t warp_index, std::uint32_t local_base, std::byte* frame);
// What changes from block to block, and the registers that must start at zero.
void fill_block_slots(const GridState& grid, const BlockState& block,
                      const DecodedFunction& function, std::byte* frame);

inline constexpr std::uint32_t kMaxLocal = 512 * 1024;  // bytes a thread, as in hardware

// Gives the warp local memory of at least `bytes` a lane; what is new counts as never written.
void grow_local(Warp& warp, std::uint32_t bytes);

// Makes x use the local memory of the warp as the present fragment may.
void point_at_local(Exec* x);
// Where the lane's stack ends in local memory, as the frame's function left it.
std::uint32_t stack_end(const CallFrame& frame, int lane);

bool arguments_match(const DecodedFunction& callee, const CallSite& call);
// Begins the callee for the present lanes; the instruction after `i` is where they return to.
const Insn* enter_call(Exec* x, const Insn* i, const CallSite& call, const DecodedFunction& callee);
// The present lanes return to their caller.
const Insn* leave_call(Exec* x);

}  // namespace baton::sim
