#pragma once

#include <bit>
#include <cstdint>

#include "sim/engine/run/exec.h"
#include "sim/engine/run/state.h"

namespace baton::sim {

// How a warp's lanes are divided into fragments, and which of them runs.
//
// A branch that lanes disagree on splits their fragment. The fragment deepest in calls, and among
// those the one at the lowest instruction, runs first, and gives way at the points where paths meet
// again; so lanes join without a stack that could hold them up. A fragment that only waits for
// others (it spins) hands over to another one out of turn.

// A count of bits is a call where the processor may lack the instruction: most warps are whole.
inline std::uint32_t count_lanes(std::uint32_t mask) {
  return mask == kAllLanes ? kLanes : static_cast<std::uint32_t>(std::popcount(mask));
}

// Sets the lanes that execute: mask, counts and the expanded masks.
void set_mask(Exec* x, std::uint32_t mask);

// Counts what was executed up to instruction count `until` and continues counting at `next`.
inline void account(Exec* x, std::uint32_t until, std::uint32_t next) {
  const std::uint32_t executed = until - x->from;
  x->warp_instructions += executed;
  x->lane_instructions += std::uint64_t{executed} * x->active;
  x->slice -= executed;
  x->from = next;
}

// Loads the fragment that runs next; null, with x->stop set, where none can.
const Insn* resume(Exec* x);
// Stores where the present fragment stands and resumes the one that is due.
const Insn* reschedule(Exec* x, const Insn* pc);
// Splits the lanes `mask` off the present fragment, to continue at `pc`. The rest stays present.
void split(Exec* x, std::uint32_t mask, const Insn* pc, std::uint32_t count);
// The present fragment's lanes left the kernel.
const Insn* exit_lanes(Exec* x);
// After a change that may have ended a fragment's wait for other lanes: lets those go on.
// Returns the lanes whose bar.warp.sync is over.
std::uint32_t recheck_waits(Warp& warp);
// The lanes met at the warp's barrier: tells those that look for races.
void note_sync(Exec* x, const Insn* insn, std::uint32_t lanes);

// At backward branches: whether the slice is over or the fragment spins, and handing over then.
bool should_yield(const Exec* x);
const Insn* yield(Exec* x, const Insn* pc);
// Hands over as x->gives_way wants it. Returns null.
const Insn* give_way(Exec* x, const Insn* pc);

inline Warp& warp_of(Exec* x) {
  return *x->warp;
}
// The function that the present fragment executes.
inline const DecodedFunction* function_of(Exec* x) {
  const Warp& warp = *x->warp;
  return warp.frames[warp.fragments[warp.current].frame].function;
}
inline std::uint32_t& predicate_at(Exec* x, std::uint32_t offset) {
  return *reinterpret_cast<std::uint32_t*>(x->frame + offset);
}
template <class T>
T* slot_at(Exec* x, std::uint32_t offset) {
  return reinterpret_cast<T*>(x->frame + offset);
}

}  // namespace baton::sim
