#include "baton/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "base/float_convert.h"
#include "baton/error.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <typename T>
Array array(DType dtype, std::vector<T> values, std::vector<std::int64_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  Array result{dtype, std::move(shape), {}};
  result.bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return result;
}

Array doubles(std::vector<double> values, std::vector<std::int64_t> shape = {}) {
  return array(DType::kF64, std::move(values), std::move(shape));
}

Comparison compare_doubles(double got, double want, Tolerance tolerance) {
  return compare(doubles({got}), doubles({want}), tolerance, "y");
}

TEST(Compare, ToleranceIsAbsolutePlusRelative) {
  EXPECT_TRUE(compare_doubles(1.0, 1.0, {}).ok);
  EXPECT_FALSE(compare_doubles(1.0 + 1e-15, 1.0, {}).ok);
  EXPECT_TRUE(compare_doubles(11.0, 10.0, {.rtol = 0.1, .atol = 0}).ok);
  EXPECT_FALSE(compare_doubles(11.1, 10.0, {.rtol = 0.1, .atol = 0}).ok);
  EXPECT_TRUE(compare_doubles(-11.5, -10.0, {.rtol = 0.1, .atol = 0.5}).ok);
  // The tolerance is relative to what is wanted, not to what came out.
  EXPECT_FALSE(compare_doubles(10.0, 9.0, {.rtol = 0.105, .atol = 0}).ok);
  EXPECT_TRUE(compare_doubles(-0.0, 0.0, {}).ok);
}

TEST(Compare, NanPassesOnlyWhereItIsWanted) {
  const Tolerance loose{.rtol = 1e30, .atol = 1e300};
  EXPECT_TRUE(compare_doubles(kNan, kNan, {}).ok);
  EXPECT_TRUE(compare_doubles(-kNan, kNan, {}).ok);
  EXPECT_FALSE(compare_doubles(kNan, 1, loose).ok);
  EXPECT_FALSE(compare_doubles(1, kNan, loose).ok);
  EXPECT_FALSE(compare_doubles(kInf, kNan, loose).ok);
}

TEST(Compare, InfinitiesPassOnlyWhereTheyAreWanted) {
  const Tolerance loose{.rtol = 0.5, .atol = 1e300};
  EXPECT_TRUE(compare_doubles(kInf, kInf, {}).ok);
  EXPECT_FALSE(compare_doubles(kInf, -kInf, loose).ok);
  EXPECT_FALSE(compare_doubles(1, kInf, loose).ok);
  EXPECT_FALSE(compare_doubles(kInf, 1, loose).ok);
}

TEST(Compare, TheWorstElementIsNamed) {
  const Comparison result =
      compare(doubles({1, 2, 3, 4, 5, 6}, {2, 3}), doubles({1, 2, 3.5, 4, 9, 6}, {2, 3}),
              {.rtol = 0, .atol = 0.1}, "y");
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.elements, 6);
  EXPECT_EQ(result.mismatches, 2);
  EXPECT_THAT(result.worst_index, ElementsAre(1, 1));
  EXPECT_EQ(result.got, 5);
  EXPECT_EQ(result.want, 9);
  EXPECT_EQ(result.worst_error, 4);
  EXPECT_EQ(result.got_text, "5");

  const Comparison nan = compare(doubles({1, kNan, 1e300}), doubles({1, 2, 0}), {}, "y");
  EXPECT_THAT(nan.worst_index, ElementsAre(1));
}

TEST(Compare, AlsoAmongElementsThatPass) {
  const Comparison result =
      compare(doubles({1, 2.25, 3}), doubles({1, 2, 3}), {.rtol = 0, .atol = 1}, "y");
  EXPECT_TRUE(result.ok);
  EXPECT_THAT(result.worst_index, ElementsAre(1));
  EXPECT_EQ(result.worst_error, 0.25);

  // The one that is farthest off, though a smaller one has a smaller tolerance.
  const Comparison relative =
      compare(doubles({1e-6, 1000}), doubles({2e-6, 1001}), {.rtol = 0.1, .atol = 1e-5}, "y");
  EXPECT_TRUE(relative.ok);
  EXPECT_THAT(relative.worst_index, ElementsAre(1));
  EXPECT_EQ(relative.worst_error, 1);
}

TEST(Compare, IntegersAreExactWhateverTheTolerance) {
  const auto compare_integers = [](std::int64_t got, std::int64_t want) {
    return compare(array<std::int64_t>(DType::kI64, {got}),
                   array<std::int64_t>(DType::kI64, {want}), {.rtol = 1, .atol = 100}, "y");
  };
  EXPECT_TRUE(compare_integers(5, 5).ok);
  EXPECT_FALSE(compare_integers(5, 6).ok);
  // The same as doubles.
  const Comparison large = compare_integers(INT64_MAX, INT64_MAX - 1);
  EXPECT_FALSE(large.ok);
  EXPECT_EQ(large.got_text, "9223372036854775807");
  EXPECT_EQ(large.want_text, "9223372036854775806");
  EXPECT_EQ(large.tolerance.atol, 0);
  const Comparison negative =
      compare(array<std::int8_t>(DType::kI8, {-3}), array<std::int8_t>(DType::kI8, {3}), {}, "y");
  EXPECT_EQ(negative.got, -3);
  EXPECT_EQ(negative.got_text, "-3");
}

TEST(Compare, NarrowFloats) {
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    const auto bits = [dtype](double value) {
      return static_cast<std::uint16_t>(encode_float(dtype, value));
    };
    const Array got = array<std::uint16_t>(dtype, {bits(1.0), bits(2.0)});
    const Array want = array<std::uint16_t>(dtype, {bits(1.0), bits(2.5)});
    EXPECT_TRUE(compare(got, got, {}, "y").ok);
    const Comparison result = compare(got, want, default_tolerance(dtype), "y");
    EXPECT_FALSE(result.ok);
    EXPECT_EQ(result.got_text, "2");
    EXPECT_EQ(result.want_text, "2.5");
  }
}

TEST(Compare, RefusesOtherDtypesAndShapes) {
  const auto message = [](const Array& got, const Array& want, Tolerance tolerance) -> std::string {
    try {
      compare(got, want, tolerance, "y");
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
      return failure.message();
    }
    return "none";
  };
  EXPECT_THAT(message(doubles({1}), array<float>(DType::kF32, {1}), {}),
              HasSubstr("y is f64, what it is compared with is f32"));
  EXPECT_THAT(message(doubles({1, 2}), doubles({1, 2}, {1, 2}), {}),
              HasSubstr("shape [2], what it is compared with has [1, 2]"));
  EXPECT_THAT(message(doubles({1}), doubles({1}), {.rtol = -1, .atol = 0}), HasSubstr("negative"));
  EXPECT_THAT(message(doubles({1}), doubles({1}), {.rtol = kNan, .atol = 0}), HasSubstr("nan"));
}

// Arrays are plain structs: their bytes may be others than the shape says.
TEST(Compare, RefusesBytesThatAreNotThoseOfTheShape) {
  const Array whole{DType::kF32, {64}, std::string(256, '\0')};
  const Array none{DType::kF32, {64}, ""};
  const Array too_many{DType::kF32, {0}, std::string(4, '\0')};
  EXPECT_THROW(compare(whole, none, {}, "y"), Error);
  EXPECT_THROW(compare(none, whole, {}, "y"), Error);
  EXPECT_THROW(compare(too_many, too_many, {}, "y"), Error);
}

TEST(Compare, NoElementsAreEqual) {
  const Array empty{DType::kF32, {0, 4}, {}};
  const Comparison result = compare(empty, empty, {}, "y");
  EXPECT_TRUE(result.ok);
  EXPECT_THAT(result.worst_index, IsEmpty());
}

}  // namespace
}  // namespace baton
