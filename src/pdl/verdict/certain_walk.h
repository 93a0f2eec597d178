#pragma once

// What one thread of a launch certainly does: its operations are executed one by one with the
// launch's own numbers, until something that is not known decides what it does next.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pdl/code/code.h"
#include "pdl/footprint/address_binder.h"

namespace baton::overlap {

// The indexes of a thread, and the extents of its block and grid.
struct ThreadPosition {
  std::array<std::uint32_t, 3> tid{}, block{};
};
struct LaunchExtents {
  std::array<std::uint32_t, 3> block{}, grid{};
};

// An access that the thread makes, whatever is not known turns out to be.
struct CertainAccess {
  std::uint32_t operation = 0;
  MemoryId memory = 0;
  std::uint64_t begin = 0, end = 0;  // bytes of the memory
  bool unordered = false;            // nothing that may order threads came before it
};

// Appends at most `kMaxCertainAccesses` accesses of global memory. The footprint has code.
// `ordering`: by operation, whether it may order threads. `steps` is the number of operations that
// may be executed, and becomes what is left of it.
void walk_certainly(const Footprint& footprint, std::span<const GivenArgument> arguments,
                    const LaunchExtents& extents, const ThreadPosition& thread,
                    const VariableNumber& variable, std::uint64_t& steps,
                    std::vector<CertainAccess>& out);

inline constexpr std::size_t kMaxCertainAccesses = std::size_t{1} << 16;

}  // namespace baton::overlap
