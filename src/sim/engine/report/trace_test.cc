#include "sim/engine/report/trace.h"

#include <gtest/gtest.h>

namespace baton::sim {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++times;
  }
  return times;
}

TEST(Trace, OverlapsTakeLinesOfTheirOwn) {
  Trace trace;
  trace.begin_grid(1, "first \"one\"", "(2, 1, 1)", false);
  trace.begin_grid(2, "second", "(1, 1, 1)", true);
  const int block = 0;
  trace.begin_block(&block, "second", "(0, 0, 0)");
  trace.begin_wait(&block);
  trace.note_triggered(1);
  trace.note_triggered(1);
  trace.end_grid(1);
  trace.end_wait(&block);
  trace.end_block(&block);
  trace.begin_grid(3, "third", "(1, 1, 1)", false);
  const std::string json = trace.json();
  EXPECT_EQ(count(json, "\"ph\":\"X\""), 3u) << json;  // a grid, a block, its wait
  EXPECT_EQ(count(json, "\"ph\":\"i\""), 1u) << json;
  EXPECT_EQ(count(json, "\"ph\":\"B\""), 2u) << json;  // what has not ended
  EXPECT_EQ(count(json, "first \\\"one\\\""), 1u) << json;
  EXPECT_EQ(count(json, "\"pid\":1,\"tid\":3,\"ts\""), 1u) << json;  // the second
  EXPECT_EQ(count(json, "\"pid\":1,\"tid\":1,\"ts\""), 3u) << json;  // the first, twice; the third
  EXPECT_EQ(count(json, "\"pid\":2,\"tid\":2,\"ts\""), 2u) << json;  // the block and its wait
  EXPECT_EQ(count(json, "thread_name"), 3u) << json;
  EXPECT_EQ(count(json, "griddepcontrol.wait"), 1u) << json;
}

}  // namespace
}  // namespace baton::sim
