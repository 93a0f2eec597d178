#pragma once

#include "sim/engine/lower/function.h"

namespace baton::sim {

// Whether griddepcontrol.wait may be executed after the instruction of that function: by the paths
// of the kernel from there, through the functions that it calls and back to all that may have
// called its own.
bool may_wait_after(const DecodedKernel& kernel, const DecodedFunction& function, const Insn& insn);

}  // namespace baton::sim
