#pragma once

// A register of PTX may hold one thing here and another there. Told apart, its values are what the
// analyses call registers: two definitions are one register only where some operation may read
// either of them (the webs of a register allocator).

#include <vector>

#include "pdl/code.h"

namespace baton::overlap {

// Steps over the blocks that values are alive in, of all registers together: 64 for each operation
// that a kernel may have. Kernels of CUTLASS take 15. What would take more stays one register that
// may hold anything, which is less precise and never wrong.
inline constexpr std::size_t kMaxWebSteps = std::size_t{1} << 24;

// Gives each value a register of its own, which makes `registers` and `unset` of the code anew.
// `whole`: by register of before, whether its definitions are to stay together, since one may leave
// a part of another standing or names more than the one register.
void split_webs(Code& code, const std::vector<bool>& whole);

}  // namespace baton::overlap
