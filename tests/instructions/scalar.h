#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "instructions/soft_float.h"

// The types of PTX operands, and the C++ types that stand for them in the signatures of references.
// An operand travels as 64 bits, zero-extended from its own width.
namespace baton::instructions {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

enum class Kind : u8 {
  kPred,
  kU8,  // in a 32-bit register, whose upper bits the instruction has to ignore
  kS8,
  kU16,
  kS16,
  kU32,
  kS32,
  kU64,
  kS64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kF16x2,
  kBF16x2,
};

struct KindInfo {
  std::string_view reg;   // the register's type
  std::string_view move;  // the type that loads and stores it
  unsigned bits;
  unsigned lanes;                       // values packed into it
  const FloatFormat* format = nullptr;  // of each of them, where it is a float
};
const KindInfo& info(Kind kind);

// A float as its bits. The arithmetic on it is soft_float.h's: exact, whatever the host does.
template <Kind kKind, const FloatFormat& kFloatFormat, typename B>
struct FloatBits {
  using Bits = B;
  static constexpr const FloatFormat& kFormat = kFloatFormat;
  static constexpr Kind kOperand = kKind;
  Bits bits = 0;
};
using F16 = FloatBits<Kind::kF16, kF16Format, u16>;
using BF16 = FloatBits<Kind::kBF16, kBF16Format, u16>;
using F32 = FloatBits<Kind::kF32, kF32Format, u32>;
using F64 = FloatBits<Kind::kF64, kF64Format, u64>;

// Two halves in one 32-bit register.
template <typename T>
struct Pair {
  static constexpr Kind kOperand = std::is_same_v<T, F16> ? Kind::kF16x2 : Kind::kBF16x2;
  T low, high;
};
using F16x2 = Pair<F16>;
using BF16x2 = Pair<BF16>;

// An approximate result: its exact value, for a comparison within bounds. `T` is what the device
// gives: a float or a pair of them.
template <typename T>
struct Near {
  using Result = T;
  double value[2] = {0, 0};
};

namespace detail {
template <typename T>
inline constexpr bool kIsNear = false;
template <typename T>
inline constexpr bool kIsNear<Near<T>> = true;
template <typename T>
inline constexpr bool kIsPair = false;
template <typename T>
inline constexpr bool kIsPair<Pair<T>> = true;
}  // namespace detail

template <typename T>
constexpr Kind kind_of() {
  if constexpr (detail::kIsNear<T>) {
    return kind_of<typename T::Result>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return Kind::kPred;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr int kLog2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    constexpr Kind kUnsigned[] = {Kind::kU8, Kind::kU16, Kind::kU32, Kind::kU64};
    constexpr Kind kSigned[] = {Kind::kS8, Kind::kS16, Kind::kS32, Kind::kS64};
    return std::is_signed_v<T> ? kSigned[kLog2] : kUnsigned[kLog2];
  } else {
    return T::kOperand;
  }
}

template <typename T>
T from_bits(u64 bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return (bits & 1) != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else if constexpr (detail::kIsPair<T>) {
    return {{static_cast<u16>(bits)}, {static_cast<u16>(bits >> 16)}};
  } else {
    return {static_cast<typename T::Bits>(bits)};
  }
}

template <typename T>
u64 to_bits(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_unsigned_t<T>>(value);
  } else if constexpr (detail::kIsPair<T>) {
    return value.low.bits | u64{value.high.bits} << 16;
  } else {
    return value.bits;
  }
}

// --- Arithmetic on floats, each by soft_float.h ---

template <typename T>
double value(T x) {
  return to_double(T::kFormat, x.bits);
}
template <typename T>
bool is_nan(T x) {
  return is_nan(T::kFormat, x.bits);
}
template <typename T>
T make_float(u64 bits) {
  return {static_cast<typename T::Bits>(bits)};
}
template <typename T>
T from_double(double x, Rounding rounding = Rounding::kRn) {
  return make_float<T>(from_double(T::kFormat, x, rounding));
}
template <typename T>
T nan() {
  return make_float<T>(canonical_nan(T::kFormat));
}
template <typename T>
T flush(T x, bool ftz = true) {
  return ftz ? make_float<T>(flush_subnormal(T::kFormat, x.bits)) : x;
}
// [0, 1], NaN to +0.
template <typename T>
T saturate(T x, bool sat = true) {
  return sat ? make_float<T>(saturate_unit(T::kFormat, x.bits)) : x;
}

// The lesser or greater: -0 is below +0; a NaN loses against a number, unless .NaN says that it
// wins; the NaN that results is the canonical one. .xorsign.abs compares magnitudes and signs the
// result with the exclusive or of the signs.
template <typename T>
T extreme(T a, T b, bool greater, bool nan_wins, bool xorsign) {
  constexpr u64 kSign = T::kFormat.sign_bit();
  const u64 sign = (u64{a.bits} ^ b.bits) & kSign;
  if (xorsign) {
    a = make_float<T>(a.bits & ~kSign);
    b = make_float<T>(b.bits & ~kSign);
  }
  if (is_nan(a) && is_nan(b)) return nan<T>();
  if ((is_nan(a) || is_nan(b)) && nan_wins) return nan<T>();
  T result = is_nan(a) ? b : a;
  if (!is_nan(a) && !is_nan(b)) {
    const bool a_below = value(a) < value(b) || (value(a) == value(b) && (a.bits & kSign) != 0);
    result = a_below == greater ? b : a;
  }
  return xorsign ? make_float<T>((result.bits & ~kSign) | sign) : result;
}

// Negative results to +0; NaN stays.
template <typename T>
T rectified(T x, bool relu) {
  return relu && !is_nan(x) && is_negative(T::kFormat, x.bits) ? T{} : x;
}

// A qualifier that rounds, and how it rounds.
struct Mode {
  std::string_view name;
  Rounding rounding;
};
inline constexpr Mode kModes[] = {
    {".rn", Rounding::kRn}, {".rz", Rounding::kRz}, {".rm", Rounding::kRm}, {".rp", Rounding::kRp}};

}  // namespace baton::instructions
