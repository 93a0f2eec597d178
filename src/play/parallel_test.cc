#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "baton/graph.h"
#include "session/test_program.h"

// Steps of parallel, on both executors.

namespace baton::session_test::parallel_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Parallel : public DeviceTest, public testing::WithParamInterface<ExecutorKind> {
 protected:
  static Executable prepare(const std::string& text) {
    PrepareOptions options;
    options.executor = GetParam();
    return Executable::prepare(program(text), open_device(), options);
  }
};

INSTANTIATE_TEST_SUITE_P(Executors, Parallel,
                         testing::Values(ExecutorKind::kStream, ExecutorKind::kGraph),
                         [](const auto& test) {
                           return test.param == ExecutorKind::kStream ? "Stream" : "Graph";
                         });

// to[i] = from[i] + 1, four elements, with a wait.
std::string late(const std::string& from, const std::string& to) {
  return "{ launch = \"late\", grid = [1], block = [4], args = [" + from + ", " + to + "] }";
}
std::string late(char from, char to) {
  return late('"' + std::string(1, from) + '"', '"' + std::string(1, to) + '"');
}
std::string fill(const std::string& buffer, int value) {
  return "{ fill = { buffer = \"" + buffer + "\", value = " + std::to_string(value) + " } }";
}

// x = 0, 1, 2, 3 is the input; a to d are scratch; y is the output. Each has eight elements.
std::string with(const std::vector<std::string>& steps) {
  std::string text = "steps = " + join(steps) + "\n[symbols]\nL = 3\n" + edge_kernel("late") +
                     edge_kernel("overwrites") + buffer("x", "i32", "[8]", "input", "arange") +
                     buffer("y", "i32", "[8]", "output", "zeros");
  for (const char* name : {"a", "b", "c", "d"}) {
    text += buffer(name, "i32", "[8]", "scratch", "zeros");
  }
  return text;
}
// y[0..3] = x + 3, y[4..7] = x + 2.
const std::string kTwoBranches =
    with({late('x', 'a'), parallel({{late('a', 'b'), late('b', 'c'), copy("c", "y")},
                                    {late('a', 'd'), copy("d", "y + 4")}})});

TEST_P(Parallel, TheStepsAfterSeeAllBranches) {
  Executable executable =
      prepare(with({late('x', 'a'), parallel({{late('a', 'b'), late('b', 'c')}, {late('a', 'd')}}),
                    copy("c", "y"), copy("d", "y + 4")}));
  for (int run = 0; run < 3; ++run) {
    const RunReport& report = executable.run();
    EXPECT_THAT(values<int>(executable.output("y")), ElementsAre(3, 4, 5, 6, 2, 3, 4, 5));
    ASSERT_EQ(report.steps.size(), 6u);
    for (const StepReport& step : report.steps) EXPECT_EQ(step.executions, 1u) << step.label;
    EXPECT_THAT(report.warnings, IsEmpty());
  }
}

TEST_P(Parallel, BranchesMoveMemoryToo) {
  Executable executable = prepare(kTwoBranches);
  executable.run();
  EXPECT_THAT(values<int>(executable.output("y")), ElementsAre(3, 4, 5, 6, 2, 3, 4, 5));
}

TEST_P(Parallel, AGraphHasNoEdgesBetweenBranches) {
  if (GetParam() != ExecutorKind::kGraph) GTEST_SKIP() << "not a graph";
  Executable executable = prepare(kTwoBranches);
  const GraphReport graph = *executable.run().graph;
  EXPECT_EQ(graph.nodes, 6u);
  EXPECT_EQ(graph.edges, 5u);  // a -> b -> c -> copy, and a -> d -> copy
}

TEST_P(Parallel, LaunchesOfABranchOverlapOneAnother) {
  Executable executable = prepare(kTwoBranches);
  executable.bind();
  ASSERT_EQ(executable.edges().size(), 1u);
  const EdgeReport& edge = executable.edges()[0];
  EXPECT_EQ(edge.from, 1u);
  EXPECT_EQ(edge.to, 2u);
  EXPECT_EQ(edge.verdict, EdgeVerdict::kProven);
}

TEST_P(Parallel, Nests) {
  // The inner group's lanes are not those of the branch beside it.
  Executable executable = prepare(with(
      {parallel({{late('x', 'a'), parallel({{late('a', 'b')}, {late('a', 'c')}}), late('c', 'c')},
                 {late('x', 'd'), late('d', 'd'), late('d', 'd')}}),
       parallel({{copy("b", "y")}, {copy("d", "y + 4")}})}));
  executable.run();
  EXPECT_THAT(values<int>(executable.output("y")), ElementsAre(2, 3, 4, 5, 3, 4, 5, 6));
}

TEST_P(Parallel, RunsInRepeatsAndConditions) {
  const std::string body = parallel({{late('a', 'a')}, {late('b', 'b'), late('b', 'b')}});
  for (const std::string& group :
       {"{ repeat = \"L\", steps = [ " + body + " ] }",
        "{ repeat = \"L\", index = \"i\", steps = [ { if = { buffer = \"d\" }, steps = [ " + body +
            " ] } ] }"}) {
    Executable executable =
        prepare(with({fill("d", 1), group, copy("a", "y"), copy("b", "y + 4")}));
    for (const int count : {3, 1, 4}) {
      executable.bind({.symbols = {{"L", count}}});
      executable.run();
      EXPECT_THAT(
          values<int>(executable.output("y")),
          ElementsAre(count, count, count, count, 2 * count, 2 * count, 2 * count, 2 * count));
    }
  }
}

TEST_P(Parallel, ABranchMayHoldConditions) {
  Executable executable =
      prepare(with({fill("d", 1),
                    parallel({{"{ if = { buffer = \"d\" }, steps = [ " + late('x', 'a') + " ] }"},
                              {late('x', 'b')}}),
                    copy("a", "y"), copy("b", "y + 4")}));
  executable.run();
  EXPECT_THAT(values<int>(executable.output("y")), ElementsAre(1, 2, 3, 4, 1, 2, 3, 4));
}

TEST_P(Parallel, IsEnqueuedOnAnyStream) {
  Executable executable = prepare(kTwoBranches);
  executable.bind();
  const Stream first(executable.device()), second(executable.device());
  for (const Stream* stream : {&first, &second, &first}) {
    executable.memory("y").fill(0, 4, 8, 0, *stream);
    executable.enqueue(*stream);
    executable.wait(*stream);
    std::vector<int> y(8);
    executable.memory("y").download(y.data(), 32, 0, *stream);
    stream->synchronize();
    EXPECT_THAT(y, ElementsAre(3, 4, 5, 6, 2, 3, 4, 5));
  }
}

TEST_P(Parallel, BecomesBranchesOfTheCallersGraph) {
  Executable executable = prepare(kTwoBranches);
  executable.bind();
  const Stream stream(executable.device());
  executable.initialise(stream);
  const Graph graph = Graph::capture(stream, [&] { executable.enqueue(stream); });
  EXPECT_EQ(graph.counts().nodes, 6u);
  EXPECT_EQ(graph.counts().edges, 5u);
  GraphInstance(graph).launch(stream);
  std::vector<int> y(8);
  executable.memory("y").download(y.data(), 32, 0, stream);
  stream.synchronize();
  EXPECT_THAT(y, ElementsAre(3, 4, 5, 6, 2, 3, 4, 5));
}

TEST_P(Parallel, ItsStepsHaveOneTime) {
  Executable executable = prepare(kTwoBranches);
  const RunReport& report = executable.run({.time_steps = true});
  if (GetParam() == ExecutorKind::kGraph) return;
  EXPECT_TRUE(report.steps[0].seconds && report.steps[5].seconds);
  for (std::size_t i = 1; i < 5; ++i) EXPECT_FALSE(report.steps[i].seconds) << i;
}

TEST_P(Parallel, BranchesRunAtTheSameTime) {
  // Either branch waits for the other one.
  const std::string text = R"(
[kernels.meet]
text = """
extern "C" __global__ void meet(int* here, int* there) {
  atomicExch(here, 1);
  while (atomicAdd(there, 0) == 0) {}
}
"""
[buffers]
a = { dtype = "i32", shape = [1] }
b = { dtype = "i32", shape = [1] }
[[steps]]
fill = { buffer = "a", value = 0 }
[[steps]]
fill = { buffer = "b", value = 0 }
[[steps]]
parallel = [ [ { launch = "meet", grid = [1], block = [1], args = ["a", "b"] } ],
             [ { launch = "meet", grid = [1], block = [1], args = ["b", "a"] } ] ]
)";
  Executable executable = prepare(text);
  EXPECT_EQ(executable.check().parallels.at(0).verdict, EdgeVerdict::kProven);  // atomic alone
  executable.run({.timeout = std::chrono::seconds(60)});
}

TEST_P(Parallel, VolatileAccessesAreNotProven) {
  const std::string text = R"(
[kernels.set]
text = """
extern "C" __global__ void set(volatile int* x) { *x = 1; }
"""
[kernels.get]
text = """
extern "C" __global__ void get(volatile int* x, int* y) { *y = *x; }
"""
[buffers]
a = { dtype = "i32", shape = [1], init = "zeros" }
b = { dtype = "i32", shape = [1] }
[[steps]]
parallel = [ [ { launch = "set", grid = [1], block = [1], args = ["a"] } ],
             [ { launch = "get", grid = [1], block = [1], args = ["a", "b"] } ] ]
)";
  EXPECT_EQ(prepare(text).check().parallels.at(0).verdict, EdgeVerdict::kUnknown);
}

TEST_P(Parallel, RunsInTheSetup) {
  std::string text = with({"{ copy = { from = \"w\", to = \"y\" } }"}) +
                     buffer("w", "i32", "[8]", "weight") + buffer("v", "i32", "[8]", "weight");
  text +=
      "[[setup]]\nparallel = [ [ { fill = { buffer = \"w\", value = 5 } } ], "
      "[ { fill = { buffer = \"v\", value = 6 } } ] ]\n";
  Executable executable = prepare(text);
  executable.run();
  EXPECT_THAT(values<int>(executable.output("y")), Each(5));
}

std::vector<ParallelReport> parallels_of(const std::vector<std::vector<std::string>>& branches) {
  return Executable::prepare(program(with({late('x', 'a'), parallel(branches)})), open_device())
      .check()
      .parallels;
}

TEST_P(Parallel, BranchesThatTouchOtherMemoryAreProven) {
  const std::vector<std::vector<std::vector<std::string>>> kApart = {
      {{late('a', 'b')}, {late('a', 'c')}},
      {{late("\"a\"", "{ buffer = \"b\", offset = 0, count = 4 }")},
       {late("\"a\"", "{ buffer = \"b\", offset = 4, count = 4 }")}},
      {{copy("a", "b")}, {copy("a + 4", "b + 4")}},
      {{copy("a", "b")}, {late("\"a\"", "{ buffer = \"b\", offset = 4, count = 4 }")}}};
  for (const auto& branches : kApart) {
    const std::vector<ParallelReport> found = parallels_of(branches);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].branches, 2u);
    EXPECT_EQ(found[0].verdict, EdgeVerdict::kProven);
    EXPECT_THAT(found[0].conflicts, IsEmpty());
  }
}

// The stream executor's host waits for the value, and so orders the branches in its own way.
TEST_P(Parallel, ATestReadsItsBuffer) {
  const std::string test = "{ if = { buffer = \"b\" }, steps = [ " + late('a', 'c') + " ] }";
  const std::vector<ParallelReport> found = parallels_of({{test}, {copy("a", "b")}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].conflicts, ElementsAre(HasSubstr("if b reads b, and copy a -> b writes b")));
}

TEST_P(Parallel, ARaceBetweenBranchesIsFound) {
  const std::string overwrites =
      "{ launch = \"overwrites\", grid = [1], block = [4], args = [\"b\"] }";
  const std::vector<std::vector<std::vector<std::string>>> kRacy = {
      {{late('x', 'b')}, {late('a', 'b')}},
      {{late('b', 'c')}, {late('a', 'b')}},
      {{late('a', 'b')}, {late('a', 'd'), late('b', 'c')}},
      {{late('a', 'c')}, {late('b', 'd')}, {overwrites}, {late('b', 'a')}},
      {{copy("a", "b")}, {late('b', 'c')}},
      {{late("\"a\"", "{ buffer = \"b\", offset = 0, count = 4 }")},
       {late("\"a\"", "{ buffer = \"b\", offset = 3, count = 4 }")}},
      {{late('a', 'c'), parallel({{late('a', 'd')}, {late('x', 'b')}})}, {late('b', 'y')}}};
  for (const auto& branches : kRacy) {
    const std::vector<ParallelReport> found = parallels_of(branches);
    const auto unknown = std::ranges::find(found, EdgeVerdict::kUnknown, &ParallelReport::verdict);
    ASSERT_NE(unknown, found.end());
    EXPECT_THAT(unknown->conflicts[0], HasSubstr("may race: "));
    if (!is_simulated(open_device())) continue;
    Executable executable = prepare(with({late('x', 'a'), parallel(branches)}));
    try {
      executable.run();
      ADD_FAILURE() << "no race was found: " << unknown->conflicts[0];
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::kFault);
      EXPECT_EQ(failure.message().find("let the later one's stream"), std::string::npos)
          << "a program has no streams: " << failure.message();
    }
    EXPECT_THAT(executable.report().warnings, testing::Contains(HasSubstr("may race: ")));
  }
}

}  // namespace
}  // namespace baton::session_test::parallel_test
