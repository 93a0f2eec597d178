#pragma once

#include <cstddef>

#include "sim/engine/isa/spec.h"

namespace baton::sim {

// Performs `op` on each element of `bytes` bytes at `to` with those at `from`, each atomically
// against the host's other threads. Sums in single precision keep subnormals, which red.global does
// not: so an H200 answers. Exchanges and comparisons are not reductions.
using Reduce = void (*)(std::byte* to, const std::byte* from, std::size_t bytes);

// Null where there is no such reduction.
Reduce find_reduction(AtomOp op, Type type);

}  // namespace baton::sim
