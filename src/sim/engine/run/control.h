#pragma once

#include "sim/engine/run/exec.h"

namespace baton::sim {

// Control flow. `bra` and `join` keep the instruction count behind them in r[4]; branches also keep
// the count at their target in r[5].
const Insn* op_guarded(Exec* x, const Insn* i);   // runs i->inner for the lanes of the guard
const Insn* op_bra(Exec* x, const Insn* i);       // always, forwards
const Insn* op_bra_back(Exec* x, const Insn* i);  // always, backwards: may end the slice
const Insn* op_bra_if(Exec* x, const Insn* i);    // by the guard
const Insn* op_brx(Exec* x, const Insn* i);       // r[0] the index, u.data a vector of targets
const Insn* op_join(Exec* x, const Insn* i);      // where paths meet again
const Insn* op_exit(Exec* x, const Insn* i);
const Insn* op_call(Exec* x, const Insn* i);  // u.data is a CallSite; r[0] an indirect target
const Insn* op_ret(Exec* x, const Insn* i);
const Insn* op_trap(Exec* x, const Insn* i);
const Insn* op_unsupported(Exec* x, const Insn* i);  // u.data is a std::string: the reason
const Insn* op_nop(Exec* x, const Insn* i);

}  // namespace baton::sim
