#include <cfenv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "conformance/conformance.h"
#include "conformance/kernels/math_functions.h"

namespace baton::conformance::math_test {
namespace {

// The distance from the exact value in units in the last place of T there.
template <typename T>
double ulps(T got, long double exact) {
  if (std::isnan(got) && std::isnan(exact)) return 0;
  if (static_cast<long double>(got) == exact) return 0;
  const T rounded = static_cast<T>(exact);
  if (got == rounded) return 0;
  if (!std::isfinite(got) || !std::isfinite(rounded)) return INFINITY;
  const T magnitude = std::max(std::fabs(rounded), std::numeric_limits<T>::min());
  const T unit = std::nextafter(magnitude, std::numeric_limits<T>::infinity()) - magnitude;
  return static_cast<double>(std::fabs(got - exact) / unit);
}

template <typename T>
std::vector<T> sample(double low, double high, int count) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<T> values;
  for (double special : {low, high, 0.0, 1.0, -1.0, 0.5, 1e-3, 2.0, 3.5, 2.5, -2.5}) {
    if (special >= low && special <= high) values.push_back(static_cast<T>(special));
  }
  while (static_cast<int>(values.size()) < count) values.push_back(static_cast<T>(uniform(random)));
  return values;
}

// sin(pi * x); the whole turns are taken off exactly.
long double sin_pi(long double x) {
  long double r = x - 2 * std::rint(x / 2);
  if (r > 0.5L) r = 1 - r;
  if (r < -0.5L) r = -1 - r;
  return std::sin(std::acos(-1.0L) * r);
}

// By Newton's method from an approximation.
long double inverse_erf(long double x) {
  const long double l = std::log(1 - x * x), t = 4.33L + l / 2;
  long double y = std::copysign(std::sqrt(std::sqrt(t * t - l / 0.147L) - t), x);
  for (int i = 0; i < 8; ++i) {
    y -= (std::erf(y) - x) * std::sqrt(std::acos(-1.0L)) / 2 * std::exp(y * y);
  }
  return y;
}

struct UnaryRow {
  const char* name;
  long double (*host)(long double);
  double ulp_f32, ulp_f64, low, high;
};
const UnaryRow kUnary[] = {
#define X(name, expression, host, ulp_f32, ulp_f64, low, high) \
  {#name, [](long double x) -> long double { return host; }, ulp_f32, ulp_f64, low, high},
    UNARY_FUNCTIONS(X)
#undef X
};

struct BinaryRow {
  const char* name;
  long double (*host)(long double, long double);
  double ulp_f32, ulp_f64;
};
const BinaryRow kBinary[] = {
#define X(name, expression, host, ulp_f32, ulp_f64) \
  {#name, [](long double x, long double y) -> long double { return host; }, ulp_f32, ulp_f64},
    BINARY_FUNCTIONS(X)
#undef X
};

class Math : public Conformance {
 protected:
  template <typename T>
  void expect_unary(const std::string& type) {
    const Module module =
        load("math.cu", {"unary<float>", "unary<double>", "binary<float>", "binary<double>"});
    const Kernel kernel = module.kernel("unary<" + type + ">");
    for (int f = 0; f < kUnaryFunctions; ++f) {
      const UnaryRow& row = kUnary[f];
      const double bound = sizeof(T) == 4 ? row.ulp_f32 : row.ulp_f64;
      const auto in = sample<T>(row.low, row.high, 2000);
      const auto n = static_cast<unsigned>(in.size());
      const Buffer<T> out(device(), n);
      kernel.launch({.grid = ceil_div(n, 128u), .block = 128}, out, Buffer<T>::of(device(), in), n,
                    f);
      const auto got = out.download();
      double worst = 0;
      T at = 0;
      for (unsigned i = 0; i < n; ++i) {
        const double error = ulps(got[i], row.host(in[i]));
        if (!(error <= worst)) worst = error, at = in[i];
      }
      // A host function is itself off by a little: half a unit in the last place of the result's
      // type is what rounding the exact value costs.
      EXPECT_LE(worst, bound + 0.5) << row.name << " of " << type << " at " << at;
    }
  }

  template <typename T>
  void expect_binary(const std::string& type) {
    const Module module =
        load("math.cu", {"unary<float>", "unary<double>", "binary<float>", "binary<double>"});
    const Kernel kernel = module.kernel("binary<" + type + ">");
    const auto first = sample<T>(-20, 20, 2000), second = sample<T>(-7, 9, 2000);
    const std::vector<T> x(first), y(second.rbegin(), second.rend());
    const auto n = static_cast<unsigned>(x.size());
    for (int f = 0; f < kBinaryFunctions; ++f) {
      const BinaryRow& row = kBinary[f];
      const double bound = sizeof(T) == 4 ? row.ulp_f32 : row.ulp_f64;
      const Buffer<T> out(device(), n);
      kernel.launch({.grid = ceil_div(n, 128u), .block = 128}, out, Buffer<T>::of(device(), x),
                    Buffer<T>::of(device(), y), n, f);
      const auto got = out.download();
      double worst = 0;
      unsigned at = 0;
      for (unsigned i = 0; i < n; ++i) {
        const double error = ulps(got[i], row.host(x[i], y[i]));
        if (!(error <= worst)) worst = error, at = i;
      }
      EXPECT_LE(worst, bound + 0.5)
          << row.name << " of " << type << " at " << x[at] << ", " << y[at];
    }
  }
};

TEST_F(Math, UnaryFunctionsOfFloat) {
  expect_unary<float>("float");
}
TEST_F(Math, UnaryFunctionsOfDouble) {
  expect_unary<double>("double");
}
TEST_F(Math, BinaryFunctionsOfFloat) {
  expect_binary<float>("float");
}
TEST_F(Math, BinaryFunctionsOfDouble) {
  expect_binary<double>("double");
}

TEST_F(Math, FastFunctionsKeepTheirBounds) {
  const auto x = sample<float>(-3.14, 3.14, 2000);
  const auto y = sample<float>(0.51, 1.99, 2000);
  const auto n = static_cast<unsigned>(x.size());
  const Buffer<float> out(device(), 8 * n);
  load("math.cu").kernel("fast").launch({.grid = ceil_div(n, 128u), .block = 128}, out,
                                        Buffer<float>::of(device(), x),
                                        Buffer<float>::of(device(), y), n);
  const auto got = out.download();
  for (unsigned i = 0; i < n; ++i) {
    const double a = x[i], b = y[i];
    const float* const mine = &got[8 * i];
    // The bounds are the programming guide's, "Intrinsic Functions".
    EXPECT_LE(ulps(mine[0], std::exp(static_cast<long double>(a))),
              2.5 + std::floor(std::fabs(1.173 * a)))
        << a;
    EXPECT_NEAR(mine[1], std::log(b), std::exp2(-21.41)) << b;
    EXPECT_NEAR(mine[2], std::sin(a), std::exp2(-21.41)) << a;
    EXPECT_NEAR(mine[3], std::cos(a), std::exp2(-21.19)) << a;
    EXPECT_LE(ulps(mine[4], static_cast<long double>(a) / b), 2.5) << a << " / " << b;
    EXPECT_NEAR(mine[5], std::log2(b), std::exp2(-22)) << b;
    EXPECT_LE(ulps(mine[6], 1 / std::sqrt(static_cast<long double>(b))), 0.5) << b;
    EXPECT_EQ(mine[7], std::fmin(std::fmax(x[i], 0.0f), 1.0f)) << a;
  }
}

// One operation in the host's current rounding mode; volatile keeps the compiler from doing it
// ahead in another.
template <typename T>
T rounded(int op, T a, T b, T c) {
  volatile T x = a, y = b, z = c, result = 0;
  switch (op) {
    case 0:
      result = x + y;
      break;
    case 1:
      result = x * y;
      break;
    case 2:
      result = std::fma(x, y, z);
      break;
    case 3:
      result = x / y;
      break;
    case 4:
      result = std::sqrt(x);
      break;
    default:
      result = 1 / x;
  }
  return result;
}

template <typename T>
std::vector<T> extreme_values() {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           T(-0.0),
                           1,
                           -1,
                           T(1) / 3,
                           L::min(),
                           L::max(),
                           L::lowest(),
                           L::infinity(),
                           -L::infinity(),
                           L::quiet_NaN(),
                           L::denorm_min(),
                           -L::denorm_min(),
                           L::epsilon(),
                           3,
                           T(0.1),
                           T(1e10)};
  values.push_back(std::nextafter(L::min(), T(0)));
  values.push_back(std::nextafter(T(1), T(2)));
  std::mt19937_64 random(5);
  for (int i = 0; i < 12; ++i) {
    values.push_back(static_cast<T>(std::ldexp(static_cast<double>(random()) * 0x1p-64 - 0.5,
                                               static_cast<int>(random() % 60) - 30)));
  }
  return values;
}

template <typename T>
void expect_rounded(const Device& device, const Kernel& kernel) {
  const auto values = extreme_values<T>();
  std::vector<T> a, b, c;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      a.push_back(values[i]);
      b.push_back(values[j]);
      c.push_back(values[(i * 7 + j * 3) % values.size()]);
    }
  }
  const auto n = static_cast<unsigned>(a.size());
  const Buffer<T> out(device, 24 * n);
  kernel.launch({.grid = ceil_div(n, 128u), .block = 128}, out, Buffer<T>::of(device, a),
                Buffer<T>::of(device, b), Buffer<T>::of(device, c), n);
  const auto got = out.download();
  const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  for (int k = 0; k < 24; ++k) {
    std::vector<T> want(n);
    std::fesetround(modes[k % 4]);
    for (unsigned i = 0; i < n; ++i) want[i] = rounded(k / 4, a[i], b[i], c[i]);
    std::fesetround(FE_TONEAREST);
    for (unsigned i = 0; i < n; ++i) {
      const T value = got[24 * i + k];
      if (std::isnan(want[i])) {
        ASSERT_TRUE(std::isnan(value)) << k << " of " << a[i] << ", " << b[i] << ", " << c[i];
      } else {
        ASSERT_EQ(std::memcmp(&value, &want[i], sizeof(T)), 0)
            << "operation " << k / 4 << " mode " << k % 4 << " of " << a[i] << ", " << b[i] << ", "
            << c[i] << ": " << value << ", not " << want[i];
      }
    }
  }
}

TEST_F(Math, RoundsEveryModeOfFloatToTheLastBit) {
  expect_rounded<float>(device(), load("math.cu").kernel("rounded_f32"));
}
TEST_F(Math, RoundsEveryModeOfDoubleToTheLastBit) {
  expect_rounded<double>(device(), load("math.cu").kernel("rounded_f64"));
}

}  // namespace
}  // namespace baton::conformance::math_test
