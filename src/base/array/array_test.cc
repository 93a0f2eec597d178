#include "base/array/array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "base/system/zero_bytes.h"
#include "baton/error.h"

namespace baton::array_test {
namespace {

using ::testing::HasSubstr;

std::string objection(const Array& array) {
  try {
    check_bytes(array, "x");
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    return failure.message();
  }
  return "";
}

TEST(CheckBytes, TakesExactlyTheBytesOfTheShape) {
  EXPECT_EQ(objection({DType::kF32, {2, 3}, std::string(24, 'a')}), "");
  EXPECT_EQ(objection({DType::kF64, {}, std::string(8, 'a')}), "");
  EXPECT_EQ(objection({DType::kF32, {4, 0}, ""}), "");
  EXPECT_EQ(objection({DType::kF32, {2, 3}, std::string(23, 'a')}),
            "x holds 23 bytes, f32 of shape [2, 3] has 24");
  EXPECT_EQ(objection({DType::kF32, {2, 3}, std::string(25, 'a')}),
            "x holds 25 bytes, f32 of shape [2, 3] has 24");
  EXPECT_EQ(objection({DType::kF32, {0}, std::string(4, 'a')}),
            "x holds 4 bytes, f32 of shape [0] has 0");
}

TEST(CheckBytes, RefusesImpossibleShapes) {
  EXPECT_THAT(objection({DType::kF32, {-1}, ""}), HasSubstr("[-1], with a negative extent"));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(objection({DType::kF32, {most, 2}, ""}),
              HasSubstr("more bytes than can be addressed"));
  EXPECT_EQ(objection({DType::kF32, {most, most, 0}, ""}), "");
}

TEST(ZeroBytes, AreZero) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, (std::size_t{3} << 20) + 7}) {
    const std::string bytes = zero_bytes(size);
    EXPECT_EQ(bytes.size(), size);
    EXPECT_EQ(bytes.find_first_not_of('\0'), std::string::npos);
  }
}

}  // namespace
}  // namespace baton::array_test
