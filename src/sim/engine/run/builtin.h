#pragma once

#include <string_view>

#include "sim/engine/run/exec.h"

namespace baton::sim {

// Functions that kernels call and no module defines: vprintf, __assertfail and
// cudaGraphSetConditional. r[0] … r[4] are the parameters, r[5] the offset of the result in the
// caller's local memory, or UINT32_MAX; the parameters too are offsets there.
Handler find_builtin(std::string_view name);

const Insn* op_vprintf(Exec* x, const Insn* i);
const Insn* op_assertfail(Exec* x, const Insn* i);
const Insn* op_set_condition(Exec* x, const Insn* i);

}  // namespace baton::sim
