// The mathematical functions that are checked against the host, with the largest error in units of the
// last place that the CUDA C++ Programming Guide states for each (appendix "Mathematical
// Functions", tables of single and double precision; correctly rounded ones are 0).
// X(name, device expression of x, host expression of long double x, ulp f32, ulp f64, range)
#define UNARY_FUNCTIONS(X)                                                \
  X(sqrt, sqrt(x), std::sqrt(x), 0, 0, 0, 1e6)                            \
  X(rsqrt, rsqrt(x), 1 / std::sqrt(x), 2, 1, 1e-3, 1e6)                   \
  X(cbrt, cbrt(x), std::cbrt(x), 1, 1, -1e5, 1e5)                         \
  X(exp, exp(x), std::exp(x), 2, 1, -80, 80)                              \
  X(exp2, exp2(x), std::exp2(x), 2, 1, -120, 120)                         \
  X(exp10, exp10(x), std::pow(10.0L, x), 2, 1, -35, 35)                   \
  X(expm1, expm1(x), std::expm1(x), 1, 1, -5, 80)                         \
  X(log, log(x), std::log(x), 1, 1, 1e-4, 1e6)                            \
  X(log2, log2(x), std::log2(x), 1, 1, 1e-4, 1e6)                         \
  X(log10, log10(x), std::log10(x), 2, 1, 1e-4, 1e6)                      \
  X(log1p, log1p(x), std::log1p(x), 1, 1, -0.9, 1e4)                      \
  X(sin, sin(x), std::sin(x), 2, 2, -200, 200)                            \
  X(cos, cos(x), std::cos(x), 2, 2, -200, 200)                            \
  X(sin_of_large, sin(x), std::sin(x), 2, 2, 1e6, 1e9)                    \
  X(tan, tan(x), std::tan(x), 4, 2, -10, 10)                              \
  X(asin, asin(x), std::asin(x), 2, 2, -1, 1)                             \
  X(acos, acos(x), std::acos(x), 2, 2, -1, 1)                             \
  X(atan, atan(x), std::atan(x), 2, 2, -50, 50)                           \
  X(sinh, sinh(x), std::sinh(x), 3, 2, -20, 20)                           \
  X(cosh, cosh(x), std::cosh(x), 2, 1, -20, 20)                           \
  X(tanh, tanh(x), std::tanh(x), 2, 1, -5, 5)                             \
  X(asinh, asinh(x), std::asinh(x), 3, 3, -50, 50)                        \
  X(acosh, acosh(x), std::acosh(x), 4, 3, 1, 100)                         \
  X(atanh, atanh(x), std::atanh(x), 3, 2, -0.99, 0.99)                    \
  X(erf, erf(x), std::erf(x), 2, 2, -4, 4)                                \
  X(erfc, erfc(x), std::erfc(x), 4, 5, -4, 4)                             \
  X(tgamma, tgamma(x), std::tgamma(x), 5, 10, 0.5, 20)                    \
  X(lgamma, lgamma(x), std::lgamma(x), 6, 4, 0.5, 100)                    \
  X(erfcx, erfcx(x), std::exp(x * x) * std::erfc(x), 4, 4, -2, 5)         \
  X(erfinv, erfinv(x), inverse_erf(x), 2, 5, -0.99, 0.99)                 \
  X(normcdf, normcdf(x), std::erfc(-x * std::sqrt(0.5L)) / 2, 5, 5, -5, 5) \
  X(rcbrt, rcbrt(x), 1 / std::cbrt(x), 1, 1, 1e-3, 1e6)                   \
  X(sinpi, sinpi(x), sin_pi(x), 1, 2, -9, 9)                              \
  X(cospi, cospi(x), sin_pi(x + 0.5L), 1, 2, -9, 9)                       \
  X(floor, floor(x), std::floor(x), 0, 0, -1e6, 1e6)                      \
  X(ceil, ceil(x), std::ceil(x), 0, 0, -1e6, 1e6)                         \
  X(trunc, trunc(x), std::trunc(x), 0, 0, -1e6, 1e6)                      \
  X(rint, rint(x), std::rint(x), 0, 0, -1e6, 1e6)                         \
  X(round, round(x), std::round(x), 0, 0, -1e6, 1e6)                      \
  X(fabs, fabs(x), std::fabs(x), 0, 0, -1e6, 1e6)

// X(name, device expression of x and y, host expression, ulp f32, ulp f64)
#define BINARY_FUNCTIONS(X)                                               \
  X(add, x + y, x + y, 0, 0)                                              \
  X(divide, x / y, x / y, 0, 0)                                           \
  X(pow, pow(fabs(x), y), std::pow(std::fabs(x), y), 4, 2)                \
  X(atan2, atan2(x, y), std::atan2(x, y), 3, 2)                           \
  X(hypot, hypot(x, y), std::hypot(x, y), 3, 2)                           \
  X(rhypot, rhypot(x, y), 1 / std::hypot(x, y), 2, 1)                     \
  X(fmod, fmod(x, y), std::fmod(x, y), 0, 0)                              \
  X(remainder, remainder(x, y), std::remainder(x, y), 0, 0)               \
  X(fdim, fdim(x, y), std::fdim(x, y), 0, 0)                              \
  X(fmin, fmin(x, y), std::fmin(x, y), 0, 0)                              \
  X(fmax, fmax(x, y), std::fmax(x, y), 0, 0)                              \
  X(copysign, copysign(x, y), std::copysign(x, y), 0, 0)

enum UnaryFunction {
#define X(name, expression, host, ulp_f32, ulp_f64, low, high) kUnary_##name,
  UNARY_FUNCTIONS(X)
#undef X
      kUnaryFunctions
};

enum BinaryFunction {
#define X(name, expression, host, ulp_f32, ulp_f64) kBinary_##name,
  BINARY_FUNCTIONS(X)
#undef X
      kBinaryFunctions
};
