#include "cli/output/table.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>

namespace baton::cli::table_test {
namespace {

TEST(Table, AlignsColumns) {
  Table table({{"step"}, {"time", Table::Align::kRight}});
  table.add({"rmsnorm", "1 us"});
  table.add({"silu", "12.5 us"});
  EXPECT_EQ(table.format({}),
            "  step        time\n"
            "  rmsnorm     1 us\n"
            "  silu     12.5 us\n");
}

TEST(Table, LeavesOutColumnsThatSayNothing) {
  Table table({{"a"}, {"b"}, {"c"}});
  table.add({"1", "", "3"});
  table.add({"2"});
  EXPECT_EQ(table.format({}), "  a  c\n  1  3\n  2\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{"name"}, {"x"}});
  table.add({"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xe2\x86\x92", "1"});
  table.add({"ascii", "2"});
  EXPECT_EQ(table.format({}),
            "  name   x\n"
            "  \xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xe2\x86\x92  1\n"
            "  ascii  2\n");
}

TEST(Table, TitlesAreBoldWithColour) {
  Table table({{"a"}});
  table.add({"1"});
  EXPECT_EQ(table.format({.colour = true}), "\x1b[1m  a\x1b[0m\n  1\n");
}

constexpr const char* kReason = "k waits before it touches what an earlier launch touches";

TEST(Table, WrapsBetweenWordsUnderTheColumn) {
  Table table({{"edge"}, {"n", Table::Align::kRight}, {"reason"}});
  table.add({"0 -> 1", "7", kReason});
  table.add({"1 -> 2", "12", "short"});
  EXPECT_EQ(table.format({.width = 40}),
            "  edge     n  reason\n"
            "  0 -> 1   7  k waits before it touches\n"
            "              what an earlier launch\n"
            "              touches\n"
            "  1 -> 2  12  short\n");
}

TEST(Table, NumbersKeepTheirUnits) {
  Table table({{"kernel"}, {"compiled"}});
  table.add({"saxpy", "cached (saves 652 ms)"});
  EXPECT_EQ(table.format({.width = 28}),
            "  kernel  compiled\n"
            "  saxpy   cached (saves\n"
            "          652 ms)\n");
}

TEST(Table, AtLastTitlesAreCutAtStrokesAndNumbersBetweenWords) {
  Table table({{"step"},
               {"passes/request", Table::Align::kRight},
               {"dynamic shared", Table::Align::kRight}});
  table.add({"scale", "25.5", "0 B of 227 KiB"});
  EXPECT_EQ(table.format({.width = 32}),
            "  step      passes/      dynamic\n"
            "            request       shared\n"
            "  scale        25.5       0 B of\n"
            "                         227 KiB\n");
  EXPECT_EQ(table.format({.width = 25}),
            "  step   passes/  dynamic\n"
            "         request   shared\n"
            "  scale     25.5   0 B of\n"
            "                  227 KiB\n");
}

TEST(Table, ColumnsThatCannotBeNarrowerComeCloser) {
  Table table({{"#", Table::Align::kRight}, {"registers", Table::Align::kRight}, {"attributes"}});
  table.add({"0", "10", "pdl"});
  EXPECT_EQ(table.format({.width = 26}),
            "  #  registers  attributes\n"
            "  0         10  pdl\n");
  EXPECT_EQ(table.format({.width = 24}),
            "  # registers attributes\n"
            "  0        10 pdl\n");
}

TEST(Table, LeavesOutColumnsWithoutAValue) {
  Table table({{"a"}, {"two words"}, {"b"}});
  table.add({"1", "", "2"});
  EXPECT_EQ(table.format({}), "  a  b\n  1  2\n");
}

TEST(Table, StaysWithinTheWidthExactly) {
  Table table({{"a"}, {"reason"}});
  table.add({"1", kReason});
  const std::size_t natural = 2 + 1 + 2 + std::string_view(kReason).size();
  EXPECT_EQ(table.format({.width = natural}), table.format({}));
  EXPECT_NE(table.format({.width = natural - 1}), table.format({}));
  for (std::size_t width = 21; width <= natural; ++width) {
    std::istringstream lines(table.format({.width = width}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), width) << line;
  }
}

TEST(Table, TheWidestColumnGivesWay) {
  Table table({{"a"}, {"b"}});
  table.add({"one two three four", kReason});
  EXPECT_EQ(table.format({.width = 50}),
            "  a                   b\n"
            "  one two three four  k waits before it touches\n"
            "                      what an earlier launch\n"
            "                      touches\n");
}

TEST(Table, LongWordsStayWholeWhileOthersGiveWay) {
  Table table({{"file"}, {"reason"}});
  table.add({std::string(30, 'x'), kReason});
  EXPECT_NE(table.format({.width = 60}).find(std::string(30, 'x')), std::string::npos);
}

TEST(Table, LongWordsAreBrokenAfterSeparators) {
  Table table({{"file"}, {"size", Table::Align::kRight}});
  table.add({"/tmp/a_long_folder/with_a_long_name/half.cu", "6.3 KiB"});
  EXPECT_EQ(table.format({.width = 32}),
            "  file                      size\n"
            "  /tmp/a_long_folder/    6.3 KiB\n"
            "  with_a_long_name/\n"
            "  half.cu\n");
}

TEST(Table, TitlesWrapAboveNarrowNumbers) {
  Table table({{"kernel"}, {"static shared", Table::Align::kRight}, {"waits"}});
  table.add({"k", "0 B", "no"});
  EXPECT_EQ(table.format({.width = 23}),
            "  kernel  static  waits\n"
            "          shared\n"
            "  k          0 B  no\n");
}

TEST(Table, ColoursTakeNoRoom) {
  Table table({{"verdict"}, {"x"}});
  table.add({"\x1b[32mok\x1b[0m", "1"});
  EXPECT_EQ(table.format({}), "  verdict  x\n  \x1b[32mok\x1b[0m       1\n");
}

}  // namespace
}  // namespace baton::cli::table_test
