#pragma once

#include "sim/engine/run/exec.h"

namespace baton::sim {

enum class VoteMode : std::uint8_t { kAll, kAny, kUni, kBallot };
enum class ReduxOp : std::uint8_t { kAdd, kMinU, kMinS, kMaxU, kMaxS, kAnd, kOr, kXor };

// Instructions in which the lanes of a warp meet. The member mask is in r[5]; a frame offset of 0
// there stands for the lanes that execute (the forms without .sync).
const Insn* op_vote(Exec* x, const Insn* i);         // r[0] = VoteMode(mode) of predicate r[1]
const Insn* op_activemask(Exec* x, const Insn* i);   // r[0]
const Insn* op_match_any32(Exec* x, const Insn* i);  // r[0] = lanes with the same r[2]
const Insn* op_match_any64(Exec* x, const Insn* i);
const Insn* op_match_all32(Exec* x, const Insn* i);  // also predicate r[1]
const Insn* op_match_all64(Exec* x, const Insn* i);
const Insn* op_redux(Exec* x, const Insn* i);  // r[0] = ReduxOp(mode) over r[2]
const Insn* op_elect(Exec* x, const Insn* i);  // r[0] the leader, predicate r[1] true for it
// Waits until all members are here, for an instruction after it that looks at one mask only.
const Insn* op_meet(Exec* x, const Insn* i);
const Insn* op_warp_sync(Exec* x, const Insn* i);  // bar.warp.sync

// Of a shuffle: reports lanes that their own mask does not name, and values that are used and that
// come from a lane which takes no part. `source`: the lane that each takes its value from.
void check_sources(Exec* x, const Insn* i, const std::uint32_t* source);

// What a thread reads of time, all from the instructions its block has executed: r[0], 32 or 64
// bits by `mode`, shifted right by imm.
const Insn* op_clock(Exec* x, const Insn* i);
const Insn* op_globaltimer(Exec* x, const Insn* i);
const Insn* op_nanosleep(Exec* x, const Insn* i);

// Predicate r[0] = the address in r[1] lies in window imm; mode 1: and is not a constant, 2: is
// one.
const Insn* op_isspacep(Exec* x, const Insn* i);

// griddepcontrol.wait, which waits where the grid has prerequisites, and launch_dependents.
const Insn* op_grid_wait(Exec* x, const Insn* i);
const Insn* op_launch_dependents(Exec* x, const Insn* i);

}  // namespace baton::sim
