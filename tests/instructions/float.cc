#include <fmt/core.h>

#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>

#include "instructions/suite.h"

// IEEE arithmetic in single and double precision (PTX ISA, "Floating-Point Instructions"): every
// rounding mode, .ftz (subnormal inputs and results to zero of their sign), .sat (to [0, 1], NaN to
// +0). The payload of a NaN that results is left open, except from min and max.
namespace baton::instructions {
namespace {

constexpr Mode kDefault{"", Rounding::kRn};

// What an instruction does around its operation.
struct Finish {
  bool ftz = false;
  bool sat = false;
  std::string name() const { return std::string(ftz ? ".ftz" : "") + (sat ? ".sat" : ""); }
};

// Calls `add(mode, finish)` for all forms that the type has.
template <typename T, typename F>
void each_form(bool with_default, F&& add) {
  const auto add_finishes = [&](const Mode& mode) {
    add(mode, Finish{});
    if constexpr (std::is_same_v<T, F32>) {
      add(mode, Finish{true, false});
      add(mode, Finish{false, true});
      add(mode, Finish{true, true});
    }
  };
  for (const Mode& mode : kModes) add_finishes(mode);
  if (with_default) add_finishes(kDefault);
}

template <typename T>
T finished(u64 bits, const Finish& finish) {
  return saturate(flush(make_float<T>(bits), finish.ftz), finish.sat);
}

template <typename T>
void add_arithmetic(Family& family, const std::string& type) {
  constexpr const FloatFormat& kFormat = T::kFormat;
  Group& add = family.group("add_" + type);
  Group& sub = family.group("sub_" + type);
  Group& mul = family.group("mul_" + type);
  Group& fma = family.group("fma_" + type);
  Group& mad = family.group("mad_" + type);
  each_form<T>(true, [&](const Mode& mode, const Finish& finish) {
    const std::string form = fmt::format("{}{}.{} %d, %a, %b", mode.name, finish.name(), type);
    const Rounding rounding = mode.rounding;
    add.add("add" + form + ";", [rounding, finish](T a, T b) {
      return finished<T>(
          soft_add(kFormat, flush(a, finish.ftz).bits, flush(b, finish.ftz).bits, rounding),
          finish);
    });
    sub.add("sub" + form + ";", [rounding, finish](T a, T b) {
      // a + (-b); a NaN stays one.
      return finished<T>(soft_add(kFormat, flush(a, finish.ftz).bits,
                                  flush(b, finish.ftz).bits ^ kFormat.sign_bit(), rounding),
                         finish);
    });
    mul.add("mul" + form + ";", [rounding, finish](T a, T b) {
      return finished<T>(soft_mul(kFormat, flush(a, finish.ftz).bits, flush(b, finish.ftz).bits,
                                  rounding, finish.ftz),
                         finish);
    });
  });
  each_form<T>(false, [&](const Mode& mode, const Finish& finish) {
    const std::string form = fmt::format("{}{}.{} %d, %a, %b, %c;", mode.name, finish.name(), type);
    const auto fused = [rounding = mode.rounding, finish](T a, T b, T c) {
      return finished<T>(soft_fma(kFormat, flush(a, finish.ftz).bits, flush(b, finish.ftz).bits,
                                  flush(c, finish.ftz).bits, rounding, finish.ftz),
                         finish);
    };
    fma.add("fma" + form, fused);
    if (finish.ftz) {
      // Products and sums about the smallest normal number.
      fma.add("fma" + form, fused)
          .operand(0, only({0x00800000, 0x80800000, 0x00800001, 0x20000000, 0xa0000000}))
          .operand(1, only({0x3f7fffff, 0xbf7fffff, 0x3f800001, 0x10000000, 0x3f000000}))
          .operand(2, only({0, 0x80000000, 0x00800000, 0x80800000, 0x00800001, 0x007fffff}));
    }
    mad.add("mad" + form, fused);  // the same as fma on every architecture since sm_20
  });
  add.add(
      "add." + type + " %d, %a, " + (type == "f32" ? "0f3F800000;" : "0d3FF0000000000000;"),
      [](T a) {
        return make_float<T>(soft_add(kFormat, a.bits, from_double(kFormat, 1.0), Rounding::kRn));
      });
}

// Their reciprocals lie about the smallest normal number.
Values reciprocal_values(Kind kind) {
  const FloatFormat& format = *info(kind).format;
  const u64 large = from_double(format, std::ldexp(1.0, format.bias() - 1));
  Values values = values_of(kind);
  for (const u64 near : {large - 1, large, large + 1, large + 2}) {
    values.edges.push_back(near);
    values.edges.push_back(near | format.sign_bit());
  }
  return values;
}

template <typename T>
void add_division(Family& family, const std::string& type) {
  constexpr const FloatFormat& kFormat = T::kFormat;
  Group& div = family.group("div_" + type);
  Group& rcp = family.group("rcp_" + type);
  Group& sqrt = family.group("sqrt_" + type);
  for (const Mode& mode : kModes) {
    for (const bool ftz : {false, true}) {
      if (ftz && !std::is_same_v<T, F32>) continue;
      const Finish finish{ftz, false};
      const std::string form = fmt::format("{}{}.{} %d, %a", mode.name, finish.name(), type);
      const Rounding rounding = mode.rounding;
      div.add("div" + form + ", %b;", [rounding, finish](T a, T b) {
        return finished<T>(soft_div(kFormat, flush(a, finish.ftz).bits, flush(b, finish.ftz).bits,
                                    rounding, finish.ftz),
                           finish);
      });
      rcp.add("rcp" + form + ";",
              [rounding, finish](T a) {
                return finished<T>(soft_div(kFormat, from_double(kFormat, 1.0),
                                            flush(a, finish.ftz).bits, rounding, finish.ftz),
                                   finish);
              })
          .operand(0, reciprocal_values(type == "f32" ? Kind::kF32 : Kind::kF64));
      sqrt.add("sqrt" + form + ";", [rounding, finish](T a) {
        return finished<T>(soft_sqrt(kFormat, flush(a, finish.ftz).bits, rounding), finish);
      });
    }
  }
}

template <typename T>
void add_extremes(Group& group, const std::string& type) {
  for (const bool greater : {false, true}) {
    const char* name = greater ? "max" : "min";
    for (const bool ftz : {false, true}) {
      for (const bool nan_wins : {false, true}) {
        for (const bool xorsign : {false, true}) {
          if (!std::is_same_v<T, F32> && (ftz || nan_wins || xorsign)) continue;
          const auto reference = [=](T a, T b) {
            return extreme(flush(a, ftz), flush(b, ftz), greater, nan_wins, xorsign);
          };
          Case& added =
              group.add(fmt::format("{}{}{}{}.{} %d, %a, %b;", name, ftz ? ".ftz" : "",
                                    nan_wins ? ".NaN" : "", xorsign ? ".xorsign.abs" : "", type),
                        reference);
          if (std::is_same_v<T, F32> && !xorsign) added.exact_nan();
        }
      }
    }
  }
}

template <typename T>
void add_signs(Group& group, const std::string& type) {
  constexpr u64 kSign = T::kFormat.sign_bit();
  for (const bool ftz : {false, true}) {
    if (ftz && !std::is_same_v<T, F32>) continue;
    const char* name = ftz ? ".ftz" : "";
    group.add(fmt::format("abs{}.{} %d, %a;", name, type),
              [ftz](T a) { return make_float<T>(flush(a, ftz).bits & ~kSign); });
    group.add(fmt::format("neg{}.{} %d, %a;", name, type),
              [ftz](T a) { return make_float<T>(flush(a, ftz).bits ^ kSign); });
  }
  group
      .add("copysign." + type + " %d, %a, %b;",
           [](T a, T b) { return make_float<T>((b.bits & ~kSign) | (a.bits & kSign)); })
      .exact_nan();
}

template <typename T>
void add_tests(Group& group, const std::string& type) {
  const auto finite = [](T a) { return !is_nan(a) && !is_infinite(T::kFormat, a.bits); };
  group.add("testp.finite." + type + " %d, %a;", finite);
  group.add("testp.infinite." + type + " %d, %a;",
            [](T a) { return is_infinite(T::kFormat, a.bits); });
  group.add("testp.number." + type + " %d, %a;", [](T a) { return !is_nan(a); });
  group.add("testp.notanumber." + type + " %d, %a;", [](T a) { return is_nan(a); });
  // Zero counts as normal.
  group.add("testp.normal." + type + " %d, %a;",
            [finite](T a) { return finite(a) && !is_subnormal(T::kFormat, a.bits); });
  group.add("testp.subnormal." + type + " %d, %a;",
            [](T a) { return is_subnormal(T::kFormat, a.bits); });
}

}  // namespace

void add_float(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "float";
  add_arithmetic<F32>(family, "f32");
  add_arithmetic<F64>(family, "f64");
  add_division<F32>(family, "f32");
  add_division<F64>(family, "f64");
  Group& extremes = family.group("min_max");
  add_extremes<F32>(extremes, "f32");
  add_extremes<F64>(extremes, "f64");
  Group& signs = family.group("abs_neg_copysign");
  add_signs<F32>(signs, "f32");
  add_signs<F64>(signs, "f64");
  Group& tests = family.group("testp");
  add_tests<F32>(tests, "f32");
  add_tests<F64>(tests, "f64");
}

}  // namespace baton::instructions
