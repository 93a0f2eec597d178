#include "baton/compare.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstring>
#include <limits>

#include "base/array/array.h"
#include "base/array/float_convert.h"
#include "base/error.h"
#include "report/mismatch_pattern.h"

namespace baton {
namespace {

std::uint64_t load_bits(const Array& array, std::int64_t index) {
  std::uint64_t bits = 0;
  const std::size_t size = size_of(array.dtype);
  std::memcpy(&bits, array.bytes.data() + static_cast<std::size_t>(index) * size, size);
  return bits;
}

std::int64_t sign_extended(DType dtype, std::uint64_t bits) {
  const auto unused = static_cast<int>(64 - 8 * size_of(dtype));
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

double as_double(DType dtype, std::uint64_t bits) {
  if (is_float(dtype)) return decode_float(dtype, bits);
  if (is_signed_integer(dtype)) return static_cast<double>(sign_extended(dtype, bits));
  return static_cast<double>(bits);
}

std::string as_text(DType dtype, std::uint64_t bits) {
  if (is_float(dtype)) {
    const double value = decode_float(dtype, bits);
    return dtype == DType::kF64 ? fmt::format("{}", value)
                                : fmt::format("{}", static_cast<float>(value));
  }
  if (is_signed_integer(dtype)) return std::to_string(sign_extended(dtype, bits));
  return std::to_string(bits);
}

// Floats in the order of their values, with neighbours one apart. -0 and 0 are one value.
std::int64_t rank(DType dtype, std::uint64_t bits) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(dtype) - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

std::uint64_t ulps_between(DType dtype, std::uint64_t a, std::uint64_t b) {
  const std::int64_t first = rank(dtype, a);
  const std::int64_t second = rank(dtype, b);
  return first < second ? static_cast<std::uint64_t>(second) - static_cast<std::uint64_t>(first)
                        : static_cast<std::uint64_t>(first) - static_cast<std::uint64_t>(second);
}

// How bad an element is; the greater one is the worse. NaN where none is wanted, and a number where
// NaN is, are infinitely far.
struct Deviation {
  double excess = 0;    // beyond the tolerance
  double distance = 0;  // |got - want|, which ranks those within it

  auto operator<=>(const Deviation&) const = default;
};

Deviation deviation(double got, double want, const Tolerance& tolerance) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (got == want || (std::isnan(got) && std::isnan(want))) return {};
  if (!std::isfinite(got) || !std::isfinite(want)) return {kInfinity, kInfinity};
  const double distance = std::abs(got - want);
  return {std::max(0.0, distance - (tolerance.atol + tolerance.rtol * std::abs(want))), distance};
}

}  // namespace

Tolerance default_tolerance(DType dtype) noexcept {
  switch (dtype) {
    case DType::kF64:
      return {1e-7, 1e-7};
    case DType::kF32:
      return {1e-4, 1e-5};
    case DType::kF16:
      return {2e-3, 1e-3};
    case DType::kBF16:
      return {1.6e-2, 1e-2};
    case DType::kF8E4M3:
      return {0.125, 0.03125};
    case DType::kF8E5M2:
      return {0.25, 0.0625};
    default:
      return {};
  }
}

Comparison compare(const Array& got, const Array& want, Tolerance tolerance,
                   std::string_view name) {
  if (got.dtype != want.dtype) {
    throw error(ErrorCode::kInvalidInput, "{} is {}, what it is compared with is {}", name,
                to_string(got.dtype), to_string(want.dtype));
  }
  if (got.shape != want.shape) {
    throw error(ErrorCode::kInvalidInput, "{} has the shape {}, what it is compared with has {}",
                name, shape_text(got.shape), shape_text(want.shape));
  }
  check_bytes(got, name);
  check_bytes(want, fmt::format("the array that {} is compared with", name));
  const bool exact = !is_float(got.dtype);
  if (!exact && !(tolerance.rtol >= 0 && tolerance.atol >= 0)) {
    throw error(ErrorCode::kInvalidInput,
                "{}: the tolerances rtol {} and atol {} must not be negative", name, tolerance.rtol,
                tolerance.atol);
  }
  Comparison result;
  result.elements = got.elements();
  result.tolerance = exact ? Tolerance{} : tolerance;
  report::MismatchPattern pattern(got.shape);
  Deviation worst;
  std::int64_t worst_index = 0;
  for (std::int64_t i = 0; i < result.elements; ++i) {
    const std::uint64_t got_bits = load_bits(got, i);
    const std::uint64_t want_bits = load_bits(want, i);
    if (got_bits == want_bits) continue;
    const double got_value = as_double(got.dtype, got_bits);
    const double want_value = as_double(want.dtype, want_bits);
    Deviation found = deviation(got_value, want_value, result.tolerance);
    // Different integers may be the same double.
    if (exact) found.excess = std::max(found.excess, std::numeric_limits<double>::min());
    if (std::isfinite(found.distance)) {
      result.largest_absolute = std::max(result.largest_absolute, found.distance);
      if (want_value != 0) {
        result.largest_relative =
            std::max(result.largest_relative, found.distance / std::abs(want_value));
      }
      if (!exact && found.distance > 0) {
        result.largest_ulps =
            std::max(result.largest_ulps, ulps_between(got.dtype, got_bits, want_bits));
      }
    }
    if (found.excess > 0) {
      ++result.mismatches;
      pattern.add(i, got_value, want_value);
      if (result.first.size() < Comparison::kMostListed) {
        result.first.push_back({index_of(i, got.shape), got_value, want_value,
                                as_text(got.dtype, got_bits), as_text(want.dtype, want_bits)});
      }
    }
    if (found > worst) {
      worst = found;
      worst_index = i;
    }
  }
  result.ok = result.mismatches == 0;
  result.pattern = pattern.text();
  if (result.elements == 0) return result;
  const std::uint64_t got_bits = load_bits(got, worst_index);
  const std::uint64_t want_bits = load_bits(want, worst_index);
  result.worst_index = index_of(worst_index, got.shape);
  result.got = as_double(got.dtype, got_bits);
  result.want = as_double(want.dtype, want_bits);
  result.got_text = as_text(got.dtype, got_bits);
  result.want_text = as_text(want.dtype, want_bits);
  result.worst_error = got_bits == want_bits ? 0 : std::abs(result.got - result.want);
  return result;
}

}  // namespace baton
