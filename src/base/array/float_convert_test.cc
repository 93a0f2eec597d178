#include "base/array/float_convert.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "baton/error.h"

namespace baton::float_convert_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class NarrowFloat : public ::testing::TestWithParam<DType> {
 protected:
  DType dtype() const { return GetParam(); }
  std::uint64_t encodings() const { return std::uint64_t{1} << (8 * size_of(dtype())); }
  std::uint64_t sign_bit() const { return encodings() / 2; }

  // The finite numbers from zero upwards. In all these formats, as in IEEE 754, they are in the
  // order of their encodings.
  std::vector<double> magnitudes() const {
    std::vector<double> values;
    for (std::uint64_t bits = 0; bits < sign_bit(); ++bits) {
      const double value = decode_float(dtype(), bits);
      if (!std::isfinite(value)) break;
      values.push_back(value);
    }
    return values;
  }
};

TEST_P(NarrowFloat, EveryEncodingComesBackTheSame) {
  for (std::uint64_t bits = 0; bits < encodings(); ++bits) {
    const double value = decode_float(dtype(), bits);
    const std::uint64_t again = encode_float(dtype(), value);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(decode_float(dtype(), again))) << bits;
      EXPECT_EQ(again & sign_bit(), bits & sign_bit()) << bits;
    } else {
      EXPECT_EQ(again, bits) << value;
    }
    EXPECT_TRUE(holds_exactly(dtype(), value)) << bits;
  }
}

TEST_P(NarrowFloat, NegativeEncodingsMirrorPositiveOnes) {
  for (std::uint64_t bits = 0; bits < sign_bit(); ++bits) {
    const double value = decode_float(dtype(), bits);
    const double mirrored = decode_float(dtype(), bits | sign_bit());
    EXPECT_EQ(std::signbit(value), false) << bits;
    EXPECT_EQ(std::signbit(mirrored), true) << bits;
    EXPECT_TRUE(mirrored == -value || std::isnan(value)) << bits;
  }
}

TEST_P(NarrowFloat, MagnitudesRiseWithTheirEncodings) {
  const std::vector<double> values = magnitudes();
  EXPECT_EQ(values.front(), 0.0);
  EXPECT_EQ(std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()), values.end());
}

// Between any two neighbours: the middle goes to the even encoding, and the doubles just below and
// above it go down and up. A double holds every middle exactly.
TEST_P(NarrowFloat, RoundsToNearestAndTiesToEven) {
  const std::vector<double> values = magnitudes();
  for (std::size_t bits = 0; bits + 1 < values.size(); ++bits) {
    const double middle = (values[bits] + values[bits + 1]) / 2;
    const std::uint64_t even = bits % 2 == 0 ? bits : bits + 1;
    for (const double sign : {1.0, -1.0}) {
      const std::uint64_t flag = sign < 0 ? sign_bit() : 0;
      EXPECT_EQ(encode_float(dtype(), sign * middle), even | flag) << middle;
      EXPECT_EQ(encode_float(dtype(), sign * std::nextafter(middle, 0.0)), bits | flag) << middle;
      EXPECT_EQ(encode_float(dtype(), sign * std::nextafter(middle, kInfinity)), (bits + 1) | flag)
          << middle;
    }
    EXPECT_FALSE(holds_exactly(dtype(), middle)) << middle;
  }
}

TEST_P(NarrowFloat, OverflowsHalfAStepAboveTheLargest) {
  const std::vector<double> values = magnitudes();
  const double largest = values.back();
  const double limit = largest + (largest - values[values.size() - 2]) / 2;
  const double beyond = dtype() == DType::kF8E4M3 ? kNaN : kInfinity;
  const auto rounded = [&](double value) {
    return decode_float(dtype(), encode_float(dtype(), value));
  };
  EXPECT_EQ(rounded(std::nextafter(limit, 0.0)), largest);
  for (const double value : {std::nextafter(limit, kInfinity), 1e300, kInfinity}) {
    if (std::isnan(beyond)) {
      EXPECT_TRUE(std::isnan(rounded(value))) << value;
      EXPECT_TRUE(std::signbit(rounded(-value))) << value;
    } else {
      EXPECT_EQ(rounded(value), beyond) << value;
      EXPECT_EQ(rounded(-value), -beyond) << value;
    }
  }
  // The tie itself: the largest encoding is odd except in f8e4m3, so it goes up except there.
  if (dtype() == DType::kF8E4M3) {
    EXPECT_EQ(rounded(limit), largest);
  } else {
    EXPECT_EQ(rounded(limit), kInfinity);
  }
}

TEST_P(NarrowFloat, UnderflowsToZeroOfTheSameSign) {
  for (const double tiny : {std::numeric_limits<double>::denorm_min(), 1e-310, 1e-60}) {
    EXPECT_EQ(encode_float(dtype(), tiny), 0u);
    EXPECT_EQ(encode_float(dtype(), -tiny), sign_bit());
    EXPECT_FALSE(holds_exactly(dtype(), tiny));
  }
  EXPECT_EQ(encode_float(dtype(), -0.0), sign_bit());
}

// Any double goes to the nearest number there is: found here by searching all of them.
TEST_P(NarrowFloat, FindsTheNearestOfAllNumbers) {
  const std::vector<double> values = magnitudes();
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(std::log2(values[1]) - 3,
                                                  std::log2(values.back()));
  for (int i = 0; i < 100000; ++i) {
    const double value = std::exp2(exponent(random));
    if (value > values.back()) continue;
    const auto above = std::lower_bound(values.begin(), values.end(), value);
    ASSERT_NE(above, values.end());
    double nearest = *above;
    if (above != values.begin() && value - *(above - 1) < *above - value) nearest = *(above - 1);
    EXPECT_EQ(decode_float(dtype(), encode_float(dtype(), value)), nearest) << value;
  }
}

INSTANTIATE_TEST_SUITE_P(All, NarrowFloat,
                         ::testing::Values(DType::kF16, DType::kBF16, DType::kF8E4M3,
                                           DType::kF8E5M2),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

struct Known {
  DType dtype;
  std::uint64_t bits;
  double value;
};

// f16: IEEE 754-2008, table 3.5; the 8-bit formats: OCP 8-bit Floating Point Specification 1.0,
// table 2; bf16: the upper half of the float's encoding.
TEST(FloatConvert, MatchesThePublishedEncodings) {
  const Known known[] = {
      {DType::kF16, 0x3C00, 1.0},
      {DType::kF16, 0xC000, -2.0},
      {DType::kF16, 0x7BFF, 65504.0},
      {DType::kF16, 0x0400, std::exp2(-14)},
      {DType::kF16, 0x0001, std::exp2(-24)},
      {DType::kF16, 0x7C00, kInfinity},
      {DType::kF16, 0x3555, 0.333251953125},
      {DType::kBF16, 0x3F80, 1.0},
      {DType::kBF16, 0x4049, 3.140625},
      {DType::kBF16, 0x7F80, kInfinity},
      {DType::kBF16, 0x0001, std::exp2(-133)},
      {DType::kF8E4M3, 0x38, 1.0},
      {DType::kF8E4M3, 0x7E, 448.0},
      {DType::kF8E4M3, 0x08, std::exp2(-6)},
      {DType::kF8E4M3, 0x01, std::exp2(-9)},
      {DType::kF8E4M3, 0xFE, -448.0},
      {DType::kF8E5M2, 0x3C, 1.0},
      {DType::kF8E5M2, 0x7B, 57344.0},
      {DType::kF8E5M2, 0x04, std::exp2(-14)},
      {DType::kF8E5M2, 0x01, std::exp2(-16)},
      {DType::kF8E5M2, 0x7C, kInfinity},
  };
  for (const Known& entry : known) {
    EXPECT_EQ(decode_float(entry.dtype, entry.bits), entry.value) << to_string(entry.dtype);
    EXPECT_EQ(encode_float(entry.dtype, entry.value), entry.bits) << to_string(entry.dtype);
  }
  EXPECT_TRUE(std::isnan(decode_float(DType::kF8E4M3, 0x7F)));
  EXPECT_TRUE(std::isnan(decode_float(DType::kF8E4M3, 0xFF)));
  EXPECT_FALSE(std::isnan(decode_float(DType::kF8E4M3, 0x78)));
  EXPECT_TRUE(std::isnan(decode_float(DType::kF8E5M2, 0x7D)));
}

// One rounding, straight from double. By way of float, 1 + 2^-11 + 2^-30 would become the tie
// 1 + 2^-11, and that would go down to 1.
TEST(FloatConvert, RoundsOnce) {
  EXPECT_EQ(encode_float(DType::kF16, 1 + std::exp2(-11) + std::exp2(-30)), 0x3C01u);
  EXPECT_EQ(encode_float(DType::kBF16, 1 + std::exp2(-8) + std::exp2(-30)), 0x3F81u);
}

TEST(FloatConvert, IgnoresBitsAboveTheWidth) {
  EXPECT_EQ(decode_float(DType::kF16, 0xABCD3C00), 1.0);
  EXPECT_EQ(decode_float(DType::kF8E5M2, 0xFF3C), 1.0);
  EXPECT_EQ(decode_float(DType::kF32, 0xABCD00003F800000), 1.0);
}

TEST(FloatConvert, WideTypes) {
  EXPECT_EQ(encode_float(DType::kF32, 1.0), 0x3F800000u);
  EXPECT_EQ(decode_float(DType::kF32, 0x80000001), -std::exp2(-149));
  EXPECT_EQ(encode_float(DType::kF32, 1e300), 0x7F800000u);
  EXPECT_TRUE(std::isnan(decode_float(DType::kF32, encode_float(DType::kF32, kNaN))));
  EXPECT_EQ(encode_float(DType::kF64, -0.1), std::bit_cast<std::uint64_t>(-0.1));
  EXPECT_FALSE(holds_exactly(DType::kF32, 0.1));
  EXPECT_TRUE(holds_exactly(DType::kF64, 0.1));
  EXPECT_TRUE(holds_exactly(DType::kF32, 0.5));
}

TEST(FloatConvert, InfinityIsHeldWhereTheFormatHasIt) {
  EXPECT_TRUE(holds_exactly(DType::kF8E5M2, -kInfinity));
  EXPECT_TRUE(holds_exactly(DType::kF32, kInfinity));
  EXPECT_FALSE(holds_exactly(DType::kF8E4M3, kInfinity));
  EXPECT_TRUE(holds_exactly(DType::kF8E4M3, kNaN));
}

TEST(FloatConvert, AValueBeyondTheRangeIsNotEncoded) {
  EXPECT_EQ(encode_in_range(DType::kF16, 65504.0), 0x7BFFu);
  EXPECT_EQ(encode_in_range(DType::kF16, 65519.0), 0x7BFFu);
  EXPECT_EQ(encode_in_range(DType::kF16, 65520.0), std::nullopt);
  EXPECT_EQ(encode_in_range(DType::kF32, -1e39), std::nullopt);
  EXPECT_EQ(encode_in_range(DType::kF32, 1e-60), 0u);
  EXPECT_EQ(encode_in_range(DType::kF32, kInfinity), 0x7F800000u);
  EXPECT_EQ(encode_in_range(DType::kF8E4M3, 448.0), encode_float(DType::kF8E4M3, 448.0));
  EXPECT_EQ(encode_in_range(DType::kF8E4M3, 1000.0), std::nullopt);
  EXPECT_EQ(encode_in_range(DType::kF8E4M3, kInfinity), std::nullopt);
  EXPECT_TRUE(encode_in_range(DType::kF8E4M3, kNaN));
}

TEST(FloatConvert, RefusesTypesThatAreNotFloating) {
  for (const DType dtype : {DType::kBool, DType::kI32, DType::kU64}) {
    EXPECT_THROW(encode_float(dtype, 1.0), Error);
    EXPECT_THROW(decode_float(dtype, 1), Error);
  }
}

}  // namespace
}  // namespace baton::float_convert_test
