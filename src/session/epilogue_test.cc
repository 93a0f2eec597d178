// All-reduces with an epilogue, in whole programs: every transport gives the same bits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "baton/schedule.h"
#include "session/world/test_ranks.h"

namespace baton::session_test::epilogue_test {
namespace {

using ::testing::HasSubstr;

// Two layers, each with weights of its own: `y` and `x` take turns as the residual.
std::string layers(const std::string& dtype) {
  return kWorld + buffer("y", dtype, "[3, 96]", "inout", "random") +
         buffer("x", dtype, "[3, 96]", "inout", "random") +
         buffer("w", dtype, "[4, 96]", "weight", "random") +
         buffer("h", dtype, "[2, 3, 96]", "output") + buffer("g", dtype, "[3, 96]", "output") +
         step(
             "repeat = 2\nindex = \"l\"\nsteps = [ "
             "{ all_reduce = { buffer = \"y\", add = \"x\", rms_norm = { weight = \"w + 2*l*96\", "
             "epsilon = 1e-5, to = \"h + l*288\" } } }, "
             "{ all_reduce = { buffer = \"x\", add = \"y\" } } ]") +
         step(
             "all_reduce = { buffer = \"x + 96\", count = 96, rms_norm = { weight = \"w + 96\", "
             "epsilon = 0, to = \"g + 192\" } }");
}

std::string results(const Executable& executable) {
  std::string all;
  for (const char* name : {"y", "x", "h"}) all += executable.output(name).bytes;
  return all + executable.output("g").bytes.substr(executable.output("g").bytes.size() * 2 / 3);
}

TEST_P(Executors, EpiloguesHaveTheSameBitsByEveryTransport) {
  for (const char* dtype : {"f32", "f16", "bf16"}) {
    SCOPED_TRACE(dtype);
    for (const std::uint32_t ranks : {2u, 3u, 4u}) {
      std::vector<std::string> all(ranks);
      expect_none(on_ranks(ranks, [&](const Device& device, const World& world) {
        const auto by = [&](CollectiveExecutor executor) {
          Bindings bindings;
          bindings.collectives = executor;
          Executable executable =
              ran(layers(dtype), device, world, std::move(bindings), GetParam());
          EXPECT_EQ(executable.report().findings.size(), 0u);
          return results(executable);
        };
        all[world.rank()] = by(CollectiveExecutor::kPeer);
        EXPECT_TRUE(all[world.rank()] == by(CollectiveExecutor::kHost));
      }));
      for (const std::string& each : all) EXPECT_TRUE(each == all[0]);
    }
  }
}

// With one rank there is nothing to exchange; the epilogue is the same.
TEST_P(Executors, OneRankExecutesItsEpilogue) {
  const std::string text =
      kWorld + buffer("y", "f32", "[2, 2]", "inout") + buffer("x", "f32", "[4]", "input") +
      buffer("w", "f32", "[2]", "weight", "ones") + buffer("h", "f32", "[2, 2]", "output") +
      step(
          "all_reduce = { buffer = \"y\", add = \"x\", rms_norm = { weight = \"w\", epsilon = 0, "
          "to "
          "= \"h\" } }");
  Bindings bindings;
  bindings.inputs.emplace_back("y", array<float>(DType::kF32, {2, 2}, {1, 2, 0, 5}));
  bindings.inputs.emplace_back("x", array<float>(DType::kF32, {4}, {0, 5, 1, -4}));
  const Executable executable = ran(text, device_of(0), World(), std::move(bindings), GetParam());
  EXPECT_EQ(values<float>(executable.output("y")), (std::vector<float>{1, 7, 1, 1}));
  EXPECT_EQ(values<float>(executable.output("h")), (std::vector<float>{0.2f, 1.4f, 1, 1}));
  EXPECT_EQ(executable.report().steps.size(), 1u);
}

// The host exchanges what is of a group, and the epilogue follows.
TEST_P(Executors, GroupsHaveEpilogues) {
  const std::string text = "[world]\nranks = 4\n[world.groups]\nstage = 2\ntensor = 2\n" +
                           buffer("y", "f32", "[64]", "inout", "ones") +
                           buffer("x", "f32", "[64]", "input", "ones") +
                           step("all_reduce = { buffer = \"y\", add = \"x\", group = \"tensor\" }");
  expect_none(on_ranks(4, [&](const Device& device, const World& world) {
    for (const auto executor : {CollectiveExecutor::kPeer, CollectiveExecutor::kHost}) {
      Bindings bindings;
      bindings.collectives = executor;
      const Executable executable = ran(text, device, world, std::move(bindings), GetParam());
      EXPECT_THAT(values<float>(executable.output("y")), ::testing::Each(3));
    }
  }));
}

// The edge to the launch after it stays full, and memory that moves is followed.
TEST_P(Executors, EpiloguesKeepTheOrderOfTheSteps) {
  const std::string text = kWorld + "[symbols]\nN = 8\n" +
                           buffer("y", "f32", "[\"N\"]", "inout", "ones") +
                           buffer("x", "f32", "[\"N\"]", "state", "ones") +
                           step("all_reduce = { buffer = \"y\", add = \"x\" }") +
                           step("copy = { from = \"y\", to = \"x\" }");
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    Executable executable = ran(text, device, world, {}, GetParam());
    EXPECT_EQ(values<float>(executable.output("y"))[0], 3);
    executable.run();
    EXPECT_EQ(values<float>(executable.output("y"))[7], 5);
    Bindings other = bindings_of(world);
    other.symbols = {{"N", 1024}};
    executable.bind(std::move(other));
    executable.run();
    EXPECT_EQ(values<float>(executable.output("y"))[1023], 3);
  }));
}

// A launch that lets the all-reduce in early, and one that reads what it made. `second`: the launch
// between the first one and the all-reduce, with its arguments.
std::string chain(const std::string& second) {
  const std::string blocks = "grid = [2], block = [32]";
  return kWorld + edge_kernel("hands_over") + edge_kernel("eager") + edge_kernel("returns") +
         buffer("x", "f32", "[64]", "inout", "ones") + buffer("y", "f32", "[64]", "output") +
         buffer("z", "f32", "[64]", "output") +
         step("repeat = 3\nsteps = [ { launch = \"hands_over\", " + blocks +
              ", args = [\"x\", \"y\"] }, { " + second + ", " + blocks +
              " }, { all_reduce = { buffer = \"y\" } }, { launch = \"hands_over\", " + blocks +
              ", args = [\"y\", \"x\"] } ]");
}
const std::string kEager = "launch = \"eager\", args = [\"x\", \"y\"]";
// Threads from n on end before they wait. It starts early whatever that means for others.
std::string returns_from(int n) {
  return "launch = \"returns\", pdl = \"force\", args = [\"x\", \"z\", " + std::to_string(n) + "]";
}

// Its programmatic edges in the graph, and what it makes.
std::pair<std::uint64_t, std::string> chained(const std::string& text, const Device& device,
                                              const World& world, CollectiveExecutor by,
                                              ExecutorKind kind = ExecutorKind::kGraph) {
  Bindings bindings;
  bindings.collectives = by;
  const Executable executable = ran(text, device, world, std::move(bindings), kind);
  EXPECT_EQ(executable.report().findings.size(), 0u);
  const auto& graph = executable.report().graph;
  return {graph ? graph->programmatic_edges : 0,
          executable.output("x").bytes + executable.output("y").bytes};
}

// A kernel between peers waits by itself, so that it may start early, and so may the launch after
// it; what the host does may not.
TEST(Collectives, AKernelBetweenPeersStartsEarlyAfterALaunch) {
  const std::string text = chain(kEager);
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    const auto host = chained(text, device, world, CollectiveExecutor::kHost);
    const auto peer = chained(text, device, world, CollectiveExecutor::kPeer);
    EXPECT_EQ(peer.first, host.first + 6);
    EXPECT_TRUE(peer.second == host.second);
    const auto stream =
        chained(text, device, world, CollectiveExecutor::kPeer, ExecutorKind::kStream);
    EXPECT_TRUE(stream.second == host.second);
    // Where no thread of the launch before waits, its end says nothing of those before it.
    for (const int n : {64, 0}) {
      const std::string waits = chain(returns_from(n));
      const auto full = chained(waits, device, world, CollectiveExecutor::kHost);
      EXPECT_EQ(full.first, 5u);
      const auto by_peers = chained(waits, device, world, CollectiveExecutor::kPeer);
      EXPECT_EQ(by_peers.first, full.first + (n == 0 ? 3 : 6)) << n;
      EXPECT_TRUE(by_peers.second == full.second);
    }
  }));
}

TEST(Collectives, EarlyStartsOfPeersHaveNoFindingUnderAnySchedule) {
  constexpr Schedule kSchedules[] = {
      {ScheduleKind::kSerial, 0},  {ScheduleKind::kLate, 0},   {ScheduleKind::kEarly, 0},
      {ScheduleKind::kReverse, 0}, {ScheduleKind::kRandom, 1}, {ScheduleKind::kRandom, 2},
  };
  for (const ExecutorKind kind : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    expect_none(on_ranks(3, [&](const Device& device, const World& world) {
      PrepareOptions options;
      options.executor = kind;
      Executable executable = Executable::prepare(program(chain(kEager)), device, options);
      Bindings bindings = bindings_of(world);
      bindings.collectives = CollectiveExecutor::kPeer;
      executable.bind(std::move(bindings));
      std::string first;
      for (const Schedule& schedule : kSchedules) {
        executable.run({.schedule = schedule});
        EXPECT_EQ(executable.report().findings.size(), 0u) << to_string(schedule);
        const std::string bytes = executable.output("x").bytes + executable.output("y").bytes;
        if (first.empty()) first = bytes;
        EXPECT_TRUE(bytes == first) << to_string(schedule);
      }
    }));
  }
}

// Kernels of Baton's own are counted for no launch of the program.
TEST(Collectives, LaunchesHaveTheirOwnCounts) {
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    for (const auto by : {CollectiveExecutor::kPeer, CollectiveExecutor::kHost}) {
      Bindings bindings;
      bindings.collectives = by;
      const std::string text =
          chain(kEager) + step("all_reduce = { buffer = \"y\", add = \"x\" }") +
          step("launch = \"eager\"\ngrid = [2]\nblock = [32]\nargs = [\"x\", \"z\"]");
      const Executable executable = ran(text, device, world, std::move(bindings));
      std::set<std::uint64_t> counts;
      for (const StepReport& each : executable.report().steps) {
        if (each.kind == StepReport::Kind::kLaunch) counts.insert(each.instructions.value_or(0));
      }
      // Those of hands_over and of eager, which are as long.
      EXPECT_EQ(counts.size(), 1u);
      EXPECT_FALSE(counts.contains(0));
    }
  }));
}

std::string refusal(const std::string& buffers, const std::string& keys) {
  const std::string text = kWorld + buffers + step("all_reduce = { buffer = \"y\", " + keys + " }");
  return refused(text, {}).message();
}

TEST(Epilogues, BadOnesAreRefused) {
  const std::string good =
      buffer("y", "f32", "[2, 8]", "inout") + buffer("x", "f32", "[12]", "input") +
      buffer("w", "f32", "[8]", "weight") + buffer("h", "f32", "[24]", "output");
  EXPECT_THAT(refusal(good, "add = \"x\""),
              HasSubstr("add of the all_reduce takes 16 elements of x from element 0 on, and there "
                        "are 12 in all"));
  EXPECT_THAT(refusal(good, "add = \"h + 9\""), HasSubstr("of h from element 9 on"));
  EXPECT_THAT(
      refusal(good, "count = 12, rms_norm = { weight = \"w\", epsilon = 0, to = \"h\" }"),
      HasSubstr(
          "divides 12 elements into rows of 8, the last dimension of w, and some are left over"));
  EXPECT_THAT(
      refusal(good, "rms_norm = { weight = \"w + 1\", epsilon = 0, to = \"h\" }"),
      HasSubstr("weight of rms_norm of the all_reduce takes 8 elements of w from element 1"));
  EXPECT_THAT(refusal(good, "rms_norm = { weight = \"w\", epsilon = 0, to = \"h + 9\" }"),
              HasSubstr("to of rms_norm of the all_reduce takes 16 elements of h from element 9"));
  EXPECT_THAT(refusal(good, "rms_norm = { weight = \"w\", epsilon = 0, to = \"y\" }"),
              HasSubstr("takes y from byte 0 on and y from byte 0 on, which overlap"));
  EXPECT_THAT(refusal(good,
                      "count = 8, add = \"h + 4\", rms_norm = { weight = \"w\", epsilon = 0, "
                      "to = \"h\" }"),
              HasSubstr("takes h from byte 16 on and h from byte 0 on, which overlap"));
  EXPECT_THAT(refusal(good, "add = \"y\""), HasSubstr("which overlap"));
  const std::string empty = buffer("y", "f32", "[8]", "inout") +
                            buffer("w", "f32", "[0]", "weight") +
                            buffer("h", "f32", "[8]", "output");
  EXPECT_THAT(refusal(empty, "rms_norm = { weight = \"w\", epsilon = 0, to = \"h\" }"),
              HasSubstr("divides 8 elements into rows of 0"));
}

// Ranks must agree on the lengths of rows, too.
TEST(Epilogues, RanksWithOtherRowsAreRefused) {
  const std::string text = kWorld + buffer("y", "f32", "[16]", "inout", "ones") +
                           buffer("w", "f32", "[\"8 / (rank + 1)\"]", "weight", "ones") +
                           buffer("h", "f32", "[16]", "output") +
                           step(
                               "all_reduce = { buffer = \"y\", rms_norm = { weight = \"w\", "
                               "epsilon = 1e-5, to = \"h\" } "
                               "}");
  const Error failure = one_error(
      on_ranks(2, [&](const Device& device, const World& world) { ran(text, device, world); }));
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(failure.message(), HasSubstr("rms_norm of rows of 8 with epsilon 1e-05"));
  EXPECT_THAT(failure.message(), HasSubstr("rms_norm of rows of 4 with epsilon 1e-05"));
}

}  // namespace
}  // namespace baton::session_test::epilogue_test
