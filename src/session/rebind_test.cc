// Binding again with other values: what does not depend on them stays, and the program is as if it
// had been bound anew.

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "baton/log.h"
#include "session/test_program.h"

namespace baton::rebind_test {
namespace {

using namespace session_test;  // NOLINT: the tests' own words
using ::testing::ElementsAre;

// Counts the times that a program took new values in place.
class InPlaceCounter {
 public:
  InPlaceCounter() {
    set_log_level(LogLevel::kInfo);
    set_log_callback([this](LogLevel, std::string_view message) {
      if (message.find("symbols take new values in place") != std::string_view::npos) ++count_;
    });
  }
  ~InPlaceCounter() {
    set_log_callback({});
    set_log_level(LogLevel::kWarning);
  }
  int take() { return std::exchange(count_, 0); }

 private:
  int count_ = 0;
};

// Every use of a symbol that a program has: shapes, grids, counts, scalars, offsets, views, copies,
// fills, shared memory, in groups that are loops and in groups that are unrolled.
std::string every_use() {
  return "[symbols]\nN = 64\nG = 2\nB = 32\nR = 2\nA = 3\nO = 1\nF = 9\nW = 4\nC = 8\n" +
         buffer("x", "i32", "[\"N\"]", "inout", "zeros") +
         buffer("y", "i32", "[\"N\"]", "inout", "zeros") +
         buffer("z", "u32", "[64]", "output", "zeros") + kernel("add") + kernel("geometry") +
         edge_kernel("reads_beyond") + edge_kernel("late") +
         R"toml([[steps]]
launch = "add"
grid = ["G"]
block = ["B"]
args = ["x", "A", "C"]

[[steps]]
launch = "add"
grid = [1]
block = [32]
args = ["x + O", "A + O", 4]

[[steps]]
repeat = "R"
[[steps.steps]]
launch = "add"
grid = [1]
block = [32]
args = ["y", "A", 2]

[[steps]]
repeat = 3
index = "i"
[[steps.steps]]
launch = "add"
grid = [1]
block = [32]
args = ["y + 2*i + O", "A*i", 2]
[[steps.steps]]
launch = "add"
grid = ["min(G, i)"]
block = [32]
args = ["y", 1, "C"]
[[steps.steps]]
copy = { from = "x + i", to = "y + 8 + O + i", count = 1 }

[[steps]]
fill = { buffer = "x", value = "F" }

[[steps]]
copy = { from = "y + O", to = "x + O", count = "W" }

[[steps]]
launch = "geometry"
grid = ["G"]
block = [4]
shared = "4*W"
args = ["z", "W"]

[[steps]]
launch = "late"
grid = [1]
block = [32]
args = ["x", "y"]

[[steps]]
launch = "reads_beyond"
grid = [1]
block = [16]
args = ["y", "x", "C"]
)toml";
}

// What can be seen of a program that ran, or of its refusal.
struct Outcome {
  std::vector<int> x, y, z;
  std::string edges, steps, refusal;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

void bind_and_run(Executable& executable, const Bindings& bindings, Outcome& out) {
  try {
    executable.bind(bindings);
  } catch (const Error& failure) {
    out.refusal = failure.message();
    return;
  }
  for (const EdgeReport& edge : executable.edges()) {
    out.edges += fmt::format("{} {} {} {}\n", edge.from, edge.to, to_string(edge.verdict),
                             edge.decision_reason);
  }
  for (const BoundSymbol& symbol : executable.symbols()) {
    out.steps += fmt::format("{} = {}\n", symbol.name, symbol.value);
  }
  const RunReport* report = nullptr;
  try {
    report = &executable.run();
  } catch (const Error& failure) {
    out.refusal = failure.message();
    return;
  }
  for (const StepReport& step : report->steps) {
    out.steps += fmt::format("{} {} {} {} {} {}\n", step.label, step.grid.x, step.block.x,
                             step.shared, step.executions, step.skipped);
  }
  out.x = values<int>(executable.output("x"));
  out.y = values<int>(executable.output("y"));
  out.z = values<int>(executable.output("z"));
}

class RebindTest : public DeviceTest, public ::testing::WithParamInterface<ExecutorKind> {};

INSTANTIATE_TEST_SUITE_P(Executors, RebindTest,
                         ::testing::Values(ExecutorKind::kStream, ExecutorKind::kGraph),
                         [](const auto& executor) {
                           return executor.param == ExecutorKind::kStream ? "Stream" : "Graph";
                         });

TEST_P(RebindTest, IsAsIfBoundAnew) {
  InPlaceCounter counter;
  std::mt19937 random(20261123);
  const LoadedProgram loaded = LoadedProgram::load(program(every_use()), open_device());
  Executable kept(loaded, GetParam());
  kept.bind();
  counter.take();
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> choices = {
      {"N", {64, 80}},        {"G", {0, 1, 2, 3}}, {"B", {16, 32}},
      {"R", {0, 1, 3}},       {"A", {0, -5, 11}},  {"O", {0, 1, 5, 200}},
      {"F", {0, 7, 1 << 31}}, {"W", {0, 4, 16}},   {"C", {0, 8, 32}}};
  Bindings bindings;
  int in_place = 0, refused = 0;
  for (int round = 0; round < 300; ++round) {
    const auto& [name, values] = choices[random() % choices.size()];
    std::erase_if(bindings.symbols, [&](const auto& symbol) { return symbol.first == name; });
    bindings.symbols.emplace_back(name, values[random() % values.size()]);
    Outcome expected, found;
    Executable fresh(loaded, GetParam());
    bind_and_run(fresh, bindings, expected);
    counter.take();
    bind_and_run(kept, bindings, found);
    in_place += counter.take();
    refused += expected.refusal.empty() ? 0 : 1;
    ASSERT_EQ(found.refusal, expected.refusal) << round;
    ASSERT_EQ(found.edges, expected.edges) << round;
    ASSERT_EQ(found.steps, expected.steps) << round;
    ASSERT_EQ(found, expected) << round;
  }
  EXPECT_GT(in_place, 60);
  EXPECT_LT(in_place, 240);
  EXPECT_GT(refused, 5);
}

TEST_F(DeviceTest, TheLastValuesStayWhereNewOnesAreWrong) {
  Executable executable = Executable::prepare(program(every_use()), open_device());
  executable.bind({.symbols = {{"O", 2}}});
  EXPECT_THROW(executable.bind({.symbols = {{"O", 1000}}}), Error);
  EXPECT_EQ(executable.symbols()[5].value, 2);
  executable.run();
  const std::vector<int> kept = values<int>(executable.output("y"));
  Executable fresh = Executable::prepare(program(every_use()), open_device());
  fresh.bind({.symbols = {{"O", 2}}});
  fresh.run();
  EXPECT_EQ(kept, values<int>(fresh.output("y")));
}

// Whether the value decides the verdict: threads from n on read before they wait.
TEST_F(DeviceTest, EdgesThatAValueDecidesAreJudgedAnew) {
  const std::string text =
      "[symbols]\nN = 32\nM = 1\n" + buffer("x", "i32", "[128]", "inout", "zeros") +
      buffer("y", "i32", "[128]", "inout", "zeros") + kernel("add") + edge_kernel("late") +
      edge_kernel("reads_beyond") +
      "[[steps]]\nlaunch = \"late\"\ngrid = [1]\nblock = [32]\nargs = [\"y\", \"x + 48\"]\n"
      "[[steps]]\nlaunch = \"reads_beyond\"\ngrid = [1]\nblock = [32]\nargs = [\"x\", \"y\", "
      "\"N\"]\n"
      "[[steps]]\nlaunch = \"add\"\ngrid = [1]\nblock = [32]\nargs = [\"y\", \"M\", 32]\n";
  InPlaceCounter counter;
  Executable executable = Executable::prepare(program(text), open_device());
  const auto verdict = [&](std::int64_t n) {
    executable.bind({.symbols = {{"N", n}}});
    return std::string(to_string(executable.edges().front().verdict));
  };
  EXPECT_EQ(verdict(32), "proven");
  EXPECT_EQ(verdict(16), "unsafe");
  EXPECT_EQ(verdict(32), "proven");
  EXPECT_EQ(counter.take(), 0);
  executable.bind({.symbols = {{"N", 32}, {"M", 5}}});
  EXPECT_EQ(counter.take(), 1);
}

// Inputs are new contents, and no other values.
TEST_F(DeviceTest, InputsAreReplacedInPlace) {
  const std::string text = buffer("i", "i32", "[2]", "inout") + kernel("add") +
                           "[[steps]]\nlaunch = \"add\"\ngrid = [1]\nblock = [2]\nargs = [\"i\", "
                           "1, 2]\n";
  InPlaceCounter counter;
  Executable executable = Executable::prepare(program(text), open_device());
  for (const int first : {10, 20}) {
    executable.bind({.inputs = {{"i", array<int>(DType::kI32, {2}, {first, first + 5})}}});
    executable.run();
    EXPECT_THAT(values<int>(executable.output("i")), ElementsAre(first + 1, first + 6));
  }
  EXPECT_EQ(counter.take(), 1);
  EXPECT_THROW(executable.bind(), Error);  // nothing initialises the buffer
  executable.run();
  EXPECT_THAT(values<int>(executable.output("i")), ElementsAre(21, 26));
}

}  // namespace
}  // namespace baton::rebind_test
