#include <fmt/core.h>

#include <cmath>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "instructions/suite.h"

// Half precision, f16 and bf16, alone and in pairs (PTX ISA, "Half Precision Floating-Point
// Instructions" and "Half Precision Comparison Instructions").
namespace baton::instructions {
namespace {

template <typename T>
std::string type_name() {
  return std::is_same_v<T, F16> ? "f16" : "bf16";
}

template <typename T, typename F>
void add_unary(Group& group, const std::string& name, F function, const Bounds& bounds = {}) {
  const std::string type = type_name<T>();
  group.add(name + "." + type + " %d, %a;", function).within(bounds);
  group
      .add(name + "." + type + "x2 %d, %a;",
           [function](Pair<T> a) {
             const auto low = function(a.low), high = function(a.high);
             if constexpr (std::is_same_v<decltype(low), const T>) {
               return Pair<T>{low, high};
             } else {
               return Near<Pair<T>>{{low.value[0], high.value[0]}};
             }
           })
      .within(bounds);
}

template <typename T, typename F>
void add_binary(Group& group, const std::string& name, F function) {
  const std::string type = type_name<T>();
  group.add(name + "." + type + " %d, %a, %b;", function);
  group.add(name + "." + type + "x2 %d, %a, %b;", [function](Pair<T> a, Pair<T> b) {
    return Pair<T>{function(a.low, b.low), function(a.high, b.high)};
  });
}

template <typename T, typename F>
void add_ternary(Group& group, const std::string& name, F function) {
  const std::string type = type_name<T>();
  group.add(name + "." + type + " %d, %a, %b, %c;", function);
  group.add(name + "." + type + "x2 %d, %a, %b, %c;", [function](Pair<T> a, Pair<T> b, Pair<T> c) {
    return Pair<T>{function(a.low, b.low, c.low), function(a.high, b.high, c.high)};
  });
}

template <typename T>
void add_arithmetic(Family& family) {
  constexpr const FloatFormat& kFormat = T::kFormat;
  const std::string type = type_name<T>();
  Group& sums = family.group("add_sub_mul_" + type);
  Group& fma = family.group("fma_" + type);
  const bool half = std::is_same_v<T, F16>;
  for (const bool ftz : {false, true}) {
    for (const bool sat : {false, true}) {
      if (!half && (ftz || sat)) continue;
      for (const std::string_view rounding : {"", ".rn"}) {
        const std::string form =
            fmt::format("{}{}{}", rounding, ftz ? ".ftz" : "", sat ? ".sat" : "");
        const auto finish = [ftz, sat](u64 bits) {
          return saturate(flush(make_float<T>(bits), ftz), sat);
        };
        add_binary<T>(sums, "add" + form, [=](T a, T b) {
          return finish(soft_add(kFormat, flush(a, ftz).bits, flush(b, ftz).bits, Rounding::kRn));
        });
        add_binary<T>(sums, "sub" + form, [=](T a, T b) {
          return finish(soft_add(kFormat, flush(a, ftz).bits,
                                 flush(b, ftz).bits ^ kFormat.sign_bit(), Rounding::kRn));
        });
        add_binary<T>(sums, "mul" + form, [=](T a, T b) {
          return finish(
              soft_mul(kFormat, flush(a, ftz).bits, flush(b, ftz).bits, Rounding::kRn, ftz));
        });
      }
    }
    if (!half && ftz) continue;
    for (const std::string_view end : {"", ".sat", ".relu"}) {
      if (!half && end == ".sat") continue;
      const bool sat = end == ".sat", relu = end == ".relu";
      add_ternary<T>(fma, fmt::format("fma.rn{}{}", ftz ? ".ftz" : "", end), [=](T a, T b, T c) {
        const T fused = make_float<T>(soft_fma(kFormat, flush(a, ftz).bits, flush(b, ftz).bits,
                                               flush(c, ftz).bits, Rounding::kRn, ftz));
        return rectified(saturate(flush(fused, ftz), sat), relu);
      });
    }
  }
}

template <typename T>
void add_extremes_and_signs(Family& family) {
  constexpr u64 kSign = T::kFormat.sign_bit();
  const std::string type = type_name<T>();
  Group& extremes = family.group("min_max_" + type);
  Group& signs = family.group("abs_neg_" + type);
  for (const bool ftz : {false, true}) {
    if (ftz && !std::is_same_v<T, F16>) continue;
    const std::string flushing = ftz ? ".ftz" : "";
    for (const bool greater : {false, true}) {
      for (const bool nan_wins : {false, true}) {
        for (const bool xorsign : {false, true}) {
          add_binary<T>(extremes,
                        fmt::format("{}{}{}{}", greater ? "max" : "min", flushing,
                                    nan_wins ? ".NaN" : "", xorsign ? ".xorsign.abs" : ""),
                        [=](T a, T b) {
                          return extreme(flush(a, ftz), flush(b, ftz), greater, nan_wins, xorsign);
                        });
        }
      }
    }
    add_unary<T>(signs, "abs" + flushing,
                 [ftz](T a) { return make_float<T>(flush(a, ftz).bits & ~kSign); });
    add_unary<T>(signs, "neg" + flushing,
                 [ftz](T a) { return make_float<T>(flush(a, ftz).bits ^ kSign); });
  }
}

struct Comparison {
  std::string_view name;
  bool less, equal, greater, unordered;

  template <typename T>
  bool holds(T a, T b, bool ftz) const {
    const double x = value(flush(a, ftz)), y = value(flush(b, ftz));
    if (x < y) return less;
    if (x > y) return greater;
    return x == y ? equal : unordered;
  }
};
constexpr Comparison kComparisons[] = {
    {"eq", false, true, false, false}, {"ne", true, false, true, false},
    {"lt", true, false, false, false}, {"le", true, true, false, false},
    {"gt", false, false, true, false}, {"ge", false, true, true, false},
    {"equ", false, true, false, true}, {"neu", true, false, true, true},
    {"ltu", true, false, false, true}, {"leu", true, true, false, true},
    {"gtu", false, false, true, true}, {"geu", false, true, true, true},
    {"num", true, true, true, false},  {"nan", false, false, false, true}};

template <typename T>
void add_comparisons(Family& family) {
  const std::string type = type_name<T>();
  Group& setp = family.group("setp_" + type);
  Group& set = family.group("set_" + type);
  const T one = from_double<T>(1.0);
  for (const Comparison& comparison : kComparisons) {
    for (const bool ftz : {false, true}) {
      if (ftz && !std::is_same_v<T, F16>) continue;
      const std::string form = fmt::format("{}{}", comparison.name, ftz ? ".ftz" : "");
      setp.add(fmt::format("setp.{}.{} %d, %a, %b;", form, type),
               [&comparison, ftz](T a, T b) { return comparison.holds(a, b, ftz); });
      // p for the low half, q for the high one.
      setp.add(fmt::format("setp.{}.{}x2 %d|%x, %a, %b;", form, type),
               [&comparison, ftz](Pair<T> a, Pair<T> b) {
                 return std::tuple(comparison.holds(a.low, b.low, ftz),
                                   comparison.holds(a.high, b.high, ftz));
               });
      set.add(
          fmt::format("set.{0}.{1}.{1} %d, %a, %b;", form, type),
          [&comparison, ftz, one](T a, T b) { return comparison.holds(a, b, ftz) ? one : T{}; });
      set.add(fmt::format("set.{0}.{1}x2.{1}x2 %d, %a, %b;", form, type),
              [&comparison, ftz, one](Pair<T> a, Pair<T> b) {
                return Pair<T>{comparison.holds(a.low, b.low, ftz) ? one : T{},
                               comparison.holds(a.high, b.high, ftz) ? one : T{}};
              });
      // A mask for each half.
      for (const std::string_view word : {"u32", "s32"}) {
        set.add(fmt::format("set.{}.{}.{}x2 %d, %a, %b;", form, word, type),
                [&comparison, ftz](Pair<T> a, Pair<T> b) {
                  return (comparison.holds(a.low, b.low, ftz) ? u32{0xffff} : 0) |
                         (comparison.holds(a.high, b.high, ftz) ? u32{0xffff0000} : 0);
                });
      }
      set.add(fmt::format("set.{}.u32.{} %d, %a, %b;", form, type), [&comparison, ftz](T a, T b) {
        return comparison.holds(a, b, ftz) ? ~u32{0} : u32{0};
      });
    }
  }
  setp.add(fmt::format("setp.lt.and.{} %d, %a, %b, !%c;", type),
           [](T a, T b, bool c) { return kComparisons[2].holds(a, b, false) && !c; });
}

template <typename T>
void add_functions(Group& group) {
  constexpr bool half = std::is_same_v<T, F16>;
  // The relative error that the ISA states for f16 holds for normal results; the hardware rounds
  // subnormal ones either way.
  add_unary<T>(
      group, half ? "ex2.approx" : "ex2.approx.ftz",
      [](T a) { return Near<T>{{std::exp2(value(flush(a, !half)))}}; },
      {.relative = half ? std::exp2(-9.9) : 0x1p-7, .ulps = half ? 1.0 : 0.0, .flush = !half});
  add_unary<T>(group, "tanh.approx", [](T a) { return Near<T>{{std::tanh(value(a))}}; },
               {.absolute = half ? std::exp2(-10.987) : 0x1p-8});
}

}  // namespace

void add_half(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "half";
  add_arithmetic<F16>(family);
  add_arithmetic<BF16>(family);
  add_extremes_and_signs<F16>(family);
  add_extremes_and_signs<BF16>(family);
  add_comparisons<F16>(family);
  add_comparisons<BF16>(family);
  Group& functions = family.group("functions");
  add_functions<F16>(functions);
  add_functions<BF16>(functions);
}

}  // namespace baton::instructions
