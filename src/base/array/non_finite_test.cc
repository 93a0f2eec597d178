#include "base/array/non_finite.h"

#include <gtest/gtest.h>

#include <cstring>

namespace baton::non_finite_test {
namespace {

// `length` zeros, but NaN in every `step`th element.
Array with_nans(DType dtype, std::size_t length, std::size_t step) {
  const std::size_t size = size_of(dtype);
  const std::uint64_t bits = non_finite_bits(dtype);
  Array array{dtype, {static_cast<std::int64_t>(length)}, std::string(length * size, '\0')};
  for (std::size_t i = 0; i < length; i += step) {
    std::memcpy(array.bytes.data() + i * size, &bits, size);
  }
  return array;
}

// Blocks that are full, one that is not, and none.
TEST(NonFinite, AreCountedInArraysOfEachLength) {
  for (const DType dtype :
       {DType::kF64, DType::kF32, DType::kF16, DType::kBF16, DType::kF8E5M2, DType::kF8E4M3}) {
    for (const std::size_t length : {0, 1, 63, 64, 65, 1000}) {
      for (const std::size_t step : {1, 3, 64}) {
        EXPECT_EQ(count_non_finite(with_nans(dtype, length, step)),
                  static_cast<std::int64_t>((length + step - 1) / step))
            << to_string(dtype) << " " << length << " " << step;
      }
    }
  }
}

TEST(NonFinite, LargeNumbersAreFinite) {
  const float greatest = 3.4028234e38f;
  Array array{DType::kF32, {1}, std::string(sizeof greatest, '\0')};
  std::memcpy(array.bytes.data(), &greatest, sizeof greatest);
  EXPECT_EQ(count_non_finite(array), 0);
}

TEST(NonFinite, IntegersHaveNone) {
  EXPECT_EQ(count_non_finite({DType::kI32, {1}, "\xff\xff\xff\xff"}), 0);
}

}  // namespace
}  // namespace baton::non_finite_test
