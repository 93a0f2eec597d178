#include "baton/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/array/float_convert.h"
#include "baton/error.h"

namespace baton::compare_test {
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

// The pattern of arrays of a shape that differ where `is_wrong` says so.
template <typename IsWrong>
std::string pattern_of(std::vector<std::int64_t> shape, IsWrong&& is_wrong, double wrong = kNan) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  std::vector<double> want, got;
  for (std::int64_t i = 0; i < count; ++i) {
    want.push_back(static_cast<double>(i + 1));
    const double other = std::isnan(wrong) ? static_cast<double>(i * i % 97) - 200 : wrong;
    got.push_back(is_wrong(i) ? other : want.back());
  }
  return compare(doubles(got, shape), doubles(want, shape), {}, "y").pattern;
}

TEST(MismatchPattern, NamesTheElementsOfOneDimension) {
  EXPECT_EQ(pattern_of({100}, [](auto) { return true; }), "every element");
  EXPECT_EQ(pattern_of({100}, [](auto i) { return i >= 40; }), "from index 40 on");
  EXPECT_EQ(pattern_of({100}, [](auto i) { return i < 40; }), "up to index 39");
  EXPECT_EQ(pattern_of({100}, [](auto i) { return i >= 40 && i < 50; }),
            "from index 40 to index 49");
  EXPECT_EQ(pattern_of({100}, [](auto i) { return i % 4 == 3; }),
            "every 4th element, from index 3 on");
  EXPECT_EQ(pattern_of({100}, [](auto i) { return i % 2 == 0 && i < 50; }),
            "every 2nd element, from index 0 to index 48");
  EXPECT_EQ(pattern_of({100}, [](auto i) { return i == 3 || i == 5 || i == 17; }), "");
  EXPECT_EQ(pattern_of({100}, [](auto i) { return i < 2; }), "");
}

TEST(MismatchPattern, NamesPartsOfSeveralDimensions) {
  const std::vector<std::int64_t> matrix = {8, 16};
  EXPECT_EQ(pattern_of(matrix, [](auto i) { return i / 16 == 3; }), "row 3, [3, :]");
  EXPECT_EQ(pattern_of(matrix, [](auto i) { return i % 16 == 5; }), "column 5, [:, 5]");
  EXPECT_EQ(pattern_of(matrix, [](auto i) { return i % 4 == 1; }), "all of [:, 1::4]");
  EXPECT_EQ(pattern_of(matrix, [](auto i) { return i / 16 >= 6 && i % 16 < 4; }),
            "all of [6:, :4]");
  EXPECT_EQ(pattern_of(matrix, [](auto i) { return i >= 21; }), "from [1, 5] on");
  EXPECT_EQ(pattern_of(matrix, [](auto i) { return i % 5 == 0; }),
            "every 5th element, from [0, 0] on");
  EXPECT_EQ(pattern_of({2, 4, 8}, [](auto i) { return i / 32 == 1 && i / 8 % 4 < 2; }),
            "all of [1, :2, :]");
}

TEST(MismatchPattern, SaysWhatTheyHold) {
  EXPECT_EQ(pattern_of(
                {100}, [](auto i) { return i >= 40; }, 0),
            "from index 40 on; each is 0");
  EXPECT_EQ(pattern_of(
                {100}, [](auto i) { return i == 3 || i == 5 || i == 17; }, 0),
            "each is 0");
  std::vector<double> want, got;
  for (int i = 1; i <= 10; ++i) {
    want.push_back(i);
    got.push_back(i > 4 ? 2 * i : i);
  }
  EXPECT_EQ(compare(doubles(got), doubles(want), {}, "y").pattern,
            "from index 4 on; each is 2 times what is expected");
}

TEST(Compare, ListsTheFirstMismatchesAndTheLargestErrors) {
  const Comparison found = compare(doubles({1, 2.5, kNan, 4, 50, 60, 70, 80}),
                                   doubles({1, 2, 3, 4, 5, 6, 7, 8}), {}, "y");
  EXPECT_EQ(found.mismatches, 6);
  ASSERT_EQ(found.first.size(), 5u);
  EXPECT_THAT(found.first[0].index, ElementsAre(1));
  EXPECT_EQ(found.first[0].got_text, "2.5");
  EXPECT_EQ(found.first[1].got_text, "nan");
  EXPECT_EQ(found.largest_absolute, 72);
  EXPECT_EQ(found.largest_relative, 9);
  const float one = 1, next = std::nextafter(std::nextafter(one, 2.0f), 2.0f);
  EXPECT_EQ(compare(array(DType::kF32, std::vector<float>{next}),
                    array(DType::kF32, std::vector<float>{one}), {.rtol = 1}, "y")
                .largest_ulps,
            2u);
  EXPECT_EQ(compare(array(DType::kF32, std::vector<float>{1e-45f}),
                    array(DType::kF32, std::vector<float>{-1e-45f}), {.atol = 1}, "y")
                .largest_ulps,
            2u);
}

}  // namespace
}  // namespace baton::compare_test
