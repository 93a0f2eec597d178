#include "bundle/verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "base/file/file.h"
#include "baton/bundle.h"
#include "baton/log.h"
#include "bundle/test_support.h"
#include "session/test_program.h"

// Verdicts that a bundle keeps, and when they are used.

namespace baton::session_test::verdicts_test {
namespace {

using bundle::VerdictEdgeRow;
using bundle::VerdictProofRow;
using bundle::VerdictRow;
using bundle_test::LyingBundle;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace fs = std::filesystem;

constexpr const char* kProgram = R"(
name = "chain"

[symbols]
N = 64

[buffers.x]
dtype = "f32"
shape = ["N"]
role = "input"
init = "ones"

[buffers.t]
dtype = "f32"
shape = ["N"]

[buffers.y]
dtype = "f32"
shape = ["N"]
role = "output"

[kernels.step]
text = '''
extern "C" __global__ void step(float* y, const float* x) {
  cudaGridDependencySynchronize();
  y[threadIdx.x] = x[threadIdx.x] + 1;
  cudaTriggerProgrammaticLaunchCompletion();
}
'''

[[steps]]
launch = "step"
grid = [1]
block = ["N"]
args = ["t", "x"]

[[steps]]
repeat = 3
steps = [
  { launch = "step", grid = [1], block = ["N"], args = ["y", "t"] },
  { launch = "step", grid = [1], block = ["N"], args = ["t", "y"] },
]
)";

class VerdictsTest : public ::testing::Test {
 protected:
  VerdictsTest() {
    set_log_level(LogLevel::kDebug);
    set_log_callback([this](LogLevel, std::string_view message) {
      if (message.find("verdicts") != std::string_view::npos) logged_ += message;
    });
  }
  ~VerdictsTest() override {
    set_log_callback({});
    set_log_level(LogLevel::kWarning);
  }

  std::string built(const BundleOptions& options = {}, const std::string& program = kProgram) {
    BundleOptions chosen = options;
    if (chosen.architectures.empty()) chosen.architectures = {"sm_90a"};
    const fs::path path = folder_.path() / "p.baton";
    write_bundle(Program::from_text(program, "chain", {}), path, chosen);
    return read_file(path);
  }
  // The report of a check, and the log of how it was made.
  std::vector<EdgeReport> check(const std::string& bytes, const Bindings& bindings = {},
                                const LoadOptions& options = {}) {
    logged_.clear();
    const Bundle bundle = Bundle::from_bytes(bytes, "p.baton");
    return LoadedProgram::load(bundle, device_, options).check(bindings).edges;
  }
  std::vector<EdgeReport> analysed(const Bindings& bindings = {}, const LoadOptions& options = {}) {
    return LoadedProgram::load(Program::from_text(kProgram, "chain", {}), device_, options)
        .check(bindings)
        .edges;
  }
  bool was_taken() const { return logged_.find("are taken from the bundle") != std::string::npos; }

  const Device device_ = Device::open("sim:h200");
  const TemporaryDirectory folder_;
  std::string logged_;
};

void expect_equal(const std::vector<EdgeReport>& a, const std::vector<EdgeReport>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(std::tie(a[i].from, a[i].to, a[i].verdict, a[i].cause, a[i].reason, a[i].programmatic,
                       a[i].decision, a[i].decision_reason),
              std::tie(b[i].from, b[i].to, b[i].verdict, b[i].cause, b[i].reason, b[i].programmatic,
                       b[i].decision, b[i].decision_reason));
    EXPECT_EQ(a[i].room.has_value(), b[i].room.has_value());
  }
}

TEST_F(VerdictsTest, AreThoseOfTheAnalysis) {
  const std::string bytes = built();
  const std::vector<EdgeReport> found = check(bytes);
  EXPECT_TRUE(was_taken()) << logged_;
  ASSERT_THAT(found, Not(IsEmpty()));
  EXPECT_EQ(found[0].verdict, EdgeVerdict::kProven);
  EXPECT_TRUE(found[0].programmatic);
  expect_equal(found, analysed());
  // A run by them is the same.
  Executable executable(LoadedProgram::load(Bundle::from_bytes(bytes, "p.baton"), device_));
  executable.run();
  EXPECT_EQ(values<float>(executable.output("y")), std::vector<float>(64, 7));
}

TEST_F(VerdictsTest, AreListedWithTheirImages) {
  const Bundle bundle = Bundle::from_bytes(built(), "p.baton");
  ASSERT_EQ(bundle.verdicts().size(), 1u);
  const BundleVerdicts verdicts = bundle.verdicts()[0];
  EXPECT_EQ(verdicts.symbols, "N=64");
  EXPECT_FALSE(verdicts.of_setup);
  ASSERT_EQ(verdicts.proofs.size(), 1u);
  EXPECT_EQ(verdicts.proofs[0].kernel, "step");
  EXPECT_TRUE(verdicts.proofs[0].is_there);
  for (const BundlePart& part : bundle.parts()) {
    if (part.name == "images/step.sm_90a.ptx") {
      EXPECT_EQ(verdicts.proofs[0].ptx_sha256, part.sha256);
    }
  }
}

TEST_F(VerdictsTest, EachNamesTheArchitectureThatItIsFor) {
  const Bundle bundle = Bundle::from_bytes(built({.architectures = {"sm_90a", "sm_100a"}}), "p");
  std::vector<std::vector<std::string>> architectures;
  for (const BundleVerdicts& verdicts : bundle.verdicts()) {
    architectures.push_back(verdicts.architectures);
  }
  EXPECT_THAT(architectures, ::testing::UnorderedElementsAre(::testing::ElementsAre("sm_90a"),
                                                             ::testing::ElementsAre("sm_100a")));
}

TEST_F(VerdictsTest, OtherValuesAndOptionsAreJudgedAnew) {
  const std::string bytes = built({.verdicts_for = {{{"N", 32}}}});
  const auto with = [](std::int64_t n) {
    Bindings bindings;
    bindings.symbols = {{"N", n}};
    return bindings;
  };
  for (const std::int64_t n : {64, 32}) {
    expect_equal(check(bytes, with(n)), analysed(with(n)));
    EXPECT_TRUE(was_taken()) << n;
  }
  expect_equal(check(bytes, with(48)), analysed(with(48)));
  EXPECT_FALSE(was_taken());
  EXPECT_THAT(logged_, HasSubstr("it has no verdicts for N=48; they are made now"));
  LoadOptions off;
  off.pdl = PdlMode::kOff;
  expect_equal(check(bytes, {}, off), analysed({}, off));
  EXPECT_THAT(logged_, HasSubstr("they were made for other options"));
  LoadOptions rewritten;
  rewritten.rewrite = RewriteMode::kLoads;
  expect_equal(check(bytes, {}, rewritten), analysed({}, rewritten));
}

// A bundle has no place for what is said of branches.
TEST_F(VerdictsTest, AProgramWithAParallelIsJudgedWhenItIsLoaded) {
  const std::string program = std::string(kProgram) + R"(
[[steps]]
parallel = [
  [{ launch = "step", grid = [1], block = ["N"], args = ["y", "x"] }],
  [{ launch = "step", grid = [1], block = ["N"], args = ["t", "x"] }],
]
)";
  const std::string bytes = built({}, program);
  EXPECT_THAT(Bundle::from_bytes(bytes, "p.baton").verdicts(), IsEmpty());
  const CheckReport report =
      LoadedProgram::load(Bundle::from_bytes(bytes, "p.baton"), device_).check();
  EXPECT_FALSE(was_taken());
  ASSERT_EQ(report.parallels.size(), 1u);
  EXPECT_EQ(report.parallels[0].verdict, EdgeVerdict::kProven);
}

TEST_F(VerdictsTest, CanBeLeftOut) {
  const std::string bytes = built({.verdicts = false});
  EXPECT_THAT(Bundle::from_bytes(bytes, "p.baton").verdicts(), IsEmpty());
  expect_equal(check(bytes), analysed());
}

TEST_F(VerdictsTest, StaleOnesAreJudgedAnewAndNamed) {
  LyingBundle stale(built());
  stale.row<VerdictProofRow>("verdict_proofs", 0, [](auto& row) { row.sha256[0] ^= 1; });
  stale.row<VerdictRow>("verdicts", 0, [](auto& row) { row.key[0] ^= 1; });
  expect_equal(check(stale.bytes()), analysed());
  EXPECT_FALSE(was_taken());
  EXPECT_THAT(logged_, HasSubstr("the kernel step has another image than they were made from"));
  EXPECT_FALSE(Bundle::from_bytes(stale.bytes(), "x").verdicts()[0].proofs[0].is_there);
}

TEST_F(VerdictsTest, LyingOnesAreNotUsed) {
  const std::string bytes = built();
  const auto edge = [&](auto&& change) {
    return LyingBundle(bytes).row<VerdictEdgeRow>("verdict_edges", 0, change).bytes();
  };
  for (const std::string& lying :
       {edge([](auto& row) { row.to = 0xFFFFFFFF; }), edge([](auto& row) { row.from = 3; }),
        edge([](auto& row) { row.to = 2, row.from = 2; })}) {
    check(lying);
    EXPECT_FALSE(was_taken()) << logged_;
  }
  // A name of a later version.
  const std::string later = edge([](auto& row) { row.cause = row.verdict; });
  expect_equal(check(later), analysed());
  EXPECT_FALSE(was_taken());
  const std::string wrong = edge([](auto& row) { row.programmatic = 2; });
  EXPECT_THROW(Bundle::from_bytes(wrong, "x"), Error);
}

TEST_F(VerdictsTest, TheSameProgramGivesTheSameBytes) {
  EXPECT_EQ(built(), built());
}

TEST_F(VerdictsTest, ValuesThatTheProgramDoesNotTakeAreRefused) {
  EXPECT_THROW(built({.verdicts_for = {{{"M", 1}}}}), Error);
}

}  // namespace
}  // namespace baton::session_test::verdicts_test
