#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "baton/export.h"

namespace baton {

// Extents in blocks (of a grid or cluster) or in threads (of a block). Integers convert. A value
// that exceeds 32 bits or is negative throws kLimit, so nothing is truncated.
struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;

  constexpr Dim3() = default;
  template <typename X, typename Y = int, typename Z = int,
            typename = std::enable_if_t<std::is_integral_v<X> && std::is_integral_v<Y> &&
                                        std::is_integral_v<Z>>>
  constexpr Dim3(X x_extent, Y y_extent = 1, Z z_extent = 1)  // NOLINT: implicit by design
      : x(narrow(x_extent, 'x')), y(narrow(y_extent, 'y')), z(narrow(z_extent, 'z')) {}

  constexpr std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend constexpr bool operator==(const Dim3& a, const Dim3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }

 private:
  template <typename T>
  static constexpr std::uint32_t narrow(T value, char axis) {
    if constexpr (std::is_signed_v<T>) {
      if (value < 0) refuse_negative(static_cast<long long>(value), axis);
    }
    if (static_cast<unsigned long long>(value) > std::numeric_limits<std::uint32_t>::max()) {
      refuse_large(static_cast<unsigned long long>(value), axis);
    }
    return static_cast<std::uint32_t>(value);
  }
  [[noreturn]] BATON_API static void refuse_negative(long long value, char axis);
  [[noreturn]] BATON_API static void refuse_large(unsigned long long value, char axis);
};

// Returns the number of groups of `size` that cover `count`: the quotient, rounded up.
template <typename A, typename B,
          typename = std::enable_if_t<std::is_integral_v<A> && std::is_integral_v<B>>>
constexpr auto ceil_div(A count, B size) {
  return count / size + (count % size != 0 ? 1 : 0);
}

}  // namespace baton
