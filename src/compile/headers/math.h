#pragma once
// The functions themselves are built into the compiler.
#ifndef INFINITY
// Constants, which variables may begin with.
#define INFINITY __builtin_bit_cast(float, 0x7f800000)
#endif
#ifndef NAN
#define NAN __builtin_bit_cast(float, 0x7fc00000)  // the NaN of the host compiler
#endif
#ifndef HUGE_VALF
#define HUGE_VALF INFINITY
#define HUGE_VAL __builtin_bit_cast(double, 0x7ff0000000000000LL)
#endif
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif

// The compiler has these for float and double; with an integer among its arguments a function takes
// all of them as doubles, as in C++'s own library.
template <typename _T>
struct baton_number {
  enum { is_any = 0, is_integer = 0 };
};
#define BATON_NUMBER(type, is)            \
  template <>                             \
  struct baton_number<type> {             \
    enum { is_any = 1, is_integer = is }; \
  };
BATON_NUMBER(bool, 1)
BATON_NUMBER(char, 1)
BATON_NUMBER(signed char, 1)
BATON_NUMBER(unsigned char, 1)
BATON_NUMBER(short, 1)
BATON_NUMBER(unsigned short, 1)
BATON_NUMBER(int, 1)
BATON_NUMBER(unsigned, 1)
BATON_NUMBER(long, 1)
BATON_NUMBER(unsigned long, 1)
BATON_NUMBER(long long, 1)
BATON_NUMBER(unsigned long long, 1)
BATON_NUMBER(float, 0)
BATON_NUMBER(double, 0)
#undef BATON_NUMBER

template <bool holds, typename Result>
struct baton_where {};
template <typename Result>
struct baton_where<true, Result> {
  using type = Result;
};

#define BATON_UNARY(result, name)                                                              \
  template <typename _T>                                                                        \
  __device__ inline typename baton_where<baton_number<_T>::is_integer != 0, result>::type name( \
      _T x) {                                                                                   \
    return name((double)x);                                                                    \
  }
BATON_UNARY(double, acos)
BATON_UNARY(double, acosh)
BATON_UNARY(double, asin)
BATON_UNARY(double, asinh)
BATON_UNARY(double, atan)
BATON_UNARY(double, atanh)
BATON_UNARY(double, cbrt)
BATON_UNARY(double, ceil)
BATON_UNARY(double, cos)
BATON_UNARY(double, cosh)
BATON_UNARY(double, erf)
BATON_UNARY(double, erfc)
BATON_UNARY(double, exp)
BATON_UNARY(double, exp2)
BATON_UNARY(double, expm1)
BATON_UNARY(double, fabs)
BATON_UNARY(double, floor)
BATON_UNARY(double, lgamma)
BATON_UNARY(double, log)
BATON_UNARY(double, log10)
BATON_UNARY(double, log1p)
BATON_UNARY(double, log2)
BATON_UNARY(double, logb)
BATON_UNARY(double, nearbyint)
BATON_UNARY(double, rint)
BATON_UNARY(double, round)
BATON_UNARY(double, sin)
BATON_UNARY(double, sinh)
BATON_UNARY(double, sqrt)
BATON_UNARY(double, tan)
BATON_UNARY(double, tanh)
BATON_UNARY(double, tgamma)
BATON_UNARY(double, trunc)
BATON_UNARY(bool, isfinite)
BATON_UNARY(bool, isinf)
BATON_UNARY(bool, isnan)
BATON_UNARY(bool, signbit)
BATON_UNARY(int, ilogb)
BATON_UNARY(long, lrint)
BATON_UNARY(long, lround)
BATON_UNARY(long long, llrint)
BATON_UNARY(long long, llround)
#undef BATON_UNARY

template <typename _T, typename _U>
struct baton_mixed
    : baton_where<baton_number<_T>::is_any + baton_number<_U>::is_any == 2 &&
                      baton_number<_T>::is_integer + baton_number<_U>::is_integer != 0,
                  double> {};
#define BATON_BINARY(name)                                            \
  template <typename _T, typename _U>                                   \
  __device__ inline typename baton_mixed<_T, _U>::type name(_T x, _U y) { \
    return name((double)x, (double)y);                                \
  }
BATON_BINARY(atan2)
BATON_BINARY(copysign)
BATON_BINARY(fdim)
BATON_BINARY(fmax)
BATON_BINARY(fmin)
BATON_BINARY(fmod)
BATON_BINARY(hypot)
BATON_BINARY(nextafter)
BATON_BINARY(pow)
BATON_BINARY(remainder)
#undef BATON_BINARY
__device__ inline double pow(float base, double exponent) { return pow((double)base, exponent); }
__device__ inline double pow(double base, float exponent) { return pow(base, (double)exponent); }
