#pragma once

#include <cstdint>

// Floating-point arithmetic in integers: exact intermediate values, rounded once. It is what the
// references of floating instructions are made of, so it neither depends on the host's rounding
// mode nor on the compiler. Values are bits, zero-extended. No function has undefined behaviour for
// any bits. Source: IEEE 754-2019; the 8-bit formats follow the OCP 8-bit floating point
// specification.
namespace baton::instructions {

// `finite_only`: no infinities, and all-ones is the only NaN (e4m3).
struct FloatFormat {
  unsigned exponent_bits;
  unsigned fraction_bits;
  bool finite_only = false;

  constexpr unsigned bits() const { return 1 + exponent_bits + fraction_bits; }
  constexpr std::uint64_t sign_bit() const { return std::uint64_t{1} << (bits() - 1); }
  constexpr std::uint64_t magnitude_mask() const { return sign_bit() - 1; }
  constexpr std::uint64_t fraction_mask() const { return (std::uint64_t{1} << fraction_bits) - 1; }
  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr std::uint64_t infinity() const { return magnitude_mask() & ~fraction_mask(); }
  // The largest finite magnitude.
  constexpr std::uint64_t largest() const {
    return finite_only ? magnitude_mask() - 1 : infinity() - 1;
  }
  constexpr std::uint64_t smallest_normal() const { return std::uint64_t{1} << fraction_bits; }
};

inline constexpr FloatFormat kF16Format{5, 10};
inline constexpr FloatFormat kBF16Format{8, 7};
inline constexpr FloatFormat kF32Format{8, 23};
inline constexpr FloatFormat kF64Format{11, 52};
inline constexpr FloatFormat kTF32Format{8, 10};
inline constexpr FloatFormat kE4M3Format{4, 3, true};
inline constexpr FloatFormat kE5M2Format{5, 2};

// To nearest even, towards zero, down, up; to nearest with ties away from zero.
enum class Rounding : std::uint8_t { kRn, kRz, kRm, kRp, kRna };

bool is_nan(const FloatFormat& format, std::uint64_t bits);
bool is_infinite(const FloatFormat& format, std::uint64_t bits);
bool is_subnormal(const FloatFormat& format, std::uint64_t bits);
inline bool is_negative(const FloatFormat& format, std::uint64_t bits) {
  return (bits & format.sign_bit()) != 0;
}
// NVIDIA's: positive, all ones.
inline std::uint64_t canonical_nan(const FloatFormat& format) {
  return format.magnitude_mask();
}

// Every result that is NaN is the canonical one.
std::uint64_t soft_add(const FloatFormat& format, std::uint64_t a, std::uint64_t b, Rounding);
// `flush`: a result that is below the normal numbers when it is rounded as if exponents had no
// lower end becomes zero of its sign, also where rounding among the subnormal numbers would make it
// the smallest normal one. So the hardware's .ftz has it (measured on an H200).
std::uint64_t soft_mul(const FloatFormat& format, std::uint64_t a, std::uint64_t b, Rounding,
                       bool flush = false);
// a * b + c, rounded once.
std::uint64_t soft_fma(const FloatFormat& format, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                       Rounding, bool flush = false);
std::uint64_t soft_div(const FloatFormat& format, std::uint64_t a, std::uint64_t b, Rounding,
                       bool flush = false);
std::uint64_t soft_sqrt(const FloatFormat& format, std::uint64_t a, Rounding);

// Between formats. `saturate_finite`: what is beyond the largest finite value becomes that value.
std::uint64_t convert_float(const FloatFormat& from, std::uint64_t bits, const FloatFormat& to,
                            Rounding, bool saturate_finite = false);
// To an integral value in the same format.
std::uint64_t round_to_integral(const FloatFormat& format, std::uint64_t bits, Rounding);
// To an integer of `width` bits, clamped to its range, zero-extended; NaN gives `nan`.
std::uint64_t float_to_integer(const FloatFormat& format, std::uint64_t bits, unsigned width,
                               bool is_signed, Rounding, std::uint64_t nan);
std::uint64_t integer_to_float(const FloatFormat& format, bool negative, std::uint64_t magnitude,
                               Rounding);

double to_double(const FloatFormat& format, std::uint64_t bits);
std::uint64_t from_double(const FloatFormat& format, double value, Rounding = Rounding::kRn);

// A subnormal becomes zero of its sign.
std::uint64_t flush_subnormal(const FloatFormat& format, std::uint64_t bits);
// Clamped to [0, 1]; NaN and -0 become +0.
std::uint64_t saturate_unit(const FloatFormat& format, std::uint64_t bits);

}  // namespace baton::instructions
