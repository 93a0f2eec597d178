#include "instructions/soft_float.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

// The references of floating instructions are only as good as the arithmetic they are made of. It
// is checked against vectors worked out by hand and, for the four rounding modes that the host has,
// against the host's own arithmetic. Compiled with -frounding-math.
namespace baton::instructions::soft_float_test {
namespace {

struct HostMode {
  Rounding rounding;
  int fenv;
};
constexpr HostMode kModes[] = {{Rounding::kRn, FE_TONEAREST},
                               {Rounding::kRz, FE_TOWARDZERO},
                               {Rounding::kRm, FE_DOWNWARD},
                               {Rounding::kRp, FE_UPWARD}};

class HostRounding {
 public:
  explicit HostRounding(int mode) : before_(std::fegetround()) { std::fesetround(mode); }
  ~HostRounding() { std::fesetround(before_); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;

 private:
  int before_;
};

template <typename Float, typename Bits>
struct Host {
  const FloatFormat& format;

  static Float value(Bits bits) { return std::bit_cast<Float>(bits); }
  void expect(std::uint64_t got, Float want, const char* what, Bits a, Bits b, Bits c) const {
    if (std::isnan(want)) {
      EXPECT_TRUE(is_nan(format, got)) << what << std::hex << " of " << a << ' ' << b << ' ' << c;
    } else {
      EXPECT_EQ(got, std::bit_cast<Bits>(want))
          << what << std::hex << " of " << a << ' ' << b << ' ' << c;
    }
  }

  // Volatile, so that nothing is computed before the rounding mode is set.
  void compare(Bits a, Bits b, Bits c, const HostMode& mode) const {
    volatile Float x = value(a), y = value(b), z = value(c);
    volatile Float added, multiplied, divided, fused, root;
    {
      const HostRounding rounding(mode.fenv);
      added = x + y;
      multiplied = x * y;
      divided = x / y;
      fused = std::fma(x, y, z);
      root = std::sqrt(x);
    }
    expect(soft_add(format, a, b, mode.rounding), added, "add", a, b, c);
    expect(soft_mul(format, a, b, mode.rounding), multiplied, "mul", a, b, c);
    expect(soft_div(format, a, b, mode.rounding), divided, "div", a, b, c);
    expect(soft_fma(format, a, b, c, mode.rounding), fused, "fma", a, b, c);
    expect(soft_sqrt(format, a, mode.rounding), root, "sqrt", a, b, c);
  }

  void compare_many(int count) const {
    std::mt19937_64 random(7);
    for (int i = 0; i < count; ++i) {
      Bits bits[3];
      for (Bits& each : bits) {
        each = static_cast<Bits>(random());
        // Half of them close to one, so that sums cancel and products stay finite.
        if (random() % 2 == 0) {
          const auto field = static_cast<Bits>(format.bias()) + static_cast<Bits>(random() % 8);
          each = static_cast<Bits>((each & (format.sign_bit() | format.fraction_mask())) |
                                   field << format.fraction_bits);
        }
        if (random() % 8 == 0) each &= static_cast<Bits>(format.sign_bit() | 7);  // subnormal
      }
      if (random() % 4 == 0) bits[2] = static_cast<Bits>(bits[0] ^ format.sign_bit());
      for (const HostMode& mode : kModes) compare(bits[0], bits[1], bits[2], mode);
      if (testing::Test::HasFailure()) return;
    }
  }
};

TEST(SoftFloat, AgreesWithTheHostInSinglePrecision) {
  Host<float, std::uint32_t>{kF32Format}.compare_many(20000);
}

TEST(SoftFloat, AgreesWithTheHostInDoublePrecision) {
  Host<double, std::uint64_t>{kF64Format}.compare_many(20000);
}

TEST(SoftFloat, ConvertsAsTheHostDoes) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 20000; ++i) {
    std::uint64_t bits = random();
    if (i % 2 == 0) {  // in the range of float, subnormals included
      bits = (bits & ~(std::uint64_t{0x7ff} << 52)) | (1023 - 160 + random() % 300) << 52;
    }
    const double wide = std::bit_cast<double>(bits);
    if (std::isnan(wide)) continue;
    for (const HostMode& mode : kModes) {
      volatile double input = wide;
      volatile float narrow;
      volatile double integral;
      {
        const HostRounding rounding(mode.fenv);
        narrow = static_cast<float>(input);
        integral = std::nearbyint(input);
      }
      ASSERT_EQ(convert_float(kF64Format, bits, kF32Format, mode.rounding),
                std::bit_cast<std::uint32_t>(static_cast<float>(narrow)))
          << std::hex << bits;
      ASSERT_EQ(round_to_integral(kF64Format, bits, mode.rounding),
                std::bit_cast<std::uint64_t>(static_cast<double>(integral)))
          << std::hex << bits;
    }
  }
}

TEST(SoftFloat, VectorsByHand) {
  constexpr auto f = kF32Format;
  // 1 + 2^-24 is half way between 1 and its successor.
  EXPECT_EQ(soft_add(f, 0x3f800000, 0x33800000, Rounding::kRn), 0x3f800000u);
  EXPECT_EQ(soft_add(f, 0x3f800000, 0x33800000, Rounding::kRna), 0x3f800001u);
  EXPECT_EQ(soft_add(f, 0x3f800000, 0x33800000, Rounding::kRp), 0x3f800001u);
  EXPECT_EQ(soft_add(f, 0x3f800000, 0xb3800000, Rounding::kRz), 0x3f7fffffu);
  // 1 + 2^-149: far below the last bit, and still seen by a directed rounding.
  EXPECT_EQ(soft_add(f, 0x3f800000, 0x00000001, Rounding::kRp), 0x3f800001u);
  EXPECT_EQ(soft_add(f, 0x3f800000, 0x80000001, Rounding::kRm), 0x3f7fffffu);
  // x - x is +0, and -0 when rounding down.
  EXPECT_EQ(soft_add(f, 0x3f800000, 0xbf800000, Rounding::kRn), 0u);
  EXPECT_EQ(soft_add(f, 0x3f800000, 0xbf800000, Rounding::kRm), 0x80000000u);
  // Overflow: to infinity, or to the largest where rounding leads towards zero.
  EXPECT_EQ(soft_add(f, 0x7f7fffff, 0x7f7fffff, Rounding::kRn), 0x7f800000u);
  EXPECT_EQ(soft_add(f, 0x7f7fffff, 0x7f7fffff, Rounding::kRz), 0x7f7fffffu);
  EXPECT_EQ(soft_add(f, 0xff7fffff, 0xff7fffff, Rounding::kRm), 0xff800000u);
  // The smallest subnormal halved: a tie that goes to even zero, or up to itself.
  EXPECT_EQ(soft_mul(f, 0x00000001, 0x3f000000, Rounding::kRn), 0u);
  EXPECT_EQ(soft_mul(f, 0x00000001, 0x3f000000, Rounding::kRp), 1u);
  EXPECT_EQ(soft_mul(f, 0x7f800000, 0, Rounding::kRn), 0x7fffffffu);
  // (1 + 2^-12)^2 - 1 - 2^-11 is 2^-24, which a rounded product would lose.
  EXPECT_EQ(soft_fma(f, 0x3f800800, 0x3f800800, 0xbf801000, Rounding::kRn), 0x33800000u);
  EXPECT_EQ(soft_div(f, 0x3f800000, 0x40400000, Rounding::kRn), 0x3eaaaaabu);
  EXPECT_EQ(soft_div(f, 0x3f800000, 0x40400000, Rounding::kRz), 0x3eaaaaaau);
  EXPECT_EQ(soft_div(f, 0xbf800000, 0, Rounding::kRn), 0xff800000u);
  EXPECT_EQ(soft_sqrt(f, 0x80000000, Rounding::kRn), 0x80000000u);
  EXPECT_EQ(soft_sqrt(f, 0x40800000, Rounding::kRm), 0x40000000u);
}

TEST(SoftFloat, NarrowFormatsByHand) {
  EXPECT_EQ(from_double(kF16Format, 65504.0), 0x7bffu);
  EXPECT_EQ(from_double(kF16Format, 65519.99), 0x7bffu);
  EXPECT_EQ(from_double(kF16Format, 65520.0), 0x7c00u);
  EXPECT_EQ(from_double(kF16Format, 0x1p-24), 0x0001u);
  EXPECT_EQ(from_double(kF16Format, 0x1p-25), 0x0000u);
  EXPECT_EQ(from_double(kF16Format, 0x1.8p-25), 0x0001u);
  EXPECT_EQ(from_double(kBF16Format, 1.00390625), 0x3f80u);  // a tie
  EXPECT_EQ(from_double(kBF16Format, 1.01171875), 0x3f82u);  // a tie
  EXPECT_EQ(from_double(kE4M3Format, 448.0), 0x7eu);
  EXPECT_EQ(convert_float(kF32Format, 0x7f7fffff, kE4M3Format, Rounding::kRn, true), 0x7eu);
  EXPECT_EQ(convert_float(kF32Format, 0xff800000, kE5M2Format, Rounding::kRn, true), 0xfbu);
  EXPECT_EQ(to_double(kE4M3Format, 0x01), 0x1p-9);
  EXPECT_EQ(to_double(kE5M2Format, 0x01), 0x1p-16);
  EXPECT_TRUE(std::isnan(to_double(kE4M3Format, 0x7f)));
  EXPECT_EQ(from_double(kTF32Format, 1.0 + 0x1p-11, Rounding::kRna), 0x1fc01u);
}

TEST(SoftFloat, ToIntegersByHand) {
  const auto convert = [](double x, unsigned width, bool is_signed, Rounding rounding) {
    return float_to_integer(kF64Format, std::bit_cast<std::uint64_t>(x), width, is_signed, rounding,
                            0);
  };
  EXPECT_EQ(convert(2.5, 32, true, Rounding::kRn), 2u);
  EXPECT_EQ(convert(3.5, 32, true, Rounding::kRn), 4u);
  EXPECT_EQ(convert(-2.5, 32, true, Rounding::kRm), 0xfffffffdu);
  EXPECT_EQ(convert(-2.5, 32, true, Rounding::kRz), 0xfffffffeu);
  EXPECT_EQ(convert(-0.5, 32, false, Rounding::kRm), 0u);
  EXPECT_EQ(convert(1e10, 32, true, Rounding::kRz), 0x7fffffffu);
  EXPECT_EQ(convert(-1e10, 32, true, Rounding::kRz), 0x80000000u);
  EXPECT_EQ(convert(300.0, 8, false, Rounding::kRz), 255u);
  EXPECT_EQ(convert(-129.0, 8, true, Rounding::kRz), 0x80u);
  EXPECT_EQ(convert(0x1p63, 64, false, Rounding::kRz), std::uint64_t{1} << 63);
  EXPECT_EQ(convert(0x1p64, 64, false, Rounding::kRz), ~std::uint64_t{0});
  EXPECT_EQ(convert(1e300, 64, true, Rounding::kRz), ~std::uint64_t{0} >> 1);
  EXPECT_EQ(convert(1e-300, 64, true, Rounding::kRp), 1u);
  EXPECT_EQ(convert(0.0, 64, true, Rounding::kRp), 0u);
  EXPECT_EQ(convert(-0.0, 64, true, Rounding::kRm), 0u);
  EXPECT_EQ(integer_to_float(kF32Format, false, 0x01000001, Rounding::kRn), 0x4b800000u);
  EXPECT_EQ(integer_to_float(kF32Format, false, 0x01000001, Rounding::kRp), 0x4b800001u);
  EXPECT_EQ(integer_to_float(kF32Format, true, 0x01000001, Rounding::kRm), 0xcb800001u);
}

}  // namespace
}  // namespace baton::instructions::soft_float_test
