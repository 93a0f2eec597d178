#include "cli/output/wrap.h"

#include <gtest/gtest.h>

namespace baton::cli::wrap_test {
namespace {

TEST(WrappedLine, LeavesWhatFits) {
  EXPECT_EQ(wrapped_line("ceiling  2 TB/s", 15), "ceiling  2 TB/s");
  EXPECT_EQ(wrapped_line("", 10), "");
}

TEST(WrappedLine, TextStaysBesideItsLabel) {
  EXPECT_EQ(wrapped_line("ceiling  2 TB/s, read and written by a kernel", 30),
            "ceiling  2 TB/s, read and\n"
            "         written by a kernel");
  EXPECT_EQ(wrapped_line("         read and written by a kernel", 24),
            "         read and\n"
            "           written by a\n"
            "           kernel");
}

TEST(WrappedLine, SentencesGoOnFurtherIn) {
  EXPECT_EQ(wrapped_line("forecasts for a run, by the bytes of buffers", 24),
            "forecasts for a run, by\n"
            "  the bytes of buffers");
  EXPECT_EQ(wrapped_line("  and 5 more steps that are not shown", 20),
            "  and 5 more steps\n"
            "    that are not\n"
            "    shown");
}

// A path is copied, a number is read with its unit.
TEST(WrappedLine, KeepsWordsWhole) {
  EXPECT_EQ(wrapped_line("wrote /a/long/path/to/some/file.toml at last", 20),
            "wrote\n  /a/long/path/to/some/file.toml\n  at last");
  EXPECT_EQ(wrapped_line("it takes about 12.5 us", 18), "it takes about\n  12.5 us");
}

TEST(WrappedLine, CountsNoColours) {
  EXPECT_EQ(wrapped_line("verdict  \x1b[32mfaster\x1b[0m", 15), "verdict  \x1b[32mfaster\x1b[0m");
}

TEST(WrappedLine, LeavesWhatAVeryNarrowTerminalCannotShow) {
  EXPECT_EQ(wrapped_line("ceiling  2 TB/s, read and written", 12),
            "ceiling  2 TB/s, read and written");
}

}  // namespace
}  // namespace baton::cli::wrap_test
