#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "session/test_program.h"

// What is said of the edges of programs, and what is done with them. The kernels are those of
// testdata/edges.cu.

namespace baton::session_test::edges_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using EdgeVerdicts = DeviceTest;

// Four elements, one block.
std::string step(const std::string& kernel, const std::string& args, const std::string& more = "") {
  return "{ launch = \"" + kernel + "\", grid = [1], block = [4], args = [" + args + "]" +
         (more.empty() ? "" : ", " + more) + " }";
}
std::string fill(const std::string& buffer) {
  return "{ fill = { buffer = \"" + buffer + "\", value = 0 } }";
}
std::string steps(const std::vector<std::string>& list) {
  std::string text = "steps = [ ";
  for (const std::string& each : list) text += (text.back() == '}' ? ", " : "") + each;
  return text + " ]\n";
}
// A group of a program's own, run once.
std::string once(const std::vector<std::string>& list) {
  return "[[steps]]\nrepeat = 1\n" + steps(list);
}
std::string repeat(const std::string& count, const std::vector<std::string>& list) {
  return "[[steps]]\nrepeat = " + count + "\nindex = \"i\"\n" + steps(list);
}

const std::string kBuffers =
    buffer("w", "i32", "[64]", "weight", "ones") + buffer("x", "i32", "[64]", "input", "zeros") +
    buffer("y", "i32", "[64]", "output", "zeros") + buffer("z", "i32", "[64]", "output", "zeros");
const std::string kXToY = "\"x\", \"y\"";
const std::string kYToZ = "\"y\", \"z\"";

Executable prepare(const std::vector<std::string>& kernels, const std::string& text,
                   PdlMode pdl = PdlMode::kAuto) {
  std::string whole = kBuffers;
  for (const std::string& name : kernels) whole += edge_kernel(name);
  PrepareOptions options;
  options.pdl = pdl;
  return Executable::prepare(program(whole + text), open_device(), options);
}

// "0-1 proven programmatic".
std::vector<std::string> edges_of(const CheckReport& report) {
  std::vector<std::string> result;
  for (const EdgeReport& edge : report.edges) {
    result.push_back(std::to_string(edge.from) + "-" + std::to_string(edge.to) + " " +
                     std::string(to_string(edge.verdict)) +
                     (edge.programmatic ? " programmatic" : " full"));
  }
  return result;
}
std::vector<std::string> edges(const std::vector<std::string>& kernels, const std::string& text,
                               PdlMode pdl = PdlMode::kAuto) {
  return edges_of(prepare(kernels, text, pdl).check());
}
std::string reason(const std::vector<std::string>& kernels, const std::string& text) {
  const CheckReport report = prepare(kernels, text).check();
  return report.edges.empty() ? "" : report.edges.back().reason;
}

TEST_F(EdgeVerdicts, AWaitBeforeEverythingIsProven) {
  Executable executable = prepare({"late"}, once({step("late", kXToY), step("late", kYToZ)}));
  const CheckReport report = executable.check();
  EXPECT_THAT(edges_of(report), ElementsAre("0-1 proven programmatic"));
  EXPECT_EQ(report.edges[0].reason, "late waits before it touches what an earlier launch touches");
  EXPECT_EQ(report.edges[0].decision_reason, "it is proven");
  EXPECT_FALSE(report.objection);
  EXPECT_FALSE(report.launches[0].config->attributes.find(AttributeId::kPdl));
  EXPECT_TRUE(report.launches[1].config->attributes.find(AttributeId::kPdl));

  const RunReport run = executable.run();
  EXPECT_THAT(run.steps[0].attributes, IsEmpty());
  ASSERT_EQ(run.steps[1].attributes.size(), 1u);
  EXPECT_EQ(run.steps[1].attributes[0].id(), AttributeId::kPdl);
  EXPECT_EQ(values<int>(executable.output("z"))[3], 2);
  EXPECT_EQ(edges_of(executable.check()), edges_of(report));
}

TEST_F(EdgeVerdicts, AnEarlyReadOfWhatIsWrittenIsUnsafe) {
  const std::string text = once({step("late", kXToY), step("ahead", "\"y\", \"x\", \"z\"")});
  const CheckReport report = prepare({"late", "ahead"}, text).check();
  EXPECT_THAT(edges_of(report), ElementsAre("0-1 unsafe full"));
  // The witness: both accesses, the buffer, the lines of source.
  EXPECT_THAT(report.edges[0].reason,
              HasSubstr("ahead reads y at edges.cu:24, before it has "
                        "waited, while late (launch 0) writes it at edges.cu:19"));
  EXPECT_EQ(report.edges[0].decision_reason, "it is not proven");
  ASSERT_TRUE(report.objection);
  EXPECT_EQ(exit_status(report.objection->code()), 1);
  EXPECT_THAT(report.objection->message(), HasSubstr("the edge from launch 0 to launch 1"));
  // A run is as right as without it.
  Executable executable = prepare({"late", "ahead"}, text);
  executable.run();
  EXPECT_EQ(values<int>(executable.output("z"))[0], 1);
}

TEST_F(EdgeVerdicts, WeightsMayBeReadEarly) {
  EXPECT_THAT(
      edges({"late", "ahead"}, once({step("late", kXToY), step("ahead", "\"w\", \"y\", \"z\"")})),
      ElementsAre("0-1 proven programmatic"));
  // So may what no launch writes, whatever its role.
  EXPECT_THAT(
      edges({"late", "ahead"}, once({step("late", kXToY), step("ahead", "\"x\", \"y\", \"z\"")})),
      ElementsAre("0-1 proven programmatic"));
}

TEST_F(EdgeVerdicts, AnEarlyWriteOfWhatIsReadIsUnsafe) {
  EXPECT_THAT(edges({"late", "overwrites"},
                    once({fill("z"), step("late", kYToZ), step("overwrites", "\"y\"")})),
              ElementsAre("0-1 unsafe full"));
  EXPECT_THAT(
      edges({"late", "overwrites"}, once({step("late", kXToY), step("overwrites", "\"y\"")})),
      ElementsAre("0-1 unsafe full"));
  EXPECT_THAT(
      edges({"late", "overwrites"}, once({step("late", kXToY), step("overwrites", "\"z\"")})),
      ElementsAre("0-1 proven programmatic"));
}

TEST_F(EdgeVerdicts, AKernelThatNeverWaitsIsNoErrorAndNeverEarly) {
  const std::string text = once({step("late", kXToY), step("never", kYToZ)});
  EXPECT_THAT(edges({"late", "never"}, text), ElementsAre("0-1 unknown full"));
  EXPECT_THAT(edges({"late", "never"}, text, PdlMode::kOn), ElementsAre("0-1 unknown full"));
  EXPECT_THAT(reason({"late", "never"}, text), HasSubstr("never waits"));
  EXPECT_FALSE(prepare({"late", "never"}, text).check().objection);
  // Forced it is one.
  const std::string forced = once({step("late", kXToY), step("never", kYToZ, "pdl = \"force\"")});
  EXPECT_THAT(edges({"late", "never"}, forced), ElementsAre("0-1 unsafe programmatic"));
}

TEST_F(EdgeVerdicts, AMiddleKernelWithoutAWait) {
  const std::vector<std::string> kernels = {"late", "idle"};
  // Full on its own, it hides nothing.
  EXPECT_THAT(edges(kernels, once({step("late", kXToY), step("idle", ""), step("late", kYToZ)})),
              ElementsAre("0-1 unknown full", "1-2 proven programmatic"));
  const std::string forced =
      once({step("late", kXToY), step("idle", "", "pdl = \"force\""), step("late", kYToZ)});
  EXPECT_THAT(edges(kernels, forced), ElementsAre("0-1 unknown programmatic", "1-2 unsafe full"));
  EXPECT_THAT(reason(kernels, forced), HasSubstr("idle between never waits"));
}

TEST_F(EdgeVerdicts, ATriggerBeforeTheWaitExposesLaterLaunches) {
  const std::vector<std::string> kernels = {"late", "eager", "ahead"};
  const std::string text = once({step("late", kXToY), step("eager", "\"x\", \"z\""),
                                 step("ahead", "\"y\", \"x\", \"z + 32\"")});
  EXPECT_THAT(edges(kernels, text), ElementsAre("0-1 proven programmatic", "1-2 unsafe full"));
  EXPECT_THAT(reason(kernels, text), HasSubstr("late (launch 0) writes it"));
  // Without the trigger the first is complete by then, but not waited for.
  const std::string later = once({step("late", kXToY), step("late", "\"x\", \"z\""),
                                  step("ahead", "\"y\", \"x\", \"z + 32\"")});
  EXPECT_THAT(edges(kernels, later), ElementsAre("0-1 proven programmatic", "1-2 unknown full"));
}

TEST_F(EdgeVerdicts, ThreadsThatEndBeforeTheWait) {
  const std::vector<std::string> kernels = {"late", "returns"};
  // Whether one waits depends on the sizes.
  const auto text = [](const std::string& n) {
    return once({step("late", kXToY), step("returns", kYToZ + ", " + n)});
  };
  EXPECT_THAT(edges(kernels, text("4")), ElementsAre("0-1 proven programmatic"));
  EXPECT_THAT(edges(kernels, text("1")), ElementsAre("0-1 proven programmatic"));
  EXPECT_THAT(edges(kernels, text("0")), ElementsAre("0-1 unknown full"));
  EXPECT_THAT(reason(kernels, text("0")), HasSubstr("may end without having waited"));
}

TEST_F(EdgeVerdicts, OneThreadMayWaitForItsBlock) {
  EXPECT_THAT(edges({"late", "one_waits"}, once({step("late", kXToY), step("one_waits", kYToZ)})),
              ElementsAre("0-1 proven programmatic"));
}

TEST_F(EdgeVerdicts, NonCoherentLoadsAreNotOrdered) {
  const std::vector<std::string> kernels = {"late", "non_coherent"};
  const std::string text = once({step("late", kXToY), step("non_coherent", kYToZ)});
  EXPECT_THAT(edges(kernels, text), ElementsAre("0-1 unknown full"));
  EXPECT_THAT(reason(kernels, text), HasSubstr("__restrict__"));
  EXPECT_THAT(edges(kernels, once({step("late", kXToY), step("non_coherent", "\"w\", \"z\"")})),
              ElementsAre("0-1 proven programmatic"));
}

TEST_F(EdgeVerdicts, ElementsOfOneBufferMeetOrNot) {
  const auto text = [](const std::string& read) {
    return once({step("late", kXToY), step("ahead", "\"" + read + "\", \"x\", \"z\"")});
  };
  const std::vector<std::string> kernels = {"late", "ahead"};
  for (const char* read : {"y + 1", "y + 3"}) {
    EXPECT_THAT(edges(kernels, text(read)), ElementsAre("0-1 unsafe full")) << read;
  }
  for (const char* read : {"y + 4", "y + 60"}) {
    EXPECT_THAT(edges(kernels, text(read)), ElementsAre("0-1 proven programmatic")) << read;
  }
}

// The halves of one buffer take turns, as views.
TEST_F(EdgeVerdicts, ViewsOfOneBufferAreToldApart) {
  const std::vector<std::string> kernels = {"late", "ahead"};
  const auto half = [](int first, int count) {
    return "{ buffer = \"y\", offset = " + std::to_string(first) +
           ", count = " + std::to_string(count) + " }";
  };
  const auto verdict = [&](const std::string& written, const std::string& read) {
    return edges(kernels,
                 once({step("late", "\"x\", " + written), step("ahead", read + ", \"x\", \"z\"")}));
  };
  EXPECT_THAT(verdict(half(0, 32), half(32, 32)), ElementsAre("0-1 proven programmatic"));
  EXPECT_THAT(verdict(half(32, 32), half(0, 32)), ElementsAre("0-1 proven programmatic"));
  EXPECT_THAT(verdict(half(0, 32), half(3, 32)), ElementsAre("0-1 unsafe full"));
}

TEST_F(EdgeVerdicts, AGroupIsFollowedByItself) {
  const std::vector<std::string> kernels = {"late", "ahead"};
  // From before the group all is well; from its own last step it is not, and one of them decides.
  const std::string text =
      once({step("late", "\"x\", \"z + 32\"")}) +
      repeat("3", {step("ahead", "\"y\", \"x\", \"z\""), step("late", "\"x\", \"y\"")});
  EXPECT_THAT(edges(kernels, text),
              ElementsAre("0-1 proven full", "2-1 unsafe full", "1-2 proven programmatic"));
  const CheckReport report = prepare(kernels, text).check();
  EXPECT_EQ(report.edges[0].decision_reason, "another edge of the launch is not proven");
  // Of one iteration there is no such edge.
  EXPECT_THAT(edges(kernels, once({step("late", "\"x\", \"z + 32\"")}) +
                                 repeat("1", {step("ahead", "\"y\", \"x\", \"z\""),
                                              step("late", "\"x\", \"y\"")})),
              ElementsAre("0-1 proven programmatic", "1-2 proven programmatic"));
  // A kernel that reads early what it wrote an iteration ago.
  EXPECT_THAT(edges(kernels, repeat("2", {step("ahead", "\"y\", \"x\", \"y\"")})),
              ElementsAre("0-0 unsafe full"));
  EXPECT_THAT(edges(kernels, repeat("1000000", {step("late", kXToY), step("late", kYToZ)})),
              ElementsAre("1-0 proven programmatic", "0-1 proven programmatic"));
}

TEST_F(EdgeVerdicts, IndexesMoveOffsets) {
  const std::vector<std::string> kernels = {"late", "ahead"};
  EXPECT_THAT(edges(kernels, repeat("8", {step("late", "\"y + 4 * i\", \"z\""),
                                          step("ahead", "\"w + 4 * i\", \"z\", \"y + 4 * i\"")})),
              ElementsAre("1-0 proven programmatic", "0-1 proven programmatic"));
  // What one iteration reads early another one wrote.
  EXPECT_THAT(
      edges(kernels, repeat("8", {step("ahead", "\"y + 4 * i\", \"x\", \"y + 4 * i + 4\"")})),
      ElementsAre("0-0 unsafe full"));
}

// Two arguments are one address at first, and not in the next iteration.
TEST_F(EdgeVerdicts, IndexesMoveTheOffsetsOfEachArgument) {
  const auto of_reads_at = [](const std::string& place) {
    return edges({"ahead"}, "[kernels.chosen]\nptx = \"chosen.ptx\"\n" +
                                repeat("2", {step("chosen", "\"y\", \"y + 16 * i\", 2"),
                                             step("ahead", "\"" + place + "\", \"x\", \"z\"")}));
  };
  // How far an address that is chosen goes is not known.
  EXPECT_THAT(of_reads_at("y + 32"), ElementsAre("1-0 proven programmatic", "0-1 unknown full"));
  EXPECT_THAT(of_reads_at("y + 16"), ElementsAre("1-0 proven programmatic", "0-1 unsafe full"));
}

TEST_F(EdgeVerdicts, OnlyLaunchesOverlap) {
  const std::string launch = step("late", kXToY);
  EXPECT_THAT(edges({"late"}, once({launch, fill("z"), launch})), IsEmpty());
  EXPECT_THAT(edges({"late"}, "[symbols]\nZ = 0\n" +
                                  once({launch,
                                        "{ launch = \"late\", grid = [\"Z\"], block = [4], args = "
                                        "[\"x\", \"y\"] }",
                                        launch})),
              ElementsAre("0-1 unknown full", "1-2 unknown full"));
}

// A launch that has blocks in one iteration, and none in the next.
TEST_F(EdgeVerdicts, AnEmptyGridTakesNoVerdictBack) {
  const CheckReport report =
      prepare({"late"},
              repeat("2", {step("late", kXToY),
                           "{ launch = \"late\", grid = [\"1 - i\"], block = [4], args = [" +
                               kYToZ + "] }"}))
          .check();
  ASSERT_EQ(report.edges.size(), 2u);
  const EdgeReport& edge = report.edges[1];
  EXPECT_EQ(edge.from, 0u);
  EXPECT_EQ(edge.verdict, EdgeVerdict::kProven);
  EXPECT_EQ(edge.reason, "late waits before it touches what an earlier launch touches");
}

TEST_F(EdgeVerdicts, VariablesOfAModuleAreMemory) {
  const std::vector<std::string> kernels = {"counts", "counted", "late"};
  EXPECT_THAT(edges(kernels, once({step("counts", ""), step("counted", "\"z\"")})),
              ElementsAre("0-1 unsafe full"));
  EXPECT_THAT(reason(kernels, once({step("counts", ""), step("counted", "\"z\"")})),
              HasSubstr("reads the variable counter"));
  EXPECT_THAT(edges(kernels, once({step("late", kXToY), step("counted", "\"z\"")})),
              ElementsAre("0-1 proven programmatic"));
}

// What a launch touches is kept from one iteration to the next, though no argument gives it.
TEST_F(EdgeVerdicts, VariablesStayTheSameInEachIteration) {
  const std::vector<std::string> kernels = {"counts", "counted", "late"};
  EXPECT_THAT(edges(kernels, repeat("3", {step("counts", ""), step("counted", "\"z + 4 * i\"")})),
              ElementsAre("1-0 proven programmatic", "0-1 unsafe full"));
  EXPECT_THAT(edges(kernels, repeat("3", {step("late", kXToY), step("counted", "\"z + 4 * i\"")})),
              ElementsAre("1-0 proven programmatic", "0-1 proven programmatic"));
}

TEST_F(EdgeVerdicts, ABufferMayBeAVariable) {
  const auto variable = [](const std::string& name, const std::string& of,
                           const std::string& role) {
    return buffer(name, "i32", "[]", role, "zeros") + "variable = \"" + of + "\"\n";
  };
  const std::vector<std::string> kernels = {"late", "never", "counted", "counts", "ahead"};
  const std::string one = ", grid = [1], block = [1], args = ";
  const auto write = [&](const std::string& to) {
    return "{ launch = \"late\"" + one + "[\"x\", \"" + to + "\"] }";
  };
  const auto read = [&](const std::string& from) {
    return "{ launch = \"ahead\"" + one + "[\"" + from + "\", \"x\", \"z\"] }";
  };
  // Written as a buffer, read by its name.
  EXPECT_THAT(edges(kernels, variable("c", "late.counter", "inout") +
                                 once({write("c"), step("counted", "\"z\"")})),
              ElementsAre("0-1 unsafe full"));
  // Two buffers that are one variable, of kernels of one module.
  EXPECT_THAT(
      edges(kernels, variable("c", "late.counter", "inout") +
                         variable("d", "counted.counter", "inout") + once({write("c"), read("d")})),
      ElementsAre("0-1 unsafe full"));
  // The promise of one of them is none of the other's.
  EXPECT_THAT(edges(kernels, variable("c", "late.counter", "inout") +
                                 variable("d", "counted.counter", "weight") +
                                 once({write("c"), read("d")})),
              ElementsAre("0-1 unsafe full"));
  EXPECT_THAT(
      edges(kernels, variable("c", "late.counter", "inout") + once({write("y"), read("c")})),
      ElementsAre("0-1 proven programmatic"));
}

TEST_F(EdgeVerdicts, ConstantMemoryIsReadThroughACache) {
  const std::vector<std::string> kernels = {"late", "adds_offset"};
  EXPECT_THAT(edges(kernels, once({step("late", kXToY), step("adds_offset", kYToZ)})),
              ElementsAre("0-1 proven programmatic"));
  // As a buffer it can be written.
  const std::string text = buffer("c", "i32", "[]", "inout", "zeros") +
                           "variable = \"late.offset\"\n" +
                           once({"{ launch = \"late\", grid = [1], block = [1], args = [\"x\", "
                                 "\"c\"] }",
                                 step("adds_offset", kYToZ)});
  EXPECT_THAT(edges(kernels, text), ElementsAre("0-1 unknown full"));
}

TEST_F(EdgeVerdicts, MemoryThatNobodyCanNameIsAny) {
  const std::string text = buffer("pointers", "u64", "[1]", "input", "zeros") +
                           once({step("late", kXToY), step("indirect", "\"pointers\", \"z\"")});
  EXPECT_THAT(edges({"late", "indirect"}, text), ElementsAre("0-1 unknown full"));
  EXPECT_THAT(reason({"late", "indirect"}, text), HasSubstr("loaded from memory"));
}

TEST_F(EdgeVerdicts, OnIsTheUsersWord) {
  const std::vector<std::string> kernels = {"late", "ahead", "non_coherent"};
  const auto second = [](const std::string& kernel, const std::string& args,
                         const std::string& pdl) {
    return once({step("late", kXToY), step(kernel, args, "pdl = \"" + pdl + "\"")});
  };
  const std::string clash = "\"y\", \"x\", \"z\"";
  // Used where it is unknown.
  EXPECT_THAT(edges(kernels, second("non_coherent", kYToZ, "on")),
              ElementsAre("0-1 unknown programmatic"));
  // Refused on a witness, by a check and by a run.
  Executable refused = prepare(kernels, second("ahead", clash, "on"));
  const CheckReport report = refused.check();
  EXPECT_THAT(edges_of(report), ElementsAre("0-1 unsafe full"));
  ASSERT_TRUE(report.objection);
  EXPECT_THAT(report.objection->message(), HasSubstr("pdl = \"on\", but ahead reads y"));
  try {
    refused.bind({});
    ADD_FAILURE() << "was not refused";
  } catch (const Error& failure) {
    EXPECT_EQ(exit_status(failure.code()), 1);
    EXPECT_EQ(failure.message(), report.objection->message());
  }
  // Forced it is sent; the command line does not insist.
  EXPECT_THAT(edges(kernels, second("ahead", clash, "force")),
              ElementsAre("0-1 unsafe programmatic"));
  EXPECT_THAT(edges(kernels, second("ahead", clash, "auto"), PdlMode::kOn),
              ElementsAre("0-1 unsafe full"));
  EXPECT_NO_THROW(prepare(kernels, second("ahead", clash, "auto"), PdlMode::kOn).bind({}));
  // Switched off nothing is wrong with it.
  EXPECT_THAT(edges(kernels, second("ahead", clash, "off")), ElementsAre("0-1 unsafe full"));
  EXPECT_FALSE(prepare(kernels, second("ahead", clash, "off")).check().objection);
}

TEST_F(EdgeVerdicts, DecisionsSayWhatDecided) {
  const auto because = [](const std::string& pdl, PdlMode autos) {
    const std::string text =
        once({step("late", kXToY), step("late", kYToZ, "pdl = \"" + pdl + "\"")});
    return prepare({"late"}, text, autos).check().edges.at(0).decision_reason;
  };
  EXPECT_EQ(because("auto", PdlMode::kAuto), "it is proven");
  EXPECT_EQ(because("auto", PdlMode::kOff), "the option pdl says off");
  EXPECT_EQ(because("auto", PdlMode::kOn), "the option pdl says on");
  EXPECT_EQ(because("on", PdlMode::kOff), "the program says on");
  EXPECT_EQ(because("off", PdlMode::kOn), "the program says off");
  EXPECT_EQ(because("force", PdlMode::kAuto), "the program says force");
}

TEST_F(EdgeVerdicts, ACooperativeGridIsNotKnownToFit) {
  const std::string text = once({step("late", kXToY), step("late", kYToZ, "cooperative = true")});
  EXPECT_THAT(edges({"late"}, text), ElementsAre("0-1 proven full"));
  EXPECT_THAT(prepare({"late"}, text).check().edges[0].decision_reason, HasSubstr("cooperative"));
}

TEST_F(EdgeVerdicts, SizesDecideAnew) {
  Executable executable = prepare(
      {"late", "returns"},
      "[symbols]\nN = 4\n" + once({step("late", kXToY), step("returns", kYToZ + ", \"N\"")}));
  executable.bind({});
  EXPECT_TRUE(executable.edges().at(0).programmatic);
  Bindings none;
  none.symbols = {{"N", 0}};
  executable.bind(std::move(none));
  EXPECT_FALSE(executable.edges().at(0).programmatic);
  EXPECT_THAT(executable.run().steps.at(1).attributes, IsEmpty());
}

// Views are apart, or meet, by their offsets and sizes.
TEST_F(EdgeVerdicts, PlacesOfViewsDecideAnew) {
  Executable executable = prepare(
      {"late", "ahead"},
      "[symbols]\nO = 32\nI = 0\n" +
          once({step("late", "\"x\", { buffer = \"y\", offset = \"O\", count = 16 }"),
                step("ahead", "{ buffer = \"y\", offset = \"I\", count = 16 }, \"x\", \"z\"")}));
  const auto is_early = [&](std::int64_t written, std::int64_t read) {
    Bindings values;
    values.symbols = {{"O", written}, {"I", read}};
    executable.bind(std::move(values));
    return executable.edges().at(0).programmatic;
  };
  EXPECT_TRUE(is_early(32, 0));
  EXPECT_FALSE(is_early(0, 0)) << "the view that is written moved";
  EXPECT_TRUE(is_early(16, 0));
  EXPECT_FALSE(is_early(16, 16)) << "the view that is read moved";
  EXPECT_TRUE(is_early(16, 32));
}

// Threads read early under a condition that the launch's own numbers never meet. More iterations
// than are checked with their own numbers leave the edge unknown, and not unsafe.
TEST_F(EdgeVerdicts, AWitnessThatWasNotCheckedIsNone) {
  for (const int repeats : {100, 5000}) {
    const Device device = open_device();
    const std::string text = buffer("x", "i32", "[64]", "inout", "zeros") +
                             buffer("y", "i32", "[64]", "inout", "zeros") +
                             edge_kernel("reads_beyond") +
                             "[[steps]]\nrepeat = " + std::to_string(repeats) +
                             "\nindex = \"i\"\nsteps = [\n"
                             "  { launch = \"reads_beyond\", grid = [1], block = [32], args = "
                             "[\"x\", \"y\", \"32 + i % 2\"] },\n"
                             "  { launch = \"reads_beyond\", grid = [1], block = [32], args = "
                             "[\"y\", \"x\", \"32 + i % 2\"] } ]\n";
    const CheckReport report = Executable::prepare(program(text), device).check();
    EXPECT_FALSE(report.objection) << report.objection->message();
    ASSERT_EQ(report.edges.size(), 2u);
    const EdgeVerdict wanted = repeats == 100 ? EdgeVerdict::kProven : EdgeVerdict::kUnknown;
    for (const EdgeReport& edge : report.edges) EXPECT_EQ(edge.verdict, wanted) << edge.reason;
  }
}

// The footprint alone tells, so a GPU is protected as the simulated one is.
TEST_F(EdgeVerdicts, KernelsThatCertainlyWriteWeightsOrInputsAreRefused) {
  for (const std::string role : {"weight", "input"}) {
    const std::string text =
        buffer("x", "i32", "[64]", "inout", "zeros") + buffer("w", "i32", "[64]", role, "zeros") +
        edge_kernel("never") +
        "[[steps]]\nlaunch = \"never\"\ngrid = [1]\nblock = [32]\nargs = [\"x\", \"w\"]\n";
    const Device device = open_device();
    const auto objection = Executable::prepare(program(text), device).check().objection;
    ASSERT_TRUE(objection);
    EXPECT_EQ(objection->code(), ErrorCode::kFault);
    EXPECT_THAT(objection->what(), HasSubstr("never writes at edges.cu:36 the buffer w, which has "
                                             "the role " +
                                             role + ": no kernel may write it"));
    EXPECT_THAT(objection->what(), HasSubstr("test.toml:"));
    // The simulated GPU finds writes of weights when they happen.
    const Error failure = refusal(text);
    EXPECT_EQ(failure.code(), ErrorCode::kFault);
    if (!is_simulated(device) || role == "input") {
      EXPECT_THAT(failure.what(), HasSubstr("no kernel may write it"));
    }
  }
}

// A condition that the launch's own numbers do not decide makes it a warning.
TEST_F(EdgeVerdicts, KernelsThatPerhapsWriteAnInputAreWarnedOf) {
  const std::string buffers =
      buffer("x", "i32", "[64]", "inout", "zeros") + buffer("w", "i32", "[64]", "input", "zeros");
  const auto warnings = [&](const std::string& n) {
    return Executable::prepare(
               program(buffers + edge_kernel("returns") +
                       "[[steps]]\nlaunch = \"returns\"\ngrid = [1]\nblock = [32]\nargs = [\"x\", "
                       "\"w\", " +
                       n + "]\n"),
               open_device())
        .check()
        .warnings;
  };
  EXPECT_THAT(warnings("0"),
              ::testing::ElementsAre(HasSubstr("returns may write at edges.cu:45 the "
                                               "buffer w, which has the role input")));
  EXPECT_THAT(warnings("1"), ::testing::IsEmpty());
  EXPECT_THAT(warnings("32"), ::testing::IsEmpty());
}

// An early read that a later iteration does at another place, or by another pointer.
TEST_F(EdgeVerdicts, AnotherIterationMayTouchOtherMemory) {
  EXPECT_THAT(edges({"late", "ahead"}, repeat("2", {step("late", "\"x\", \"y + 4 * i\""),
                                                    step("ahead", "\"y + 4\", \"x\", \"z\"")})),
              ElementsAre("1-0 proven programmatic", "0-1 unsafe full"));
}

}  // namespace
}  // namespace baton::session_test::edges_test
