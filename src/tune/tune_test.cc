#include "baton/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "base/file/file.h"
#include "session/test_program.h"
#include "tune/record_store.h"
#include "tune/search.h"

namespace baton::session_test::tune_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// y = 2*x + the number of earlier runs, twice, through kernels that take any block. `BAD` breaks
// the results where it is not 0.
constexpr const char* kText = R"(
require = ["BLOCK <= 1024"]
[symbols]
N = 4096
BLOCK = 256
BAD = 0
[buffers]
x = { dtype = "f32", shape = ["N"], role = "input", init = "random" }
w = { dtype = "f32", shape = ["N"], role = "weight", init = "random" }
y = { dtype = "f32", shape = ["N"], role = "output" }
runs = { dtype = "i32", shape = [1], role = "state", init = "zeros" }
[kernels.k]
text = '''
extern "C" __global__ void k(const float* x, const float* w, float* y, int* runs, unsigned n, int bad) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = x[i] * w[i] + runs[0] + bad;
}'''
[kernels.bump]
text = 'extern "C" __global__ void bump(int* runs) { runs[0] += 1; }'
[[steps]]
launch = "k"
grid = [2]
block = ["BLOCK"]
args = ["x", "w", "y", "runs", "N", "BAD"]
[[steps]]
launch = "bump"
grid = [1]
block = [1]
args = ["runs"]
)";

class TuneTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    setenv("BATON_CACHE_DIR", cache_.path().c_str(), 1);
    unsetenv("BATON_TUNE");
  }

  static Program with_tune(const std::string& tune) {
    return Program::from_text(std::string(kText) + "[tune]\n" + tune, "p");
  }
  static TuneOptions quick() {
    TuneOptions options;
    options.budget = 5;
    return options;
  }

  TemporaryDirectory cache_;
};

const TuneTrial* trial(const TuneReport& report, const std::string& text) {
  for (const TuneTrial& each : report.trials) {
    if (to_text(each.variant) == text) return &each;
  }
  return nullptr;
}

TEST_F(TuneTest, TheBestValueIsAcceptedAndFound) {
  const Device device = open_device();
  const Program program = with_tune("BLOCK = [64, 128, 512]");
  const TuneReport report = tune(program, device, quick());
  ASSERT_FALSE(report.trials.empty());
  EXPECT_GT(report.base_cost, 0);
  if (report.record.accepted) {
    EXPECT_LT(report.record.ratio.high, 1);
    EXPECT_FALSE(report.record.variant == TuneVariant{});
  }
  const auto found = find_tuned(program, device);
  if (report.file.empty()) return;  // a slow GPU: the budget ended
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, report.record);
  if (!is_simulated(device)) return;
  // Fewer threads share the loop's overhead: exact on the simulated GPU.
  EXPECT_TRUE(report.record.accepted);
  EXPECT_EQ(to_text(report.record.variant), "BLOCK = 64");
  EXPECT_EQ(report.record.cost, "warp instructions");
  EXPECT_THAT(report.remark, IsEmpty());
}

// The caller runs the variants. Nothing but symbols can be told to it.
TEST_F(TuneTest, TheCallerMeasures) {
  const Device device = open_device();
  const Program program = with_tune("BLOCK = [64, 128, 512, 2048]\nBAD = [1]");
  TuneOptions options = quick();
  options.budget = 60;
  options.measure = [](const TuneVariant&, const std::vector<BoundSymbol>& symbols) {
    double seconds = 0;
    for (const BoundSymbol& symbol : symbols) {
      if (symbol.name == "BLOCK") seconds = static_cast<double>(symbol.value) * 1e-6;
      if (symbol.name == "BAD" && symbol.value != 0) {
        throw Error(ErrorCode::kInvalidInput, "its results are wrong");
      }
    }
    return seconds;
  };
  const TuneReport report = tune(program, device, options);
  EXPECT_TRUE(report.record.accepted);
  EXPECT_EQ(to_text(report.record.variant), "BLOCK = 64");
  EXPECT_EQ(report.record.cost, "seconds");
  EXPECT_DOUBLE_EQ(report.base_cost, 256e-6);
  std::set<std::string> passes;
  for (const TuneTrial& each : report.trials) passes.insert(each.pass);
  EXPECT_EQ(passes, (std::set<std::string>{"BLOCK", "BAD"}));
  ASSERT_NE(trial(report, "BLOCK = 2048"), nullptr);
  EXPECT_THAT(trial(report, "BLOCK = 2048")->refused, HasSubstr("BLOCK <= 1024"));
  ASSERT_NE(trial(report, "BAD = 1, BLOCK = 64"), nullptr);
  EXPECT_EQ(trial(report, "BAD = 1, BLOCK = 64")->refused, "its results are wrong");
  EXPECT_TRUE(find_tuned(program, device));

  options.measure = [](const auto&, const auto&) { return 0.0; };
  EXPECT_THROW(tune(program, device, options), Error);
}

TEST_F(TuneTest, OtherSizesHaveOtherRecords) {
  const Device device = open_device();
  const Program program = with_tune("BLOCK = [64]");
  const TuneReport report = tune(program, device, quick());
  if (report.file.empty()) GTEST_SKIP() << "the budget ended";
  EXPECT_TRUE(find_tuned(program, device));
  EXPECT_FALSE(find_tuned(program, device, {.symbols = {{"N", 1024}}}));
  EXPECT_FALSE(find_tuned(program, device, {.symbols = {{"BLOCK", 64}}})) << "not tuned then";
  EXPECT_FALSE(find_tuned(program, device, {}, {.pdl = PdlMode::kOff})) << "the caller chose";
  setenv("BATON_TUNE", "off", 1);
  EXPECT_FALSE(find_tuned(program, device));
  setenv("BATON_TUNE", "on", 1);
  EXPECT_THROW(find_tuned(program, device), Error);
}

TEST_F(TuneTest, ARecordOfOtherKernelsIsIgnored) {
  const Device device = open_device();
  const Program program = with_tune("BLOCK = [64]");
  if (tune(program, device, quick()).file.empty()) GTEST_SKIP() << "the budget ended";
  ProgramDefinition changed = program.definition();
  changed.kernels[0].prelude = "#define runs runs + 0\n";
  EXPECT_TRUE(find_tuned(program, device));
  changed.kernels[0].text.replace(changed.kernels[0].text.find("x[i] *"), 6, "x[i] -");
  EXPECT_FALSE(find_tuned(Program(changed), device));
}

TEST_F(TuneTest, ADamagedRecordIsIgnored) {
  const Device device = open_device();
  const Program program = with_tune("BLOCK = [64]");
  const TuneReport report = tune(program, device, quick());
  if (report.file.empty()) GTEST_SKIP() << "the budget ended";
  write_file_atomically(report.file, "{");
  EXPECT_FALSE(find_tuned(program, device));
}

TEST_F(TuneTest, WhatChangesResultsOrBreaksARequirementIsRefused) {
  const Device device = open_device();
  const TuneReport report = tune(with_tune("BAD = [1]\nBLOCK = [2048]"), device, quick());
  const TuneTrial* const bad = trial(report, "BAD = 1");
  if (bad != nullptr) {
    EXPECT_EQ(bad->refused, "the output y differs");
  }
  const TuneTrial* const large = trial(report, "BLOCK = 2048");
  if (large != nullptr) {
    EXPECT_THAT(large->refused, HasSubstr("requires BLOCK <= 1024"));
  }
  if (!is_simulated(device)) return;
  EXPECT_NE(bad, nullptr);
  EXPECT_NE(large, nullptr);
  EXPECT_FALSE(report.record.accepted);
}

TEST_F(TuneTest, WorseCandidatesLeaveItUntuned) {
  const Device device = open_device();
  const TuneReport report = tune(with_tune("BLOCK = [512, 1024]"), device, quick());
  if (!is_simulated(device)) return;
  EXPECT_FALSE(report.record.accepted);
  EXPECT_EQ(report.record.variant, TuneVariant{});
  EXPECT_GT(trial(report, "BLOCK = 512")->ratio->ratio, 1);
  const auto found = find_tuned(with_tune("BLOCK = [512, 1024]"), device);
  ASSERT_TRUE(found) << "that untuned is best is a result too";
  EXPECT_FALSE(found->accepted);
}

TEST_F(TuneTest, WithoutABudgetNothingIsTried) {
  TuneOptions options;
  options.budget = 0;
  const TuneReport report = tune(with_tune("BLOCK = [64]"), open_device(), options);
  EXPECT_THAT(report.trials, IsEmpty());
  EXPECT_FALSE(report.record.accepted);
  EXPECT_TRUE(report.out_of_time);
  EXPECT_THAT(report.remark, HasSubstr("nothing was tried"));
  EXPECT_TRUE(report.file.empty());
  options.budget = -1;
  EXPECT_THROW(tune(with_tune("BLOCK = [64]"), open_device(), options), Error);
}

TEST_F(TuneTest, WithoutCandidatesItSaysSo) {
  const Device device = open_device();
  TuneOptions options = quick();
  options.executor = ExecutorKind::kStream;
  options.load.pdl = PdlMode::kOff;
  const TuneReport report = tune(Program::from_text(kText, "p"), device, options);
  EXPECT_THAT(report.trials, IsEmpty());
  EXPECT_THAT(report.remark, HasSubstr("vary"));
  EXPECT_TRUE(report.file.empty()) << "of other edges than a run has";
}

TEST_F(TuneTest, AnInterruptEndsIt) {
  const std::atomic<bool> interrupt{true};
  TuneOptions options = quick();
  options.interrupt = &interrupt;
  try {
    tune(with_tune("BLOCK = [64]"), open_device(), options);
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInterrupted);
  }
}

TEST_F(TuneTest, ABundleHasTheRecord) {
  const Device device = open_device();
  const Program program = with_tune("BLOCK = [64, 128]");
  const TuneReport report = tune(program, device, quick());
  const std::filesystem::path path = cache_.path() / "p.baton";
  BundleOptions options;
  options.architectures = {device.compile_arch()};
  options.tuned = {to_text(report.record)};
  write_bundle(program, path, options);
  const Bundle bundle = Bundle::open(path);
  EXPECT_THAT(bundle.skipped(), IsEmpty());
  // Another machine: nothing beside its cache.
  const TemporaryDirectory other;
  setenv("BATON_CACHE_DIR", other.path().c_str(), 1);
  const auto found = find_tuned(bundle, device);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, report.record);
  Executable executable(LoadedProgram::load(bundle, device, found->variant.choices, LoadOptions{}),
                        found->variant.executor);
  executable.run();
  if (is_simulated(device)) {
    EXPECT_EQ(executable.symbols()[1].value, 64);
  }
  const TuneReport again = tune(bundle, device, quick());
  EXPECT_EQ(again.record.program, report.record.program);
  EXPECT_EQ(again.record.images, report.record.images);
}

TEST_F(TuneTest, ResultsThatChangeFromRunToRunAreRefused) {
  const Device device = open_device();
  if (!is_simulated(device)) GTEST_SKIP() << "a GPU may give equal clocks";
  constexpr const char* kClock = R"(
[buffers.y]
dtype = "u64"
shape = [1]
role = "output"
[kernels.k]
text = '''extern "C" __device__ unsigned long long seen = 0;
extern "C" __global__ void k(unsigned long long* y) { y[0] = ++seen; }'''
[[steps]]
launch = "k"
grid = [1]
block = [1]
args = ["y"]
)";
  try {
    tune(Program::from_text(kClock, "p"), device, quick());
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kMismatch);
    EXPECT_THAT(failure.message(), HasSubstr("the output y differs"));
  }
}

TEST_F(TuneTest, MemoryOfTheCallersIsRefused) {
  TuneOptions options = quick();
  options.bindings.memory = {{"x", {DType::kF32, {4096}, 4096}}};
  EXPECT_THROW(tune(with_tune("BLOCK = [64]"), open_device(), options), Error);
}

// Three kernels without PDL. On the simulated GPU times say nothing, but the whole search is that
// of a GPU.
constexpr const char* kChain = R"(
[symbols]
N = 4096
G = 16
[tune]
G = [8, 32]
[buffers]
x = { dtype = "f32", shape = ["N"], role = "input", init = "random" }
w = { dtype = "f32", shape = ["N"], role = "weight", init = "random" }
a = { dtype = "f32", shape = ["N"] }
y = { dtype = "f32", shape = ["N"], role = "output" }
sum = { dtype = "f32", shape = ["N"], role = "inout", init = "zeros" }
runs = { dtype = "i32", shape = [1], role = "state", init = "zeros" }
[kernels.scale]
text = '''
extern "C" __global__ void scale(const float* x, const float* w, float* y, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = x[i] * w[i];
}'''
[kernels.add]
text = '''
extern "C" __global__ void add(const float* x, float* y, int* runs, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] += x[i] + runs[0];
  if (blockIdx.x == 0 && threadIdx.x == 0 && n == 0) runs[0] = 0;
}'''
[kernels.bump]
text = 'extern "C" __global__ void bump(int* runs) { runs[0] += 1; }'
[[steps]]
launch = "scale"
grid = ["G"]
block = [128]
args = ["x", "w", "a", "N"]
[[steps]]
repeat = 2
steps = [ { launch = "scale", grid = ["G"], block = [128], args = ["a", "w", "y", "N"] },
          { launch = "add", grid = ["G"], block = [128], args = ["y", "sum", "runs", "N"] } ]
[[steps]]
launch = "bump"
grid = [1]
block = [1]
args = ["runs"]
)";

TEST_F(TuneTest, ASearchByTimeTriesEverything) {
  const Device device = open_device();
  const Program program = Program::from_text(kChain, "p");
  TuneOptions options;
  options.budget = 600;  // the passes end it
  std::vector<std::string> progress;
  options.progress = [&](const TuneProgress& now) {
    EXPECT_LE(now.share, 1);
    progress.push_back(now.what);
  };
  const tuning::Subject subject(program, std::nullopt, device, options.load);
  const TuneReport report = tuning::Search(subject, options, tuning::CostKind::kSeconds).run();
  EXPECT_FALSE(report.out_of_time);
  EXPECT_GT(report.base_cost, 0);
  std::set<std::string> passes;
  for (const TuneTrial& trial : report.trials) {
    passes.insert(trial.pass);
    EXPECT_EQ(trial.refused, "") << trial.pass << ": " << to_text(trial.variant);
    EXPECT_TRUE(trial.ratio);
    EXPECT_GT(trial.cost, 0);
    if (trial.best) {
      EXPECT_LT(trial.ratio->high, 1);
    }
  }
  for (const char* pass : {"executor", "rewrite of all kernels", "G", "rewrite of scale",
                           "rewrite of add", "rewrite of bump"}) {
    EXPECT_TRUE(passes.count(pass)) << pass;
  }
  const TuneRecord& record = report.record;
  if (record.accepted) {
    EXPECT_LT(record.ratio.high, 1 - tuning::kLeastGain);
    EXPECT_LT(record.ratio.high, 1 - record.noise);
  } else {
    EXPECT_EQ(record.variant, TuneVariant{});
  }
  EXPECT_FALSE(progress.empty());
  // The variant that was found runs, with the results of the untuned program.
  Executable untuned = Executable::prepare(program, device);
  untuned.run();
  Executable tuned(subject.load(record.variant.choices), record.variant.executor);
  tuned.run();
  for (const std::string& name : untuned.outputs()) {
    EXPECT_EQ(tuned.output(name).bytes, untuned.output(name).bytes) << name;
  }
}

TEST_F(TuneTest, EdgesOfARewrittenProgramAreVaried) {
  const Device device = open_device();
  ProgramDefinition definition = Program::from_text(kChain, "p").definition();
  for (ProgramKernel& kernel : definition.kernels) kernel.rewrite = RewriteMode::kLoads;
  const Program program(std::move(definition));
  TuneOptions options;
  options.budget = 600;
  options.executor = ExecutorKind::kGraph;
  const tuning::Subject subject(program, std::nullopt, device, options.load);
  const TuneReport report = tuning::Search(subject, options, tuning::CostKind::kSeconds).run();
  std::set<std::string> passes;
  for (const TuneTrial& trial : report.trials) {
    passes.insert(trial.pass);
    EXPECT_EQ(trial.refused, "") << trial.pass;
    EXPECT_EQ(trial.variant.executor, ExecutorKind::kGraph);
  }
  EXPECT_FALSE(passes.count("executor"));
  EXPECT_FALSE(passes.count("rewrite of scale")) << "the program says so itself";
  if (device.architecture() < 90) return;
  EXPECT_TRUE(passes.count("edge to launch 1"));
  EXPECT_TRUE(passes.count("placement of scale"));
}

TEST_F(TuneTest, AShortBudgetEndsIt) {
  const Device device = open_device();
  TuneOptions options;
  options.budget = 1e-6;
  const Program program = Program::from_text(kChain, "p");
  const tuning::Subject subject(program, std::nullopt, device, options.load);
  const TuneReport report = tuning::Search(subject, options, tuning::CostKind::kSeconds).run();
  EXPECT_TRUE(report.out_of_time);
  EXPECT_FALSE(report.record.accepted);
  EXPECT_THAT(report.trials, IsEmpty());
  EXPECT_THAT(report.remark, HasSubstr("the budget ended before a variant was tried"));
}

TEST_F(TuneTest, ProgramsWithConditionsAreMeasured) {
  const Device device = open_device();
  const Program program = Program::from_text(R"(
[buffers]
go = { dtype = "i32", shape = [1], role = "state", init = "ones" }
y = { dtype = "i32", shape = [1], role = "inout", init = "zeros" }
[kernels.count]
text = 'extern "C" __global__ void count(int* y, int* go) { y[0] += 1; go[0] = y[0] % 3; }'
[[steps]]
while = { buffer = "go", at_most = 5 }
steps = [ { launch = "count", grid = [1], block = [1], args = ["y", "go"] } ]
)",
                                             "p");
  TuneOptions options;
  options.budget = 600;
  const tuning::Subject subject(program, std::nullopt, device, options.load);
  const TuneReport report = tuning::Search(subject, options, tuning::CostKind::kSeconds).run();
  ASSERT_FALSE(report.trials.empty());
  for (const TuneTrial& trial : report.trials) EXPECT_EQ(trial.refused, "") << trial.pass;
}

TEST_F(TuneTest, ARecordDoesNotChooseWhatTheCallerNames) {
  const Device device = open_device();
  const Program program = Program::from_text(R"(
[world]
[buffers]
x = { dtype = "f32", shape = [4], role = "inout", init = "ones" }
[[steps]]
all_reduce = { buffer = "x" }
)",
                                             "p");
  const tuning::Subject subject(program, std::nullopt, device, {});
  TuneRecord record = tuning::identity_of(subject, {});
  record.images = subject.images_digest();
  record.accepted = true;
  record.cost = "seconds";
  record.ratio = {0.5, 0.4, 0.6};
  record.variant.choices.collectives = {{0, CollectiveExecutor::kPeer}};
  ASSERT_FALSE(tuning::keep(record).empty());
  EXPECT_TRUE(find_tuned(program, device));
  EXPECT_FALSE(find_tuned(program, device, {.collectives = CollectiveExecutor::kHost}));
  record.variant.choices = {};
  ASSERT_FALSE(tuning::keep(record).empty());
  EXPECT_TRUE(find_tuned(program, device, {.collectives = CollectiveExecutor::kHost}));
}

}  // namespace
}  // namespace baton::session_test::tune_test
