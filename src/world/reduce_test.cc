#include "world/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/array/float_convert.h"

namespace baton::world::reduce_test {
namespace {

std::string bytes_of(DType dtype, const std::vector<double>& values) {
  std::string bytes;
  for (const double value : values) {
    std::uint64_t bits = is_float(dtype)
                             ? encode_float(dtype, value)
                             : static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
    bytes.append(reinterpret_cast<const char*>(&bits), size_of(dtype));
  }
  return bytes;
}

std::string reduced(ReduceOp op, DType dtype, const std::vector<std::vector<double>>& values) {
  std::vector<std::string> parts;
  for (const auto& each : values) parts.push_back(bytes_of(dtype, each));
  std::vector<const char*> pointers;
  for (const std::string& part : parts) pointers.push_back(part.data());
  std::string result(parts[0].size(), '\0');
  reduce(op, dtype, values[0].size(), pointers, result.data());
  return result;
}

TEST(ReduceTest, EveryDtypeHasSumsAndExtremes) {
  for (std::size_t i = 0; i < dtype_names().size(); ++i) {
    const auto dtype = static_cast<DType>(i);
    SCOPED_TRACE(std::string(to_string(dtype)));
    if (dtype == DType::kBool) {
      EXPECT_FALSE(can_reduce(ReduceOp::kSum, dtype));
      EXPECT_EQ(reduced(ReduceOp::kMax, dtype, {{0, 0, 1}, {0, 1, 1}}), bytes_of(dtype, {0, 1, 1}));
      EXPECT_EQ(reduced(ReduceOp::kMin, dtype, {{0, 0, 1}, {0, 1, 1}}), bytes_of(dtype, {0, 0, 1}));
      continue;
    }
    ASSERT_TRUE(can_reduce(ReduceOp::kSum, dtype));
    EXPECT_EQ(reduced(ReduceOp::kSum, dtype, {{1, 2}, {3, 4}, {5, 6}}), bytes_of(dtype, {9, 12}));
    EXPECT_EQ(reduced(ReduceOp::kMax, dtype, {{1, 6}, {3, 4}, {5, 2}}), bytes_of(dtype, {5, 6}));
    EXPECT_EQ(reduced(ReduceOp::kMin, dtype, {{1, 6}, {3, 4}, {5, 2}}), bytes_of(dtype, {1, 2}));
  }
}

TEST(ReduceTest, SignsCount) {
  for (const DType dtype : {DType::kI8, DType::kI16, DType::kI32, DType::kI64}) {
    EXPECT_EQ(reduced(ReduceOp::kMax, dtype, {{-3}, {-1}}), bytes_of(dtype, {-1}));
    EXPECT_EQ(reduced(ReduceOp::kMin, dtype, {{-3}, {1}}), bytes_of(dtype, {-3}));
  }
}

TEST(ReduceTest, IntegersWrapAround) {
  EXPECT_EQ(reduced(ReduceOp::kSum, DType::kI8, {{127}, {1}}), bytes_of(DType::kI8, {-128}));
  EXPECT_EQ(reduced(ReduceOp::kSum, DType::kU8, {{255}, {2}}), bytes_of(DType::kU8, {1}));
  EXPECT_EQ(reduced(ReduceOp::kSum, DType::kI32, {{2147483647.0}, {1}}),
            bytes_of(DType::kI32, {-2147483648.0}));
}

// 256 + 1 + 1: in bf16 each sum would lose its one; 258 is a bf16.
TEST(ReduceTest, ShortFloatsAreRoundedOnce) {
  EXPECT_EQ(reduced(ReduceOp::kSum, DType::kBF16, {{256}, {1}, {1}}),
            bytes_of(DType::kBF16, {258}));
  EXPECT_EQ(reduced(ReduceOp::kSum, DType::kF16, {{2048}, {1}, {1}}),
            bytes_of(DType::kF16, {2050}));
  EXPECT_EQ(reduced(ReduceOp::kSum, DType::kF8E4M3, {{16}, {1}, {1}}),
            bytes_of(DType::kF8E4M3, {18}));
  EXPECT_EQ(reduced(ReduceOp::kSum, DType::kF8E5M2, {{8}, {1}, {1}}),
            bytes_of(DType::kF8E5M2, {10}));
}

TEST(ReduceTest, SumsBeyondTheRangeAreInfiniteOrNan) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(reduced(ReduceOp::kSum, DType::kF16, {{65504}, {65504}}),
            bytes_of(DType::kF16, {infinity}));
  EXPECT_EQ(reduced(ReduceOp::kSum, DType::kF8E5M2, {{57344}, {57344}}),
            bytes_of(DType::kF8E5M2, {infinity}));
  const std::string sum = reduced(ReduceOp::kSum, DType::kF8E4M3, {{448}, {448}});
  EXPECT_TRUE(std::isnan(decode_float(DType::kF8E4M3, static_cast<unsigned char>(sum[0]))));
}

TEST(ReduceTest, NanIsKeptByExtremes) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype :
       {DType::kF16, DType::kBF16, DType::kF32, DType::kF64, DType::kF8E4M3, DType::kF8E5M2}) {
    for (const ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin}) {
      EXPECT_EQ(reduced(op, dtype, {{1}, {nan}, {2}}), bytes_of(dtype, {nan}));
      EXPECT_EQ(reduced(op, dtype, {{nan}, {1}, {2}}), bytes_of(dtype, {nan}));
    }
  }
}

// (1e8 + 1) - 1e8 is 0 in f32, and (1e8 - 1e8) + 1 is 1.
TEST(ReduceTest, TheOrderIsThatOfTheParts) {
  EXPECT_EQ(reduced(ReduceOp::kSum, DType::kF32, {{1e8}, {1}, {-1e8}}), bytes_of(DType::kF32, {0}));
  EXPECT_EQ(reduced(ReduceOp::kSum, DType::kF32, {{1e8}, {-1e8}, {1}}), bytes_of(DType::kF32, {1}));
}

}  // namespace
}  // namespace baton::world::reduce_test
