#include "program/scalar.h"

#include <cmath>

#include "base/array/float_convert.h"

namespace baton {
namespace {

std::uint64_t low_bits(std::uint64_t value, std::size_t bytes) {
  return bytes == 8 ? value : value & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

}  // namespace

std::int64_t least(DType dtype) {
  if (!is_signed_integer(dtype)) return 0;
  return INT64_MIN >> (64 - 8 * size_of(dtype));
}

std::int64_t greatest(DType dtype) {
  if (dtype == DType::kBool) return 1;
  if (is_signed_integer(dtype)) return INT64_MAX >> (64 - 8 * size_of(dtype));
  return size_of(dtype) == 8 ? INT64_MAX
                             : static_cast<std::int64_t>(low_bits(UINT64_MAX, size_of(dtype)));
}

std::optional<std::uint64_t> encode_exact(DType dtype, std::int64_t value) {
  if (is_float(dtype)) {
    // Beyond 2^53 a double may not hold it; 2^63 itself is not an int64.
    const double real = static_cast<double>(value);
    if (real >= 0x1p63 || static_cast<std::int64_t>(real) != value) return std::nullopt;
    return encode_exact(dtype, real);
  }
  if (value < least(dtype) || value > greatest(dtype)) return std::nullopt;
  return low_bits(static_cast<std::uint64_t>(value), size_of(dtype));
}

std::optional<std::uint64_t> encode_exact(DType dtype, double value) {
  if (is_float(dtype)) {
    if (!holds_exactly(dtype, value)) return std::nullopt;
    return encode_float(dtype, value);
  }
  if (!(std::trunc(value) == value)) return std::nullopt;  // NaN too
  if (value >= -0x1p63 && value < 0x1p63) {
    return encode_exact(dtype, static_cast<std::int64_t>(value));
  }
  if (dtype == DType::kU64 && value > 0 && value < 0x1p64) return static_cast<std::uint64_t>(value);
  return std::nullopt;
}

}  // namespace baton
