#include "base/array/float_convert.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace baton {
namespace {

// IEEE 754 double.
constexpr int kDoubleMantissaBits = 52;
constexpr int kDoubleBias = 1023;

// A binary format of 16 bits or less. f16 is IEEE 754 binary16; bf16 is the upper half of binary32;
// the 8-bit formats are E4M3 and E5M2 of the OCP 8-bit Floating Point Specification 1.0, section 5.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  // Without infinities only the pattern of all ones is NaN, and the rest of the highest exponent
  // holds numbers (E4M3).
  bool has_infinity;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int min_exponent() const { return 1 - bias(); }
  constexpr std::uint64_t sign_bit() const {
    return std::uint64_t{1} << (exponent_bits + mantissa_bits);
  }
  constexpr std::uint64_t mantissa_mask() const { return (std::uint64_t{1} << mantissa_bits) - 1; }
  // The first magnitude above the finite numbers: infinity, or NaN where there is none.
  constexpr std::uint64_t overflow() const {
    return has_infinity ? sign_bit() - (std::uint64_t{1} << mantissa_bits) : sign_bit() - 1;
  }
  constexpr std::uint64_t quiet_nan() const {
    return has_infinity ? overflow() | (std::uint64_t{1} << (mantissa_bits - 1)) : overflow();
  }
};

constexpr Format kF16{5, 10, true};
constexpr Format kBF16{8, 7, true};
constexpr Format kF8E4M3{4, 3, false};
constexpr Format kF8E5M2{5, 2, true};

// Every format here is narrow enough for a double to hold all its numbers exactly.
template <Format format>
double decode(std::uint64_t bits) {
  const std::uint64_t magnitude = bits & (format.sign_bit() - 1);
  double value;
  if (magnitude >= format.overflow()) {
    value = format.has_infinity && magnitude == format.overflow()
                ? std::numeric_limits<double>::infinity()
                : std::numeric_limits<double>::quiet_NaN();
  } else if (const std::uint64_t exponent = magnitude >> format.mantissa_bits; exponent != 0) {
    const std::uint64_t biased = exponent - format.bias() + kDoubleBias;
    const std::uint64_t mantissa = magnitude & format.mantissa_mask();
    value = std::bit_cast<double>(biased << kDoubleMantissaBits |
                                  mantissa << (kDoubleMantissaBits - format.mantissa_bits));
  } else {
    value =
        std::ldexp(static_cast<double>(magnitude), format.min_exponent() - format.mantissa_bits);
  }
  return (bits & format.sign_bit()) != 0 ? -value : value;
}

template <Format format>
std::uint64_t encode(double value) {
  constexpr std::uint64_t kHiddenBit = std::uint64_t{1} << kDoubleMantissaBits;
  const std::uint64_t sign = std::signbit(value) ? format.sign_bit() : 0;
  if (std::isnan(value)) return sign | format.quiet_nan();
  if (std::isinf(value)) return sign | format.overflow();

  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value) & ~(std::uint64_t{1} << 63);
  const int exponent = static_cast<int>(bits >> kDoubleMantissaBits) - kDoubleBias;
  const std::uint64_t significand = (bits & (kHiddenBit - 1)) | kHiddenBit;
  // A number below the smallest normal one loses a further bit for each power of two.
  const int below = exponent < format.min_exponent() ? format.min_exponent() - exponent : 0;
  const int shift = kDoubleMantissaBits - format.mantissa_bits + below;
  // Less than half of the smallest number; a double's own subnormal numbers all end here.
  if (shift > kDoubleMantissaBits + 1) return sign;

  std::uint64_t kept = significand >> shift;
  const std::uint64_t lost = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  if (lost > half || (lost == half && (kept & 1) != 0)) ++kept;
  // `kept` includes the hidden bit of a normal number, so adding it raises the exponent by one; a
  // carry out of the mantissa raises it once more, which is the right rounding too.
  const std::uint64_t steps = exponent + below - format.min_exponent();
  const std::uint64_t magnitude = (steps << format.mantissa_bits) + kept;
  return sign | (magnitude < format.overflow() ? magnitude : format.overflow());
}

[[noreturn]] void refuse(DType dtype) {
  throw error(ErrorCode::kInternal, "a {} was converted as a floating point number",
              to_string(dtype));
}

}  // namespace

double decode_float(DType dtype, std::uint64_t bits) {
  switch (dtype) {
    case DType::kF16:
      return decode<kF16>(bits);
    case DType::kBF16:
      return decode<kBF16>(bits);
    case DType::kF8E4M3:
      return decode<kF8E4M3>(bits);
    case DType::kF8E5M2:
      return decode<kF8E5M2>(bits);
    case DType::kF32:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case DType::kF64:
      return std::bit_cast<double>(bits);
    default:
      refuse(dtype);
  }
}

std::uint64_t encode_float(DType dtype, double value) {
  switch (dtype) {
    case DType::kF16:
      return encode<kF16>(value);
    case DType::kBF16:
      return encode<kBF16>(value);
    case DType::kF8E4M3:
      return encode<kF8E4M3>(value);
    case DType::kF8E5M2:
      return encode<kF8E5M2>(value);
    case DType::kF32:
      return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case DType::kF64:
      return std::bit_cast<std::uint64_t>(value);
    default:
      refuse(dtype);
  }
}

std::optional<std::uint64_t> encode_in_range(DType dtype, double value) {
  const std::uint64_t bits = encode_float(dtype, value);
  const double stored = decode_float(dtype, bits);
  const bool lost =
      std::isfinite(value) ? !std::isfinite(stored) : std::isinf(value) && !std::isinf(stored);
  if (lost) return std::nullopt;
  return bits;
}

bool holds_exactly(DType dtype, double value) {
  return std::isnan(value) || decode_float(dtype, encode_float(dtype, value)) == value;
}

}  // namespace baton
