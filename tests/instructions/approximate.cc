#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <functional>
#include <string>

#include "instructions/suite.h"

// Approximate functions (PTX ISA, "Floating-Point Instructions"), within the error that the ISA
// states for each. The reference is the function in double precision; what the ISA's tables of
// special inputs say is compared exactly.
namespace baton::instructions {
namespace {

constexpr double kPi = 3.14159265358979323846;

Values around_unit(double low, double high) {
  Values values = values_of(Kind::kF32);
  Values inside = interval(kF32Format, low, high);
  values.random = inside.random;
  return values;
}

// Positive and negative numbers of every magnitude.
Values all_magnitudes() {
  Values values = values_of(Kind::kF32);
  values.random = [](Random& random) { return random() & 0xffffffff; };
  return values;
}

struct Function {
  const char* name;
  double (*exact)(double);
  Values values;
  Bounds bounds;
};

double reciprocal_root(double x) {
  if (x == 0) return std::copysign(INFINITY, x);
  return x < 0 ? NAN : 1 / std::sqrt(x);
}
double log2_of(double x) {
  return x == 0 ? -INFINITY : std::log2(x);
}
double reciprocal(double x) {
  return 1 / x;
}
double root(double x) {
  return std::sqrt(x);
}
double sine(double x) {
  return std::sin(x);
}
double cosine(double x) {
  return std::cos(x);
}
double power_of_two(double x) {
  return std::exp2(x);
}

void add_function(Group& group, const Function& function) {
  for (const bool ftz : {false, true}) {
    Bounds bounds = function.bounds;
    bounds.flush = ftz;
    group
        .add(fmt::format("{}.approx{}.f32 %d, %a;", function.name, ftz ? ".ftz" : ""),
             [ftz, exact = function.exact](F32 a) {
               return Near<F32>{{exact(value(flush(a, ftz)))}};
             })
        .operand(0, function.values)
        .within(bounds);
  }
}

void add_functions(Family& family) {
  Group& group = family.group("functions");
  add_function(group, {"rcp", reciprocal, all_magnitudes(), {.ulps = 1}});
  add_function(group, {"sqrt", root, all_magnitudes(), {.relative = 0x1p-23}});
  add_function(group, {"rsqrt", reciprocal_root, all_magnitudes(), {.relative = std::exp2(-22.9)}});
  add_function(group, {"ex2", power_of_two, around_unit(-155, 130), {.ulps = 2}});
  // Absolute within (0.5, 2), relative elsewhere.
  Values near_one = around_unit(0.5, 2);
  add_function(group, {"lg2", log2_of, near_one, {.relative = 0x1p-22, .absolute = 0x1p-22}});
  add_function(group,
               {"lg2", log2_of, all_magnitudes(), {.relative = 0x1p-22, .absolute = 0x1p-22}});
  for (const bool sines : {true, false}) {
    const char* name = sines ? "sin" : "cos";
    double (*exact)(double) = sines ? sine : cosine;
    // Zeros, infinities and NaN are exact; beyond the ranges nothing is promised.
    Values near_zero = interval(kF32Format, -2 * kPi, 2 * kPi);
    near_zero.edges.insert(near_zero.edges.end(),
                           {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x80000001,
                            0x3f800000, 0xbf800000, 0x00800000, 0x3fc90fdb, 0x40490fdb});
    add_function(group, {name, exact, near_zero, {.absolute = std::exp2(-20.5)}});
    add_function(
        group,
        {name, exact, interval(kF32Format, -100 * kPi, 100 * kPi), {.absolute = std::exp2(-14.7)}});
  }
  group.add("tanh.approx.f32 %d, %a;", [](F32 a) { return Near<F32>{{std::tanh(value(a))}}; })
      .operand(0, around_unit(-10, 10))
      .within({.relative = 0x1p-11});
}

Values usual_divisors() {
  Values values = values_of(Kind::kF32);
  std::erase_if(values.edges, [](u64 bits) {
    const u64 magnitude = bits & 0x7fffffff;
    // Within [2^-126, 2^126] the error is bounded; zero, infinity and NaN are exact.
    return magnitude > 0x7e800000 && magnitude < 0x7f800000;
  });
  values.random = [](Random& random) {
    const u64 exponent = 1 + random() % 252;
    return (random() & 0x807fffff) | exponent << 23;
  };
  return values;
}

double quotient(double a, double b) {
  return a / b;
}

void add_division(Family& family) {
  Group& group = family.group("div");
  for (const bool ftz : {false, true}) {
    const char* name = ftz ? ".ftz" : "";
    Bounds bounds{.ulps = 2, .flush = ftz};
    // A subnormal divisor is outside the documented interval unless it is flushed.
    Values divisors = usual_divisors();
    if (!ftz) {
      std::erase_if(divisors.edges, [](u64 bits) { return is_subnormal(kF32Format, bits); });
    }
    group
        .add(fmt::format("div.approx{}.f32 %d, %a, %b;", name),
             [ftz](F32 a, F32 b) {
               return Near<F32>{{quotient(value(flush(a, ftz)), value(flush(b, ftz)))}};
             })
        .operand(1, divisors)
        .within(bounds);
    group
        .add(fmt::format("div.full{}.f32 %d, %a, %b;", name),
             [ftz](F32 a, F32 b) {
               return Near<F32>{{quotient(value(flush(a, ftz)), value(flush(b, ftz)))}};
             })
        .within(bounds);
  }
  // "For 2^126 < |b| < 2^128, if a is infinity, div.approx.f32 delivers NaN, otherwise 0."
  Values large = interval(kF32Format, 0x1.000002p126, 0x1.fffffep127);
  Values dividends =
      only({0x7f800000, 0xff800000, 0x3f800000, 0xbf800000, 0x7fc00000, 0, 0x80000000});
  dividends.random = [](Random& random) {
    return (random() & 0x807fffff) | (100 + random() % 50) << 23;
  };
  group
      .add("div.approx.ftz.f32 %d, %a, %b; and.b32 %d, %d, 0x7fffffff;",
           [](F32 a, F32) {
             const bool finite = !is_nan(a) && !is_infinite(kF32Format, a.bits);
             return finite ? F32{} : nan<F32>();
           })
      .operand(0, dividends)
      .operand(1, large);
}

// Only the upper words of argument and result count. The ISA gives no bound for these two: 2^-17 is
// what 20 bits of fraction allow with room.
void add_double_approximations(Family& family) {
  Group& group = family.group("f64");
  const auto upper = [](F64 a) { return value(F64{a.bits & ~u64{0xffffffff}}); };
  const Bounds gross{.relative = 0x1p-17, .flush = true};
  group
      .add("rcp.approx.ftz.f64 %d, %a;",
           [upper](F64 a) {
             return Near<F64>{{reciprocal(value(flush(F64{std::bit_cast<u64>(upper(a))})))}};
           })
      .within(gross);
  group
      .add("rsqrt.approx.ftz.f64 %d, %a;",
           [upper](F64 a) {
             return Near<F64>{{reciprocal_root(value(flush(F64{std::bit_cast<u64>(upper(a))})))}};
           })
      .within(gross);
  group.add("{ .reg .b64 %q; rcp.approx.ftz.f64 %q, %a; cvt.u32.u64 %d, %q; }",
            [](F64) { return u32{0}; });
  group
      .add("rsqrt.approx.f64 %d, %a;", [](F64 a) { return Near<F64>{{reciprocal_root(value(a))}}; })
      .within({.ulps = 2});
}

}  // namespace

void add_approximate(std::deque<Family>& families) {
  Family& family = families.emplace_back();
  family.name = "approximate";
  add_functions(family);
  add_division(family);
  add_double_approximations(family);
}

}  // namespace baton::instructions
