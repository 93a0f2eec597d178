#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "baton/graph.h"
#include "session/test_program.h"

// Launches of different branches that events order, on both executors.

namespace baton::session_test::events_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Events : public DeviceTest, public testing::WithParamInterface<ExecutorKind> {
 protected:
  static Executable prepare(const std::string& text) {
    PrepareOptions options;
    options.executor = GetParam();
    return Executable::prepare(program(text), open_device(), options);
  }
};

INSTANTIATE_TEST_SUITE_P(Executors, Events,
                         testing::Values(ExecutorKind::kStream, ExecutorKind::kGraph),
                         [](const auto& test) {
                           return test.param == ExecutorKind::kStream ? "Stream" : "Graph";
                         });

// to[i] = from[i] + 1, four elements. `late` waits, `never` does not. `more`: further keys.
std::string launch(const std::string& kernel, char from, char to, const std::string& more = "",
                   const std::string& grid = "1") {
  const auto quoted = [](char name) { return '"' + std::string(1, name) + '"'; };
  return "{ launch = \"" + kernel + "\", grid = [" + grid + "], block = [4], args = [" +
         quoted(from) + ", " + quoted(to) + "]" + (more.empty() ? "" : ", " + more) + " }";
}
const std::string kRecords = "programmatic_event = \"e\"";
const std::string kBegins = "launch_completion_event = \"e\"";
const std::string kAfter = "after = [\"e\"]";

// x = 0, 1, 2, 3 is the input, y the output; a to d are scratch.
std::string with(const std::vector<std::vector<std::string>>& branches,
                 const std::string& before = "{ fill = { buffer = \"d\", value = 1 } }",
                 const std::string& around = "") {
  std::string group = parallel(branches);
  if (!around.empty()) group = "{ " + around + ", steps = [ " + group + " ] }";
  std::string text = "steps = " + join({before, group}) + "\n[symbols]\nL = 3\nG = 1\n" +
                     edge_kernel("late") + edge_kernel("never") +
                     buffer("x", "i32", "[8]", "input", "arange") +
                     buffer("y", "i32", "[8]", "output", "zeros");
  for (const char* name : {"a", "b", "c", "d"}) {
    text += buffer(name, "i32", "[8]", "scratch", "zeros");
  }
  return text;
}

// The second branch adds 1 to what the first one made of x.
std::vector<std::vector<std::string>> chain(const std::string& event = kRecords) {
  return {{launch("late", 'x', 'a'), launch("late", 'a', 'b', event), launch("late", 'x', 'c')},
          {launch("late", 'b', 'd', kAfter), copy("d", "y")}};
}

TEST_P(Events, AWaitLastsUntilTheLaunchOfTheOtherBranchIsDone) {
  Executable executable = prepare(with(chain()));
  for (int run = 0; run < 3; ++run) {
    const RunReport& report = executable.run();
    EXPECT_THAT(report.warnings, IsEmpty());
    EXPECT_THAT(values<int>(executable.output("y")), ElementsAre(3, 4, 5, 6, 0, 0, 0, 0));
  }
  const std::vector<ParallelReport> judged = executable.check().parallels;
  ASSERT_EQ(judged.size(), 1u);
  EXPECT_EQ(judged[0].verdict, EdgeVerdict::kProven) << judged[0].conflicts[0];
}

TEST_P(Events, IsAProgrammaticEdgeOfTheGraph) {
  if (GetParam() != ExecutorKind::kGraph) GTEST_SKIP() << "not a graph";
  Executable executable = prepare(with(chain()));
  const GraphReport graph = *executable.run().graph;
  EXPECT_EQ(graph.nodes, 6u);
  // fill -> late -> late -> late; fill -> late -> copy; and the event.
  EXPECT_EQ(graph.edges, 6u);
  EXPECT_EQ(graph.programmatic_edges, 3u);
}

TEST_P(Events, AreEdgesOfTheCallersGraph) {
  Executable executable = prepare(with(chain()));
  executable.bind();
  const Stream stream(executable.device());
  executable.initialise(stream);
  const Graph graph = Graph::capture(stream, [&] { executable.enqueue(stream); });
  EXPECT_EQ(graph.counts().nodes, 6u);
  EXPECT_EQ(graph.counts().programmatic_edges, 3u);
  // The executable's own graph comes after it.
  executable.enqueue(stream);
  GraphInstance(graph).launch(stream);
  std::vector<int> y(4);
  executable.memory("y").download(y.data(), 16, 0, stream);
  stream.synchronize();
  EXPECT_THAT(y, ElementsAre(3, 4, 5, 6));
}

TEST_P(Events, OrderEachExecutionInAGroup) {
  for (const std::string around :
       {"repeat = \"L\"", "repeat = \"L\", index = \"i\"", "if = { buffer = \"d\" }"}) {
    Executable executable =
        prepare(with({{launch("late", 'a', 'b', kRecords), launch("late", 'x', 'c')},
                      {launch("late", 'b', 'y', kAfter)}},
                     "{ fill = { buffer = \"d\", value = 1 } }", around));
    executable.run();
    EXPECT_THAT(values<int>(executable.output("y")), ElementsAre(2, 2, 2, 2, 0, 0, 0, 0)) << around;
  }
}

TEST_P(Events, ALaunchWithAnEmptyGridRecordsItsEventToo) {
  Executable executable =
      prepare(with({{launch("late", 'x', 'a'), launch("late", 'x', 'b', kRecords, "\"G\"")},
                    {launch("late", 'a', 'y', kAfter)}}));
  for (const int grid : {1, 0, 1, 0}) {
    executable.bind({.symbols = {{"G", grid}}});
    executable.run();
    EXPECT_THAT(values<int>(executable.output("y")), ElementsAre(2, 3, 4, 5, 0, 0, 0, 0)) << grid;
  }
}

TEST_P(Events, ALaunchWithAnEmptyGridComesAfterNothing) {
  Executable executable =
      prepare(with({{launch("late", 'x', 'b', kRecords)},
                    {launch("late", 'b', 'd', kAfter, "\"G\""), launch("late", 'x', 'y')}}));
  for (const int grid : {1, 0, 1}) {
    executable.bind({.symbols = {{"G", grid}}});
    executable.run();
    EXPECT_THAT(values<int>(executable.output("y")), ElementsAre(1, 2, 3, 4, 0, 0, 0, 0)) << grid;
  }
}

TEST_P(Events, LaunchesMayBeginInOrder) {
  Executable executable = prepare(with(
      {{launch("late", 'x', 'a', kBegins)}, {launch("late", 'x', 'c', kAfter), copy("c", "y")}}));
  executable.run();
  EXPECT_THAT(values<int>(executable.output("y")), ElementsAre(1, 2, 3, 4, 0, 0, 0, 0));
  EXPECT_EQ(executable.check().parallels.at(0).verdict, EdgeVerdict::kProven);
}

TEST_P(Events, OneLaunchMayRecordBoth) {
  Executable executable =
      prepare(with({{launch("late", 'x', 'a', kRecords + ", launch_completion_event = \"begun\"")},
                    {launch("late", 'a', 'y', "after = [\"begun\", \"e\"]")},
                    {launch("late", 'x', 'c', "after = [\"begun\"]")}}));
  executable.run();
  EXPECT_THAT(values<int>(executable.output("y")), ElementsAre(2, 3, 4, 5, 0, 0, 0, 0));
}

struct Racy {
  std::string name;
  std::vector<std::vector<std::string>> branches;
};

TEST_P(Events, WhatTheyDoNotOrderIsFound) {
  const Racy kRacy[] = {
      {"begins alone", chain(kBegins)},
      {"before the wait",
       {{launch("late", 'x', 'b', kRecords)}, {launch("never", 'b', 'd', kAfter)}}},
      {"after the event",
       {{launch("late", 'x', 'a', kRecords), launch("late", 'x', 'b')},
        {launch("late", 'b', 'd', kAfter)}}},
      {"another branch",
       {{launch("late", 'x', 'a', kRecords)},
        {launch("late", 'x', 'b')},
        {launch("late", 'b', 'd', kAfter)}}},
      {"before the launch",
       {{launch("late", 'x', 'b', kRecords)}, {copy("b", "d"), launch("late", 'x', 'c', kAfter)}}}};
  for (const Racy& racy : kRacy) {
    // The wait of a graph's node covers launches after which it begins, too.
    const bool found_by_run = GetParam() == ExecutorKind::kStream || racy.name != "begins alone";
    Executable executable = prepare(with(racy.branches));
    const std::vector<ParallelReport> judged = executable.check().parallels;
    ASSERT_EQ(judged.size(), 1u) << racy.name;
    EXPECT_EQ(judged[0].verdict, EdgeVerdict::kUnknown) << racy.name;
    EXPECT_THAT(judged[0].conflicts, Contains(HasSubstr("branches "))) << racy.name;
    if (!is_simulated(open_device()) || !found_by_run) continue;
    EXPECT_THROW(executable.run(), Error) << racy.name;
  }
}

TEST_P(Events, AKernelThatWaitsPassesTheOrderOn) {
  // The steps after it see what the other branch wrote.
  Executable executable =
      prepare(with({{launch("late", 'x', 'a'), launch("late", 'a', 'b', kRecords)},
                    {launch("late", 'x', 'c', kAfter), launch("late", 'b', 'd'), copy("a", "y + 4"),
                     copy("d", "y")}}));
  executable.run();
  EXPECT_THAT(values<int>(executable.output("y")), ElementsAre(3, 4, 5, 6, 1, 2, 3, 4));
  EXPECT_EQ(executable.check().parallels.at(0).verdict, EdgeVerdict::kProven);
}

struct Refused {
  std::vector<std::vector<std::string>> branches;
  const char* message;
};

TEST(ProgramEvents, AreChecked) {
  const Refused kRefused[] = {
      {{{launch("late", 'x', 'a')}, {launch("late", 'x', 'b', kAfter)}},
       "no launch of an earlier branch of the parallel records the event \"e\""},
      {{{launch("late", 'x', 'a', kAfter)}, {launch("late", 'x', 'b', kRecords)}},
       "no launch of an earlier branch of the parallel records the event \"e\""},
      {{{launch("late", 'x', 'a', kRecords), launch("late", 'a', 'b', kAfter)},
        {launch("late", 'x', 'c')}},
       "the event e is one of branch 0 itself"},
      {{{launch("late", 'x', 'a', kRecords)}, {launch("late", 'x', 'b', kRecords)}},
       "two launches of the parallel record the event e"},
      {{{launch("late", 'x', 'a', "programmatic_event = \"a b\"")}, {launch("late", 'x', 'b')}},
       "the event \"a b\" is not a name"},
      {{{launch("late", 'x', 'a', "programmatic_event = \"\"")}, {launch("late", 'x', 'b')}},
       "programmatic_event"},
      {{{launch("late", 'x', 'a', kRecords)}, {launch("late", 'x', 'b', "after = [\"e\", \"e\"]")}},
       "after names the event e twice"},
      {{{"{ repeat = 2, steps = [ " + launch("late", 'x', 'a', kRecords) + " ] }"},
        {launch("late", 'x', 'b')}},
       "it is not itself a step of a branch"},
      {{{launch("late", 'x', 'a', kRecords)},
        {"{ if = { buffer = \"d\" }, steps = [ " + launch("late", 'x', 'b', kAfter) + " ] }"}},
       "it is not itself a step of a branch"},
      {{{launch("late", 'x', 'a', kRecords)},
        {launch("late", 'x', 'b'), "{ parallel = [ [ " + launch("late", 'x', 'c', kAfter) +
                                       " ], [ " + launch("late", 'x', 'd') + " ] ] }"}},
       "no launch of an earlier branch of the parallel records the event \"e\""},
      {{{launch("late", 'x', 'a', kRecords)}, {launch("late", 'x', 'b', "after = [\"f\"]")}},
       "\"f\"; known: e"}};
  for (const Refused& refused : kRefused) {
    try {
      program(with(refused.branches));
      ADD_FAILURE() << "accepted; expected: " << refused.message;
    } catch (const Error& failure) {
      EXPECT_THAT(failure.what(), HasSubstr(refused.message));
    }
  }
}

TEST(ProgramEvents, BelongToBranches) {
  for (const std::string& more : {kRecords, kBegins, kAfter}) {
    try {
      program(with({{launch("late", 'x', 'a')}, {launch("late", 'x', 'b')}},
                   launch("late", 'x', 'c', more)));
      ADD_FAILURE() << more;
    } catch (const Error& failure) {
      EXPECT_THAT(failure.what(), HasSubstr("it is not itself a step of a branch"));
    }
  }
}

TEST(ProgramEvents, AreWrittenAndReadAgain) {
  const Program first = program(with({chain()[0], {launch("late", 'b', 'd', kAfter)}}));
  const std::string text = first.to_toml();
  EXPECT_THAT(text, HasSubstr("programmatic_event = \"e\""));
  EXPECT_EQ(Program::from_text(text, first.name(), first.directory()), first);
  const Program other = program(with({chain(kBegins)[0], {launch("late", 'b', 'd', kAfter)}}));
  EXPECT_FALSE(first == other);
}

}  // namespace
}  // namespace baton::session_test::events_test
