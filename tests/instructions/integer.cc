#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>

#include "instructions/suite.h"

// Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions"). Results wrap; unsigned 64- and
// 128-bit arithmetic in the references keeps them free of overflow.
namespace baton::instructions {
namespace {

using Signed128 = __int128;

template <typename T>
std::string type_name() {
  return fmt::format("{}{}", std::is_signed_v<T> ? 's' : 'u', sizeof(T) * 8);
}

template <typename T>
T wrap(u64 x) {
  return static_cast<T>(x);
}

template <typename T>
T magnitude(T x) {
  return x < 0 ? wrap<T>(u64{0} - static_cast<u64>(x)) : x;
}

// The upper half of the double-width product.
template <typename T>
T high(T a, T b) {
  return static_cast<T>(static_cast<Signed128>(Signed128{a} * b) >> (sizeof(T) * 8));
}
template <>
u64 high(u64 a, u64 b) {
  return static_cast<u64>((static_cast<unsigned __int128>(a) * b) >> 64);
}

template <typename T>
T clamped_sum(T a, T b) {
  const s64 exact = s64{a} + s64{b};
  return static_cast<T>(
      std::clamp<s64>(exact, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

template <typename T>
struct WiderOf;
template <>
struct WiderOf<u16> {
  using Type = u32;
};
template <>
struct WiderOf<s16> {
  using Type = s32;
};
template <>
struct WiderOf<u32> {
  using Type = u64;
};
template <>
struct WiderOf<s32> {
  using Type = s64;
};
template <typename T>
using Wider = typename WiderOf<T>::Type;

template <typename T>
void add_sums(Group& add, Group& sub) {
  const std::string type = type_name<T>();
  add.add("add." + type + " %d, %a, %b;", [](T a, T b) { return wrap<T>(u64(a) + u64(b)); });
  add.add("add." + type + " %d, %a, 77;", [](T a) { return wrap<T>(u64(a) + 77); });
  sub.add("sub." + type + " %d, %a, %b;", [](T a, T b) { return wrap<T>(u64(a) - u64(b)); });
  sub.add("sub." + type + " %d, 77, %a;", [](T a) { return wrap<T>(77 - u64(a)); });
}

template <typename T>
void add_products(Group& mul, Group& mad) {
  const std::string type = type_name<T>();
  mul.add("mul.lo." + type + " %d, %a, %b;", [](T a, T b) { return wrap<T>(u64(a) * u64(b)); });
  mul.add("mul.hi." + type + " %d, %a, %b;", [](T a, T b) { return high(a, b); });
  mad.add("mad.lo." + type + " %d, %a, %b, %c;",
          [](T a, T b, T c) { return wrap<T>(u64(a) * u64(b) + u64(c)); });
  mad.add("mad.hi." + type + " %d, %a, %b, %c;",
          [](T a, T b, T c) { return wrap<T>(u64(high(a, b)) + u64(c)); });
  if constexpr (sizeof(T) < 8) {
    using W = Wider<T>;
    mul.add("mul.wide." + type + " %d, %a, %b;",
            [](T a, T b) { return wrap<W>(static_cast<u64>(W{a}) * static_cast<u64>(W{b})); });
    mad.add("mad.wide." + type + " %d, %a, %b, %c;", [](T a, T b, W c) {
      return wrap<W>(static_cast<u64>(W{a}) * static_cast<u64>(W{b}) + static_cast<u64>(c));
    });
  }
}

// Division by zero has no specified result, and neither has the smallest value by -1: the operands
// leave both out.
template <typename T>
void add_quotients(Group& div, Group& rem) {
  const std::string type = type_name<T>();
  Values divisors = values_of(kind_of<T>());
  std::erase_if(divisors.edges, [](u64 bits) {
    const T divisor = from_bits<T>(bits);
    return divisor == 0 || (std::is_signed_v<T> && divisor == wrap<T>(~u64{0}));
  });
  const auto any = divisors.random;
  divisors.random = [any](Random& random) {
    const u64 bits = any(random);
    const T divisor = from_bits<T>(bits);
    const bool excluded = divisor == 0 || (std::is_signed_v<T> && divisor == wrap<T>(~u64{0}));
    return excluded ? u64{3} : bits;
  };
  div.add("div." + type + " %d, %a, %b;", [](T a, T b) { return static_cast<T>(a / b); })
      .operand(1, divisors);
  rem.add("rem." + type + " %d, %a, %b;", [](T a, T b) { return static_cast<T>(a % b); })
      .operand(1, divisors);
  for (const int constant : {1, 2, 7, 10, 64, 100}) {
    div.add(fmt::format("div.{} %d, %a, {};", type, constant),
            [constant](T a) { return static_cast<T>(a / static_cast<T>(constant)); });
    rem.add(fmt::format("rem.{} %d, %a, {};", type, constant),
            [constant](T a) { return static_cast<T>(a % static_cast<T>(constant)); });
  }
}

template <typename T>
void add_comparisons(Group& minmax, Group& sad) {
  const std::string type = type_name<T>();
  minmax.add("min." + type + " %d, %a, %b;", [](T a, T b) { return std::min(a, b); });
  minmax.add("max." + type + " %d, %a, %b;", [](T a, T b) { return std::max(a, b); });
  sad.add("sad." + type + " %d, %a, %b, %c;", [](T a, T b, T c) {
    const u64 difference = a < b ? u64(b) - u64(a) : u64(a) - u64(b);
    return wrap<T>(u64(c) + difference);
  });
}

template <typename T>
void add_signs(Group& signs) {
  const std::string type = type_name<T>();
  signs.add("abs." + type + " %d, %a;", [](T a) { return magnitude(a); });
  signs.add("neg." + type + " %d, %a;", [](T a) { return wrap<T>(u64{0} - u64(a)); });
}

// 24-bit operands: the instruction takes the low 24 bits of each, sign-extended for .s32.
template <typename T>
s64 low24(T x) {
  const u32 bits = static_cast<u32>(x) & 0xffffff;
  return std::is_signed_v<T> && (bits & 0x800000) != 0 ? s64{bits} - 0x1000000 : s64{bits};
}
template <typename T>
T product24(T a, T b, bool upper) {
  const u64 product = static_cast<u64>(low24(a) * low24(b));
  return wrap<T>(upper ? product >> 16 : product);
}

template <typename T>
void add_24_bits(Group& group) {
  const std::string type = type_name<T>();
  for (const bool upper : {false, true}) {
    const char* half = upper ? "hi" : "lo";
    group.add(fmt::format("mul24.{}.{} %d, %a, %b;", half, type),
              [upper](T a, T b) { return product24(a, b, upper); });
    group.add(fmt::format("mad24.{}.{} %d, %a, %b, %c;", half, type),
              [upper](T a, T b, T c) { return wrap<T>(u64(product24(a, b, upper)) + u64(c)); });
  }
}

template <typename T>
T part_of(u32 x, unsigned index) {
  return static_cast<T>(x >> (index * sizeof(T) * 8));
}

// A: the bytes or 16-bit halves of a; B: the bytes of b.
template <typename A4, typename B4>
void add_dp4a(Group& group, const char* a_type, const char* b_type) {
  group.add(fmt::format("dp4a.{}.{} %d, %a, %b, %c;", a_type, b_type), [](u32 a, u32 b, u32 c) {
    s64 sum = c;
    for (unsigned i = 0; i < 4; ++i) sum += s64{part_of<A4>(a, i)} * part_of<B4>(b, i);
    return static_cast<u32>(sum);
  });
}
template <typename A2, typename B4>
void add_dp2a(Group& group, const char* a_type, const char* b_type) {
  for (const unsigned first : {0u, 2u}) {
    group.add(
        fmt::format("dp2a.{}.{}.{} %d, %a, %b, %c;", first == 0 ? "lo" : "hi", a_type, b_type),
        [first](u32 a, u32 b, u32 c) {
          s64 sum = c;
          for (unsigned i = 0; i < 2; ++i) {
            sum += s64{part_of<A2>(a, i)} * part_of<B4>(b, first + i);
          }
          return static_cast<u32>(sum);
        });
  }
}

// Two 16-bit lanes in one register (sm_90).
template <typename T>
void add_lanes(Group& group) {
  const std::string type = type_name<T>() + "x2";
  const auto both = [](u32 a, u32 b, auto&& function) {
    const u32 low = static_cast<u16>(function(part_of<T>(a, 0), part_of<T>(b, 0)));
    const u32 top = static_cast<u16>(function(part_of<T>(a, 1), part_of<T>(b, 1)));
    return low | top << 16;
  };
  group.add("add." + type + " %d, %a, %b;", [both](u32 a, u32 b) {
    return both(a, b, [](T x, T y) { return static_cast<T>(x + y); });
  });
  group.add("min." + type + " %d, %a, %b;",
            [both](u32 a, u32 b) { return both(a, b, [](T x, T y) { return std::min(x, y); }); });
  group.add("max." + type + " %d, %a, %b;",
            [both](u32 a, u32 b) { return both(a, b, [](T x, T y) { return std::max(x, y); }); });
  if constexpr (std::is_signed_v<T>) {
    group.add("min.relu." + type + " %d, %a, %b;", [both](u32 a, u32 b) {
      return both(a, b, [](T x, T y) { return std::max(std::min(x, y), T{0}); });
    });
    group.add("max.relu." + type + " %d, %a, %b;", [both](u32 a, u32 b) {
      return both(a, b, [](T x, T y) { return std::max(std::max(x, y), T{0}); });
    });
  }
}

template <typename... T, typename F>
void each(F&& function) {
  (function.template operator()<T>(), ...);
}

}  // namespace

void add_integer(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "integer";
  Group& add = family.group("add");
  Group& sub = family.group("sub");
  Group& mul = family.group("mul");
  Group& mad = family.group("mad");
  Group& div = family.group("div");
  Group& rem = family.group("rem");
  Group& minmax = family.group("min_max");
  Group& sad = family.group("sad");
  Group& signs = family.group("abs_neg");
  each<u16, s16, u32, s32, u64, s64>([&]<typename T>() {
    add_sums<T>(add, sub);
    add_products<T>(mul, mad);
    add_quotients<T>(div, rem);
    add_comparisons<T>(minmax, sad);
  });
  each<s16, s32, s64>([&]<typename T>() { add_signs<T>(signs); });

  add.add("add.sat.s32 %d, %a, %b;", [](s32 a, s32 b) { return clamped_sum(a, b); });
  sub.add("sub.sat.s32 %d, %a, %b;", [](s32 a, s32 b) {
    return static_cast<s32>(std::clamp<s64>(s64{a} - b, INT32_MIN, INT32_MAX));
  });
  // The saturating sum is of the upper half of the product, not of the exact one.
  mad.add("mad.hi.sat.s32 %d, %a, %b, %c;",
          [](s32 a, s32 b, s32 c) { return clamped_sum(high(a, b), c); });
  minmax.add("min.relu.s32 %d, %a, %b;", [](s32 a, s32 b) { return std::max(std::min(a, b), 0); });
  minmax.add("max.relu.s32 %d, %a, %b;", [](s32 a, s32 b) { return std::max(std::max(a, b), 0); });

  Group& narrow = family.group("mul24_mad24");
  each<u32, s32>([&]<typename T>() { add_24_bits<T>(narrow); });
  narrow.add("mad24.hi.sat.s32 %d, %a, %b, %c;",
             [](s32 a, s32 b, s32 c) { return clamped_sum(product24(a, b, true), c); });

  Group& dot = family.group("dp4a_dp2a");
  add_dp4a<u8, u8>(dot, "u32", "u32");
  add_dp4a<u8, s8>(dot, "u32", "s32");
  add_dp4a<s8, u8>(dot, "s32", "u32");
  add_dp4a<s8, s8>(dot, "s32", "s32");
  add_dp2a<u16, u8>(dot, "u32", "u32");
  add_dp2a<u16, s8>(dot, "u32", "s32");
  add_dp2a<s16, u8>(dot, "s32", "u32");
  add_dp2a<s16, s8>(dot, "s32", "s32");

  Group& lanes = family.group("lanes_16x2");
  each<u16, s16>([&]<typename T>() { add_lanes<T>(lanes); });
}

}  // namespace baton::instructions
