// Runs of instrumented kernels: they compute what the kernels do, and their records are whole and
// in order.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "session/test_program.h"

namespace baton::session_test::traced_run_test {
namespace {

using ::testing::Combine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::Values;
using Json = nlohmann::json;
using TracedRunTest = DeviceTest;

const std::string kBuffers =
    "[symbols]\nN = 256\nL = 3\n" + buffer("x", "i32", "[\"N\"]", "input", "random") +
    buffer("m", "i32", "[\"N\"]", "weight", "random") + buffer("y", "i32", "[\"N\"]", "scratch") +
    buffer("z", "i32", "[\"N\"]", "output");

std::string launch(const std::string& kernel, const std::string& args,
                   const std::string& more = "") {
  return "{ launch = \"" + kernel + "\", grid = [4], block = [64], args = [" + args + "]" + more +
         " }";
}

// Launches that trigger, wait, return before the wait, wait with one thread, and never wait.
const std::string kChain =
    kBuffers + edge_kernel("late") + edge_kernel("eager") + edge_kernel("returns") +
    edge_kernel("one_waits") + edge_kernel("never") + edge_kernel("ahead") +
    "[[steps]]\nrepeat = \"L\"\nindex = \"layer\"\nsteps = [\n" + launch("eager", "\"x\", \"y\"") +
    ",\n" + launch("late", "\"y\", \"z\"") + ",\n" + launch("returns", "\"z\", \"y\", 100") +
    ",\n" + launch("one_waits", "\"y\", \"z\"") + ",\n" + launch("never", "\"z\", \"y\"") + ",\n" +
    launch("ahead", "\"m\", \"y\", \"z\"") + " ]\n";

Executable prepare(const std::string& text, ExecutorKind executor, bool instrument,
                   PdlMode pdl = PdlMode::kAuto) {
  PrepareOptions options;
  options.executor = executor;
  options.instrument = instrument;
  options.pdl = pdl;
  return Executable::prepare(program(text), open_device(), options);
}

RunOptions traced(std::uint64_t repeat = 1) {
  RunOptions options;
  options.trace = true;
  options.repeat = repeat;
  return options;
}

std::vector<Json> events_of(const RunReport& report, const std::string& category) {
  std::vector<Json> found;
  const Json trace = Json::parse(report.trace);
  for (const Json& event : trace.at("traceEvents")) {
    if (event.value("cat", "") == category) found.push_back(event);
  }
  return found;
}

double begin_of(const Json& bar) {
  return bar.at("ts").get<double>();
}
double end_of(const Json& bar) {
  return begin_of(bar) + bar.at("dur").get<double>();
}

// Bars and moments of one block lie inside of its bar: begin <= wait <= trigger, end.
void expect_ordered(const RunReport& report) {
  constexpr double kRounding = 0.002;
  std::map<int, std::vector<Json>> blocks;
  for (const Json& bar : events_of(report, "block")) {
    blocks[bar.at("tid")].push_back(bar);
  }
  for (const char* category : {"wait", "trigger"}) {
    for (const Json& event : events_of(report, category)) {
      // Arrows have no arguments, and those of launches no multiprocessor.
      if (!event.contains("args") || !event.at("args").contains("sm")) continue;
      const double begin = begin_of(event);
      const double end = event.contains("dur") ? end_of(event) : begin;
      const auto& bars = blocks[event.at("tid")];
      const bool inside = std::ranges::any_of(bars, [&](const Json& bar) {
        return begin_of(bar) <= begin + kRounding && end <= end_of(bar) + kRounding &&
               bar.at("args").at("step") == event.at("args").at("step");
      });
      EXPECT_TRUE(inside) << event;
    }
  }
}

class TracedChain : public DeviceTest,
                    public ::testing::WithParamInterface<std::tuple<ExecutorKind, PdlMode>> {};

TEST_P(TracedChain, ComputesTheSameAndNotesEveryBlock) {
  const auto [executor, pdl] = GetParam();
  Executable plain = prepare(kChain, executor, false, pdl);
  plain.run();
  Executable instrumented = prepare(kChain, executor, true, pdl);
  const RunReport& report = instrumented.run(traced());
  EXPECT_EQ(instrumented.output("z").bytes, plain.output("z").bytes);
  EXPECT_THAT(report.findings, IsEmpty());

  // Verdicts and decisions are those of the kernels as they were.
  ASSERT_EQ(instrumented.edges().size(), plain.edges().size());
  for (std::size_t k = 0; k < plain.edges().size(); ++k) {
    EXPECT_EQ(instrumented.edges()[k].verdict, plain.edges()[k].verdict) << k;
    EXPECT_EQ(instrumented.edges()[k].reason, plain.edges()[k].reason) << k;
    EXPECT_EQ(instrumented.edges()[k].programmatic, plain.edges()[k].programmatic) << k;
  }

  ASSERT_TRUE(report.traced);
  EXPECT_EQ(report.traced->launches, 18u);
  EXPECT_EQ(report.traced->blocks, 18u * 4);
  EXPECT_THAT(report.traced->remarks, IsEmpty());
  const std::vector<Json> launches = events_of(report, "launch");
  ASSERT_THAT(launches, SizeIs(18));
  EXPECT_EQ(launches[0].at("name"), "eager");
  EXPECT_EQ(launches[0].at("args").at("indexes"), "layer = 0");
  const std::vector<Json> blocks = events_of(report, "block");
  std::set<std::pair<std::uint64_t, std::vector<int>>> seen;
  for (const Json& block : blocks) {
    seen.emplace(block.at("args").at("step"), block.at("args").at("index"));
  }
  EXPECT_THAT(seen, SizeIs(18 * 4));
  std::map<std::string, std::size_t> waits, triggers;
  for (const Json& wait : events_of(report, "wait")) {
    ++waits[launches[wait.at("args").at("step").get<std::size_t>()].at("name")];
  }
  for (const Json& moment : events_of(report, "trigger")) {
    if (moment.at("name") == "launch_dependents") ++triggers["all"];
  }
  // Two of the four blocks of `returns` end before the wait.
  EXPECT_EQ(waits,
            (std::map<std::string, std::size_t>{
                {"eager", 12}, {"late", 12}, {"returns", 6}, {"one_waits", 12}, {"ahead", 12}}));
  EXPECT_EQ(triggers["all"], 12u);
  expect_ordered(report);
  // Without overlap a launch begins when the one before has ended.
  if (pdl != PdlMode::kOff) return;
  for (std::size_t k = 1; k < launches.size(); ++k) {
    EXPECT_GE(begin_of(launches[k]), end_of(launches[k - 1]) - 0.05) << k;
  }
  for (const TracedEdge& edge : report.traced->edges) {
    EXPECT_EQ(edge.early, 0u);
    EXPECT_LT(edge.overlap_seconds, 0.05e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(, TracedChain,
                         Combine(Values(ExecutorKind::kStream, ExecutorKind::kGraph),
                                 Values(PdlMode::kAuto, PdlMode::kOff)));

// Records are memory of their own: no order of the work makes a race of them.
TEST_F(TracedRunTest, NoScheduleFindsARace) {
  if (!is_simulated(open_device())) GTEST_SKIP() << "schedules are the simulated GPU's";
  Executable plain = prepare(kChain, ExecutorKind::kStream, false);
  plain.run();
  for (const ExecutorKind executor : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    Executable executable = prepare(kChain, executor, true);
    for (const char* text : {"late", "early", "reverse", "random:1", "random:2"}) {
      RunOptions options = traced();
      options.schedule = parse_schedule(text);
      options.races = Races::kGlobal;
      const RunReport& report = executable.run(options);
      EXPECT_THAT(report.findings, IsEmpty()) << text;
      EXPECT_EQ(report.traced->blocks, 18u * 4) << text;
      EXPECT_EQ(executable.output("z").bytes, plain.output("z").bytes) << text;
      expect_ordered(report);
    }
  }
}

// A launch after a full edge begins, and one after a programmatic edge ends its wait, when the
// one before has ended.
TEST_F(TracedRunTest, TimesFollowTheOrderOfTheRun) {
  if (!is_simulated(open_device())) GTEST_SKIP() << "schedules are the simulated GPU's";
  Executable executable = prepare(kChain, ExecutorKind::kStream, true);
  RunOptions options = traced();
  options.schedule = parse_schedule("early");
  const RunReport& report = executable.run(options);
  const std::vector<Json> launches = events_of(report, "launch");
  std::size_t early = 0;
  for (const Json& wait : events_of(report, "wait")) {
    const auto step = wait.at("args").at("step").get<std::size_t>();
    if (step == 0 || !launches[step].at("args").at("dependent").get<bool>()) continue;
    ++early;
    EXPECT_GE(end_of(wait), end_of(launches[step - 1]) - 0.05) << wait;
  }
  EXPECT_GT(early, 0u);
  EXPECT_TRUE(std::ranges::any_of(report.traced->edges, [](const TracedEdge& edge) {
    return edge.early != 0 && edge.overlap_seconds > 0;
  }));
}

TEST_F(TracedRunTest, HasATableByEdge) {
  Executable executable = prepare(kChain, ExecutorKind::kStream, true);
  const RunReport& report = executable.run(traced());
  const std::vector<TracedEdge>& edges = report.traced->edges;
  ASSERT_THAT(edges, SizeIs(6));  // five in a layer, one to the next
  EXPECT_EQ(edges[0].from_kernel, "eager");
  EXPECT_EQ(edges[0].to_kernel, "late");
  EXPECT_EQ(edges[0].executions, 3u);
  EXPECT_EQ(edges[5].from_kernel, "ahead");
  EXPECT_EQ(edges[5].to_kernel, "eager");
  EXPECT_EQ(edges[5].executions, 2u);
  double idle = 0;
  for (const TracedEdge& edge : edges) idle += edge.idle_sm_seconds;
  EXPECT_GT(idle, 0);
  EXPECT_LE(idle, report.traced->idle_sm_seconds * 1.000001);
  ASSERT_TRUE(report.traced->costliest);
  EXPECT_GT(report.traced->seconds, 0);
}

TEST_F(TracedRunTest, IsTheLastOfSeveralRuns) {
  for (const ExecutorKind executor : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    Executable executable = prepare(kChain, executor, true);
    const RunReport& report = executable.run(traced(3));
    EXPECT_EQ(report.traced->launches, 18u);
    EXPECT_THAT(report.run_seconds, SizeIs(3));
    executable.run();
    EXPECT_FALSE(executable.report().traced);
    EXPECT_EQ(executable.report().trace, "");
    EXPECT_EQ(executable.run(traced()).traced->launches, 18u);
  }
}

// The graph is laid out anew, with records for the blocks that there are then.
TEST_F(TracedRunTest, FollowsNewValues) {
  const std::string text =
      "[symbols]\nG = 2\n" + buffer("x", "i32", "[1024]", "input", "random") +
      buffer("z", "i32", "[1024]", "output", "zeros") + edge_kernel("late") +
      "[[steps]]\nlaunch = \"late\"\ngrid = [\"G\"]\nblock = [64]\nargs = [\"x\", \"z\"]\n";
  for (const ExecutorKind executor : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    Executable executable = prepare(text, executor, true);
    EXPECT_EQ(executable.run(traced()).traced->blocks, 2u);
    executable.set("G", 16);
    EXPECT_EQ(executable.run(traced()).traced->blocks, 16u);
    executable.set("G", 1);
    EXPECT_EQ(executable.run(traced()).traced->blocks, 1u);
    Stream stream(open_device());
    executable.set("G", 8);
    executable.enqueue(stream);
    stream.synchronize();
    EXPECT_EQ(executable.run(traced()).traced->blocks, 8u);
  }
}

TEST_F(TracedRunTest, ShowsMovesBetweenTheirNeighbours) {
  const std::string chain =
      kBuffers + edge_kernel("late") +
      "[[steps]]\nlaunch = \"late\"\ngrid = [4]\nblock = [64]\nargs = [\"x\", \"y\"]\n"
      "[[steps]]\ncopy = { from = \"y\", to = \"z\" }\n"
      "[[steps]]\nlaunch = \"late\"\ngrid = [4]\nblock = [64]\nargs = [\"z\", \"y\"]\n"
      "[[steps]]\ncopy = { from = \"y\", to = \"z\" }\n";
  for (const ExecutorKind executor : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    Executable executable = prepare(chain, executor, true);
    const RunReport& report = executable.run(traced());
    EXPECT_EQ(report.traced->launches, 2u);
    EXPECT_THAT(report.traced->edges, IsEmpty());
    // The last copy has a neighbour on one side alone. Simulated time does not pass in a copy.
    const std::vector<Json> copies = events_of(report, "copy");
    EXPECT_LE(copies.size(), 1u);
    for (const Json& copy : copies) EXPECT_TRUE(copy.at("args").at("estimated"));
  }
}

// A while that runs twice: the host tests it between the iterations of a stream.
TEST_F(TracedRunTest, TracesIterationsThatTheHostStarts) {
  const std::string text =
      buffer("go", "i32", "[1]", "inout", "ones") + buffer("n", "u32", "[1]", "output", "zeros") +
      kernel("count_calls") + kernel("add") +
      "[[steps]]\nlaunch = \"count_calls\"\ngrid = [1]\nblock = [1]\nargs = [\"n\"]\n"
      "[[steps]]\nwhile = { buffer = \"go\", at_most = 4 }\nsteps = [\n"
      "{ launch = \"add\", grid = [1], block = [1], args = [\"go\", -1, 1] } ]\n";
  Executable on_host = prepare(text, ExecutorKind::kStream, true);
  const RunReport& report = on_host.run(traced());
  EXPECT_EQ(report.traced->launches, 2u);
  EXPECT_THAT(report.traced->remarks, IsEmpty());
  Executable on_device = prepare(text, ExecutorKind::kGraph, true);
  try {
    on_device.run();
  } catch (const Error& failure) {
    if (failure.code() != ErrorCode::kUnsupported) throw;
    GTEST_SKIP() << failure.message();
  }
  const RunReport& in_graph = on_device.run(traced());
  EXPECT_EQ(in_graph.traced->launches, 1u);
  ASSERT_THAT(in_graph.traced->remarks, SizeIs(1));
  EXPECT_THAT(in_graph.traced->remarks[0], HasSubstr("the stream executor traces each iteration"));
}

std::string traced_kernel(const std::string& name) {
  return "[kernels." + name + "]\nptx = \"traced.ptx\"\nentry = \"" + name + "\"\n";
}

// Launch bounds, dynamic shared memory, clusters and cooperative launches stay what they are.
TEST_F(TracedRunTest, KeepsHowKernelsAreLaunched) {
  const std::string text =
      buffer("a", "u32", "[256]", "output") + buffer("b", "u32", "[8]", "output") +
      buffer("c", "u32", "[8]", "output") + traced_kernel("reverse") + traced_kernel("meet") +
      traced_kernel("spins") +
      "[[steps]]\nlaunch = \"meet\"\ngrid = [8]\nblock = [32]\ncluster = [4]\nargs = [\"b\"]\n"
      "[[steps]]\nlaunch = \"reverse\"\ngrid = [4]\nblock = [64]\nshared = 256\nargs = [\"a\"]\n"
      "[[steps]]\nlaunch = \"spins\"\ngrid = [8]\nblock = [1]\ncooperative = true\n"
      "args = [\"c\", 100]\n";
  for (const ExecutorKind executor : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    Executable plain = prepare(text, executor, false);
    plain.run();
    Executable instrumented = prepare(text, executor, true);
    const RunReport& report = instrumented.run(traced());
    EXPECT_THAT(report.findings, IsEmpty());
    EXPECT_EQ(report.traced->blocks, 8u + 4 + 8);
    for (const char* output : {"a", "b", "c"}) {
      EXPECT_EQ(instrumented.output(output).bytes, plain.output(output).bytes) << output;
    }
    EXPECT_EQ(values<std::uint32_t>(instrumented.output("a"))[0], 63u);
    EXPECT_EQ(values<std::uint32_t>(instrumented.output("b"))[6], 2u);
    for (std::size_t k = 0; k < report.steps.size(); ++k) {
      EXPECT_EQ(report.steps[k].shared, plain.report().steps[k].shared);
      EXPECT_EQ(report.steps[k].attributes.size(), plain.report().steps[k].attributes.size());
    }
    const LoadedProgram &was = plain.loaded(), &is = instrumented.loaded();
    for (const char* name : {"reverse", "meet", "spins"}) {
      const KernelFacts before = was.module(name).kernel(name).facts();
      const KernelFacts after = is.module(name).kernel(name).facts();
      EXPECT_EQ(before.max_threads, after.max_threads);
      EXPECT_EQ(before.min_blocks, after.min_blocks);
      EXPECT_EQ(before.static_shared, after.static_shared);
      EXPECT_EQ(before.waits, after.waits);
      EXPECT_EQ(before.triggers, after.triggers);
      EXPECT_EQ(before.params->size(), after.params->size());
    }
  }
}

// Two blocks that leave one barrier trigger at one time, whatever their multiprocessors.
TEST_F(TracedRunTest, ClocksOfAGpuAreAligned) {
  if (is_simulated(open_device())) GTEST_SKIP() << "the simulated GPU has one clock";
  const std::string text = buffer("b", "u32", "[64]", "output") + traced_kernel("meet") +
                           "[[steps]]\nlaunch = \"meet\"\ngrid = [64]\nblock = [32]\n"
                           "cluster = [2]\nargs = [\"b\"]\n";
  Executable executable = prepare(text, ExecutorKind::kStream, true);
  const RunReport& report = executable.run(traced(3));
  EXPECT_THAT(report.traced->remarks, IsEmpty());
  std::map<int, std::vector<std::pair<int, Json>>> tracks;
  for (const Json& bar : events_of(report, "block")) {
    tracks[bar.at("tid")].emplace_back(bar.at("args").at("index").at(0), bar);
  }
  std::map<int, std::vector<double>> by_cluster;
  for (const Json& event : events_of(report, "trigger")) {
    if (!event.contains("args") || !event.at("args").contains("sm")) continue;  // of a launch
    for (const auto& [block, bar] : tracks[event.at("tid")]) {
      if (begin_of(bar) > begin_of(event) || end_of(bar) < begin_of(event)) continue;
      by_cluster[block / 2].push_back(begin_of(event));
    }
  }
  ASSERT_THAT(by_cluster, SizeIs(32));
  for (const auto& [cluster, times] : by_cluster) {
    ASSERT_THAT(times, SizeIs(2)) << cluster;
    EXPECT_NEAR(times[0], times[1], 0.05) << cluster;
  }
}

// The trace of one long launch lasts as long as events around it say.
TEST_F(TracedRunTest, TimesOfAGpuAreThoseOfItsEvents) {
  if (is_simulated(open_device())) GTEST_SKIP() << "simulated time counts instructions";
  const std::string text = buffer("c", "u32", "[8]", "output") + traced_kernel("spins") +
                           "[[steps]]\nlaunch = \"spins\"\ngrid = [8]\nblock = [1]\n"
                           "args = [\"c\", 20000000]\n";
  Executable executable = prepare(text, ExecutorKind::kGraph, true);
  const RunReport& report = executable.run(traced(3));
  EXPECT_NEAR(report.traced->seconds, report.run_seconds.back(), 0.01 * report.run_seconds.back());
}

TEST_F(TracedRunTest, NamesWhatIsNotTraced) {
  const std::string options = "options = [\"-maxrregcount=64\"]\n";
  const std::string text =
      kBuffers + edge_kernel("late") +
      "[kernels.own]\ntext = '''\nextern \"C\" __global__ void own(const int* a, int* b) {\n"
      "  b[blockIdx.x * 64 + threadIdx.x] = a[blockIdx.x * 64 + threadIdx.x];\n}'''\n" +
      options +
      "[[steps]]\nlaunch = \"own\"\ngrid = [4]\nblock = [64]\nargs = [\"x\", \"y\"]\n"
      "[[steps]]\nlaunch = \"late\"\ngrid = [4]\nblock = [64]\nargs = [\"y\", \"z\"]\n";
  std::optional<Executable> executable;
  try {
    executable.emplace(prepare(text, ExecutorKind::kStream, true));
  } catch (const Error& failure) {
    if (failure.code() != ErrorCode::kCompile && failure.code() != ErrorCode::kUnsupported) throw;
    GTEST_SKIP() << "no compiler: " << failure.message();
  }
  const RunReport& report = executable->run(traced());
  EXPECT_EQ(report.traced->launches, 1u);
  ASSERT_THAT(report.traced->remarks, SizeIs(1));
  EXPECT_THAT(report.traced->remarks[0], HasSubstr("own is not traced: its option"));
  EXPECT_THAT(report.traced->edges, IsEmpty());
}

TEST_F(TracedRunTest, SaysHowManyRegistersInstrumentingTakes) {
  Executable executable = prepare(kChain, ExecutorKind::kStream, true);
  for (const KernelModule& module : executable.loaded().modules()) {
    EXPECT_TRUE(module.instrumented);
    for (const KernelTrace& trace : module.traces) {
      EXPECT_EQ(trace.obstacle, "");
      EXPECT_EQ(trace.registers.has_value(), !is_simulated(open_device())) << trace.kernel;
    }
    for (const auto& [name, facts] : module.kernels) EXPECT_TRUE(facts.traced) << name;
  }
}

TEST_F(TracedRunTest, AGpuNeedsInstrumentedKernels) {
  if (is_simulated(open_device())) GTEST_SKIP() << "the simulated GPU has a timeline of its own";
  EXPECT_THAT(refusal(kChain, {}, traced()).message(), HasSubstr("with the option instrument"));
}

}  // namespace
}  // namespace baton::session_test::traced_run_test
