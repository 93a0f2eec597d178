#include "tune/candidates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/error.h"
#include "bind/binding.h"

namespace baton::tuning::candidates_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kChain = R"(
[symbols]
N = 64
B = 32
S = 2
[tune]
B = [32, 64, "2*N", 64]
S = [4]
[buffers.x]
dtype = "f32"
shape = ["N"]
[kernels]
a = { text = "code" }
b = { text = "code" }
c = { text = "code", rewrite = "off", launch = { pdl = "off" } }
[[steps]]
repeat = 2
steps = [ { launch = "a", grid = [1], block = ["B"], args = ["x"] },
          { launch = "b", grid = ["S"], block = ["B"], args = ["x"], pdl = "on" } ]
[[steps]]
launch = "a"
grid = [1]
block = [1]
args = ["x"]
placement = "any"
[[steps]]
launch = "c"
grid = [1]
block = [1]
args = ["x"]
)";

Program chain() {
  return Program::from_text(kChain, "p");
}

Freedom all_free(const Program& program, const Bindings& bindings = {}) {
  Freedom freedom;
  freedom.symbols = bind::bind_symbols(program, bindings);
  return freedom;
}

// All variants as text, of all passes, for a program as it is.
std::vector<std::string> texts(const Program& program, const Freedom& freedom,
                               const TuneVariant& best = {}) {
  const EarlyLaunches early = {true, true, true, false};
  std::vector<std::string> all;
  for (const MakePass& make : passes_of(program, freedom)) {
    const Pass pass = make(best, early);
    for (const TuneVariant& variant : pass.variants) {
      all.push_back(pass.name + ": " + to_text(variant));
    }
  }
  return all;
}

TEST(Candidates, EachPassVariesOneThing) {
  const Program program = chain();
  EXPECT_THAT(
      texts(program, all_free(program)),
      ElementsAre("executor: untuned, as a graph",
                  "rewrite of all kernels: rewrite a = wait, rewrite b = wait",
                  "rewrite of all kernels: rewrite a = loads, rewrite b = loads",
                  "rewrite of all kernels: rewrite a = exit, rewrite b = exit",
                  "rewrite of all kernels: rewrite a = top, rewrite b = top", "B: B = 64",
                  "B: B = 128", "S: S = 4", "rewrite of a: rewrite a = wait",
                  "rewrite of a: rewrite a = loads", "rewrite of a: rewrite a = exit",
                  "rewrite of a: rewrite a = top", "rewrite of b: rewrite b = wait",
                  "rewrite of b: rewrite b = loads", "rewrite of b: rewrite b = exit",
                  "rewrite of b: rewrite b = top", "edge to launch 0: full edge to launch 0",
                  "edge to launch 2: full edge to launch 2"));
}

TEST(Candidates, EachAllReduceTriesWhatCanExecuteIt) {
  const Program program = Program::from_text(R"(
[world]
[buffers.x]
dtype = "f32"
shape = [4]
role = "output"
[[steps]]
repeat = 2
steps = [ { all_reduce = { buffer = "x" } }, { broadcast = { buffer = "x", root = 0 } } ]
[[steps]]
all_reduce = { buffer = "x", by = "host" }
[[steps]]
all_reduce = { buffer = "x" }
)",
                                             "p");
  Freedom freedom = all_free(program);
  freedom.executor = false;
  EXPECT_THAT(texts(program, freedom), IsEmpty());
  using enum CollectiveExecutor;
  freedom.executors = {kNccl, kPeer, kHost};
  EXPECT_THAT(
      texts(program, freedom),
      ElementsAre("collective 0: collective 0 by peer", "collective 0: collective 0 by host",
                  "collective 3: collective 3 by peer", "collective 3: collective 3 by host"));
  TuneVariant best;
  best.choices.collectives = {{0, kPeer}};
  EXPECT_THAT(texts(program, freedom, best),
              ElementsAre("collective 0: untuned", "collective 0: collective 0 by host",
                          "collective 3: collective 0 by peer, collective 3 by peer",
                          "collective 3: collective 0 by peer, collective 3 by host"));
  // Where sizes decide what executes the untuned ones, each executor is tried.
  freedom.executors = {kAuto, kNccl, kPeer, kHost};
  EXPECT_THAT(
      texts(program, freedom),
      ElementsAre("collective 0: collective 0 by nccl", "collective 0: collective 0 by peer",
                  "collective 0: collective 0 by host", "collective 3: collective 3 by nccl",
                  "collective 3: collective 3 by peer", "collective 3: collective 3 by host"));
  // What the program says stays.
  best.choices.collectives = {{0, kPeer}, {2, kPeer}};
  const std::string text = with_choices(program, best.choices).to_toml();
  EXPECT_THAT(text, HasSubstr("by = \"peer\""));
  EXPECT_THAT(text, HasSubstr("by = \"host\""));
  EXPECT_THROW(with_choices(program, {.collectives = {{4, kPeer}}}), Error);
}

TEST(Candidates, OnlyWhatCanExecuteAnAllReduceIsTried) {
  const Program program = Program::from_text(R"(
[world.groups]
dp = 2
tp = 2
[buffers]
x = { dtype = "f32", shape = [4], role = "output" }
d = { dtype = "f64", shape = [4], role = "output" }
go = { dtype = "i32", shape = [1], role = "state", init = "zeros" }
[[steps]]
all_reduce = { buffer = "x", group = "tp" }
[[steps]]
all_reduce = { buffer = "d" }
[[steps]]
if = { buffer = "go" }
steps = [ { all_reduce = { buffer = "x" } } ]
)",
                                             "p");
  Freedom freedom;
  freedom.symbols = {{"rank", 0, ""},     {"ranks", 4, ""},   {"dp_rank", 0, ""},
                     {"dp_ranks", 2, ""}, {"tp_rank", 0, ""}, {"tp_ranks", 2, ""}};
  freedom.edges = false;
  using enum CollectiveExecutor;
  freedom.executors = {kHost, kPeer};
  EXPECT_THAT(texts(program, freedom), ElementsAre("collective 2: collective 2 by peer"))
      << "a graph has no host function in an if";
  TuneVariant best;
  best.choices.collectives = {{2, kPeer}};
  EXPECT_THAT(texts(program, freedom, best),
              ElementsAre("executor: collective 2 by peer, as a graph", "collective 2: untuned"));
  best.executor = ExecutorKind::kGraph;
  EXPECT_THAT(texts(program, freedom, best), ElementsAre("executor: collective 2 by peer"));
}

TEST(Candidates, AChoiceCanBeTakenBack) {
  const Program program = chain();
  TuneVariant best;
  best.choices.full_edges = {2};
  best.choices.parameters = {{"B", 64}};
  const std::vector<std::string> all = texts(program, all_free(program), best);
  EXPECT_THAT(all, Contains("edge to launch 2: B = 64"));
  EXPECT_THAT(all, Contains("B: full edge to launch 2"));
  EXPECT_THAT(all, Not(Contains("B: B = 64, full edge to launch 2")));
}

TEST(Candidates, SymbolsWithAValueOfTheCallersStay) {
  const Program program = chain();
  Freedom freedom = all_free(program, {.symbols = {{"B", 16}}});
  freedom.edges = freedom.executor = false;
  EXPECT_THAT(texts(program, freedom), ElementsAre("S: S = 4"));
}

TEST(Candidates, FullEdgesHaveNoCandidate) {
  const Program program = chain();
  Freedom freedom = all_free(program);
  for (const MakePass& make : passes_of(program, freedom)) {
    const Pass pass = make({}, EarlyLaunches(4));
    if (pass.name.starts_with("edge") || pass.name.starts_with("placement")) {
      EXPECT_THAT(pass.variants, IsEmpty()) << pass.name;
    }
  }
}

TEST(Choices, AreWhatTheProgramLeavesOpen) {
  const Program program = chain();
  TuneChoices choices;
  choices.full_edges = {0, 1};
  choices.rewrites = {{"a", RewriteMode::kLoads}, {"c", RewriteMode::kLoads}};
  choices.even = {"b"};
  choices.parameters = {{"S", 7}};
  const Program tuned = with_choices(program, choices);
  EXPECT_EQ(tuned.symbol("S")->value, 7);
  EXPECT_EQ(tuned.kernel("a")->rewrite, RewriteMode::kLoads);
  EXPECT_EQ(tuned.kernel("c")->rewrite, RewriteMode::kOff) << "the program says so itself";
  EXPECT_EQ(tuned.kernel("b")->launch.placement, BlockPlacement::kEven);
  const auto& group = std::get<RepeatStep>(tuned.steps()[0].action);
  EXPECT_EQ(std::get<LaunchStep>(group.steps[0].action).attributes.pdl, PdlMode::kOff);
  EXPECT_EQ(std::get<LaunchStep>(group.steps[1].action).attributes.pdl, PdlMode::kOn);
  EXPECT_EQ(with_choices(program, {}), program);
}

std::string refusal(const TuneChoices& choices) {
  try {
    with_choices(chain(), choices);
  } catch (const Error& failure) {
    return failure.message();
  }
  return "was taken";
}

TEST(Choices, NameWhatIsThere) {
  EXPECT_EQ(refusal({.rewrites = {{"d", RewriteMode::kTop}}}),
            "the choices name the unknown kernel \"d\"; known: a, b, c");
  EXPECT_EQ(refusal({.full_edges = {4}}), "the choices name launch 4, the program has 4");
  EXPECT_EQ(refusal({.parameters = {{"N", 1}}}),
            "the choices give the symbol N the value 1, but [tune] does not name it");
}

}  // namespace
}  // namespace baton::tuning::candidates_test
