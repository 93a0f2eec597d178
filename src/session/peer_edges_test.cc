// The edges of kernels between peers: their verdicts, their use in a run, and the findings of the
// simulated GPU where one is forced. The kernels are those of testdata/edges.cu.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "baton/schedule.h"
#include "session/world/test_ranks.h"

namespace baton::session_test::peer_edges_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Schedule kSchedules[] = {
    {ScheduleKind::kSerial, 0},  {ScheduleKind::kLate, 0},   {ScheduleKind::kEarly, 0},
    {ScheduleKind::kReverse, 0}, {ScheduleKind::kRandom, 1}, {ScheduleKind::kRandom, 2},
};

std::string launch(const std::string& kernel, const std::string& args,
                   const std::string& more = "") {
  return step("launch = \"" + kernel + "\"\ngrid = [2]\nblock = [32]\nargs = [" + args + "]\n" +
              more);
}
std::string reduce(const std::string& what) {
  return step("all_reduce = { buffer = " + what + " }");
}

// Of two ranks. `symbols`: their lines.
std::string whole(const std::string& steps, const std::string& symbols = "") {
  std::string text = "[world]\nranks = 2\n" + (symbols.empty() ? "" : "[symbols]\n" + symbols);
  for (const char* name : {"late", "ahead", "overwrites", "hands_over", "eager", "non_coherent"}) {
    text += edge_kernel(name);
  }
  return text + buffer("w", "i32", "[64]", "weight", "arange") +
         buffer("x", "i32", "[64]", "state", "arange") +
         buffer("y", "i32", "[64]", "output", "zeros") +
         buffer("z", "i32", "[64]", "output", "zeros") + steps;
}

std::string text_of(const EdgeEnd& end) {
  return end.launch ? std::to_string(*end.launch) : end.label;
}

// "0 > all_reduce y proven programmatic".
std::vector<std::string> edges_of(const std::vector<CollectiveEdgeReport>& edges) {
  std::vector<std::string> result;
  for (const CollectiveEdgeReport& edge : edges) {
    result.push_back(text_of(edge.from) + " > " + text_of(edge.to) + " " +
                     std::string(to_string(edge.verdict)) +
                     (edge.programmatic ? " programmatic" : " full"));
  }
  return result;
}

CheckReport checked(const std::string& text) {
  Bindings bindings;
  bindings.collectives = CollectiveExecutor::kPeer;
  return Executable::prepare(program(text), device_of(0)).check(std::move(bindings));
}
std::vector<std::string> edges(const std::string& text) {
  return edges_of(checked(text).collective_edges);
}

std::string results_of(const Executable& executable) {
  return executable.output("x").bytes + executable.output("y").bytes + executable.output("z").bytes;
}

// What both ranks get by the host, where every edge around a collective is full.
std::vector<std::string> wanted(const std::string& text) {
  std::vector<std::string> results(2);
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    Bindings bindings;
    bindings.collectives = CollectiveExecutor::kHost;
    results[world.rank()] = results_of(ran(text, device, world, std::move(bindings)));
  }));
  return results;
}

// Runs it between peers under all schedules: no finding, and the results of the host.
void expect_right(const std::string& text) {
  const std::vector<std::string> want = wanted(text);
  for (const ExecutorKind kind : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    expect_none(on_ranks(2, [&](const Device& device, const World& world) {
      PrepareOptions options;
      options.executor = kind;
      Executable executable = Executable::prepare(program(text), device, options);
      Bindings bindings = bindings_of(world);
      bindings.collectives = CollectiveExecutor::kPeer;
      executable.bind(std::move(bindings));
      const Stream stream(device);
      for (const Schedule& schedule : kSchedules) {
        executable.reset("x", stream);
        stream.synchronize();
        executable.run({.schedule = schedule});
        EXPECT_THAT(executable.report().findings, IsEmpty()) << to_string(schedule);
        EXPECT_TRUE(results_of(executable) == want[world.rank()]) << to_string(schedule);
      }
    }));
  }
}

// The kinds of what the simulated GPUs find in any run of it between peers.
std::set<std::string> found(const std::string& text) {
  std::set<std::string> kinds;
  std::mutex mutex;
  for (const ScheduleKind schedule : {ScheduleKind::kSerial, ScheduleKind::kEarly}) {
    on_ranks(2, [&](const Device& device, const World& world) {
      Executable executable = Executable::prepare(program(text), device);
      Bindings bindings = bindings_of(world);
      bindings.collectives = CollectiveExecutor::kPeer;
      executable.bind(std::move(bindings));
      const auto take = [&] {
        const std::lock_guard lock(mutex);
        for (const FindingReport& each : executable.report().findings) kinds.insert(each.kind);
      };
      try {
        executable.run({.schedule = {schedule, 0}});
      } catch (const Error&) {
        take();
        throw;
      }
      take();
    });
  }
  return kinds;
}

// The weights of the next step are read while the kernel waits for the other rank.
TEST(PeerEdges, WeightsAreReadBehindAKernelThatStillWaits) {
  const std::string text = whole(launch("late", "\"x\", \"y\"") + reduce("\"y\"") +
                                 launch("ahead", "\"w\", \"y\", \"z\""));
  const CheckReport report = checked(text);
  EXPECT_THAT(
      edges_of(report.collective_edges),
      ElementsAre("0 > all_reduce y proven programmatic", "all_reduce y > 1 proven programmatic"));
  EXPECT_EQ(report.collective_edges[0].reason,
            "baton_all_reduce_i32 waits before it touches what an earlier launch touches");
  EXPECT_EQ(report.collective_edges[1].reason,
            "ahead waits before it touches what an earlier launch touches");
  EXPECT_EQ(report.collective_edges[1].decision, EdgeDecision::kProven);
  EXPECT_THAT(report.edges, IsEmpty());
  expect_right(text);
}

TEST(PeerEdges, AnEarlyReadOfTheReducedBufferIsNotProvenAndFound) {
  const std::string before = launch("late", "\"x\", \"y\"") + reduce("\"y\"");
  const CheckReport report = checked(whole(before + launch("ahead", "\"y\", \"x\", \"z\"")));
  ASSERT_EQ(report.collective_edges.size(), 2u);
  const CollectiveEdgeReport& edge = report.collective_edges[1];
  EXPECT_NE(edge.verdict, EdgeVerdict::kProven);
  EXPECT_FALSE(edge.programmatic);
  EXPECT_EQ(edge.decision, EdgeDecision::kNotProven);
  EXPECT_THAT(edge.reason, HasSubstr("ahead reads y at edges.cu:24, before it has waited, while "
                                     "baton_all_reduce_i32 (all_reduce y)"));
  expect_right(whole(before + launch("ahead", "\"y\", \"x\", \"z\"", "pdl = \"auto\"\n")));
  EXPECT_FALSE(
      found(whole(before + launch("ahead", "\"y\", \"x\", \"z\"", "pdl = \"force\"\n"))).empty());
}

// The kernel still sends what the next step overwrites.
TEST(PeerEdges, AnEarlyWriteOfWhatIsStillSentIsNotProvenAndFound) {
  const std::string before = launch("late", "\"x\", \"y\"") + reduce("\"y\"");
  const CheckReport report = checked(whole(before + launch("overwrites", "\"y\"")));
  ASSERT_EQ(report.collective_edges.size(), 2u);
  EXPECT_NE(report.collective_edges[1].verdict, EdgeVerdict::kProven);
  EXPECT_FALSE(report.collective_edges[1].programmatic);
  EXPECT_FALSE(found(whole(before + launch("overwrites", "\"y\"", "pdl = \"force\"\n"))).empty());
  // Nothing meets here: the kernel's code tells whose memory it writes.
  const std::string apart = whole(before + launch("overwrites", "\"z\""));
  EXPECT_THAT(edges(apart), ElementsAre("0 > all_reduce y proven programmatic",
                                        "all_reduce y > 1 proven programmatic"));
  expect_right(apart);
}

// Kernels that follow each other use the same slots, at once and after another launch.
TEST(PeerEdges, SlotsAreUsedAgainByTheNextKernels) {
  const std::string text =
      whole(reduce("\"y\"") + reduce("\"y\"") + reduce("\"x\", op = \"max\"") +
            launch("hands_over", "\"x\", \"y\"") + reduce("\"y + 3\", count = 20") +
            launch("eager", "\"y\", \"z\"") + reduce("\"z\""));
  EXPECT_THAT(edges(text), ElementsAre("all_reduce y > all_reduce y proven programmatic",
                                       "all_reduce y > all_reduce x proven programmatic",
                                       "all_reduce x > 0 proven programmatic",
                                       "0 > all_reduce y + 3 proven programmatic",
                                       "all_reduce y + 3 > 1 proven programmatic",
                                       "1 > all_reduce z proven programmatic"));
  expect_right(text);
}

// The wrap of a loop is an edge like others.
TEST(PeerEdges, LoopsHaveTheEdgesOfAllTheirIterations) {
  const std::string text =
      whole(step("repeat = 3\nsteps = [ "
                 "{ launch = \"ahead\", grid = [2], block = [32], args = [\"w\", \"x\", \"y\"] }, "
                 "{ all_reduce = { buffer = \"y\", op = \"max\" } }, "
                 "{ launch = \"hands_over\", grid = [2], block = [32], args = [\"y\", \"x\"] }, "
                 "{ all_reduce = { buffer = \"x\" } } ]"));
  EXPECT_THAT(
      edges(text),
      ElementsAre("all_reduce x > 0 proven programmatic", "0 > all_reduce y proven programmatic",
                  "all_reduce y > 1 proven programmatic", "1 > all_reduce x proven programmatic"));
  expect_right(text);
}

TEST(PeerEdges, LoadsThatNoWaitOrdersKeepTheEdgeFull) {
  const std::string text = whole(reduce("\"y\"") + launch("non_coherent", "\"y\", \"z\""));
  const CheckReport report = checked(text);
  ASSERT_EQ(report.collective_edges.size(), 1u);
  EXPECT_EQ(report.collective_edges[0].cause, EdgeCause::kNonCoherent);
  EXPECT_FALSE(report.collective_edges[0].programmatic);
  expect_right(text);
}

TEST(PeerEdges, PdlOffMakesThemFull) {
  Bindings bindings;
  bindings.collectives = CollectiveExecutor::kPeer;
  PrepareOptions options;
  options.pdl = PdlMode::kOff;
  const CheckReport report =
      Executable::prepare(program(whole(launch("late", "\"x\", \"y\"") + reduce("\"y\"") +
                                        launch("late", "\"y\", \"z\""))),
                          device_of(0), options)
          .check(std::move(bindings));
  EXPECT_THAT(edges_of(report.collective_edges),
              ElementsAre("0 > all_reduce y proven full", "all_reduce y > 1 proven full"));
  for (const CollectiveEdgeReport& edge : report.collective_edges) {
    EXPECT_EQ(edge.decision, EdgeDecision::kOff);
    EXPECT_EQ(edge.decision_reason, "the option pdl says off");
  }
}

// By the host every edge around a collective is full, and none is reported.
TEST(PeerEdges, OtherExecutorsHaveNone) {
  const std::string text = whole(launch("late", "\"x\", \"y\"") + reduce("\"y\"") +
                                 launch("ahead", "\"y\", \"x\", \"z\""));
  EXPECT_THAT(Executable::prepare(program(text), device_of(0)).check().collective_edges, IsEmpty());
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    EXPECT_THAT(ran(text, device, world).collective_edges(), IsEmpty());
  }));
}

// A step names what executes it; the others have the executor of the run.
TEST(PeerEdges, AStepNamesWhatExecutesIt) {
  const std::string text = whole(launch("late", "\"x\", \"y\"") + reduce("\"y\", by = \"peer\"") +
                                 launch("ahead", "\"w\", \"y\", \"z\"") + reduce("\"z\""));
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    const Executable executable = ran(text, device, world);
    EXPECT_THAT(edges_of(executable.collective_edges()),
                ElementsAre("0 > all_reduce y by peer proven programmatic",
                            "all_reduce y by peer > 1 proven programmatic"));
    const CollectivesReport& report = executable.report().collectives.value();
    EXPECT_EQ(report.executor, "host");
    EXPECT_THAT(report.peer_steps, ElementsAre("all_reduce y by peer (i32)"));
    EXPECT_THAT(executable.report().findings, IsEmpty());
    Bindings peer;
    peer.collectives = CollectiveExecutor::kPeer;
    const std::string by_host = [&] {
      std::string changed = text;
      changed.replace(changed.find("by = \"peer\""), 11, "by = \"host\"");
      return changed;
    }();
    const Executable other = ran(by_host, device, world, std::move(peer));
    EXPECT_THAT(edges_of(other.collective_edges()),
                ElementsAre("1 > all_reduce z proven programmatic"));
    EXPECT_THAT(other.report().collectives->host_steps, ElementsAre("all_reduce y by host (i32)"));
    EXPECT_TRUE(results_of(other) == results_of(executable));
  }));
}

// No other executor takes a step that names peers.
TEST(PeerEdges, AStepThatPeersLackIsRefused) {
  const auto refused = [](const std::string& groups, const std::string& dtype,
                          const std::string& more) {
    const std::string text = "[world]\nranks = 4\n" + groups +
                             buffer("x", dtype, "[4]", "output", "ones") +
                             reduce("\"x\", by = \"peer\"" + more);
    const auto failures =
        on_ranks(4, [&](const Device& device, const World& world) { ran(text, device, world); });
    for (const auto& failure : failures) EXPECT_EQ(failure.value().code(), ErrorCode::kUnsupported);
    return failures[0].value().message();
  };
  EXPECT_THAT(refused("", "f64", ""), HasSubstr("all_reduce x by peer: kernels between peers "
                                                "execute an all_reduce of f32, f16, bf16, i32, "
                                                "u32, i64 and u64, and the dtype is f64"));
  EXPECT_THAT(refused("[world.groups]\na = 2\nb = 2\n", "f32", ", group = \"b\""),
              HasSubstr("of all 4 ranks, and the group b has 2"));
}

// Kernels between peers have all SMs: what comes before them on a part is left.
TEST(PeerEdges, ThePartOfTheLaunchBeforeIsLeft) {
  const std::string text = whole(launch("late", "\"x\", \"y\"", "sms = 8\n") + reduce("\"y\"") +
                                 launch("ahead", "\"w\", \"y\", \"z\"", "sms = 8\n"));
  Bindings bindings;
  bindings.collectives = CollectiveExecutor::kPeer;
  // The devices of the other tests have too few SMs for a part of 8.
  const CheckReport report =
      Executable::prepare(program(text), Device::open("sim:h200")).check(std::move(bindings));
  EXPECT_THAT(edges_of(report.collective_edges), Each(HasSubstr("full")));
  EXPECT_THAT(report.collective_edges, SizeIs(2));
}

// NCCL is for GPUs: a step that names it ends the run of all ranks with one error.
TEST(PeerEdges, AStepThatNamesWhatIsNotThereEndsTheRun) {
  const auto failures = on_ranks(2, [&](const Device& device, const World& world) {
    ran(whole(reduce("\"y\", by = \"nccl\"")), device, world);
  });
  for (const auto& failure : failures) {
    ASSERT_TRUE(failure);
    EXPECT_THAT(failure->message(), HasSubstr("NCCL works between GPUs"));
  }
}

// The kernel between two launches has the time of those that overlap it.
TEST(PeerEdges, RowsOfOneTimeSayWhoseItIs) {
  const std::string text =
      whole(launch("late", "\"x\", \"y\"") + reduce("\"y\"") +
            launch("ahead", "\"w\", \"y\", \"z\"") + step("copy = { from = \"z\", to = \"y\" }"));
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    Bindings bindings;
    bindings.collectives = CollectiveExecutor::kPeer;
    const std::vector<StepReport> steps =
        ran(text, device, world, std::move(bindings)).report().steps;
    ASSERT_EQ(steps.size(), 4u);
    for (std::size_t k = 0; k < steps.size(); ++k) {
      EXPECT_EQ(steps[k].timed_with_next, k < 2) << k;
      EXPECT_EQ(steps[k].seconds.has_value(), k >= 2) << k;
    }
  }));
}

// What the ranks write for each other is apart from all buffers, whatever their numbers.
TEST(PeerEdges, BuffersAreApartFromWhatTheRanksWrite) {
  const std::string first = buffer("first", "i32", "[64]", "state", "arange");
  const std::string text =
      whole(reduce("\"y\"") + launch("ahead", "\"first\", \"x\", \"z\"") + reduce("\"y\""));
  EXPECT_THAT(edges(first + text), Each(HasSubstr(" proven programmatic")));
}

// Other devices write at any time what a pointer in memory may lead to.
TEST(PeerEdges, APointerInMemoryMayLeadToWhatOtherDevicesWrite) {
  const std::string looks = launch("looks", "\"x\""), follows = launch("indirect", "\"w\", \"z\"");
  const auto last_verdict = [&](const std::string& first) {
    const CheckReport report =
        checked("[kernels.looks]\nptx = \"chosen.ptx\"\n" + edge_kernel("indirect") +
                whole(first + step("fill = { buffer = \"z\", value = 0 }") + looks + follows));
    return report.edges.back().verdict;
  };
  EXPECT_EQ(last_verdict(""), EdgeVerdict::kProven) << "nothing is written";
  EXPECT_EQ(last_verdict(reduce("\"y\"")), EdgeVerdict::kUnknown);
}

// What a bound program was judged by stays true when symbols change.
TEST(PeerEdges, OtherValuesAreJudgedAnew) {
  const std::string text =
      whole(launch("late", "\"x\", \"y\"") + reduce("\"y + AT\", count = \"N\"") +
                launch("ahead", "\"y\", \"x\", \"z\"", "") + launch("late", "\"x\", \"z\""),
            "AT = 0\nN = 0\n");
  expect_none(on_ranks(2, [&](const Device& device, const World& world) {
    Executable executable = Executable::prepare(program(text), device);
    Bindings bindings = bindings_of(world);
    bindings.collectives = CollectiveExecutor::kPeer;
    executable.bind(std::move(bindings));
    EXPECT_THAT(executable.collective_edges(), IsEmpty());
    for (const std::int64_t n : {4, 0, 64}) {
      executable.set({{"N", n}});
      EXPECT_EQ(executable.collective_edges().size(), n == 0 ? 0u : 2u) << n;
      executable.run({.schedule = {ScheduleKind::kEarly, 0}});
      EXPECT_THAT(executable.report().findings, IsEmpty());
    }
  }));
}

}  // namespace
}  // namespace baton::session_test::peer_edges_test
