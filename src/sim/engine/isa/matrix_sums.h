#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "sim/engine/run/exec.h"

namespace baton::sim {

// What becomes of the sums of a matrix instruction.

inline std::uint32_t canonical_bits(float value) {
  return std::isnan(value) ? 0x7fffffffu : std::bit_cast<std::uint32_t>(value);
}

// `sum` is an integer of less than 2^24.
inline std::uint32_t add_integer(std::uint32_t c, float sum, bool saturates) {
  std::int64_t wide = std::int64_t{static_cast<std::int32_t>(c)} + static_cast<std::int64_t>(sum);
  if (saturates) {
    wide = std::clamp(wide, std::int64_t{std::numeric_limits<std::int32_t>::min()},
                      std::int64_t{std::numeric_limits<std::int32_t>::max()});
  }
  return static_cast<std::uint32_t>(wide);
}

// Bits are 0 and 1, so .and.popc is a sum of products. For .xor.popc they become 1 and -1: of k
// products those that differ are -1.
void count_differences(std::size_t count, float* numbers);
inline float differences_of(unsigned k, float sum) {
  return (static_cast<float>(k) - sum) / 2;
}

// A register of the lanes that execute.
void write_lanes(Exec* x, std::uint32_t slot, const std::uint32_t* words);

}  // namespace baton::sim
