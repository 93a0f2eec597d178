#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/engine/isa/spec.h"

namespace baton::sim {

// Performs `op` on each element of `bytes` bytes at `to` with those at `from`, each atomically
// against the host's other threads. Sums in single precision keep subnormals, which red.global does
// not: so an H200 answers. Exchanges and comparisons are not reductions.
struct Reduce {
  void (*combine)(std::byte* to, const std::byte* from, std::size_t bytes) = nullptr;
  std::uint8_t element = 0;  // its bytes

  explicit operator bool() const { return combine != nullptr; }
  void operator()(std::byte* to, const std::byte* from, std::size_t bytes) const {
    combine(to, from, bytes);
  }
};

// False where there is no such reduction.
Reduce find_reduction(AtomOp op, Type type);

}  // namespace baton::sim
