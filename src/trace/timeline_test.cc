#include "trace/timeline.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "trace/timeline_json.h"

namespace baton::trace {
namespace {

// A multiprocessor whose clock makes two ticks a nanosecond, and was 1000 ahead of it at time 0.
constexpr std::uint64_t clock_at(std::uint64_t time, std::uint64_t ahead = 1000) {
  return 2 * time + ahead;
}

// Edges as they are read: late by up to some ticks.
std::vector<ClockEdge> edges_at(std::uint64_t time, std::uint64_t ahead) {
  return {{time, clock_at(time, ahead) + 30},
          {time + 32, clock_at(time + 32, ahead) + 8},
          {time + 64, clock_at(time + 64, ahead) + 41}};
}

SmClocks two_clocks() {
  return SmClocks({{0, edges_at(3200, 1000)}, {1, edges_at(3200, 77'777)}},
                  {{0, edges_at(1'003'200, 1000)}, {1, edges_at(1'003'200, 77'777)}}, 1.5);
}

TEST(SmClocks, TellTheTimeOfTheDevice) {
  const SmClocks clocks = two_clocks();
  EXPECT_EQ(clocks.step(), 32u);
  EXPECT_NEAR(clocks.frequency(0), 2.0, 1e-6);
  for (const std::uint64_t time : {0, 5000, 500'001, 2'000'000}) {
    EXPECT_NEAR(*clocks.time_of(0, clock_at(time)), static_cast<double>(time), 5) << time;
    EXPECT_NEAR(*clocks.time_of(1, clock_at(time, 77'777)), static_cast<double>(time), 5) << time;
  }
  EXPECT_FALSE(clocks.time_of(2, 5000));
  EXPECT_EQ(clocks.frequency(2), 1.5);
}

TEST(SmClocks, TakeTheGivenFrequencyWithoutLaterEdges) {
  const SmClocks clocks({{0, edges_at(3200, 1000)}}, {}, 2.0);
  EXPECT_NEAR(*clocks.time_of(0, clock_at(9000)), 9000, 5);
}

BlockRecord record(std::uint32_t sm, std::uint64_t begin, std::uint64_t end,
                   std::uint64_t wait_begin = 0, std::uint64_t wait_end = 0,
                   std::uint64_t trigger = 0) {
  const std::uint64_t ahead = sm == 0 ? 1000 : 77'777;
  BlockRecord out;
  out.place = sm + 1;
  out.entry_time = begin / 32 * 32;
  out.entry_clock = clock_at(begin, ahead);
  if (wait_begin != 0) out.wait_begin_clock = clock_at(wait_begin, ahead);
  if (wait_end != 0) out.wait_end_clock = clock_at(wait_end, ahead);
  if (trigger != 0) out.trigger_clock = clock_at(trigger, ahead);
  out.exit_clock = clock_at(end, ahead);
  out.exit_time = end / 32 * 32;
  return out;
}

NotedStep launch(std::uint64_t number, std::uint64_t first, std::uint32_t blocks) {
  NotedStep step;
  step.number = number;
  step.launch = static_cast<std::uint32_t>(number);
  if (number != 0) step.after = step.launch - 1;
  step.early = number != 0;
  step.kernel = "k";
  step.grid = {blocks, 1, 1};
  step.block = {32, 1, 1};
  step.records = first;
  return step;
}

TEST(RunTimeline, HasTheEventsOfEachBlock) {
  const std::vector<NotedStep> steps = {launch(0, 0, 2), launch(1, 2, 2)};
  const std::vector<BlockRecord> records = {
      record(0, 10'000, 20'000, 0, 0, 15'000), record(1, 11'000, 22'000, 0, 0, 18'000),
      record(1, 18'500, 30'000, 19'000, 23'000), BlockRecord()};
  const RunTimeline timeline = read_timeline(steps, records, two_clocks());
  EXPECT_TRUE(timeline.by_clocks);
  ASSERT_EQ(timeline.steps.size(), 2u);
  const TimedStep &first = timeline.steps[0], &second = timeline.steps[1];
  ASSERT_EQ(first.blocks.size(), 2u);
  EXPECT_EQ(first.begin, 0);
  EXPECT_NEAR(first.end, 12, 0.02);
  EXPECT_NEAR(first.trigger, 8, 0.02);
  ASSERT_EQ(second.blocks.size(), 1u);  // the other one did not begin
  EXPECT_EQ(second.blocks[0].multiprocessor, 1u);
  EXPECT_NEAR(second.blocks[0].wait_begin, 9, 0.02);
  EXPECT_NEAR(second.blocks[0].wait_end, 13, 0.02);
  EXPECT_EQ(second.trigger, -1);
  EXPECT_NEAR(timeline.end, 20, 0.02);
}

TEST(RunTimeline, PlacesBlocksByTheTimeWhereClocksChanged) {
  std::vector<BlockRecord> records = {record(0, 10'000, 20'000), record(0, 40'000, 44'000)};
  records[1].entry_time += 5000;
  records[1].exit_time += 5000;
  const std::vector<NotedStep> steps = {launch(0, 0, 2)};
  const RunTimeline timeline = read_timeline(steps, records, two_clocks());
  EXPECT_FALSE(timeline.by_clocks);
  EXPECT_NEAR(timeline.disagreement, 5000, 50);
  EXPECT_NEAR(timeline.steps[0].blocks[1].begin, 35, 0.04);
  EXPECT_NEAR(timeline.steps[0].blocks[1].end, 39, 0.04);
}

TEST(RunTimeline, CountsBlocksWithoutAnEnd) {
  std::vector<BlockRecord> records = {record(0, 10'000, 20'000, 0, 0, 15'000)};
  records[0].exit_clock = records[0].exit_time = 0;
  const std::vector<NotedStep> steps = {launch(0, 0, 1)};
  const RunTimeline timeline = read_timeline(steps, records, two_clocks());
  EXPECT_EQ(timeline.unfinished, 1u);
  EXPECT_NEAR(timeline.steps[0].end, 5, 0.02);
}

TEST(TimelineJson, HasTheRowsOfTheSimulatedOne) {
  std::vector<NotedStep> steps = {launch(0, 0, 2), launch(1, 2, 2)};
  NotedStep copy;
  copy.number = 2;
  copy.move = "copy";
  NotedStep untraced = launch(3, 0, 1);
  untraced.records.reset();
  NotedStep last = launch(4, 4, 1);
  last.after.reset();
  last.early = false;
  for (NotedStep* more : {&copy, &untraced, &last}) steps.push_back(*more);
  const std::vector<BlockRecord> records = {
      record(0, 10'000, 20'000, 0, 0, 15'000), record(1, 11'000, 22'000, 0, 0, 18'000),
      record(1, 18'500, 30'000, 19'000, 23'000), record(0, 21'000, 29'000, 21'500, 23'000),
      record(0, 40'000, 41'000)};
  const RunTimeline timeline = read_timeline(steps, records, two_clocks());
  const auto json = nlohmann::json::parse(timeline_json(
      timeline, {{0, {"norm", 0, "layer = 0", "p.toml:3:1"}}, {2, {"copy y -> z", 2, "", ""}}}, 2));
  std::map<std::string, int> bars;
  std::map<int, std::string> processes;
  int arrows = 0;
  for (const auto& event : json.at("traceEvents")) {
    if (event.at("ph") == "X") ++bars[event.at("cat")];
    if (event.at("ph") == "s") ++arrows;
    if (event.at("name") == "process_name")
      processes[event.at("pid")] = event.at("args").at("name");
    if (event.value("cat", "") == "launch" && event.at("ts") == 0) {
      EXPECT_EQ(event.at("name"), "norm");
      EXPECT_EQ(event.at("args").at("indexes"), "layer = 0");
      EXPECT_EQ(event.at("args").at("grid"), (std::vector{2, 1, 1}));
    }
    if (event.value("cat", "") == "untraced") {
      EXPECT_EQ(event.at("name"), "copy y -> z, k");
      EXPECT_NEAR(event.at("ts").get<double>(), 20, 0.02);
      EXPECT_NEAR(event.at("dur").get<double>(), 10, 0.02);
    }
  }
  EXPECT_EQ(bars, (std::map<std::string, int>{
                      {"launch", 3}, {"block", 5}, {"wait", 2}, {"untraced", 1}}));
  EXPECT_EQ(arrows, 1);
  EXPECT_EQ(processes,
            (std::map<int, std::string>{
                {1, "launches"}, {3, "copies and fills"}, {100, "SM 0"}, {101, "SM 1"}}));
}

}  // namespace
}  // namespace baton::trace
