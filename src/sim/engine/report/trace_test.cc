#include "sim/engine/report/trace.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>

namespace baton::sim::trace_test {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++times;
  }
  return times;
}

TEST(Trace, OverlapsTakeSlotsOfTheirOwn) {
  Trace trace;
  trace.begin_grid({.key = 1, .number = 11, .kernel = "first \"one\"", .tag = 5});
  trace.begin_grid({.key = 2, .number = 12, .kernel = "second", .early = {11}});
  const int block = 0;
  trace.begin_block(&block, 2, 7, {3, 0, 0});
  trace.begin_wait(&block);
  trace.note_triggered(1);
  trace.note_triggered(1);
  trace.end_grid(1, {});
  trace.end_wait(&block);
  trace.end_block(&block);
  trace.begin_grid({.key = 3, .number = 13, .kernel = "third"});
  const std::string json = trace.json({});
  EXPECT_EQ(count(json, "\"ph\":\"X\""), 3u) << json;  // a grid, a block, its wait
  EXPECT_EQ(count(json, "\"ph\":\"i\""), 1u) << json;
  EXPECT_EQ(count(json, "\"ph\":\"B\""), 2u) << json;  // what has not ended
  EXPECT_EQ(count(json, "\"name\":\"first \\\"one\\\"\""), 1u) << json;
  EXPECT_EQ(count(json, "\"launch slot 0\""), 1u) << json;  // of the first and the third
  EXPECT_EQ(count(json, "\"launch slot 1\""), 1u) << json;
  EXPECT_EQ(count(json, "\"launch slot"), 2u) << json;
  EXPECT_EQ(count(json, "\"SM 7 slot 0\""), 1u) << json;
  EXPECT_EQ(count(json, "\"sm\":7"), 2u) << json;  // of the block and of its wait
  EXPECT_EQ(count(json, "\"index\":[3,0,0]"), 1u) << json;
  EXPECT_EQ(count(json, "griddepcontrol.wait"), 1u) << json;
  EXPECT_EQ(trace.tags(), (std::vector<std::uint64_t>{5}));
}

TEST(Trace, LaunchesHaveTheNamesOfTheProgram) {
  Trace trace;
  trace.begin_grid({.key = 1, .number = 1, .kernel = "_Z1kPf", .tag = 8});
  const int block = 0;
  trace.begin_block(&block, 1, 0, {0, 0, 0});
  trace.end_block(&block);
  trace.end_grid(1, {});
  const std::string json = trace.json({{8, {"gemv", 4, "layer = 2", "p.toml:3:1"}}});
  EXPECT_EQ(count(json, "\"name\":\"gemv\""), 2u) << json;
  EXPECT_EQ(count(json, "\"kernel\":\"_Z1kPf\""), 1u) << json;
  EXPECT_EQ(count(json, "\"step\":4,\"indexes\":\"layer = 2\""), 2u) << json;
  EXPECT_EQ(count(json, "\"at\":\"p.toml:3:1\""), 1u) << json;
}

TEST(Trace, ArrowsLeadFromTheTriggerToTheDependent) {
  Trace trace;
  trace.begin_grid({.key = 1, .number = 21, .kernel = "a"});
  trace.note_triggered(1);
  trace.begin_grid({.key = 2, .number = 22, .kernel = "b", .early = {21, 99}});
  trace.end_grid(1, {});
  trace.end_grid(2, {});
  const std::string json = trace.json({});
  EXPECT_EQ(count(json, "\"ph\":\"s\""), 1u) << json;
  EXPECT_EQ(count(json, "\"ph\":\"f\",\"bp\":\"e\""), 1u) << json;
  EXPECT_EQ(count(json, "\"id\":1"), 2u) << json;
}

TEST(Trace, CopiesHaveATrackOfTheirOwn) {
  Trace trace;
  trace.add_move({"copy", "buffer y", "buffer x", 64}, Trace::Clock::now());
  trace.add_move({"fill", "buffer z", "", 4}, Trace::Clock::now());
  const std::string json = trace.json({});
  EXPECT_EQ(count(json, "\"cat\":\"copy\",\"name\":\"copy\""), 1u) << json;
  EXPECT_EQ(count(json, "\"bytes\":64,\"to\":\"buffer y\",\"from\":\"buffer x\""), 1u) << json;
  EXPECT_EQ(count(json, "\"cat\":\"fill\""), 1u) << json;
  EXPECT_EQ(count(json, "thread_name"), 1u) << json;
}

TEST(Trace, TracksAreNumberedInTheOrderOfReading) {
  Trace trace;
  const int blocks[3] = {};
  trace.begin_grid({.key = 1, .number = 1, .kernel = "k"});
  // The order of their begins is another one.
  trace.begin_block(&blocks[0], 1, 10, {0, 0, 0});
  trace.begin_block(&blocks[1], 1, 2, {1, 0, 0});
  trace.begin_block(&blocks[2], 1, 10, {2, 0, 0});
  trace.begin_stuck(&trace, "deadlock");
  trace.add_move({"fill", "buffer z", "", 4}, Trace::Clock::now());
  trace.begin_grid({.key = 2, .number = 2, .kernel = "k"});
  const std::string json = trace.json({});
  const char* const kOrder[] = {"launch slot 0", "launch slot 1", "copies and fills",
                                "stuck warps 0", "SM 2 slot 0",   "SM 10 slot 0",
                                "SM 10 slot 1"};
  for (std::size_t k = 0; k < std::size(kOrder); ++k) {
    const std::string track =
        fmt::format("\"name\":\"thread_name\",\"pid\":0,\"tid\":{},\"args\":{{\"name\":\"{}\"",
                    k + 1, kOrder[k]);
    EXPECT_EQ(count(json, track), 1u) << track << "\n" << json;
  }
}

}  // namespace
}  // namespace baton::sim::trace_test
