#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "baton/array.h"

namespace baton {

// The bits of which all are set in a NaN or an infinity, and in nothing else. Throws kInternal for
// a dtype that is not floating.
std::uint64_t non_finite_bits(DType dtype);

// Calls `found(element, bits)` for each element that is NaN or infinite, of an array of floats.
template <typename Found>
void for_each_non_finite(const Array& array, Found&& found) {
  const std::uint64_t special = non_finite_bits(array.dtype);
  const std::size_t size = size_of(array.dtype);
  for (std::size_t at = 0; at < array.bytes.size(); at += size) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, array.bytes.data() + at, size);
    if ((bits & special) == special) found(at / size, bits);
  }
}

// The number of elements that are NaN or infinite; 0 for a dtype that is not floating.
std::int64_t count_non_finite(const Array& array);

}  // namespace baton
