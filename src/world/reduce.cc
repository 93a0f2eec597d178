#include "world/reduce.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/array/float_convert.h"
#include "base/error.h"

namespace baton::world {
namespace {

template <typename T>
T combine(ReduceOp op, T a, T b) {
  if (op == ReduceOp::kSum) {
    // Unsigned sums wrap around; signed ones have no such rule.
    if constexpr (std::is_integral_v<T>) {
      using Bits = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<Bits>(static_cast<Bits>(a) + static_cast<Bits>(b)));
    } else {
      return a + b;
    }
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  }
  if (op == ReduceOp::kMax) return a < b ? b : a;
  return b < a ? b : a;
}

// Elements that the processor computes with as they are stored.
template <typename T>
void reduce_plain(ReduceOp op, std::size_t count, std::span<const char* const> parts,
                  char* result) {
  for (std::size_t i = 0; i < count; ++i) {
    T sum;
    std::memcpy(&sum, parts[0] + i * sizeof(T), sizeof(T));
    for (const char* const part : parts.subspan(1)) {
      T value;
      std::memcpy(&value, part + i * sizeof(T), sizeof(T));
      sum = combine(op, sum, value);
    }
    std::memcpy(result + i * sizeof(T), &sum, sizeof(T));
  }
}

// Short floats, each of which f32 holds.
void reduce_short(ReduceOp op, DType dtype, std::size_t count, std::span<const char* const> parts,
                  char* result) {
  const std::size_t size = size_of(dtype);
  const auto value_at = [&](const char* part, std::size_t i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, part + i * size, size);
    return static_cast<float>(decode_float(dtype, bits));
  };
  for (std::size_t i = 0; i < count; ++i) {
    float sum = value_at(parts[0], i);
    for (const char* const part : parts.subspan(1)) sum = combine(op, sum, value_at(part, i));
    const std::uint64_t bits = encode_float(dtype, sum);
    std::memcpy(result + i * size, &bits, size);
  }
}

}  // namespace

bool can_reduce(ReduceOp op, DType dtype) noexcept {
  return dtype != DType::kBool || op != ReduceOp::kSum;
}

void reduce(ReduceOp op, DType dtype, std::size_t count, std::span<const char* const> parts,
            char* result) {
  switch (dtype) {
    case DType::kF16:
    case DType::kBF16:
    case DType::kF8E4M3:
    case DType::kF8E5M2:
      return reduce_short(op, dtype, count, parts, result);
    case DType::kF32:
      return reduce_plain<float>(op, count, parts, result);
    case DType::kF64:
      return reduce_plain<double>(op, count, parts, result);
    case DType::kI8:
      return reduce_plain<std::int8_t>(op, count, parts, result);
    case DType::kI16:
      return reduce_plain<std::int16_t>(op, count, parts, result);
    case DType::kI32:
      return reduce_plain<std::int32_t>(op, count, parts, result);
    case DType::kI64:
      return reduce_plain<std::int64_t>(op, count, parts, result);
    case DType::kBool:
    case DType::kU8:
      return reduce_plain<std::uint8_t>(op, count, parts, result);
    case DType::kU16:
      return reduce_plain<std::uint16_t>(op, count, parts, result);
    case DType::kU32:
      return reduce_plain<std::uint32_t>(op, count, parts, result);
    case DType::kU64:
      return reduce_plain<std::uint64_t>(op, count, parts, result);
  }
  throw error(ErrorCode::kInternal, "no reduction of the dtype {}", static_cast<int>(dtype));
}

}  // namespace baton::world
