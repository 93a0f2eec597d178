#pragma once

// Splits registers of PTX into their webs, as a register allocator does: two definitions are of one
// web only if some operation may read either of them. The analyses call webs registers.

#include <vector>

#include "pdl/code/code.h"

namespace baton::overlap {

// The most steps over the blocks that values are alive in, for all registers together: 64 for each
// operation that a kernel may have. Kernels of CUTLASS take 15. A register that would take more is
// not split and may hold anything, which is less precise and never wrong.
inline constexpr std::size_t kMaxWebSteps = std::size_t{1} << 24;

// Gives each web a register of its own, and recomputes `registers` and `unset` of the code.
// `whole`: by old register, whether its definitions stay together, because one may overwrite only a
// part of another or names more than one register.
void split_webs(Code& code, const std::vector<bool>& whole);

}  // namespace baton::overlap
