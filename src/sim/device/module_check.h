#pragma once

#include "ptx/ast.h"

namespace baton::sim {

// Refuses what a driver's compiler refuses when it loads PTX, though nothing may ever execute it: a
// body that does not parse, an opcode that PTX does not have, and a name that is declared extern,
// used and not defined. Instructions that are known and that the simulated GPU or the target lacks
// are not refused: they are told where they are executed. Throws Error(kInvalidInput) at the place.
void check_module(const ptx::ParsedModule& module);

}  // namespace baton::sim
