#pragma once

#include <cstdint>

#include "ptx/cfg.h"
#include "ptx/flat.h"

namespace baton::sim {

// Whether a thread computes with what the instruction of that number writes, whatever its value and
// that of any predicate: a guard, a branch or a selection may discard it. Only the instruction's
// basic block is looked at, so that a use behind a branch does not count.
bool is_used_outright(const ptx::FlatFunction& function, const ptx::ControlFlow& flow,
                      std::uint32_t instruction);

}  // namespace baton::sim
