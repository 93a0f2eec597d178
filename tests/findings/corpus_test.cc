// The corpus of findings: each program runs under every schedule, and what is found in it must be
// what it was made wrong by, and nothing in the right ones. docs/simulator.md counts them.

#include "corpus.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>

#include "sim/api/driver.h"

namespace baton::findings {

namespace {

const Compiled& kernels() {
  static const Compiled compiled = [] {
    CompileOptions options;
    options.arch = "sm_90a";
    return compile(Source::from_file(BATON_SOURCE_DIR "/tests/findings/kernels.cu"), options);
  }();
  return compiled;
}

std::vector<float> numbers(float factor) {
  std::vector<float> values(Bench::kCount);
  for (unsigned k = 0; k < Bench::kCount; ++k) values[k] = factor * static_cast<float>(k % 17);
  return values;
}

const Schedule kSchedules[] = {
    {ScheduleKind::kSerial, 0},  {ScheduleKind::kLate, 0},   {ScheduleKind::kEarly, 0},
    {ScheduleKind::kReverse, 0}, {ScheduleKind::kRandom, 1}, {ScheduleKind::kRandom, 2},
};

std::string text_of(const std::vector<driver::Finding>& findings) {
  std::string text;
  for (const driver::Finding& finding : findings) {
    text += "\n  " + finding.kind + ": " + finding.kernel + " at " + finding.where + ": " +
            finding.message;
  }
  return text;
}

// Kinds of two accesses.
const std::set<std::string> kPairs = {
    "read_before_wait", "write_before_wait", "write_after_read", "missing_wait", "transitive_wait",
    "unordered_grids",  "host_race",         "free_race",        "shared_race",  "async_race"};

// The finding says who did what, where in the source, and to what; both times where there are two.
void expect_named(const driver::Finding& finding) {
  static const std::regex line("\\.(cu|cuh|h):[0-9]+");
  static const std::regex rival("\\.(cu|cuh|h):[0-9]+|by the host");
  static const std::regex host("by the host|^(copy|fill) touches");
  static const std::regex what("shared memory|bytes inside");
  static const std::regex middle("kernel [a-z_]+( and [a-z_]+)* between the two");
  SCOPED_TRACE(text_of({finding}));
  EXPECT_GE(finding.count, 1u);
  if (finding.kernel.empty()) {
    EXPECT_TRUE(std::regex_search(finding.message, host));
  } else {
    EXPECT_TRUE(std::regex_search(finding.where + finding.message, line));
  }
  if (!kPairs.contains(finding.kind)) return;
  EXPECT_TRUE(std::regex_search(finding.message, rival));
  EXPECT_TRUE(std::regex_search(finding.message, what));
  if (finding.kind == "transitive_wait") {
    EXPECT_TRUE(std::regex_search(finding.message, middle));
  }
}

}  // namespace

Bench::Bench(const Schedule& schedule, const Compiled& compiled)
    : device(Device::open("sim")),
      module(Module::load(device, compiled)),
      stream(device),
      other(device),
      x(Floats::of(device, numbers(1))),
      w(Floats::of(device, numbers(0.5f))),
      y(Floats::of(device, numbers(0))),
      z(Floats::of(device, numbers(0))),
      u(Floats::of(device, numbers(0))),
      v(Floats::of(device, numbers(0))),
      unwritten(device, kCount),
      driver(sim::simulated_driver()),
      simulator(*driver.simulator),
      context(device.native_context()),
      session(simulator.begin(
          context, {.schedule = schedule, .watch = driver::Simulator::Watch::kOn, .alone = true})) {
  driver.cuCtxSetCurrent(context);
}

Bench::~Bench() {
  session->take_findings();
  driver.cuCtxSetCurrent(nullptr);
}

void Bench::in_clusters(std::string_view kernel, const Floats& out, const Floats& in) {
  LaunchAttributes attributes;
  attributes.set(cluster(2));
  launch_on(stream, attributes, kernel, out, in);
}
void Bench::in_clusters(std::string_view kernel, const Floats& out, const Floats& in, int rank) {
  LaunchAttributes attributes;
  attributes.set(cluster(2));
  launch_on(stream, attributes, kernel, out, in, rank);
}

void Bench::as_graph(int times, const std::function<void()>& work) {
  ASSERT_EQ(driver.cuStreamBeginCapture(stream.native(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            CUDA_SUCCESS);
  work();
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(driver.cuStreamEndCapture(stream.native(), &graph), CUDA_SUCCESS);
  ASSERT_EQ(driver.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
  for (int k = 0; k < times; ++k) EXPECT_EQ(driver.cuGraphLaunch(exec, stream.native()), 0);
  EXPECT_EQ(driver.cuGraphExecDestroy(exec), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuGraphDestroy(graph), CUDA_SUCCESS);
}

void Bench::make_weight(const Floats& buffer) {
  simulator.protect(buffer.memory().address());
}

class Corpus : public testing::TestWithParam<Program> {};

TEST_P(Corpus, IsJudgedAlikeUnderEverySchedule) {
  const Program& program = GetParam();
  for (const Schedule& schedule : kSchedules) {
    SCOPED_TRACE(to_string(schedule));
    Bench bench(schedule, kernels());
    try {
      program.run(bench);
      bench.stream.synchronize();
      bench.other.synchronize();
    } catch (const Error& failure) {
      // A fault ends the context; what it was is among the findings.
      EXPECT_FALSE(program.found.empty()) << failure.what();
    }
    const auto findings = bench.session->take_findings();
    std::set<std::string> found, told;
    for (const driver::Finding& finding : findings) {
      found.insert(finding.kind);
      expect_named(finding);
      EXPECT_TRUE(told.insert(finding.kind + finding.where + finding.message).second)
          << finding.message;
    }
    if (found.contains(program.instead)) {
      found.erase(program.instead);
      found.insert(*program.found.begin());
    }
    EXPECT_EQ(found, program.found) << text_of(findings);
  }
}

void PrintTo(const Program& program, std::ostream* out) {
  *out << program.name;
}

std::string name_of(const testing::TestParamInfo<Program>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Order, Corpus, testing::ValuesIn(order_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(Block, Corpus, testing::ValuesIn(block_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(Memory, Corpus, testing::ValuesIn(memory_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(Right, Corpus, testing::ValuesIn(right_programs()), name_of);

// "| `read_before_wait` | … | 6 |" for each kind, "| none | … | 52 |" for the right programs.
TEST(CorpusTable, IsTheOneInTheDocs) {
  std::map<std::string, int> counts;
  for (const auto& programs : {order_programs(), block_programs(), memory_programs()}) {
    for (const Program& program : programs) {
      for (const std::string& kind : program.found) ++counts[kind];
    }
  }
  for (const auto& [kind, count] : counts) EXPECT_GE(count, 3) << kind;
  counts["none"] = static_cast<int>(right_programs().size());
  EXPECT_GE(counts["none"], 40);

  std::ifstream file(BATON_SOURCE_DIR "/docs/simulator.md");
  ASSERT_TRUE(file.good());
  std::map<std::string, int> told;
  const std::regex row("^\\| `?([a-z_]+)`? \\|.*\\| ([0-9]+) \\|$");
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (std::regex_match(line, match, row)) told[match[1]] = std::stoi(match[2]);
  }
  EXPECT_EQ(told, counts);
}

}  // namespace baton::findings
