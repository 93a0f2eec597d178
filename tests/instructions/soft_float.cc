#include "instructions/soft_float.h"

#include <algorithm>
#include <bit>

namespace baton::instructions {
namespace {

using Wide = unsigned __int128;

// The value is magnitude * 2^exponent, and a little more than that where `sticky` is set.
struct Exact {
  bool negative = false;
  Wide magnitude = 0;
  int exponent = 0;
  bool sticky = false;
};

int top_bit(Wide x) {
  const auto high = static_cast<std::uint64_t>(x >> 64);
  return high != 0 ? 127 - std::countl_zero(high)
                   : 63 - std::countl_zero(static_cast<std::uint64_t>(x));
}

// Puts the leading bit of a non-zero magnitude at `position`; no bit may be lost to the right.
Exact aligned(Exact x, int position) {
  const int shift = position - top_bit(x.magnitude);
  x.magnitude = shift >= 0 ? x.magnitude << shift : x.magnitude >> -shift;
  x.exponent -= shift;
  return x;
}

// A finite value, its leading bit at bit 63 unless it is zero.
Exact unpack(const FloatFormat& format, std::uint64_t bits) {
  const std::uint64_t magnitude = bits & format.magnitude_mask();
  const auto field = static_cast<int>(magnitude >> format.fraction_bits);
  const std::uint64_t fraction = magnitude & format.fraction_mask();
  Exact x;
  x.negative = is_negative(format, bits);
  x.magnitude = field == 0 ? fraction : fraction | format.smallest_normal();
  x.exponent = std::max(field, 1) - format.bias() - static_cast<int>(format.fraction_bits);
  return x.magnitude == 0 ? x : aligned(x, 63);
}

bool rounds_up(Rounding rounding, bool negative, bool odd, bool half, bool rest) {
  switch (rounding) {
    case Rounding::kRn:
      return half && (rest || odd);
    case Rounding::kRna:
      return half;
    case Rounding::kRz:
      return false;
    case Rounding::kRm:
      return negative && (half || rest);
    case Rounding::kRp:
      return !negative && (half || rest);
  }
  return false;
}

// magnitude / 2^shift, rounded to an integer. The magnitude is below 2^127.
Wide shift_right(const Exact& x, int shift, Rounding rounding) {
  if (shift <= 0) {
    const Wide whole = x.magnitude << -shift;
    return whole + rounds_up(rounding, x.negative, (whole & 1) != 0, false, x.sticky);
  }
  const int drop = std::min(shift, 127);
  const Wide whole = x.magnitude >> drop;
  const bool half = (x.magnitude >> (drop - 1) & 1) != 0;
  const bool rest = (x.magnitude & ((Wide{1} << (drop - 1)) - 1)) != 0 || x.sticky;
  // Beyond 127 all of the magnitude lies below the half.
  if (shift > 127) {
    return Wide{rounds_up(rounding, x.negative, false, false, x.magnitude != 0 || x.sticky)};
  }
  return whole + rounds_up(rounding, x.negative, (whole & 1) != 0, half, rest);
}

struct Packing {
  bool saturate_finite = false;
  bool flush = false;  // what is subnormal
};

// Whether the value is below 2^(fraction + smallest_step) once it is rounded to its own precision.
bool below_normal(const Exact& x, int fraction, int smallest_step, Rounding rounding) {
  const int step = x.exponent + top_bit(x.magnitude) - fraction;
  const Wide rounded = shift_right(x, step - x.exponent, rounding);
  const bool carries = rounded >> (fraction + 1) != 0;
  return step + (carries ? 1 : 0) < smallest_step;
}

std::uint64_t pack(const FloatFormat& format, const Exact& x, Rounding rounding,
                   Packing packing = {}) {
  const std::uint64_t sign = x.negative ? format.sign_bit() : 0;
  if (x.magnitude == 0) return sign;
  const int fraction = static_cast<int>(format.fraction_bits);
  const int smallest_step = 1 - format.bias() - fraction;  // exponent of a subnormal's last bit
  if (packing.flush && below_normal(x, fraction, smallest_step, rounding)) return sign;
  const int step = std::max(x.exponent + top_bit(x.magnitude) - fraction, smallest_step);
  const Wide rounded = shift_right(x, step - x.exponent, rounding);
  // The leading bit of a normal number adds one to the exponent's field, and
  // so does a carry out.
  const int field = step - smallest_step;
  const bool overflow =
      field > (1 << format.exponent_bits) ||
      (Wide(static_cast<unsigned>(field)) << fraction) + rounded > format.largest();
  if (!overflow) {
    return sign |
           ((static_cast<std::uint64_t>(field) << fraction) + static_cast<std::uint64_t>(rounded));
  }
  const bool to_largest = packing.saturate_finite || rounding == Rounding::kRz ||
                          (rounding == Rounding::kRm && !x.negative) ||
                          (rounding == Rounding::kRp && x.negative);
  if (to_largest) return sign | format.largest();
  return sign | (format.finite_only ? format.magnitude_mask() : format.infinity());
}

// x + y, exact but for `sticky`.
Exact sum(Exact x, Exact y, Rounding rounding) {
  if (x.magnitude == 0 && y.magnitude == 0) {
    x.negative = x.negative == y.negative ? x.negative : rounding == Rounding::kRm;
    return x;
  }
  if (x.magnitude == 0) return y;
  if (y.magnitude == 0) return x;
  // At bit 125 a product of two 53-bit numbers has 20 zeros below it, so a
  // shift by one, the most that leaves room for cancellation, loses nothing.
  x = aligned(x, 125);
  y = aligned(y, 125);
  if (y.exponent > x.exponent || (y.exponent == x.exponent && y.magnitude > x.magnitude)) {
    std::swap(x, y);
  }
  const int shift = x.exponent - y.exponent;
  const Wide moved = shift > 127 ? 0 : y.magnitude >> shift;
  const bool lost = shift > 127 || (moved << shift) != y.magnitude;
  if (x.negative == y.negative) {
    x.magnitude += moved;
    x.sticky = lost;
    return x;
  }
  if (x.magnitude == moved && !lost) {
    return {rounding == Rounding::kRm, 0, 0, false};
  }
  x.magnitude -= moved;
  if (lost) x.magnitude -= 1;  // the true difference lies between this and one more
  x.sticky = lost;
  return x;
}

Exact product(const Exact& a, const Exact& b) {
  Exact x;
  x.negative = a.negative != b.negative;
  x.magnitude = (a.magnitude * b.magnitude) >> 2;  // both end in zeros
  x.exponent = a.exponent + b.exponent + 2;
  return x;
}

bool is_zero(const FloatFormat& format, std::uint64_t bits) {
  return (bits & format.magnitude_mask()) == 0;
}

}  // namespace

bool is_nan(const FloatFormat& format, std::uint64_t bits) {
  const std::uint64_t magnitude = bits & format.magnitude_mask();
  return format.finite_only ? magnitude == format.magnitude_mask() : magnitude > format.infinity();
}

bool is_infinite(const FloatFormat& format, std::uint64_t bits) {
  return !format.finite_only && (bits & format.magnitude_mask()) == format.infinity();
}

bool is_subnormal(const FloatFormat& format, std::uint64_t bits) {
  const std::uint64_t magnitude = bits & format.magnitude_mask();
  return magnitude != 0 && magnitude < format.smallest_normal();
}

std::uint64_t soft_add(const FloatFormat& format, std::uint64_t a, std::uint64_t b,
                       Rounding rounding) {
  if (is_nan(format, a) || is_nan(format, b)) return canonical_nan(format);
  if (is_infinite(format, a)) {
    return is_infinite(format, b) && a != b ? canonical_nan(format) : a;
  }
  if (is_infinite(format, b)) return b;
  return pack(format, sum(unpack(format, a), unpack(format, b), rounding), rounding);
}

std::uint64_t soft_mul(const FloatFormat& format, std::uint64_t a, std::uint64_t b,
                       Rounding rounding, bool flush) {
  if (is_nan(format, a) || is_nan(format, b)) return canonical_nan(format);
  if (is_infinite(format, a) || is_infinite(format, b)) {
    if (is_zero(format, a) || is_zero(format, b)) return canonical_nan(format);
    return ((a ^ b) & format.sign_bit()) | format.infinity();
  }
  return pack(format, product(unpack(format, a), unpack(format, b)), rounding, {.flush = flush});
}

std::uint64_t soft_fma(const FloatFormat& format, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                       Rounding rounding, bool flush) {
  if (is_nan(format, a) || is_nan(format, b) || is_nan(format, c)) return canonical_nan(format);
  if (is_infinite(format, a) || is_infinite(format, b) || is_infinite(format, c)) {
    const bool infinite_product = is_infinite(format, a) || is_infinite(format, b);
    return infinite_product ? soft_add(format, soft_mul(format, a, b, rounding), c, rounding) : c;
  }
  const Exact multiplied = product(unpack(format, a), unpack(format, b));
  return pack(format, sum(multiplied, unpack(format, c), rounding), rounding, {.flush = flush});
}

std::uint64_t soft_div(const FloatFormat& format, std::uint64_t a, std::uint64_t b,
                       Rounding rounding, bool flush) {
  const std::uint64_t sign = (a ^ b) & format.sign_bit();
  const bool both_zero = is_zero(format, a) && is_zero(format, b);
  const bool both_infinite = is_infinite(format, a) && is_infinite(format, b);
  if (is_nan(format, a) || is_nan(format, b) || both_zero || both_infinite) {
    return canonical_nan(format);
  }
  if (is_infinite(format, a) || is_zero(format, b)) return sign | format.infinity();
  if (is_infinite(format, b) || is_zero(format, a)) return sign;
  const Exact x = unpack(format, a), y = unpack(format, b);
  const Wide dividend = x.magnitude << 62;
  Exact quotient;
  quotient.negative = sign != 0;
  quotient.magnitude = dividend / y.magnitude;
  quotient.exponent = x.exponent - 62 - y.exponent;
  quotient.sticky = dividend % y.magnitude != 0;
  return pack(format, quotient, rounding, {.flush = flush});
}

std::uint64_t soft_sqrt(const FloatFormat& format, std::uint64_t a, Rounding rounding) {
  if (is_zero(format, a)) return a;
  if (is_nan(format, a) || is_negative(format, a)) return canonical_nan(format);
  if (is_infinite(format, a)) return a;
  Exact x = aligned(unpack(format, a), 125);
  if (x.exponent % 2 != 0) {
    x.magnitude >>= 1;
    x.exponent += 1;
  }
  // Digit by digit, from the highest bit that a 63-bit root can have.
  Wide root = 0;
  for (int bit = 62; bit >= 0; --bit) {
    const Wide candidate = root | Wide{1} << bit;
    if (candidate * candidate <= x.magnitude) root = candidate;
  }
  Exact result;
  result.magnitude = root;
  result.exponent = x.exponent / 2;
  result.sticky = root * root != x.magnitude;
  return pack(format, result, rounding);
}

std::uint64_t convert_float(const FloatFormat& from, std::uint64_t bits, const FloatFormat& to,
                            Rounding rounding, bool saturate_finite) {
  if (is_nan(from, bits)) return canonical_nan(to);
  if (is_infinite(from, bits)) {
    const std::uint64_t sign = is_negative(from, bits) ? to.sign_bit() : 0;
    if (saturate_finite) return sign | to.largest();
    return sign | (to.finite_only ? to.magnitude_mask() : to.infinity());
  }
  return pack(to, unpack(from, bits), rounding, {.saturate_finite = saturate_finite});
}

std::uint64_t round_to_integral(const FloatFormat& format, std::uint64_t bits, Rounding rounding) {
  if (is_nan(format, bits)) return canonical_nan(format);
  if (is_infinite(format, bits)) return bits;
  Exact x = unpack(format, bits);
  if (x.magnitude == 0 || x.exponent >= 0) return bits;
  x.magnitude = shift_right(x, -x.exponent, rounding);
  x.exponent = 0;
  return pack(format, x, Rounding::kRz);
}

std::uint64_t float_to_integer(const FloatFormat& format, std::uint64_t bits, unsigned width,
                               bool is_signed, Rounding rounding, std::uint64_t nan) {
  if (is_nan(format, bits)) return nan;
  const bool negative = is_negative(format, bits);
  const std::uint64_t all = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  const std::uint64_t top = std::uint64_t{1} << (width - 1);
  const std::uint64_t limit = !is_signed ? (negative ? 0 : all) : (negative ? top : top - 1);
  Wide magnitude = limit;
  if (!is_infinite(format, bits)) {
    const Exact x = unpack(format, bits);
    const bool huge = x.magnitude != 0 && x.exponent > 0;  // at least 2^64
    if (!huge) magnitude = std::min(Wide{limit}, shift_right(x, -x.exponent, rounding));
  }
  const auto whole = static_cast<std::uint64_t>(magnitude);
  return (negative ? std::uint64_t{0} - whole : whole) & all;
}

std::uint64_t integer_to_float(const FloatFormat& format, bool negative, std::uint64_t magnitude,
                               Rounding rounding) {
  Exact x;
  x.negative = negative && magnitude != 0;
  x.magnitude = magnitude;
  return pack(format, x, rounding);
}

double to_double(const FloatFormat& format, std::uint64_t bits) {
  return std::bit_cast<double>(convert_float(format, bits, kF64Format, Rounding::kRn));
}

std::uint64_t from_double(const FloatFormat& format, double value, Rounding rounding) {
  return convert_float(kF64Format, std::bit_cast<std::uint64_t>(value), format, rounding);
}

std::uint64_t flush_subnormal(const FloatFormat& format, std::uint64_t bits) {
  return is_subnormal(format, bits) ? bits & format.sign_bit() : bits;
}

std::uint64_t saturate_unit(const FloatFormat& format, std::uint64_t bits) {
  if (is_nan(format, bits) || is_negative(format, bits)) return 0;
  const auto one = static_cast<std::uint64_t>(format.bias()) << format.fraction_bits;
  return std::min(bits, one);
}

}  // namespace baton::instructions
