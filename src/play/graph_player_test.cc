#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "session/test_program.h"

// A program as one CUDA graph: it does what it does in a stream, and takes new values in place.

namespace baton::session_test::graph_player_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

using GraphExecutor = DeviceTest;

Executable prepare(const std::string& text, ExecutorKind executor = ExecutorKind::kGraph,
                   PdlMode pdl = PdlMode::kAuto) {
  PrepareOptions options;
  options.executor = executor;
  options.pdl = pdl;
  return Executable::prepare(program(text), open_device(), options);
}

std::string launch(const std::string& kernel, const std::string& args,
                   const std::string& more = "") {
  return "[[steps]]\nlaunch = \"" + kernel + "\"\ngrid = [1]\nblock = [4]\nargs = [" + args +
         "]\n" + more;
}

const std::string kBuffers =
    "[symbols]\nN = 1000\nL = 3\nE = 0\nV = 5\n" +
    buffer("x", "f32", "[\"N\"]", "input", "random") +
    buffer("y", "f32", "[\"N\"]", "inout", "ones") + buffer("z", "f32", "[\"2*N\"]", "output") +
    buffer("d", "f64", "[37]", "output") + buffer("i", "i32", "[\"4*L\"]", "inout", "zeros") +
    buffer("n", "u32", "[1]", "output") + kernel("saxpy") + kernel("add") + kernel("count_calls");

// Every kind of step: launches, skipped ones, copies, fills of 4 and of 8 bytes, nested groups.
const std::string kEverything =
    kBuffers +
    "[[steps]]\nlaunch = \"saxpy\"\ngrid = [\"ceildiv(N, 128)\"]\nblock = [128]\n"
    "args = [\"y\", \"x\", 2.5, \"N\"]\n"
    "[[steps]]\nlaunch = \"saxpy\"\ngrid = [\"E\"]\nblock = [128]\nargs = [\"y\", \"x\", 1.5, "
    "\"N\"]\n"
    "[[steps]]\nfill = { buffer = \"z\", value = -1 }\n"
    "[[steps]]\nfill = { buffer = \"d\", value = 1.1 }\n"
    "[[steps]]\ncopy = { from = \"y\", to = \"z + N\", count = \"N\" }\n"
    "[[steps]]\ncopy = { from = \"x\", to = \"z\", count = 0 }\n"
    "[[steps]]\nrepeat = \"L\"\nindex = \"i0\"\n[[steps.steps]]\nrepeat = \"i0\"\nindex = \"j\"\n"
    "steps = [ { launch = \"add\", grid = [1], block = [4], "
    "args = [\"i + 4*i0\", \"10*i0 + j\", 4] } ]\n"
    "[[steps]]\nlaunch = \"count_calls\"\ngrid = [1]\nblock = [1]\nargs = [\"n\"]\n";

const std::string kEdgeBuffers = buffer("x", "i32", "[64]", "input", "zeros") +
                                 buffer("y", "i32", "[64]", "output", "zeros") +
                                 buffer("z", "i32", "[64]", "output", "zeros");
const std::string kXToY = "\"x\", \"y\"";
const std::string kYToZ = "\"y\", \"z\"";
const std::string kZToY = "\"z\", \"y\"";

// Two launches that overlap.
const std::string kOverlap = kEdgeBuffers + edge_kernel("late") + launch("late", kXToY) +
                             launch("late", kYToZ) + launch("late", kZToY);

TEST_F(GraphExecutor, DoesWhatTheStreamExecutorDoes) {
  for (const std::string& text : {kEverything, kOverlap}) {
    Executable stream = prepare(text, ExecutorKind::kStream);
    Executable graph = prepare(text);
    for (const std::uint64_t seed : {1, 2}) {
      stream.bind({.seed = seed});
      graph.bind({.seed = seed});
      const RunReport& want = stream.run();
      const RunReport& got = graph.run();
      for (const std::string& name : stream.outputs()) {
        EXPECT_EQ(stream.output(name).bytes, graph.output(name).bytes) << name;
      }
      ASSERT_EQ(got.steps.size(), want.steps.size());
      for (std::size_t i = 0; i < got.steps.size(); ++i) {
        SCOPED_TRACE(want.steps[i].label);
        EXPECT_EQ(got.steps[i].label, want.steps[i].label);
        EXPECT_EQ(got.steps[i].indexes, want.steps[i].indexes);
        EXPECT_EQ(got.steps[i].skipped, want.steps[i].skipped);
        EXPECT_EQ(got.steps[i].grid, want.steps[i].grid);
        EXPECT_EQ(got.steps[i].attributes, want.steps[i].attributes);
        EXPECT_EQ(got.steps[i].seconds, std::nullopt);
        EXPECT_EQ(got.steps[i].unfinished, 0u);
        EXPECT_EQ(got.steps[i].bytes_counted, want.steps[i].bytes_counted);
        EXPECT_EQ(got.steps[i].instructions.has_value(), want.steps[i].instructions.has_value());
      }
      const auto total = [](const RunReport& report) {
        std::uint64_t bytes = 0, instructions = 0;
        for (const StepReport& step : report.steps) {
          bytes += step.bytes;
          instructions += step.instructions.value_or(0);
        }
        return std::pair(bytes, instructions);
      };
      EXPECT_EQ(total(got), total(want));
      EXPECT_THAT(got.run_seconds, SizeIs(1));
      EXPECT_FALSE(want.graph);
      EXPECT_TRUE(got.graph);
    }
  }
}

// Nodes of a loop share their launch, and views bound what a launch may access on a simulated GPU.
TEST_F(GraphExecutor, NodesTakeNewValuesOneByOne) {
  Executable executable =
      prepare("[symbols]\nA = 1\nO = 0\nG = 1\n" + buffer("x", "i32", "[64]", "inout", "zeros") +
              kernel("add") + R"toml(
[[steps]]
repeat = 3
steps = [{ launch = "add", grid = [1], block = [8], args = ["x", "A", 8] }]

[[steps]]
repeat = 2
index = "i"
steps = [{ launch = "add", grid = ["G"], block = [8], args = [{ buffer = "x", offset = "O + 8*i", count = 16 }, 1, "8*G"] }]
)toml");
  executable.bind();
  const auto want = [&](int a, int o, int g) {
    std::vector<int> x(64, 0);
    for (int i = 0; i < 8; ++i) x[static_cast<std::size_t>(i)] += 3 * a;
    for (int turn = 0; turn < 2; ++turn) {
      for (int i = 0; i < 8 * g; ++i) x[static_cast<std::size_t>(o + 8 * turn + i)] += 1;
    }
    return x;
  };
  EXPECT_EQ(executable.run().graph->builds, 1u);
  EXPECT_EQ(values<int>(executable.output("x")), want(1, 0, 1));
  const struct { std::int64_t a, o, g; } kValues[] = {{5, 0, 1}, {5, 24, 1}, {2, 40, 2}, {2, 8, 1}};
  for (const auto& [a, o, g] : kValues) {
    executable.set({{"A", a}, {"O", o}, {"G", g}});
    const GraphReport made = *executable.run().graph;
    EXPECT_EQ(made.builds, 1u);
    EXPECT_EQ(values<int>(executable.output("x")),
              want(static_cast<int>(a), static_cast<int>(o), static_cast<int>(g)));
  }
}

TEST_F(GraphExecutor, NewValuesAreTakenInPlace) {
  Executable executable = prepare(kEverything);
  GraphReport made = *executable.run().graph;
  EXPECT_EQ(made.builds, 1u);
  EXPECT_EQ(made.updates, 0u);
  // saxpy, the fill of z, two of d, the copy, three times add, count_calls.
  EXPECT_EQ(made.nodes, 9u);
  EXPECT_EQ(made.edges, 8u);
  EXPECT_EQ(made.programmatic_edges, 0u);
  // The same values again: nothing is made.
  made = *executable.run({.repeat = 3}).graph;
  EXPECT_EQ(std::pair(made.builds, made.updates), std::pair(std::uint64_t{1}, std::uint64_t{0}));
  // Other contents: nothing of a launch changes.
  executable.bind({.seed = 8});
  made = *executable.run().graph;
  EXPECT_EQ(std::pair(made.builds, made.updates), std::pair(std::uint64_t{1}, std::uint64_t{0}));
  // Grids, and how much is copied and filled, for which a GPU's driver may want another graph.
  executable.bind({.symbols = {{"N", 3000}}, .seed = 9});
  made = *executable.run().graph;
  EXPECT_EQ(made.builds + made.updates, 2u);
  if (is_simulated(executable.device())) {
    EXPECT_EQ(made.updates, 1u);
  }
  const std::uint64_t before = made.builds;
  Executable stream = prepare(kEverything, ExecutorKind::kStream);
  stream.bind({.symbols = {{"N", 3000}}, .seed = 9});
  stream.run();
  for (const char* name : {"y", "z", "d", "i"}) {
    EXPECT_EQ(executable.output(name).bytes, stream.output(name).bytes) << name;
  }
  // More nodes: another graph.
  executable.bind({.symbols = {{"L", 4}}});
  made = *executable.run().graph;
  EXPECT_EQ(made.builds, before + 1);
  EXPECT_EQ(made.nodes, 12u);
  // A launch that is skipped no more.
  executable.bind({.symbols = {{"L", 4}, {"E", 1}}});
  made = *executable.run().graph;
  EXPECT_EQ(made.builds, before + 2);
  EXPECT_EQ(made.nodes, 13u);
}

TEST_F(GraphExecutor, AttributesAreUpdatedToo) {
  const std::string text =
      "[symbols]\nC = 2\n" + buffer("x", "f32", "[512]", "input", "ones") +
      buffer("y", "f32", "[512]", "inout", "ones") + kernel("saxpy") +
      "[[steps]]\nlaunch = \"saxpy\"\ngrid = [4]\nblock = [128]\ncluster = [\"C\"]\n"
      "mem_sync_domain = \"remote\"\nargs = [\"y\", \"x\", 2.0, 512]\n"
      "access_policy_window = { buffer = \"x\", num_bytes = 64, hit_ratio = 1.0, "
      "hit_prop = \"persisting\", miss_prop = \"streaming\" }\n";
  Executable executable = prepare(text);
  if (executable.device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  executable.run();
  for (const std::int64_t cluster : {4, 1}) {
    executable.bind({.symbols = {{"C", cluster}}});
    executable.run();
    EXPECT_EQ(values<float>(executable.output("y"))[511], 3.0f);
  }
  const GraphReport graph = *executable.report().graph;
  EXPECT_EQ(graph.builds + graph.updates, 3u);
  if (is_simulated(executable.device())) {
    EXPECT_EQ(graph.builds, 1u);
  }
}

TEST_F(GraphExecutor, WhatANodeDoesNotKeepIsNamed) {
  const std::string text =
      buffer("x", "f32", "[512]", "input", "ones") + buffer("y", "f32", "[512]", "inout", "ones") +
      kernel("saxpy") +
      "[[steps]]\nlaunch = \"saxpy\"\ngrid = [4]\nblock = [128]\ncluster = [2]\n"
      "preferred_cluster = [4]\nargs = [\"y\", \"x\", 2.0, 512]\n";
  if (!is_simulated(open_device())) GTEST_SKIP() << "a GPU may take it";
  Executable executable = prepare(text);
  try {
    executable.run();
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kUnsupported);
    EXPECT_THAT(failure.message(), HasSubstr("kernel saxpy: a graph does not keep the attribute "
                                             "preferred_cluster"));
    EXPECT_EQ(failure.where().line, 14) << failure.what();
  }
}

TEST_F(GraphExecutor, EdgesAreThoseOfTheStreamExecutor) {
  if (open_device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  const auto programmatic = [](const std::string& text, PdlMode pdl = PdlMode::kAuto) {
    Executable executable = prepare(text, ExecutorKind::kGraph, pdl);
    return executable.run().graph->programmatic_edges;
  };
  EXPECT_EQ(programmatic(kOverlap), 2u);
  EXPECT_EQ(programmatic(kOverlap, PdlMode::kOff), 0u);
  const std::string fill = "[[steps]]\nfill = { buffer = \"z\", value = 0 }\n";
  const std::string first = kEdgeBuffers + edge_kernel("late") + launch("late", kXToY);
  EXPECT_EQ(programmatic(first + fill + launch("late", kYToZ)), 0u);
  EXPECT_EQ(programmatic(first + launch("late", kYToZ, "pdl = \"off\"\n")), 0u);
  EXPECT_EQ(programmatic(kEdgeBuffers + edge_kernel("late") +
                         "[[steps]]\nrepeat = 5\nsteps = [ { launch = \"late\", grid = [1], "
                         "block = [4], args = [" +
                         kXToY + "] } ]\n"),
            4u);
  setenv("BATON_PDL", "off", 1);
  EXPECT_EQ(programmatic(kOverlap), 0u);
  unsetenv("BATON_PDL");
}

// A full edge waits for all that came before, as in a stream: also for what the launch before it
// was started early after and never waited for.
TEST_F(GraphExecutor, AFullEdgeCoversLaunchesThatNeverWait) {
  if (open_device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
  Executable executable =
      prepare(kEdgeBuffers + edge_kernel("late") + edge_kernel("never") + launch("late", kXToY) +
              launch("never", "\"x\", \"z\"", "pdl = \"force\"\n") +
              launch("late", kYToZ, "pdl = \"off\"\n"));
  try {
    executable.run();
  } catch (const Error&) {
    // The simulated GPU minds that it never waits, and nothing else.
    for (const FindingReport& finding : executable.report().findings) {
      EXPECT_EQ(finding.kind, "no_wait") << finding.message;
    }
  }
  const GraphReport graph = *executable.report().graph;
  EXPECT_EQ(graph.programmatic_edges, 1u);
  EXPECT_EQ(graph.edges, 3u);
}

TEST_F(GraphExecutor, RepeatsAreOneLaunchEach) {
  Executable executable = prepare(kEverything);
  const RunReport& report = executable.run({.repeat = 4});
  EXPECT_THAT(report.run_seconds, SizeIs(4));
  EXPECT_FALSE(report.steps[0].times);
  EXPECT_EQ(report.graph->builds, 1u);
  // The first run is the one that is kept.
  EXPECT_THAT(values<std::uint32_t>(executable.output("n")), ElementsAre(1));
  executable.run();
  EXPECT_THAT(values<std::uint32_t>(executable.output("n")), ElementsAre(5));
}

TEST_F(GraphExecutor, AProgramWithoutWorkRuns) {
  Executable executable = prepare(buffer("y", "i32", "[0]", "output") +
                                  "[[steps]]\nfill = { buffer = \"y\", value = 0 }\n");
  EXPECT_EQ(executable.run().graph->nodes, 0u);
  executable.run({.repeat = 2, .timeout = std::chrono::seconds(60)});
}

// With a time limit a graph notes how far it is; its edges stay what they are.
TEST_F(GraphExecutor, TimeLimitsLeaveTheEdgesAlone) {
  Executable executable = prepare(kOverlap);
  const RunOptions limited{.timeout = std::chrono::seconds(60)};
  const std::uint64_t edges = executable.run().graph->programmatic_edges;
  EXPECT_EQ(executable.run(limited).graph->programmatic_edges, edges);
  EXPECT_THAT(values<int>(executable.output("y"))[3], 3);
  executable.run(limited);
  EXPECT_EQ(executable.report().graph->builds, 2u);
}

TEST_F(GraphExecutor, AHangNamesStepAndEdge) {
  if (!is_simulated(open_device())) GTEST_SKIP() << "a GPU cannot be stopped: see the e2e tests";
  const std::string text = kEdgeBuffers + edge_kernel("late") + kernel("spin") +
                           launch("late", kXToY) + launch("late", kYToZ) + launch("spin", "\"x\"") +
                           launch("late", kZToY);
  for (const ExecutorKind kind : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    Executable executable = prepare(text, kind);
    std::uint64_t told = 0;
    try {
      executable.run(
          {.timeout = std::chrono::seconds(1),
           .progress = [&](const RunProgress& progress) { told = progress.steps_done; }});
      FAIL();
    } catch (const Error& failure) {
      const std::string what = failure.what();
      EXPECT_EQ(failure.code(), ErrorCode::kTimeout) << what;
      EXPECT_THAT(what, HasSubstr("the first step not known to have completed: spin (launch 2), at "
                                  "test.toml:"));
      EXPECT_THAT(what, HasSubstr("behind the full edge 1 -> 2"));
      EXPECT_THAT(what, HasSubstr("over the programmatic edge 2 -> 3"));
      EXPECT_THAT(what, HasSubstr("kernels.cu:"));
    }
    EXPECT_EQ(executable.report().steps[1].unfinished, 0u);
    EXPECT_EQ(executable.report().steps[2].unfinished, 1u);
    if (kind == ExecutorKind::kGraph) {
      EXPECT_EQ(told, 2u);
    }
  }
}

TEST_F(GraphExecutor, AHangNamesAtMostEightEdgesBehindIt) {
  if (!is_simulated(open_device())) GTEST_SKIP() << "a GPU cannot be stopped: see the e2e tests";
  for (const auto& [count, more] : {std::pair(8, ""), std::pair(9, " and 1 more")}) {
    std::string text =
        kEdgeBuffers + edge_kernel("late") + kernel("spin") + launch("spin", "\"x\"");
    for (int k = 0; k < count; ++k) text += launch("late", k % 2 == 0 ? kYToZ : kZToY);
    Executable executable = prepare(text, ExecutorKind::kStream);
    try {
      executable.run({.timeout = std::chrono::seconds(1)});
      FAIL();
    } catch (const Error& failure) {
      EXPECT_THAT(failure.what(),
                  HasSubstr("over the programmatic edges 0 -> 1, 1 -> 2, 2 -> 3, 3 -> 4, 4 -> 5, "
                            "5 -> 6, 6 -> 7, 7 -> 8" +
                            std::string(more) + "; BATON_PDL=off"));
    }
  }
}

TEST_F(GraphExecutor, ReportsForManyExecutionsAreJoined) {
  Executable executable = prepare(kEverything);
  const RunReport& report = executable.run({.join_executions = true});
  ASSERT_THAT(report.steps, SizeIs(8));
  EXPECT_EQ(report.steps[6].executions, 3u);
  if (is_simulated(executable.device())) {
    EXPECT_GT(report.steps[6].instructions.value_or(0), 0u);
  }
}

// An instantiated graph without priorities takes none by an update, and the driver reports success.
TEST_F(GraphExecutor, IsMadeAnewForAPriority) {
  const std::string text = "[symbols]\nA = 0\nB = 1\n" +
                           buffer("i", "i32", "[4]", "inout", "zeros") + kernel("add") +
                           "[[steps]]\nlaunch = \"add\"\ngrid = [\"A\"]\nblock = [4]\n"
                           "args = [\"i\", 1, 4]\npriority = -1\n"
                           "[[steps]]\nlaunch = \"add\"\ngrid = [\"B\"]\nblock = [4]\n"
                           "args = [\"i\", 1, 4]\n";
  Executable executable = prepare(text);
  executable.bind();
  executable.run();
  executable.bind({.symbols = {{"A", 1}, {"B", 0}}});
  const RunReport& report = executable.run();
  ASSERT_TRUE(report.graph);
  EXPECT_EQ(report.graph->builds, 2u);
  EXPECT_EQ(report.graph->updates, 0u);
}

}  // namespace
}  // namespace baton::session_test::graph_player_test
