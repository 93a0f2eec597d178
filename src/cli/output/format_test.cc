#include "cli/output/format.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace baton::cli::format_test {
namespace {

template <typename T>
Array array_of(DType dtype, std::initializer_list<T> values) {
  Array array{dtype, {static_cast<std::int64_t>(values.size())}, {}};
  array.bytes.resize(values.size() * sizeof(T));
  if (values.size() != 0) {
    std::memcpy(array.bytes.data(), std::data(values), array.bytes.size());
  }
  return array;
}

TEST(Format, Extents) {
  EXPECT_EQ(format_extent(Dim3(7)), "7");
  EXPECT_EQ(format_extent(Dim3(7, 2)), "7 x 2");
  EXPECT_EQ(format_extent(Dim3(7, 1, 3)), "7 x 1 x 3");
}

TEST(Format, Shapes) {
  EXPECT_EQ(format_shape({}), "[]");
  EXPECT_EQ(format_shape(std::vector<std::int64_t>{0, 12}), "[0, 12]");
}

TEST(Format, CountsKeepThreeDigits) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1000), "1.00 k");
  EXPECT_EQ(format_count(12345), "12.3 k");
  EXPECT_EQ(format_count(999'400), "999 k");
  EXPECT_EQ(format_count(999'600), "1.00 M");
  EXPECT_EQ(format_count(999'600'000), "1.00 G");
  EXPECT_EQ(format_count(std::numeric_limits<std::uint64_t>::max()), "18446744 T");
}

TEST(Format, AgesAreWholeUnits) {
  using std::chrono::hours;
  using std::chrono::seconds;
  EXPECT_EQ(format_age(seconds(-3)), "< 1 s");
  EXPECT_EQ(format_age(seconds(0)), "< 1 s");
  EXPECT_EQ(format_age(seconds(119)), "119 s");
  EXPECT_EQ(format_age(seconds(120)), "2 min");
  EXPECT_EQ(format_age(seconds(7199)), "119 min");
  EXPECT_EQ(format_age(seconds(7200)), "2 h");
  EXPECT_EQ(format_age(hours(48)), "2 days");
}

TEST(Format, ElementsOfEveryKind) {
  EXPECT_EQ(format_elements(array_of<float>(DType::kF32, {1.5f, -0.25f}), 4), "1.5  -0.25");
  EXPECT_EQ(format_elements(array_of<std::uint16_t>(DType::kF16, {0x3c00, 0x7c00}), 4), "1  inf");
  EXPECT_EQ(format_elements(array_of<std::int8_t>(DType::kI8, {-1, 127}), 4), "-1  127");
  EXPECT_EQ(format_elements(array_of<std::uint8_t>(DType::kU8, {255}), 4), "255");
  EXPECT_EQ(format_elements(
                array_of<std::int64_t>(DType::kI64, {std::numeric_limits<std::int64_t>::min()}), 4),
            "-9223372036854775808");
  EXPECT_EQ(format_elements(array_of<std::uint64_t>(DType::kU64, {~std::uint64_t{0}}), 4),
            "18446744073709551615");
}

TEST(Format, Rates) {
  EXPECT_EQ(format_rate(0), "0 B/s");
  EXPECT_EQ(format_rate(987), "987 B/s");
  EXPECT_EQ(format_rate(12'345), "12.3 kB/s");
  EXPECT_EQ(format_rate(4.269e12), "4.27 TB/s");
}

TEST(Format, MoreElementsThanShown) {
  EXPECT_EQ(format_elements(array_of<std::int32_t>(DType::kI32, {1, 2, 3}), 2), "1  2  ...");
  EXPECT_EQ(format_elements(array_of<std::int32_t>(DType::kI32, {}), 2), "");
}

TEST(Format, LongNamesAreCutInTheMiddle) {
  EXPECT_EQ(shortened(std::string(120, 'x')), std::string(120, 'x'));
  const std::string name = std::string(100, 'x') + std::string(40, 'y') + "<float>()";
  EXPECT_EQ(shortened(name), std::string(70, 'x') + "..." + std::string(38, 'y') + "<float>()");
  // Characters stay whole.
  std::string umlauts;
  for (int i = 0; i < 80; ++i) umlauts += "\xc3\xa4";
  std::string a = shortened(umlauts), b = shortened("x" + umlauts);
  for (const std::string& text : {a, b}) {
    EXPECT_LE(text.size(), 120u);
    EXPECT_EQ(text.substr(text.find("...") + 3, 2), "\xc3\xa4");
    EXPECT_EQ(text.substr(text.find("...") - 2, 2), "\xc3\xa4");
  }
}

}  // namespace
}  // namespace baton::cli::format_test
