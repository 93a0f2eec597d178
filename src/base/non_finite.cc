#include "base/non_finite.h"

#include "base/error.h"

namespace baton {

std::uint64_t non_finite_bits(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 0x7ff0'0000'0000'0000;
    case DType::kF32:
      return 0x7f80'0000;
    case DType::kF16:
      return 0x7c00;
    case DType::kBF16:
      return 0x7f80;
    case DType::kF8E5M2:
      return 0x7c;
    case DType::kF8E4M3:
      return 0x7f;  // it has no infinities
    default:
      throw error(ErrorCode::kInternal, "{} has no NaN", to_string(dtype));
  }
}

std::int64_t count_non_finite(const Array& array) {
  if (!is_float(array.dtype)) return 0;
  std::int64_t count = 0;
  for_each_non_finite(array, [&](std::size_t, std::uint64_t) { ++count; });
  return count;
}

}  // namespace baton
