#include "cli/table.h"

#include <gtest/gtest.h>

namespace baton::cli {
namespace {

TEST(Table, AlignsColumns) {
  Table table({{"step"}, {"time", Table::Align::kRight}});
  table.add({"rmsnorm", "1 us"});
  table.add({"silu", "12.5 us"});
  EXPECT_EQ(table.format(false),
            "  step        time\n"
            "  rmsnorm     1 us\n"
            "  silu     12.5 us\n");
}

TEST(Table, LeavesOutColumnsThatSayNothing) {
  Table table({{"a"}, {"b"}, {"c"}});
  table.add({"1", "", "3"});
  table.add({"2"});
  EXPECT_EQ(table.format(false), "  a  c\n  1  3\n  2\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{"name"}, {"x"}});
  table.add({"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xe2\x86\x92", "1"});
  table.add({"ascii", "2"});
  EXPECT_EQ(table.format(false),
            "  name   x\n"
            "  \xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f\xe2\x86\x92  1\n"
            "  ascii  2\n");
}

TEST(Table, TitlesAreBoldWithColour) {
  Table table({{"a"}});
  table.add({"1"});
  EXPECT_EQ(table.format(true), "\x1b[1m  a\x1b[0m\n  1\n");
}

}  // namespace
}  // namespace baton::cli
