#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "baton/graph.h"
#include "session/test_program.h"

// Launches on parts of the SMs, on both executors.

namespace baton::session_test::sms_test {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Le;
using ::testing::Ne;
using ::testing::SizeIs;

// Skips where the device has no parts.
class SmsRefused : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) return;
    try {
      sm_units(open_device());
    } catch (const Error& failure) {
      GTEST_SKIP() << failure.message();
    }
  }
};

class Sms : public SmsRefused, public testing::WithParamInterface<ExecutorKind> {
 protected:
  static Executable prepare(const std::string& text) {
    PrepareOptions options;
    options.executor = GetParam();
    return Executable::prepare(program(text), open_device(), options);
  }
};

INSTANTIATE_TEST_SUITE_P(Executors, Sms,
                         testing::Values(ExecutorKind::kStream, ExecutorKind::kGraph),
                         [](const auto& test) {
                           return test.param == ExecutorKind::kStream ? "Stream" : "Graph";
                         });

// 64 blocks that are there together note their multiprocessors.
std::string place(const std::string& to, const std::string& more = "") {
  return "{ launch = \"place\", grid = [64], block = [1], args = [\"" + to + "\", \"n_" + to +
         "\"]" + more + " }";
}
// to[i] = from[i] + 1, with a wait.
std::string late(char from, char to, const std::string& more = "") {
  return std::string("{ launch = \"late\", grid = [1], block = [4], args = [\"") + from + "\", \"" +
         to + "\"]" + more + " }";
}
std::string on(const std::string& sms) {
  return ", sms = " + sms;
}
std::string repeat(int times, const std::vector<std::string>& steps, const std::string& more = "") {
  return "{ repeat = " + std::to_string(times) + more + ", steps = " + join(steps) + " }";
}

// p and q get places; x = 0, 1, 2, 3 is the input, a to d are scratch, y is the output.
std::string with(const std::vector<std::string>& steps, const std::string& launch = "") {
  std::string text =
      "steps = " + join(steps) + "\n[symbols]\nS = 8\nL = 3\n" + edge_kernel("late") +
      "[kernels.place]\nptx = \"places.ptx\"\nentry = \"place\"\n" + launch +
      buffer("x", "i32", "[4]", "input", "arange") + buffer("y", "i32", "[4]", "output", "zeros");
  for (const char* name : {"a", "b", "c", "d", "go"}) {
    text += buffer(name, "i32", "[4]", "scratch", "zeros");
  }
  for (const std::string name : {"p", "q"}) {
    text += buffer(name, "u32", "[64]", "output", "zeros") +
            buffer("n_" + name, "u32", "[1]", "scratch", "zeros");
  }
  return text;
}

std::set<std::uint32_t> places(const Executable& executable, const char* buffer) {
  const std::vector<std::uint32_t> all = values<std::uint32_t>(executable.output(buffer));
  return {all.begin(), all.end()};
}

TEST_P(Sms, ALaunchRunsOnItsPart) {
  Executable executable = prepare(with({place("p", on("5")), place("q")}));
  for (int run = 0; run < 2; ++run) {
    const RunReport& report = executable.run();
    ASSERT_THAT(report.parts, SizeIs(1));
    EXPECT_EQ(report.parts[0].asked, 5u);
    EXPECT_GE(report.parts[0].given, 5u);
    EXPECT_THAT(report.parts[0].launches, ElementsAre(0u));
    EXPECT_THAT(places(executable, "p").size(), Le(report.parts[0].given));
    EXPECT_GT(places(executable, "q").size(), report.parts[0].given);
  }
}

TEST_P(Sms, PartsOfBranchesAreDisjoint) {
  Executable executable =
      prepare(with({parallel({{place("p", on("8"))}, {place("q", on("\"2*S\""))}})}));
  const RunReport& report = executable.run();
  ASSERT_THAT(report.parts, SizeIs(2));
  EXPECT_EQ(report.parts[1].asked, 16u);
  const std::set<std::uint32_t> first = places(executable, "p"), second = places(executable, "q");
  EXPECT_THAT(first.size(), Le(report.parts[0].given));
  EXPECT_THAT(second.size(), Le(report.parts[1].given));
  for (const std::uint32_t sm : first) EXPECT_FALSE(second.contains(sm)) << sm;
}

TEST_P(Sms, StepsKeepTheirOrderFromPartToPart) {
  Executable executable =
      prepare(with({late('x', 'a', on("8")), late('a', 'b'), late('b', 'c', on("16")),
                    late('c', 'd', on("16")), "{ copy = { from = \"d\", to = \"a\" } }",
                    repeat(3, {late('a', 'b', on("8")), late('b', 'a'), late('a', 'b', on("16")),
                               "{ copy = { from = \"b\", to = \"a\" } }"}),
                    late('a', 'y', on("8"))}));
  for (const bool timed : {true, false}) {
    RunOptions options;
    options.time_steps = timed;
    const RunReport& report = executable.run(options);
    EXPECT_THAT(values<int>(executable.output("y")), ElementsAre(14, 15, 16, 17));
    EXPECT_THAT(report.findings, IsEmpty());
    EXPECT_THAT(report.parts, SizeIs(2));
    for (const StepReport& step : report.steps) {
      if (timed && GetParam() == ExecutorKind::kStream && is_simulated(open_device()) &&
          step.kind == StepReport::Kind::kLaunch) {
        EXPECT_NE(step.instructions.value_or(0), 0u) << step.label;
      }
    }
  }
}

TEST_P(Sms, ASymbolDecidesTheSizeAndBindSplitsAnew) {
  Executable executable = prepare(with({place("p", on("\"S\""))}));
  executable.bind();
  EXPECT_EQ(executable.run().parts.at(0).asked, 8u);
  try {
    executable.set("S", 24);
    ADD_FAILURE() << "was not refused";
  } catch (const Error& failure) {
    EXPECT_THAT(failure.message(), HasSubstr("bind the program anew"));
  }
  executable.bind({.symbols = {{"S", 24}}});
  const RunReport& report = executable.run();
  EXPECT_EQ(report.parts.at(0).asked, 24u);
  EXPECT_THAT(places(executable, "p").size(), Le(report.parts[0].given));
  EXPECT_GT(places(executable, "p").size(), 8u);
  executable.set("L", 4);
  EXPECT_EQ(executable.run().parts.at(0).asked, 24u);
}

TEST_P(Sms, AKernelHasADefaultThatAStepCancels) {
  Executable executable =
      prepare(with({place("p"), place("q", on("0"))}, "launch = { sms = 8 }\n"));
  const RunReport& report = executable.run();
  ASSERT_THAT(report.parts, SizeIs(1));
  EXPECT_THAT(report.parts[0].launches, ElementsAre(0u));
  EXPECT_THAT(places(executable, "p").size(), Le(report.parts[0].given));
  EXPECT_GT(places(executable, "q").size(), report.parts[0].given);
}

TEST_P(Sms, ASymbolThatIsZeroMeansAllSms) {
  Executable executable = prepare(with({late('x', 'a', on("\"S\"")), late('a', 'y', on("8")),
                                        late('y', 'b'), place("p", on("\"S\""))}));
  executable.bind({.symbols = {{"S", 0}}});
  const RunReport& report = executable.run();
  ASSERT_EQ(report.parts.size(), 1u) << "all SMs are no part";
  EXPECT_EQ(report.parts[0].asked, 8u);
  EXPECT_THAT(report.parts[0].launches, ElementsAre(1u));
  EXPECT_GT(places(executable, "p").size(), 8u);
  executable.bind({.symbols = {{"S", 16}}});
  EXPECT_EQ(executable.run().parts.size(), 2u);
  EXPECT_THAT(places(executable, "p").size(), Le(16u));
  executable.bind({.symbols = {{"S", 0}}});
  EXPECT_EQ(executable.run().parts.size(), 1u);
}

TEST_P(Sms, LaunchesOnAllSmsMayOverlap) {
  Executable executable =
      prepare(with({late('x', 'a', on("\"S\"")), late('a', 'y', ", pdl = \"on\"")}));
  executable.bind({.symbols = {{"S", 0}}});
  EXPECT_TRUE(executable.run().parts.empty());
  EXPECT_EQ(values<std::int32_t>(executable.output("y"))[3], 5);
}

TEST_P(Sms, EdgesBetweenPartsAreFull) {
  Executable executable = prepare(with({late('x', 'a', on("8")), late('a', 'b', on("8")),
                                        late('b', 'c', on("16")), late('c', 'y')}));
  const RunReport& report = executable.run();
  EXPECT_THAT(values<int>(executable.output("y")), ElementsAre(4, 5, 6, 7));
  ASSERT_THAT(executable.edges(), SizeIs(3));
  for (const EdgeReport& edge : executable.edges()) {
    EXPECT_EQ(edge.verdict, EdgeVerdict::kProven);
    EXPECT_EQ(edge.programmatic, edge.to == 1);
    EXPECT_EQ(edge.decision, edge.to == 1 ? EdgeDecision::kProven : EdgeDecision::kOtherPart);
  }
  if (report.graph) {
    EXPECT_EQ(report.graph->programmatic_edges, 1u);
  }
}

// The caller's graph gets a node for each step, which runs on its part.
TEST_P(Sms, ACaptureKeepsParts) {
  Executable executable =
      prepare(with({late('x', 'a', on("8")), late('a', 'y'), place("p", on("8")), place("q")}));
  const Device device = open_device();
  const Stream stream(device);
  executable.bind();
  executable.initialise(stream);
  const Graph graph = Graph::capture(stream, [&] { executable.enqueue(stream); });
  EXPECT_EQ(graph.counts().nodes, 4u);
  const GraphInstance instance(graph);
  instance.launch(stream);
  executable.wait(stream);
  std::vector<std::uint32_t> seen(64);
  executable.memory("p").download(seen.data(), 256, 0, stream);
  stream.synchronize();
  EXPECT_THAT((std::set<std::uint32_t>(seen.begin(), seen.end()).size()), Le(8u));
  std::vector<int> y(4);
  executable.memory("y").download(y.data(), 16, 0, stream);
  stream.synchronize();
  EXPECT_THAT(y, ElementsAre(2, 3, 4, 5));
}

TEST_P(Sms, EnqueuedWorkIsInTheOrderOfTheStream) {
  Executable executable = prepare(with({late('x', 'a', on("8")), late('a', 'y', on("16"))}));
  const Stream stream(open_device());
  executable.bind();
  executable.initialise(stream);
  std::vector<int> y(4);
  for (int turn = 0; turn < 3; ++turn) {
    const std::vector<int> x = {turn, turn, turn, turn};
    executable.memory("x").upload(x.data(), 16, 0, stream);
    executable.enqueue(stream);
    executable.memory("y").download(y.data(), 16, 0, stream);
    executable.wait(stream);
    EXPECT_THAT(y, Each(turn + 2));
  }
}

TEST_P(Sms, ExecutablesOfAProgramShareTheSplit) {
  PrepareOptions options;
  options.executor = GetParam();
  const LoadedProgram loaded = LoadedProgram::load(
      program(with({place("p", on("64")), place("q")})), open_device(), options.load());
  Executable one(loaded, GetParam()), two(loaded, GetParam());
  one.run();
  two.run();
  // Together they would have more SMs than a device of up to 132.
  const std::set<std::uint32_t> first = places(one, "p"), second = places(two, "p");
  std::set<std::uint32_t> both = first;
  both.insert(second.begin(), second.end());
  EXPECT_THAT(both.size(), Le(one.report().parts[0].given));
}

TEST_P(Sms, ACheckTellsThePartsAndTheirLimits) {
  Executable executable = prepare(with({place("p", on("8")), place("q")}));
  const CheckReport report = executable.check();
  ASSERT_THAT(report.parts, SizeIs(1));
  EXPECT_EQ(report.parts[0].asked, 8u);
  EXPECT_EQ(report.launches[0].config->stream.part_sms, report.parts[0].given);
  EXPECT_EQ(report.launches[0].config->stream.native, nullptr);
  EXPECT_EQ(report.launches[1].config->stream.part_sms, 0u);
}

TEST_F(SmsRefused, MoreThanThereIs) {
  const Error failure = refusal(with({parallel({{place("p", on("72"))}, {place("q", on("72"))}})}));
  EXPECT_EQ(failure.code(), ErrorCode::kLimit);
  EXPECT_THAT(failure.message(), HasSubstr("2 parts of 144 SMs together were asked for"));
  EXPECT_THAT(failure.notes(), Contains(HasSubstr("sms = 72")));
  EXPECT_TRUE(failure.where().known());
}

TEST_F(SmsRefused, ACooperativeGridThatFitsOnTheDeviceAlone) {
  const std::string grid =
      "{ launch = \"place\", grid = [2000], block = [1], args = [\"p\", "
      "\"n_p\"], cooperative = true, sms = 8 }";
  const Error failure = refusal(with({grid}));
  EXPECT_EQ(failure.code(), ErrorCode::kLimit);
  EXPECT_THAT(failure.message(), HasSubstr("a part of 8 SMs of "));
  EXPECT_THAT(failure.message(), HasSubstr("2000"));
}

TEST_F(SmsRefused, WhatCannotBeOnAPart) {
  EXPECT_THAT(
      refusal(
          with({"{ if = { buffer = \"go\" }, steps = " + join({late('x', 'a', on("8"))}) + " }"}))
          .message(),
      HasSubstr("one context in a graph"));
  EXPECT_THAT(
      refusal(with({repeat(2, {late('x', 'a', on("\"8*i + 8\""))}, ", index = \"i\"")})).message(),
      HasSubstr("depends on the index"));
  EXPECT_THAT(refusal(with({parallel({{late('x', 'a', on("8") + ", programmatic_event = \"e\"")},
                                      {late('x', 'b', ", after = [\"e\"]")}})}))
                  .message(),
              HasSubstr("has events"));
  EXPECT_THAT(refusal(with({late('x', 'a', on("-1"))})).message(), HasSubstr("at least 0"));
  EXPECT_THAT(refusal(with({late('x', 'a', on("\"S - 16\""))})).message(),
              HasSubstr("sms = S - 16 is -8 (S = 8)"));
  EXPECT_THAT(refusal(with({late('x', 'a', on("8")), late('a', 'y', ", pdl = \"on\"")})).message(),
              HasSubstr("another part"));
}

TEST(SmsText, SurvivesWriting) {
  const Program first = program(
      with({late('x', 'a', on("\"2*S\"")), late('a', 'y', on("0"))}, "launch = { sms = 8 }\n"));
  const Program again = program(first.to_toml());
  EXPECT_EQ(first, again);
  EXPECT_THAT(first.to_toml(), HasSubstr("sms = \"2*S\""));
}

}  // namespace
}  // namespace baton::session_test::sms_test
