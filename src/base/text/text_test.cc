#include "base/text/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace baton::text_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SplitLines, KnowsBothEnds) {
  EXPECT_THAT(split_lines(""), IsEmpty());
  EXPECT_THAT(split_lines("a"), ElementsAre("a"));
  EXPECT_THAT(split_lines("a\n"), ElementsAre("a"));
  EXPECT_THAT(split_lines("a\r\n\r\n\nb\r"), ElementsAre("a", "", "", "b"));
  EXPECT_THAT(split_lines("\n"), ElementsAre(""));
}

TEST(Trim, TakesOffBothEnds) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim(" \n "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("plain"), "plain");
  EXPECT_EQ(printable("a\x1b[31m\n"), "a\\x1b[31m\\x0a");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");  // CSI in one character
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Printable, KeepsUtf8AndEscapesTheRest) {
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
            "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                             // cut short
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                    // overlong
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  EXPECT_EQ(printable("\xff"), "\\xff");
}

TEST(Printable, CutsBetweenCharacters) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdef", 4), "abcd...");
  EXPECT_EQ(printable("abc\xc3\xbc", 4), "abc...");
}

TEST(SourceExcerpt, PointsAtTheColumn) {
  const std::string_view text = "first\ngrid = [x]\r\n\tblock\n";
  EXPECT_EQ(source_excerpt(text, 2, 9),
            "    2 | grid = [x]\n"
            "      |         ^");
  EXPECT_EQ(source_excerpt(text, 3, 2),
            "    3 | \tblock\n"
            "      | \t^");
  EXPECT_EQ(source_excerpt(text, 1, 0), "    1 | first");
}

TEST(SourceExcerpt, CountsCharactersNotBytes) {
  EXPECT_EQ(source_excerpt("\xc3\xbc\xc3\xbc x", 1, 4),
            "    1 | \xc3\xbc\xc3\xbc x\n"
            "      |    ^");
}

TEST(SourceExcerpt, IsEmptyWhereThereIsNoSuchLine) {
  EXPECT_EQ(source_excerpt("one\n", 0, 1), "");
  EXPECT_EQ(source_excerpt("one\n", -5, 1), "");
  EXPECT_EQ(source_excerpt("one\n", 3, 1), "");
  // The end of a text is a place too: "unexpected end of file" points there.
  EXPECT_EQ(source_excerpt("one\n", 2, 1), "    2 | \n      | ^");
}

TEST(SourceExcerpt, AColumnAtTheEndOfALineStandsAfterIt) {
  EXPECT_EQ(source_excerpt("one", 1, 4), "    1 | one\n      |    ^");
  for (const int beyond : {5, 90, 1000, std::numeric_limits<int>::max()}) {
    EXPECT_EQ(source_excerpt("one", 1, beyond), "    1 | one\n      |    ^");
  }
}

TEST(SourceExcerpt, CutsLongLinesAroundTheColumn) {
  const std::string line = std::string(5000, 'a') + 'X' + std::string(5000, 'b');
  const std::string excerpt = source_excerpt(line, 1, 5001);
  const auto lines = split_lines(excerpt);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_LT(lines[0].size(), 120u);
  EXPECT_EQ(lines[0][lines[1].find('^')], 'X');
  EXPECT_THAT(std::string(lines[0]), HasSubstr("| ...aaa"));
  EXPECT_TRUE(lines[0].ends_with("bbb..."));
}

TEST(SourceExcerpt, ShowsNoControlCharacters) {
  EXPECT_EQ(source_excerpt("a\x1b[0m\xff", 1, 2), "    1 | a?[0m?\n      |  ^");
}

TEST(FormatBytes, UsesPowersOf1024) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1 KiB");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes((1 << 20) - 1), "1 MiB");
  EXPECT_EQ(format_bytes(1572864), "1.5 MiB");
  EXPECT_EQ(format_bytes(std::uint64_t{141} << 30), "141 GiB");
  EXPECT_EQ(format_bytes(std::numeric_limits<std::uint64_t>::max()), "16 EiB");
}

TEST(FormatDuration, ShowsThreeDigits) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(850e-9), "850 ns");
  EXPECT_EQ(format_duration(999.6e-9), "1.00 us");
  EXPECT_EQ(format_duration(12.34e-6), "12.3 us");
  EXPECT_EQ(format_duration(4.567e-3), "4.57 ms");
  EXPECT_EQ(format_duration(99.96e-3), "100 ms");
  EXPECT_EQ(format_duration(1.2), "1.20 s");
  EXPECT_EQ(format_duration(42.0), "42.0 s");
  EXPECT_EQ(format_duration(200.4), "3 min 20 s");
  EXPECT_EQ(format_duration(-1e-3), "-1.00 ms");
  EXPECT_EQ(format_duration(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(format_duration(1e300), "16666666666666666 min 40 s");
}

}  // namespace
}  // namespace baton::text_test
