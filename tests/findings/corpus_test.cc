// The corpus of findings: each program runs under every schedule, and what is found in it must be
// what it was made wrong by, and nothing in the right ones. docs/simulator.md counts them.

#include "corpus.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <regex>

#include "sim/api/driver.h"

namespace baton::findings {
namespace {

using driver::FindingKind;

Compiled compiled_kernels(const std::string& file) {
  CompileOptions options;
  options.arch = "sm_90a";
  return compile(Source::from_file(BATON_SOURCE_DIR "/tests/findings/" + file), options);
}
const Compiled& kernels_of(const Program& program) {
  static const Compiled usual = compiled_kernels("kernels.cu");
  static const Compiled grids = compiled_kernels("grid_kernels.cu");
  return program.races == Races::kGlobal ? grids : usual;
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
    text += fmt::format("\n  {}: {} at {}: {}", to_string(finding.kind), finding.kernel,
                        finding.where, finding.message);
  }
  return text;
}

// Kinds of two accesses.
const std::set<FindingKind> kPairs = {
    FindingKind::kReadBeforeWait, FindingKind::kWriteBeforeWait, FindingKind::kWriteAfterRead,
    FindingKind::kMissingWait,    FindingKind::kTransitiveWait,  FindingKind::kUnorderedGrids,
    FindingKind::kHostRace,       FindingKind::kFreeRace,        FindingKind::kSharedRace,
    FindingKind::kAsyncRace,      FindingKind::kGlobalRace,      FindingKind::kPeerRead,
    FindingKind::kPeerOverwrite,  FindingKind::kPeerScope,       FindingKind::kNonCoherentRead};

// The finding says who did what, where in the source, and to what; both times where there are two.
void expect_named(const driver::Finding& finding) {
  static const std::regex line("\\.(cu|cuh|h):[0-9]+");
  static const std::regex rival(
      "\\.(cu|cuh|h):[0-9]+|by the host|an allocation in the order of a stream");
  static const std::regex host("by the host|^(copy|fill) touches|of kernel [a-z_]+$");
  static const std::regex what("shared memory|bytes inside|register %");
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
  if (finding.kind == FindingKind::kTransitiveWait) {
    EXPECT_TRUE(std::regex_search(finding.message, middle));
  }
}

}  // namespace

Bench::Bench(const Schedule& schedule, Races races, const Compiled& compiled,
             const std::string& name)
    : device(Device::open(name)),
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
      kernels_(compiled),
      options_({.schedule = schedule,
                .watch = driver::Simulator::Watch::kOn,
                .races = races,
                .alone = true}) {
  session = simulator.begin(context, options_);
  driver.cuCtxSetCurrent(context);
}

Bench::Peer& Bench::peer() {
  if (peer_) return *peer_;
  const Device second = Device::open(device.spec() + ":1");
  peer_.emplace(Peer{second, Module::load(second, kernels_), Stream(second),
                     Floats::of(second, numbers(1)), Floats::of(second, numbers(0)),
                     Floats(second, 2 * kCount), Floats::of(second, numbers(0)), nullptr});
  module.load_kernels();
  peer_->module.load_kernels();
  peer_->slots.memory().fill(0, 4, 2 * kCount, 0, peer_->stream);
  peer_->stream.synchronize();
  peer_->session = simulator.begin(second.native_context(), options_);
  driver.cuCtxSetCurrent(second.native_context());
  EXPECT_EQ(driver.cuCtxEnablePeerAccess(context, 0), CUDA_SUCCESS);
  driver.cuCtxSetCurrent(context);
  EXPECT_EQ(driver.cuCtxEnablePeerAccess(second.native_context(), 0), CUDA_SUCCESS);
  return *peer_;
}

const Bench::Floats& Bench::slots() {
  if (slots_) return *slots_;
  slots_.emplace(device, 2 * kCount);
  slots_->memory().fill(0, 4, 2 * kCount, 0, stream);
  stream.synchronize();
  return *slots_;
}

Bench::~Bench() {
  session->take_findings();
  if (peer_) peer_->session->take_findings();
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

void Bench::by_warps(std::string_view kernel, const Floats& out, const Floats& in,
                     unsigned blocks) {
  LaunchConfig config{.grid = kCount / 32, .block = 32, .stream = stream};
  if (blocks > 1) config.attributes.set(cluster(blocks));
  module.kernel(kernel).launch(config, out, in);
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
  simulator.protect(buffer.memory().address(), true);
}

void Bench::freeze(const Floats& buffer, const Floats& counter) {
  simulator.freeze({.address = buffer.memory().address(),
                    .bytes = kCount * 4,
                    .row_bytes = 4,
                    .rows = kCount,
                    .counter = counter.memory().address() + 4,
                    .counter_bytes = 4,
                    .is_signed = true,
                    .name = "count[1]"});
}

class Corpus : public testing::TestWithParam<Program> {};

void judge(const Program& program, Races races) {
  for (const Schedule& schedule : kSchedules) {
    SCOPED_TRACE(to_string(schedule));
    Bench bench(schedule, races, kernels_of(program), program.device);
    try {
      program.run(bench);
      bench.stream.synchronize();
      bench.other.synchronize();
      if (bench.has_peer()) bench.peer().stream.synchronize();
    } catch (const Error& failure) {
      // A fault ends the context; what it was is among the findings.
      EXPECT_FALSE(program.found.empty()) << failure.what();
    }
    auto findings = bench.session->take_findings();
    if (bench.has_peer()) {
      const auto more = bench.peer().session->take_findings();
      findings.insert(findings.end(), more.begin(), more.end());
    }
    std::set<std::string> found, told;
    for (const driver::Finding& finding : findings) {
      found.emplace(to_string(finding.kind));
      expect_named(finding);
      EXPECT_TRUE(told.insert(text_of({finding})).second) << finding.message;
    }
    if (found.contains(program.instead)) {
      found.erase(program.instead);
      found.insert(*program.found.begin());
    }
    EXPECT_EQ(found, program.found) << text_of(findings);
  }
}

TEST_P(Corpus, IsJudgedAlikeUnderEverySchedule) {
  judge(GetParam(), GetParam().races);
}

// What is right stays so where more is looked for.
class RightCorpus : public testing::TestWithParam<Program> {};

TEST_P(RightCorpus, HasNoRaceInsideGrids) {
  judge(GetParam(), Races::kGlobal);
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
INSTANTIATE_TEST_SUITE_P(Fault, Corpus, testing::ValuesIn(fault_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(Grid, Corpus, testing::ValuesIn(grid_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(Copy, Corpus, testing::ValuesIn(copy_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(Lane, Corpus, testing::ValuesIn(lane_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(Pattern, Corpus, testing::ValuesIn(pattern_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(Chain, Corpus, testing::ValuesIn(chain_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(Map, Corpus, testing::ValuesIn(map_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(Peer, Corpus, testing::ValuesIn(peer_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(RightPeer, Corpus, testing::ValuesIn(right_peer_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(Right, Corpus, testing::ValuesIn(right_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(RightGrid, Corpus, testing::ValuesIn(right_grid_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(RightCopy, Corpus, testing::ValuesIn(right_copy_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(RightLane, Corpus, testing::ValuesIn(right_lane_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(RightPattern, Corpus, testing::ValuesIn(right_pattern_programs()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(RightChain, Corpus, testing::ValuesIn(right_chain_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(RightMap, Corpus, testing::ValuesIn(right_map_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(Right, RightCorpus, testing::ValuesIn(right_programs()), name_of);
INSTANTIATE_TEST_SUITE_P(RightPattern, RightCorpus, testing::ValuesIn(right_pattern_programs()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(RightChain, RightCorpus, testing::ValuesIn(right_chain_programs()),
                         name_of);
INSTANTIATE_TEST_SUITE_P(RightPeer, RightCorpus, testing::ValuesIn(right_peer_programs()), name_of);

std::string severity_text(driver::FindingSeverity severity) {
  switch (severity) {
    case driver::FindingSeverity::kWarning:
      return "warning";
    case driver::FindingSeverity::kError:
      return "error";
    case driver::FindingSeverity::kFault:
      return "fault";
    case driver::FindingSeverity::kErrorOrFault:
      return "error or fault";
  }
  return "";
}

std::string page(std::string_view name) {
  std::ifstream file(BATON_SOURCE_DIR "/docs/" + std::string(name));
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// Each kind has programs, and docs/simulator.md has the table's rows with their number.
TEST(CorpusTable, IsTheOneInTheDocs) {
  std::map<std::string, int, std::less<>> counts;
  for (const auto& programs :
       {order_programs(), block_programs(), memory_programs(), fault_programs(), grid_programs(),
        copy_programs(), lane_programs(), pattern_programs(), chain_programs(), map_programs(),
        peer_programs()}) {
    for (const Program& program : programs) {
      for (const std::string& kind : program.found) ++counts[kind];
    }
  }
  std::string rows;
  for (const driver::FindingRow& row : driver::finding_table()) {
    const int count = counts[std::string(row.id)];
    const bool ends_all = row.severity == driver::FindingSeverity::kFault;
    EXPECT_GE(count, ends_all ? 1 : 3) << "programs of " << row.id;
    EXPECT_NE(page(row.page).find(fmt::format("`{}`", row.id)), std::string::npos) << row.id;
    rows += fmt::format("| `{}` | {} | {} | {} |\n", row.id, severity_text(row.severity),
                        row.meaning, count);
    counts.erase(std::string(row.id));
  }
  EXPECT_TRUE(counts.empty()) << counts.begin()->first << " is not in driver/findings.inc";
  const std::size_t right = right_programs().size() + right_grid_programs().size() +
                            right_copy_programs().size() + right_lane_programs().size() +
                            right_pattern_programs().size() + right_chain_programs().size() +
                            right_map_programs().size() + right_peer_programs().size();
  EXPECT_GE(right, 40u);
  rows += fmt::format("| none | | correct programs | {} |\n", right);
  EXPECT_NE(page("findings.md").find("| --- | --- | --- | --- |\n" + rows + "\n"),
            std::string::npos)
      << "docs/findings.md needs this table:\n"
      << rows;
}

}  // namespace baton::findings
