#include "bind/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/array/float_convert.h"

// The expected values were computed with the NumPy code of docs/program-file.md.

namespace baton::bind::random_test {
namespace {

using ::testing::ElementsAre;

template <typename T>
std::vector<T> generate(const RandomSequence& sequence, DType dtype, std::uint64_t first,
                        std::size_t count) {
  std::vector<T> values(count);
  sequence.generate(dtype, first, count, values.data());
  return values;
}

TEST(RandomSequence, MatchesNumPy) {
  const RandomSequence x(0, "x");
  EXPECT_THAT(generate<double>(x, DType::kF64, 0, 4),
              ElementsAre(0x1.8d3bf719d8c90p-2, 0x1.5b8b5003733dap-1, -0x1.eb9a7b0864740p-6,
                          -0x1.7a92f7d7926dcp-2));
  EXPECT_THAT(generate<std::uint32_t>(x, DType::kF32, 0, 4),
              ElementsAre(0x3ec69dfc, 0x3f2dc5a8, 0xbcf5cd3e, 0xbebd497c));
  EXPECT_THAT(generate<std::uint16_t>(x, DType::kF16, 0, 4),
              ElementsAre(0x3635, 0x396e, 0xa7ae, 0xb5ea));
  EXPECT_THAT(generate<std::int32_t>(x, DType::kI32, 0, 4), ElementsAre(69, 83, 48, 31));
  EXPECT_THAT(generate<std::uint8_t>(x, DType::kBool, 0, 4), ElementsAre(1, 1, 0, 0));
  const RandomSequence weights(UINT64_MAX, "weights");
  EXPECT_THAT(generate<std::int64_t>(weights, DType::kI64, 1 << 20, 3), ElementsAre(84, 9, 3));
}

TEST(RandomSequence, DistributionsMatchNumPy) {
  const RandomSequence x(0, "x");
  const auto normal = [&]<typename T>(T, DType dtype, double deviation) {
    std::vector<T> values(3);
    x.generate_normal(dtype, deviation, 0, 3, values.data());
    return values;
  };
  EXPECT_THAT(normal(0.0, DType::kF64, 1.0),
              ElementsAre(0x1.ee09700000000p-1, -0x1.00a2800000000p-2, 0x1.d550200000000p+0));
  EXPECT_THAT(normal(std::uint32_t{}, DType::kF32, 0.02),
              ElementsAre(0x3c9e1780, 0xbba43f0a, 0x3d162e1f));
  EXPECT_THAT(normal(std::uint16_t{}, DType::kF16, 0.02), ElementsAre(0x24f1, 0x9d22, 0x28b1));
  std::vector<double> uniform(3);
  x.generate_uniform(DType::kF64, -3, 5.5, 0, 3, uniform.data());
  EXPECT_THAT(uniform,
              ElementsAre(0x1.7307db45bb2acp+1, 0x1.08a20281d538cp+2, 0x1.1f5abdd471544p+0));
  std::vector<std::int8_t> bytes(4);
  x.generate_uniform(DType::kI8, -127, 127, 0, 4, bytes.data());
  EXPECT_THAT(bytes, ElementsAre(49, 87, -4, -47));
}

TEST(RandomSequence, DistributionsAreMadeInParts) {
  const RandomSequence x(3, "x");
  std::vector<std::uint8_t> whole(100), parts(100);
  x.generate_normal(DType::kF8E4M3, 0.5, 0, 100, whole.data());
  x.generate_normal(DType::kF8E4M3, 0.5, 0, 37, parts.data());
  x.generate_normal(DType::kF8E4M3, 0.5, 37, 63, parts.data() + 37);
  EXPECT_EQ(whole, parts);
}

TEST(RandomSequence, NormalHasItsMoments) {
  std::vector<double> values(1 << 18);
  RandomSequence(1, "w").generate_normal(DType::kF64, 0.02, 0, values.size(), values.data());
  double sum = 0, squares = 0, most = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
    most = std::max(most, std::abs(value));
  }
  const auto count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 0, 0.02 * 0.01);
  EXPECT_NEAR(std::sqrt(squares / count), 0.02, 0.02 * 0.01);
  EXPECT_LT(most, 0.02 * 6);
  EXPECT_GT(most, 0.02 * 4);
}

TEST(RandomSequence, EveryDtypeIsTheSameSequenceRoundedOnce) {
  const RandomSequence sequence(7, "b");
  constexpr std::size_t kCount = 200000;  // among them subnormals of f16
  const auto exact = generate<double>(sequence, DType::kF64, 0, kCount);
  for (const DType dtype :
       {DType::kF16, DType::kBF16, DType::kF32, DType::kF8E4M3, DType::kF8E5M2}) {
    std::vector<unsigned char> values(kCount * size_of(dtype));
    sequence.generate(dtype, 0, kCount, values.data());
    for (std::size_t i = 0; i < kCount; ++i) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, values.data() + i * size_of(dtype), size_of(dtype));
      ASSERT_EQ(bits, encode_float(dtype, exact[i])) << to_string(dtype) << " " << i;
    }
  }
  for (const DType dtype : {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32,
                            DType::kU32, DType::kI64, DType::kU64}) {
    const auto wide = generate<std::uint64_t>(sequence, DType::kU64, 0, kCount);
    std::vector<unsigned char> values(kCount * size_of(dtype));
    sequence.generate(dtype, 0, kCount, values.data());
    for (std::size_t i = 0; i < kCount; ++i) {
      std::uint64_t value = 0;
      std::memcpy(&value, values.data() + i * size_of(dtype), size_of(dtype));
      ASSERT_EQ(value, wide[i]);
      ASSERT_LT(value, 100u);
    }
  }
}

TEST(RandomSequence, PartsMakeTheWhole) {
  const RandomSequence sequence(1, "x");
  const auto whole = generate<float>(sequence, DType::kF32, 0, 100);
  for (std::uint64_t first : {0, 1, 33, 99}) {
    const auto part = generate<float>(sequence, DType::kF32, first, 100 - first);
    EXPECT_TRUE(
        std::equal(part.begin(), part.end(), whole.begin() + static_cast<std::ptrdiff_t>(first)));
  }
}

TEST(RandomSequence, SeedAndNameBothCount) {
  const auto first = [](std::uint64_t seed, const char* name) {
    return generate<double>(RandomSequence(seed, name), DType::kF64, 0, 1)[0];
  };
  EXPECT_NE(first(0, "x"), first(1, "x"));
  EXPECT_NE(first(0, "x"), first(0, "y"));
  EXPECT_NE(first(1, "1:x"), first(11, ":x"));
}

}  // namespace
}  // namespace baton::bind::random_test
