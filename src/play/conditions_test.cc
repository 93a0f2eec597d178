#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "baton/graph.h"
#include "session/test_program.h"

// Steps of if and while, on both executors.

namespace baton::session_test::conditions_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Conditions : public DeviceTest, public testing::WithParamInterface<ExecutorKind> {
 protected:
  static Executable prepare(const std::string& text) {
    PrepareOptions options;
    options.executor = GetParam();
    return Executable::prepare(program(text), open_device(), options);
  }
};

INSTANTIATE_TEST_SUITE_P(Executors, Conditions,
                         testing::Values(ExecutorKind::kStream, ExecutorKind::kGraph),
                         [](const auto& test) {
                           return test.param == ExecutorKind::kStream ? "Stream" : "Graph";
                         });

// x[0] += amount
std::string add(const std::string& x, const std::string& amount) {
  return "{ launch = \"add\", grid = [1], block = [1], args = [\"" + x + "\", \"" + amount +
         "\", 1] }";
}
std::string fill(const std::string& x, const std::string& value) {
  return "[[steps]]\nfill = { buffer = \"" + x + "\", value = " + value + " }\n";
}

const std::string kCounts = kernel("add") + buffer("go", "i32", "[1]", "scratch") +
                            buffer("n", "i32", "[1]", "output", "zeros");

// Counts `go` down from "G", and n up.
std::string count_down(const std::string& test) {
  return "[symbols]\nG = 5\nT = 5\nU = 1\nA = 1\n" + kCounts + fill("go", "\"G\"") + "[[steps]]\n" +
         test + "\nsteps = [" + add("go", "-1") + "," + add("n", "A") + "]\n";
}
const std::string kWhile =
    count_down("while = { buffer = \"go\", at_most = \"T\", unroll = \"U\" }");

std::uint64_t executions(const RunReport& report, std::size_t condition) {
  return report.conditions.at(condition).executions.value_or(UINT64_MAX);
}

TEST_P(Conditions, AWhileRunsUntilItsValueIsZero) {
  Executable executable = prepare(kWhile);
  for (const std::int64_t unroll : {1, 2, 3, 5, 8}) {
    for (const std::int64_t start : {5, 4, 1, 0}) {
      executable.bind({.symbols = {{"G", start}, {"U", unroll}}});
      const RunReport& report = executable.run();
      EXPECT_THAT(values<int>(executable.output("n")), ElementsAre(start)) << unroll;
      ASSERT_EQ(report.conditions.size(), 1u);
      EXPECT_EQ(report.conditions[0].label, "while go");
      EXPECT_TRUE(report.conditions[0].is_loop);
      EXPECT_EQ(executions(report, 0), static_cast<std::uint64_t>(start));
      ASSERT_EQ(report.steps.size(), 3u);
      EXPECT_EQ(report.steps[0].executions, 1u);
      EXPECT_EQ(report.steps[1].executions, static_cast<std::uint64_t>(start));
      EXPECT_EQ(report.steps[1].unfinished, 0u);
    }
  }
}

TEST_P(Conditions, AWhileThatIsNotDoneInTimeFails) {
  Executable executable = prepare(kWhile);
  for (const std::int64_t unroll : {1, 2, 8}) {
    executable.bind({.symbols = {{"T", 4}, {"U", unroll}}});
    try {
      executable.run();
      FAIL() << "was not refused";
    } catch (const Error& failure) {
      EXPECT_EQ(failure.code(), ErrorCode::kFault);
      EXPECT_EQ(failure.message(),
                "while go: the value is not 0 after 4 iterations, and at_most is T; mend the "
                "steps that set it to 0, or raise at_most");
      EXPECT_EQ(failure.where().file, "test.toml");
      EXPECT_THAT(failure.notes(), ElementsAre());
    }
    EXPECT_EQ(executions(executable.report(), 0), 4u);
    EXPECT_EQ(executable.report().steps[1].executions, 4u);
    EXPECT_EQ(executable.report().steps[1].unfinished, 0u);
  }
  // The next run is not the worse for it.
  executable.bind({.symbols = {{"T", 5}}});
  executable.run();
  EXPECT_THAT(values<int>(executable.output("n")), ElementsAre(5));
}

TEST_P(Conditions, AnIfRunsOnceOrNever) {
  Executable executable = prepare(count_down("if = { buffer = \"go\" }"));
  for (const std::int64_t start : {5, 0, -1}) {
    executable.bind({.symbols = {{"G", start}}});
    const RunReport& report = executable.run();
    EXPECT_THAT(values<int>(executable.output("n")), ElementsAre(start == 0 ? 0 : 1));
    EXPECT_EQ(executions(report, 0), start == 0 ? 0u : 1u);
    EXPECT_FALSE(report.conditions[0].is_loop);
  }
}

TEST_P(Conditions, EveryByteOfAValueCounts) {
  const std::pair<std::string, std::string> kValues[] = {
      {"bool", "true"},      {"i8", "-128"},           {"u8", "255"},
      {"i16", "-32768"},     {"u16", "256"},           {"i32", "16777216"},
      {"u32", "2147483648"}, {"i64", "1099511627776"}, {"u64", "1"}};
  for (const auto& [dtype, value] : kValues) {
    // The element after the first one does not count.
    Executable executable = prepare(
        kernel("add") + buffer("go", dtype, "[2]", "scratch", "ones") +
        buffer("zero", dtype, "[2]", "scratch", "ones") +
        buffer("n", "i32", "[1]", "output", "zeros") + fill("go", value) + fill("zero", "0") +
        "[[steps]]\nwhile = { buffer = \"go\", at_most = 3 }\nsteps = [" + add("n", "1") +
        ", { copy = { from = \"zero\", to = \"go\", count = 1 } }]\n");
    executable.run();
    EXPECT_THAT(values<int>(executable.output("n")), ElementsAre(1)) << dtype;
  }
}

TEST_P(Conditions, Nest) {
  // For each of 3 outer iterations: 4, 5 and 6 inner ones; every other outer one counts in m.
  const std::string text =
      "[symbols]\nU = 1\n" + kCounts + buffer("inner", "i32", "[1]", "scratch") +
      buffer("k", "i32", "[1]", "scratch", "zeros") + buffer("m", "i32", "[4]", "output", "zeros") +
      buffer("odd", "i32", "[1]", "scratch", "zeros") + fill("go", "3") +
      "[[steps]]\nwhile = { buffer = \"go\", at_most = 3, unroll = \"U\" }\nsteps = [" +
      add("k", "1") + ", { copy = { from = \"k\", to = \"inner\" } }, " + add("inner", "3") +
      ", { while = { buffer = \"inner\", at_most = 9, unroll = \"U + 1\" }, steps = [" +
      add("n", "1") + ", " + add("inner", "-1") + "] }, { if = { buffer = \"odd\" }, steps = [" +
      "{ repeat = 4, index = \"i\", steps = [" + add("m + i", "1 + i") +
      "] }] }, { copy = { from = \"go\", to = \"odd\" } }, " + add("odd", "-2") + ", " +
      add("go", "-1") + "]\n";
  Executable executable = prepare(text);
  for (const std::int64_t unroll : {1, 2, 3}) {
    executable.bind({.symbols = {{"U", unroll}}});
    for (const char* schedule : {"serial", "late", "reverse", "random:2"}) {
      if (!is_simulated(executable.device()) && std::string(schedule) != "serial") continue;
      const RunReport& report = executable.run({.schedule = parse_schedule(schedule)});
      EXPECT_THAT(values<int>(executable.output("n")), ElementsAre(4 + 5 + 6));
      // odd is 0, then 3 - 2, then 2 - 2.
      EXPECT_THAT(values<int>(executable.output("m")), ElementsAre(1, 2, 3, 4));
      EXPECT_EQ(executions(report, 0), 3u);
      EXPECT_EQ(executions(report, 1), 15u);
      EXPECT_EQ(executions(report, 2), 1u);
      EXPECT_TRUE(report.findings.empty());
    }
  }
}

// Each iteration of a repeat has a while of its own; long repeats are evaluated in each iteration.
TEST_P(Conditions, AWhileInARepeatBeginsAnewInEachIteration) {
  for (const std::int64_t turns : {3, 200}) {
    Executable executable = prepare(
        "[symbols]\nL = 3\n" + kernel("add") + buffer("go", "i32", "[\"L\"]", "scratch") +
        buffer("go1", "i32", "[1]", "scratch") + buffer("n", "i32", "[\"L\"]", "output", "zeros") +
        buffer("two", "i32", "[1]", "scratch") + fill("two", "2") +
        "[[steps]]\nrepeat = \"L\"\nindex = \"l\"\nsteps = [ { copy = { from = \"two\", to = "
        "\"go1\" } }, { while = { buffer = \"go1\", at_most = \"2 + l\" }, steps = [" +
        add("n + l", "1 + l") + ", " + add("go1", "-1") + "] } ]\n");
    executable.bind({.symbols = {{"L", turns}}});
    const RunReport& report = executable.run();
    std::vector<int> want;
    for (int l = 0; l < turns; ++l) want.push_back(2 * (1 + l));
    EXPECT_EQ(values<int>(executable.output("n")), want);
    EXPECT_EQ(executions(report, 0), static_cast<std::uint64_t>(2 * turns));
  }
}

TEST_P(Conditions, OverlapStaysInsideOfABody) {
  const std::string inner =
      "{ launch = \"late\", grid = [1], block = [64], args = [\"x\", \"y\"] }";
  const std::string outer =
      "[[steps]]\nlaunch = \"late\"\ngrid = [1]\nblock = [64]\nargs = [\"x\", \"y\"]\n";
  Executable executable =
      prepare(edge_kernel("late") + kCounts + buffer("x", "i32", "[64]", "input", "zeros") +
              buffer("y", "i32", "[64]", "output", "zeros") + fill("go", "2") + outer +
              "[[steps]]\nwhile = { buffer = \"go\", at_most = 2 }\nsteps = [" + inner + ", " +
              inner + ", " + add("go", "-1") + "]\n" + outer);
  executable.bind();
  std::vector<std::pair<std::uint32_t, std::uint32_t>> early;
  for (const EdgeReport& edge : executable.edges()) {
    if (edge.programmatic) early.emplace_back(edge.from, edge.to);
  }
  EXPECT_THAT(early, ElementsAre(std::pair(1u, 2u)));
  executable.run();
}

TEST_P(Conditions, AFindingInABodyNamesItsLaunch) {
  const std::string text =
      kCounts + kernel("out_of_bounds") + buffer("f", "f32", "[4]", "scratch", "zeros") +
      buffer("no", "i32", "[1]", "scratch", "zeros") + fill("go", "1") + fill("no", "0") +
      "[[steps]]\nif = { buffer = \"no\" }\nsteps = [" + add("n", "1") + ", " + add("n", "1") +
      "]\n[[steps]]\nif = { buffer = \"go\" }\nsteps = [" + add("n", "1") +
      ", { launch = \"out_of_bounds\", grid = [1], block = [1], args = [\"f\", 1000000] } ]\n";
  Executable executable = prepare(text);
  if (!is_simulated(executable.device())) GTEST_SKIP() << "a GPU does not check the access";
  try {
    executable.run();
    FAIL() << "was not found";
  } catch (const Error& failure) {
    EXPECT_THAT(failure.message(), HasSubstr("launch 3 (out_of_bounds), at test.toml:"));
  }
}

// The second iteration's launch does not wait for the first one's: a test is between them. Inside
// of an iteration it does not either, and that is a race.
TEST_P(Conditions, ARaceInABodyIsFound) {
  const std::string text =
      edge_kernel("overwrites") + edge_kernel("late") + kCounts +
      buffer("x", "i32", "[64]", "input", "zeros") + buffer("y", "i32", "[64]", "output", "zeros") +
      fill("go", "3") + "[[steps]]\nwhile = { buffer = \"go\", at_most = 3 }\nsteps = [" +
      "{ launch = \"overwrites\", grid = [1], block = [64], args = [\"y\"], pdl = \"force\" }, " +
      "{ launch = \"late\", grid = [1], block = [64], args = [\"x\", \"y\"] }, " + add("go", "-1") +
      "]\n";
  Executable good = prepare(text);
  if (!is_simulated(good.device())) GTEST_SKIP() << "a GPU finds no races";
  EXPECT_TRUE(good.run({.schedule = parse_schedule("early")}).findings.empty());
  std::string bad = text;
  const std::string first = "{ launch = \"overwrites\"";
  bad.replace(bad.find(first), first.size(),
              "{ launch = \"late\", grid = [1], block = [64], args = [\"x\", \"y\"] }, " + first);
  Executable racing = prepare(bad);
  try {
    racing.run({.schedule = parse_schedule("early")});
    FAIL() << "was not found";
  } catch (const Error& failure) {
    ASSERT_FALSE(failure.notes().empty());
    EXPECT_THAT(failure.notes().front(), HasSubstr("launch 1 (overwrites), at test.toml:"));
  }
  ASSERT_FALSE(racing.report().findings.empty());
  EXPECT_EQ(racing.report().findings[0].kind, "write_before_wait");
  EXPECT_EQ(racing.report().findings[0].count, 3u * 64);
}

TEST_P(Conditions, AnEndlessWhileHasATimeLimit) {
  Executable executable = prepare(kWhile);
  executable.bind({.symbols = {{"G", -1}, {"T", std::int64_t{1} << 40}}});
  RunOptions options;
  options.timeout = std::chrono::milliseconds(200);
  try {
    executable.run(options);
    FAIL() << "was not stopped";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kTimeout);
  }
}

TEST_P(Conditions, RunsWithDifferentCountsAreTimed) {
  Executable executable =
      prepare(kCounts + buffer("k", "i32", "[1]", "state", "zeros") +
              "[[steps]]\nlaunch = \"add\"\ngrid = [1]\nblock = [1]\nargs = [\"k\", 1, 1]\n"
              "[[steps]]\ncopy = { from = \"k\", to = \"go\" }\n"
              "[[steps]]\nwhile = { buffer = \"go\", at_most = 9 }\nsteps = [" +
              add("go", "-1") + ", " + add("n", "1") + "]\n");
  const RunReport& report = executable.run({.repeat = 4});
  EXPECT_EQ(executions(report, 0), 1u);  // of the first run
  EXPECT_EQ(report.run_seconds.size(), 4u);
  EXPECT_THAT(values<int>(executable.output("n")), ElementsAre(1));
  // A later run fails.
  EXPECT_THROW(executable.run({.repeat = 9}), Error);
  EXPECT_EQ(executable.report().run_seconds.size(), 5u);
  for (const StepReport& step : executable.report().steps) EXPECT_EQ(step.unfinished, 0u);
}

TEST_P(Conditions, TheBufferMustHaveAnElement) {
  Executable executable =
      prepare("[symbols]\nN = 1\n" + kernel("add") + buffer("go", "i32", "[\"N\"]", "scratch") +
              buffer("n", "i32", "[1]", "output", "zeros") + fill("go", "0") +
              "[[steps]]\nif = { buffer = \"go\" }\nsteps = [" + add("n", "1") + "]\n");
  try {
    executable.bind({.symbols = {{"N", 0}}});
    FAIL() << "was not refused";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.message(), "the step tests the first element of go, which has no elements");
  }
}

using EnqueuedConditions = DeviceTest;

Executable prepare_graph(const std::string& text) {
  PrepareOptions options;
  options.executor = ExecutorKind::kGraph;
  return Executable::prepare(program(text), open_device(), options);
}

int value_of(const Executable& executable, const std::string& buffer, const Stream& stream) {
  int value = 0;
  executable.memory(buffer).download(&value, sizeof value, 0, stream);
  stream.synchronize();
  return value;
}

TEST_F(EnqueuedConditions, AGraphTestsThemWithoutTheHost) {
  Executable executable = prepare_graph(kWhile);
  executable.bind();
  const Stream stream(executable.device());
  for (int run = 1; run <= 3; ++run) {
    executable.enqueue(stream);
    executable.wait(stream);
    EXPECT_EQ(value_of(executable, "n", stream), 5 * run);
  }
}

TEST_F(EnqueuedConditions, AWaitTellsOfAWhileThatWasNotDoneInTime) {
  Executable executable = prepare_graph(kWhile);
  executable.bind({.symbols = {{"T", 3}}});
  const Stream stream(executable.device());
  executable.enqueue(stream);
  executable.enqueue(stream);
  const auto message = [&]() -> std::string {
    try {
      executable.wait(stream);
    } catch (const Error& failure) {
      return failure.message();
    }
    return {};
  };
  EXPECT_THAT(message(), HasSubstr("the value is not 0 after 3 iterations"));
  EXPECT_EQ(message(), "");  // it was told
  // A graph that is rebuilt keeps what the one before it found.
  executable.enqueue(stream);
  executable.set({{"T", 5}});
  executable.enqueue(stream);
  EXPECT_THAT(message(), HasSubstr("the value is not 0 after 3 iterations"));
  EXPECT_EQ(message(), "");
}

TEST_F(EnqueuedConditions, LaunchesInBodiesTakeNewValuesInPlace) {
  Executable executable = prepare_graph(kWhile);
  executable.bind({.symbols = {{"U", 2}}});
  EXPECT_EQ(executable.run().graph->builds, 1u);
  executable.set("A", 10);
  const GraphReport graph = *executable.run().graph;
  EXPECT_EQ(graph.builds, 1u);
  EXPECT_EQ(graph.updates, 1u);
  EXPECT_THAT(values<int>(executable.output("n")), ElementsAre(50));
}

TEST_F(EnqueuedConditions, OtherMemoryOfATestedBufferIsTested) {
  Executable executable =
      prepare_graph(kCounts + "[[steps]]\nwhile = { buffer = \"go\", at_most = 9 }\nsteps = [" +
                    add("go", "-1") + "," + add("n", "1") + "]\n");
  const Device device = executable.device();
  const Stream stream(device);
  const std::vector<int> two = {2}, three = {3};
  const Buffer<int> first = Buffer<int>::of(device, two), second = Buffer<int>::of(device, three);
  const auto given = [](const Buffer<int>& buffer) {
    return DeviceArray{DType::kI32, {1}, buffer.memory().address()};
  };
  executable.bind({.memory = {{"go", given(first)}}});
  executable.enqueue(stream);
  executable.set_memory("go", given(second));
  executable.enqueue(stream);
  executable.wait(stream);
  EXPECT_EQ(value_of(executable, "n", stream), 5);
}

// The host of the stream executor tests values in a run, and a graph does where nothing waits.
TEST_F(EnqueuedConditions, TheStreamExecutorEnqueuesAGraph) {
  Executable executable = Executable::prepare(program(kWhile), open_device());
  executable.bind();
  const Stream stream(executable.device());
  executable.prepare(stream);
  executable.enqueue(stream);
  executable.wait(stream);
  EXPECT_EQ(value_of(executable, "n", stream), 5);
  executable.set("A", 10);
  executable.enqueue(stream);
  executable.enqueue(stream);
  executable.wait(stream);
  EXPECT_EQ(value_of(executable, "n", stream), 5 + 50 + 50);
  executable.run();
  EXPECT_THAT(values<int>(executable.output("n")), ElementsAre(50));
  executable.set("T", 3);
  executable.enqueue(stream);
  try {
    executable.wait(stream);
    FAIL() << "was not refused";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kFault);
    EXPECT_THAT(failure.message(), HasSubstr("the value is not 0 after 3 iterations"));
  }
}

// Work of the caller before and after the program is captured, too.
TEST_F(EnqueuedConditions, ACaptureGetsThemAsNodes) {
  for (const ExecutorKind executor : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    PrepareOptions options;
    options.executor = executor;
    Executable executable = Executable::prepare(program(kWhile), open_device(), options);
    executable.bind();
    const Stream stream(executable.device());
    executable.initialise(stream);
    executable.prepare(stream);
    const Memory& n = executable.memory("n");
    const Buffer<int> copy(executable.device(), 1);
    const Graph graph = Graph::capture(stream, [&] {
      n.fill(100, 4, 1, 0, stream);
      executable.enqueue(stream);
      copy.memory().copy_from(n, 4, 0, 0, stream);
    });
    // The caller's fill and copy, the reset, the program's fill, a test and the loop.
    EXPECT_EQ(graph.counts().nodes, 6u);
    EXPECT_EQ(graph.counts().edges, 5u);
    const GraphInstance instance(graph);
    for (int run = 0; run < 3; ++run) {
      instance.launch(stream);
      executable.wait(stream);
      EXPECT_EQ(copy.download()[0], 105);
    }
    // The executable's own work goes on beside that.
    executable.set("A", 10);
    executable.enqueue(stream);
    executable.wait(stream);
    EXPECT_EQ(value_of(executable, "n", stream), 155);
    instance.launch(stream);
    executable.wait(stream);
    EXPECT_EQ(copy.download()[0], 105);
  }
}

TEST_F(EnqueuedConditions, ACaptureNeedsThemPrepared) {
  Executable executable = prepare_graph(kWhile);
  executable.bind();
  const Stream stream(executable.device());
  executable.initialise(stream);
  try {
    Graph::capture(stream, [&] { executable.enqueue(stream); });
    FAIL() << "was not refused";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(failure.message(), HasSubstr("prepare the program before the capture begins"));
  }
}

}  // namespace
}  // namespace baton::session_test::conditions_test
