#pragma once

#include "sim/engine/run/exec.h"

namespace baton::sim {

// alloca, stacksave and stackrestore (PTX ISA 9.0, "Stack Manipulation Instructions"). A thread's
// stack is the end of its function's local memory and goes on after the function's own variables.
// Addresses are of .local space, with 4 or 8 bytes by `mode`.

// r[0] = the address of r[1] bytes, a multiple of imm, which live until the function returns.
const Insn* op_alloca(Exec* x, const Insn* i);
// r[0] = where the stack ends.
const Insn* op_stacksave(Exec* x, const Insn* i);
// The stack ends at r[0]: what was allocated since that was saved is gone.
const Insn* op_stackrestore(Exec* x, const Insn* i);

}  // namespace baton::sim
