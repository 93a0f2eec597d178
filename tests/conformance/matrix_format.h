#pragma once

#include <bit>
#include <cstdint>
#include <cstdlib>

namespace baton::conformance {

// An element type of matrix instructions: how its bits say a number, and the whole numbers that
// tests use. Their products and sums are exact in every type of accumulator.
struct Format {
  const char* name;
  unsigned bits;
  int fraction;  // bits of a float's fraction; -1: an integer
  int bias;
  int low, high;
};
inline constexpr Format kF16{"f16", 16, 10, 15, -4, 4}, kBF16{"bf16", 16, 7, 127, -4, 4},
    kTF32{"tf32", 32, 23, 127, -4, 4}, kE4M3{"e4m3", 8, 3, 7, -4, 4},
    kE5M2{"e5m2", 8, 2, 15, -4, 4}, kS8{"s8", 8, -1, 0, -128, 127}, kU8{"u8", 8, -1, 0, 0, 255},
    kB1{"b1", 1, -1, 0, 0, 1};
inline constexpr Format kS4{"s4", 4, -1, 0, -8, 7}, kU4{"u4", 4, -1, 0, 0, 15};

inline std::uint32_t encode(const Format& format, int value) {
  const std::uint64_t mask = (std::uint64_t{1} << format.bits) - 1;
  if (format.fraction < 0) return static_cast<std::uint32_t>(value & static_cast<int>(mask));
  if (value == 0) return 0;
  const auto magnitude = static_cast<std::uint32_t>(std::abs(value));
  const int exponent = std::bit_width(magnitude) - 1;
  const auto fraction =
      static_cast<std::uint32_t>(std::uint64_t{magnitude} << format.fraction >> exponent) &
      ((1u << format.fraction) - 1);
  return (value < 0 ? 1u << (format.bits - 1) : 0) |
         static_cast<std::uint32_t>(exponent + format.bias) << format.fraction | fraction;
}

}  // namespace baton::conformance
