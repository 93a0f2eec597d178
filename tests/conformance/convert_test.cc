#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <random>

#include "base/array/float_convert.h"
#include "conformance/conformance.h"

namespace baton::conformance::convert_test {
namespace {

std::vector<double> interesting_doubles() {
  std::vector<double> values = {
      0.0,      -0.0,     0.5,       -0.5, 1.5,     2.5,    -1.5,  -2.5,  0.49999999999999994,
      1e-310,   INFINITY, -INFINITY, NAN,  3.4e38,  3.5e38, 1e-45, 7e-46, 65504,
      65519.99, 65520,    65536,     6e-8, 2.98e-8, 448,    464,   465,   57344,
      61440,    61441};
  for (int power : {7, 8, 15, 16, 23, 24, 31, 32, 52, 53, 62, 63, 64}) {
    for (double offset : {-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5}) {
      values.push_back(std::ldexp(1.0, power) + offset);
      values.push_back(-std::ldexp(1.0, power) + offset);
    }
  }
  std::mt19937_64 random(3);
  for (int i = 0; i < 300; ++i) {
    values.push_back(std::ldexp(static_cast<double>(random()) * 0x1p-64 - 0.5,
                                static_cast<int>(random() % 140) - 70));
  }
  return values;
}

// As the device does: what the type does not hold clamps. NaN from f32 is 0 in 32 bits; from f64,
// and in 64 bits, it is the pattern of the most negative number, signed or not (as an H200 gives).
template <typename To, typename From>
To saturated(From value, int mode) {
  using L = std::numeric_limits<To>;
  if (std::isnan(value)) {
    const bool zero = sizeof(To) == 4 && sizeof(From) == 4;
    return zero ? 0 : static_cast<To>(std::uint64_t{1} << (sizeof(To) * 8 - 1));
  }
  // Volatile: the compiler must not round before the mode is set.
  const volatile double unrounded = value;
  std::fesetround(mode);
  const volatile double rounded = std::nearbyint(unrounded);
  std::fesetround(FE_TONEAREST);
  const double whole = rounded;
  if (whole <= static_cast<double>(L::min())) return L::min();
  if (whole >= static_cast<double>(L::max())) return L::max();
  return static_cast<To>(whole);
}

using Conversions = Conformance;

TEST_F(Conversions, FloatsToIntegersRoundAndSaturate) {
  const auto doubles = interesting_doubles();
  const std::vector<float> floats(doubles.begin(), doubles.end());
  const auto n = static_cast<unsigned>(doubles.size());
  const Buffer<long long> out(device(), 16 * n);
  load("convert.cu")
      .kernel("to_integers")
      .launch({.grid = ceil_div(n, 128u), .block = 128}, out, Buffer<float>::of(device(), floats),
              Buffer<double>::of(device(), doubles), n);
  const auto got = out.download();
  for (unsigned i = 0; i < n; ++i) {
    const float f = floats[i];
    const double d = doubles[i];
    const auto u64 = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
    const std::int64_t want[] = {
        saturated<std::int32_t>(f, FE_TONEAREST),
        saturated<std::int32_t>(f, FE_TOWARDZERO),
        saturated<std::int32_t>(f, FE_DOWNWARD),
        saturated<std::int32_t>(f, FE_UPWARD),
        saturated<std::uint32_t>(f, FE_TONEAREST),
        saturated<std::uint32_t>(f, FE_TOWARDZERO),
        saturated<std::int64_t>(f, FE_TONEAREST),
        u64(saturated<std::uint64_t>(f, FE_TOWARDZERO)),
        saturated<std::int32_t>(d, FE_TONEAREST),
        saturated<std::int32_t>(d, FE_TOWARDZERO),
        saturated<std::int32_t>(d, FE_DOWNWARD),
        saturated<std::uint32_t>(d, FE_UPWARD),
        saturated<std::int64_t>(d, FE_TONEAREST),
        saturated<std::int64_t>(d, FE_DOWNWARD),
        u64(saturated<std::uint64_t>(d, FE_TONEAREST)),
        std::bit_cast<std::int64_t>(d) ^ std::bit_cast<std::int32_t>(floats[i])};
    for (int k = 0; k < 16; ++k) {
      ASSERT_EQ(got[16 * i + k], want[k]) << "conversion " << k << " of " << d;
    }
  }
}

TEST_F(Conversions, IntegersToFloatsRound) {
  std::vector<long long> in = {0,
                               1,
                               -1,
                               16777215,
                               16777216,
                               16777217,
                               16777219,
                               -16777217,
                               2147483647,
                               -2147483648LL,
                               4294967295LL,
                               (1LL << 53) + 1,
                               (1LL << 53) + 3,
                               -(1LL << 53) - 1,
                               INT64_MAX,
                               INT64_MIN,
                               INT64_MAX - 512,
                               0x7fffffbfffffffff,
                               0x7fffffc000000001};
  std::mt19937_64 random(9);
  for (int i = 0; i < 200; ++i) in.push_back(static_cast<long long>(random() >> (random() % 64)));
  const auto n = static_cast<unsigned>(in.size());
  const Buffer<double> out(device(), 12 * n);
  load("convert.cu")
      .kernel("from_integers")
      .launch({.grid = ceil_div(n, 128u), .block = 128}, out, Buffer<long long>::of(device(), in),
              n);
  const auto got = out.download();
  const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  for (unsigned i = 0; i < n; ++i) {
    const volatile std::int64_t value = in[i];
    const volatile auto narrow = static_cast<std::int32_t>(value);
    const volatile auto unsigned_narrow = static_cast<std::uint32_t>(value);
    const volatile auto wide = static_cast<std::uint64_t>(value);
    double want[12];
    for (int k = 0; k < 4; ++k) {
      std::fesetround(modes[k]);
      const volatile float rounded = static_cast<float>(narrow);
      want[k] = rounded;
    }
    std::fesetround(FE_TOWARDZERO);
    const volatile float toward_zero = static_cast<float>(wide);
    std::fesetround(FE_DOWNWARD);
    const volatile double down = static_cast<double>(value);
    std::fesetround(FE_UPWARD);
    const volatile double up = static_cast<double>(wide);
    std::fesetround(FE_TONEAREST);
    want[4] = static_cast<float>(unsigned_narrow);
    want[5] = static_cast<float>(value);
    want[6] = toward_zero;
    want[7] = static_cast<double>(value);
    want[8] = down;
    want[9] = static_cast<double>(wide);
    want[10] = up;
    want[11] = narrow;
    for (int k = 0; k < 12; ++k) {
      ASSERT_EQ(got[12 * i + k], want[k]) << "conversion " << k << " of " << in[i];
    }
  }
}

TEST_F(Conversions, DoublesToFloatsRound) {
  const auto in = interesting_doubles();
  const auto n = static_cast<unsigned>(in.size());
  const Buffer<float> out(device(), 4 * n);
  load("convert.cu")
      .kernel("narrow_doubles")
      .launch({.grid = ceil_div(n, 128u), .block = 128}, out, Buffer<double>::of(device(), in), n);
  const auto got = out.download();
  const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  for (unsigned i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k) {
      std::fesetround(modes[k]);
      const volatile double value = in[i];
      const volatile float want = static_cast<float>(value);
      std::fesetround(FE_TONEAREST);
      if (std::isnan(in[i])) {
        EXPECT_TRUE(std::isnan(got[4 * i + k]));
      } else {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(got[4 * i + k]),
                  std::bit_cast<std::uint32_t>(float{want}))
            << in[i] << " mode " << k;
      }
    }
  }
}

class NarrowFloats : public Conformance {
 protected:
  // All 65,536 values of a 16-bit type widen exactly.
  void expect_widening(const char* kernel, DType dtype) {
    std::vector<std::uint16_t> in(65536);
    for (unsigned i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint16_t>(i);
    const Buffer<float> out(device(), in.size());
    load("convert.cu")
        .kernel(kernel)
        .launch({.grid = 256, .block = 256}, out, Buffer<std::uint16_t>::of(device(), in), 65536u);
    const auto got = out.download();
    for (unsigned i = 0; i < in.size(); ++i) {
      const double want = decode_float(dtype, i);
      if (std::isnan(want)) {
        ASSERT_TRUE(std::isnan(got[i])) << i;
      } else {
        ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i]),
                  std::bit_cast<std::uint32_t>(static_cast<float>(want)))
            << i;
      }
    }
  }

  // Every value, every midpoint between neighbours, and what lies just beside the midpoints.
  void expect_narrowing(const char* kernel, DType dtype) {
    std::vector<float> in;
    for (unsigned bits = 0; bits < 0x7fff; bits += 5) {
      const double value = decode_float(dtype, bits), next = decode_float(dtype, bits + 1);
      if (std::isnan(value) || std::isnan(next)) continue;
      const auto middle = static_cast<float>(std::isinf(next) ? value : value + (next - value) / 2);
      for (float f : {static_cast<float>(value), middle, std::nextafter(middle, 0.0f),
                      std::nextafter(middle, INFINITY)}) {
        in.push_back(f);
        in.push_back(-f);
      }
    }
    for (double d : interesting_doubles()) in.push_back(static_cast<float>(d));
    const auto n = static_cast<unsigned>(in.size());
    const Buffer<std::uint16_t> out(device(), n);
    load("convert.cu")
        .kernel(kernel)
        .launch({.grid = ceil_div(n, 256u), .block = 256}, out, Buffer<float>::of(device(), in), n);
    const auto got = out.download();
    for (unsigned i = 0; i < n; ++i) {
      if (std::isnan(in[i])) {
        ASSERT_TRUE(std::isnan(decode_float(dtype, got[i])));
      } else {
        ASSERT_EQ(got[i], encode_float(dtype, in[i])) << in[i];
      }
    }
  }
};

TEST_F(NarrowFloats, HalvesWiden) {
  expect_widening("half_to_float", DType::kF16);
}
TEST_F(NarrowFloats, BfloatsWiden) {
  expect_widening("bfloat_to_float", DType::kBF16);
}
TEST_F(NarrowFloats, FloatsNarrowToHalves) {
  expect_narrowing("float_to_half", DType::kF16);
}
TEST_F(NarrowFloats, FloatsNarrowToBfloats) {
  expect_narrowing("float_to_bfloat", DType::kBF16);
}

TEST_F(NarrowFloats, HalvesCompute) {
  std::vector<std::uint16_t> a, b;
  const std::uint16_t values[] = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x03ff, 0x0400, 0x7bff,
                                  0xfbff, 0x7c00, 0x3555, 0x4248, 0x2e66, 0xd640, 0x5bff, 0x1234};
  for (std::uint16_t x : values) {
    for (std::uint16_t y : values) a.push_back(x), b.push_back(y);
  }
  const auto n = static_cast<unsigned>(a.size());
  const Buffer<std::uint16_t> out(device(), 6 * n);
  load("convert.cu")
      .kernel("half_arithmetic")
      .launch({.grid = ceil_div(n, 128u), .block = 128}, out,
              Buffer<std::uint16_t>::of(device(), a), Buffer<std::uint16_t>::of(device(), b), n);
  const auto got = out.download();
  for (unsigned i = 0; i < n; ++i) {
    const double x = decode_float(DType::kF16, a[i]), y = decode_float(DType::kF16, b[i]);
    // Exact in double (the fused one too: 22 bits of product against 11, at most 40 apart).
    const double want[] = {x + y, x - y, x * y, x * y + x, x + y, y + y};
    for (int k = 0; k < 6; ++k) {
      const std::uint16_t bits = got[6 * i + k];
      if (std::isnan(want[k])) {
        ASSERT_TRUE(std::isnan(decode_float(DType::kF16, bits))) << k << " " << x << " " << y;
      } else {
        ASSERT_EQ(bits, encode_float(DType::kF16, want[k])) << k << " of " << x << ", " << y;
      }
    }
  }
}

TEST_F(NarrowFloats, Fp8BothWays) {
  std::vector<float> in;
  for (DType dtype : {DType::kF8E4M3, DType::kF8E5M2}) {
    for (unsigned bits = 0; bits < 256; ++bits) {
      const double value = decode_float(dtype, bits);
      const double next = decode_float(dtype, (bits + 1) & 0xff);
      if (!std::isfinite(value)) continue;
      in.push_back(static_cast<float>(value));
      if (std::isfinite(next)) in.push_back(static_cast<float>((value + next) / 2));
    }
  }
  for (double d : interesting_doubles()) {
    if (!std::isnan(d)) in.push_back(static_cast<float>(d));
  }
  const auto n = static_cast<unsigned>(in.size());
  const Buffer<float> out(device(), 2 * n);
  const Buffer<std::uint8_t> bits(device(), 2 * n);
  load("convert.cu")
      .kernel("fp8_both_ways")
      .launch({.grid = ceil_div(n, 128u), .block = 128}, out, bits, Buffer<float>::of(device(), in),
              n);
  const auto got = out.download();
  const auto got_bits = bits.download();
  const std::pair<DType, double> types[] = {{DType::kF8E4M3, 448}, {DType::kF8E5M2, 57344}};
  for (unsigned i = 0; i < n; ++i) {
    for (int k = 0; k < 2; ++k) {
      const auto [dtype, largest] = types[k];
      // The conversion saturates to the largest finite value, infinities included.
      const double clamped = std::fmin(std::fmax(in[i], -largest), largest);
      ASSERT_EQ(got_bits[2 * i + k], encode_float(dtype, clamped)) << in[i] << " type " << k;
      ASSERT_EQ(got[2 * i + k], decode_float(dtype, got_bits[2 * i + k])) << in[i];
    }
  }
}

TEST_F(Conversions, BetweenIntegerWidths) {
  const Module module =
      load("convert.cu", {"convert<signed char, int>", "convert<int, signed char>",
                          "convert<unsigned short, long long>", "convert<long long, unsigned int>",
                          "convert<long long, int>"});
  std::vector<int> ints = {0, 1, -1, 127, 128, 255, 256, -128, -129, INT32_MAX, INT32_MIN};
  const auto narrowed = map<std::int8_t>(module.kernel("convert<signed char, int>"), ints);
  const auto widened = map<int>(module.kernel("convert<int, signed char>"), narrowed);
  const auto signed_wide = map<long long>(module.kernel("convert<long long, int>"), ints);
  const std::vector<unsigned> bits(ints.begin(), ints.end());
  const auto unsigned_wide =
      map<long long>(module.kernel("convert<long long, unsigned int>"), bits);
  const auto shorts =
      map<std::uint16_t>(module.kernel("convert<unsigned short, long long>"), signed_wide);
  for (std::size_t i = 0; i < ints.size(); ++i) {
    EXPECT_EQ(narrowed[i], static_cast<std::int8_t>(ints[i]));
    EXPECT_EQ(widened[i], narrowed[i]);
    EXPECT_EQ(signed_wide[i], ints[i]);
    EXPECT_EQ(unsigned_wide[i], static_cast<long long>(bits[i]));
    EXPECT_EQ(shorts[i], static_cast<std::uint16_t>(ints[i]));
  }
}

}  // namespace
}  // namespace baton::conformance::convert_test
