#include "trace/timeline.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "trace/timeline_json.h"

namespace baton::trace::timeline_test {
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

SmClocks two_clocks(const std::vector<BlockRecord>& records) {
  return SmClocks({{0, edges_at(3200, 1000)}, {1, edges_at(3200, 77'777)}},
                  {{0, edges_at(1'003'200, 1000)}, {1, edges_at(1'003'200, 77'777)}}, records, 1.5);
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
  return out;
}

// When a clock shows a time, in nanoseconds of the device.
double time_of(const SmClocks& clocks, const BlockRecord& record, std::uint64_t clock) {
  return clocks.time_of(record, clock) + static_cast<double>(clocks.origin());
}

TEST(SmClocks, TellTheTimeOfTheDevice) {
  const std::vector<BlockRecord> records = {record(0, 5000, 9000), record(1, 5000, 9000)};
  const SmClocks clocks = two_clocks(records);
  EXPECT_EQ(clocks.step(), 32u);
  EXPECT_EQ(clocks.origin(), 3200u);
  EXPECT_LT(clocks.disagreement(), 5);
  for (const std::uint64_t time : {5000, 9000, 500'001}) {
    EXPECT_NEAR(time_of(clocks, records[0], clock_at(time)), static_cast<double>(time), 5) << time;
    EXPECT_NEAR(time_of(clocks, records[1], clock_at(time, 77'777)), static_cast<double>(time), 5)
        << time;
  }
}

// Times of a machine that has run for years have more digits than a double.
TEST(SmClocks, LateTimesAreAsExact) {
  constexpr std::uint64_t kYears = 1'795'698'035'802'018'816;
  const auto late = [](std::vector<ClockEdge> edges) {
    for (ClockEdge& edge : edges) edge.time += kYears;
    return edges;
  };
  std::vector<BlockRecord> records = {record(0, 5000, 9000)};
  records[0].entry_time += kYears;
  const SmClocks clocks({{0, late(edges_at(3200, 1000))}}, {{0, late(edges_at(1'003'200, 1000))}},
                        records, 1.5);
  EXPECT_LT(clocks.disagreement(), 5);
  EXPECT_NEAR(clocks.time_of(records[0], clock_at(9000)), 9000 - 3200, 5);
}

TEST(SmClocks, TakeTheGivenFrequencyOfOnePoint) {
  const std::vector<BlockRecord> records = {record(0, 3232, 9000)};
  const SmClocks without({}, {}, records, 2.0);
  EXPECT_NEAR(time_of(without, records[0], clock_at(9000)), 9000, 33);
}

// A clock that runs at 2 GHz, and from `turn` on at 1.5.
std::uint64_t slowed(std::uint64_t time, std::uint64_t turn) {
  return 1000 + 2 * std::min(time, turn) + (time > turn ? (time - turn) * 3 / 2 : 0);
}

TEST(SmClocks, FollowAFrequencyThatChanges) {
  constexpr std::uint64_t kTurn = 500'000;
  const auto edges = [](std::uint64_t time) {
    return std::vector<ClockEdge>{{time, slowed(time, kTurn)},
                                  {time + 32, slowed(time + 32, kTurn)}};
  };
  std::vector<BlockRecord> records;
  for (std::uint64_t begin = 10'005; begin < 990'000; begin += 9'777) {
    BlockRecord& block = records.emplace_back(record(0, begin, begin + 9'000));
    block.entry_clock = slowed(begin, kTurn);
    block.exit_clock = slowed(begin + 9'000, kTurn);
  }
  const SmClocks clocks({{0, edges(3200)}}, {{0, edges(1'003'200)}}, records, 1.5);
  EXPECT_LT(clocks.disagreement(), 2500);
  for (const BlockRecord& block : records) {
    const auto begin = static_cast<double>(block.entry_time);
    // Between the two points around the change the clock is taken for even.
    const bool is_near = begin > kTurn - 45'000 && begin < kTurn + 45'000;
    EXPECT_NEAR(time_of(clocks, block, block.entry_clock), begin + 16, is_near ? 2500 : 40);
    EXPECT_NEAR(time_of(clocks, block, block.exit_clock), begin + 9'016, is_near ? 2500 : 60);
  }
}

TEST(SmClocks, BeginAnewWhereAClockWasSetBack) {
  std::vector<BlockRecord> records = {record(0, 10'000, 20'000), record(0, 400'000, 440'000),
                                      record(0, 800'000, 840'000)};
  constexpr std::uint64_t kSetBack = 1'000'000'000;
  records[0].entry_clock += kSetBack;
  records[0].exit_clock += kSetBack;
  const SmClocks clocks({{0, edges_at(3200, 1000 + kSetBack)}}, {{0, edges_at(1'003'200, 1000)}},
                        records, 2.0);
  EXPECT_LT(clocks.disagreement(), 50);
  for (const BlockRecord& block : records) {
    const auto begin = static_cast<double>(block.entry_time);
    const double lasts = static_cast<double>(block.exit_clock - block.entry_clock) / 2;
    EXPECT_NEAR(time_of(clocks, block, block.entry_clock), begin, 60);
    EXPECT_NEAR(time_of(clocks, block, block.exit_clock), begin + lasts, 60);
  }
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
  const RunTimeline timeline = read_timeline(steps, records, two_clocks(records));
  EXPECT_LT(timeline.disagreement, 5);
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

TEST(RunTimeline, CountsBlocksWithoutAnEnd) {
  std::vector<BlockRecord> records = {record(0, 10'000, 20'000, 0, 0, 15'000)};
  records[0].exit_clock = 0;
  const std::vector<NotedStep> steps = {launch(0, 0, 1)};
  const RunTimeline timeline = read_timeline(steps, records, two_clocks(records));
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
  const RunTimeline timeline = read_timeline(steps, records, two_clocks(records));
  const auto json = nlohmann::json::parse(timeline_json(
      timeline, {{0, {"norm", 0, "layer = 0", "p.toml:3:1"}}, {2, {"copy y -> z", 2, "", ""}}}, 2));
  std::map<std::string, int> bars;
  std::vector<std::string> tracks;
  int arrows = 0;
  for (const auto& event : json.at("traceEvents")) {
    if (event.at("ph") == "X") ++bars[event.at("cat")];
    if (event.at("ph") == "s") ++arrows;
    if (event.at("name") == "thread_name") {
      EXPECT_EQ(event.at("tid"), tracks.size() + 1);  // viewers sort by it
      tracks.push_back(event.at("args").at("name"));
    }
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
  EXPECT_EQ(tracks, (std::vector<std::string>{"launch slot 0", "launch slot 1", "not traced",
                                              "SM 0 slot 0", "SM 1 slot 0", "SM 1 slot 1"}));
}

}  // namespace
}  // namespace baton::trace::timeline_test
