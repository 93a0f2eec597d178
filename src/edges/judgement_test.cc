#include "edges/judgement.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind/plan.h"
#include "load/footprints.h"
#include "load/kernel_set.h"
#include "session/test_program.h"

namespace baton::edges::judgement_test {
namespace {

Judgement judgement(std::size_t launches,
                    const std::vector<std::pair<std::uint32_t, std::uint32_t>>& from_to) {
  Judgement result;
  result.launches.resize(launches);
  for (const auto& [from, to] : from_to) {
    EdgeReport& edge = result.edges.emplace_back();
    edge.from = from;
    edge.to = to;
  }
  return result;
}

// A judgement from a file is used only if it fits the program.
TEST(Judgement, IsSoundInItsOrderOnly) {
  EXPECT_TRUE(judgement(0, {}).is_sound(0));
  EXPECT_TRUE(judgement(3, {{0, 1}, {1, 2}}).is_sound(3));
  // Sorted by the later launch, then by the earlier one.
  EXPECT_TRUE(judgement(3, {{2, 0}, {0, 1}, {2, 1}, {1, 2}}).is_sound(3));
  EXPECT_FALSE(judgement(3, {{0, 2}, {1, 0}}).is_sound(3));
  EXPECT_FALSE(judgement(3, {{2, 1}, {0, 1}}).is_sound(3));
  EXPECT_FALSE(judgement(3, {{0, 1}, {0, 1}}).is_sound(3)) << "the same edge twice";
}

TEST(Judgement, IsSoundWithNumbersOfItsLaunchesOnly) {
  EXPECT_FALSE(judgement(2, {{0, 1}}).is_sound(3));
  EXPECT_FALSE(judgement(4, {{0, 1}}).is_sound(3));
  EXPECT_FALSE(judgement(3, {{0, 3}}).is_sound(3));
  EXPECT_FALSE(judgement(3, {{3, 0}}).is_sound(3));
}

TEST(Judgement, GivesBackWhatItHolds) {
  Judgement kept = judgement(2, {});
  kept.launches[0] = {.early = false, .waits = true, .by_values = true, .trigger = {true, false}};
  kept.launches[1] = {.early = true, .waits = false, .by_values = false, .trigger = {false, true}};
  const auto decisions = kept.decisions();
  ASSERT_EQ(decisions.size(), 2u);
  EXPECT_FALSE(decisions[0].early);
  EXPECT_TRUE(decisions[0].waits);
  EXPECT_TRUE(decisions[1].early);
  EXPECT_FALSE(decisions[1].waits);
  const auto triggers = kept.trigger_facts();
  EXPECT_TRUE(triggers[0].triggers && !triggers[0].lets_in_early);
  EXPECT_TRUE(!triggers[1].triggers && triggers[1].lets_in_early);
  const bind::DecidedByValues values = kept.decided_by_values();
  EXPECT_EQ(values.arguments, (std::vector<bool>{true, false}));
  EXPECT_TRUE(values.configs) << "a launch starts early";
  kept.launches[1].early = false;
  EXPECT_FALSE(kept.decided_by_values().configs);
}

// The binder asks in its order. What the judge was not asked is answered with yes.
TEST(KnownJudge, AnswersAsTheJudgeDid) {
  for (const std::string answers : {"", "0", "1", "01", "10", "0010"}) {
    Judgement known = judgement(1, {});
    known.looks_further_back = answers;
    const KnownJudge judge(known);
    for (const char answer : answers)
      EXPECT_EQ(judge.looks_further_back(), answer == '1') << answers;
    EXPECT_TRUE(judge.looks_further_back()) << answers;
    EXPECT_TRUE(judge.looks_further_back()) << answers;
  }
}

class Kept : public session_test::DeviceTest {
 protected:
  // What is kept of a program over testdata/edges.ptx.
  static std::optional<Judgement> kept_of(const std::vector<std::string>& used,
                                          const std::vector<std::string>& steps,
                                          bool has_pdl = true) {
    using session_test::buffer;
    std::string text = buffer("w", "i32", "[64]", "weight", "ones") +
                       buffer("x", "i32", "[64]", "input", "zeros") +
                       buffer("y", "i32", "[64]", "output", "zeros") +
                       buffer("z", "i32", "[64]", "output", "zeros");
    for (const std::string& kernel : used) text += session_test::edge_kernel(kernel);
    text += "[[steps]]\nrepeat = 1\nsteps = " + session_test::join(steps) + "\n";
    const Program program = session_test::program(text);
    bind::BufferTable buffers;
    for (const ProgramBuffer& definition : program.buffers()) {
      bind::BoundBuffer& bound = buffers.emplace_back();
      bound.definition = &definition;
      bound.shape = {64};
      bound.elements = 64;
      bound.bytes = 256;
    }
    const load::KernelSet kernels(program, load::read_definitions(program),
                                  session_test::open_device(), {});
    const bind::Plan plan =
        bind::make_plan(program, buffers, PdlMode::kAuto,
                        [&](const std::string& name) { return kernels.kernel(name); });
    load::Footprints footprints(kernels);
    EdgeJudge judge(plan, buffers, footprints, has_pdl);
    bind::bind_steps(plan, {}, buffers, judge);
    return keep(judge);
  }
};

std::string launch(const std::string& kernel, const std::string& arguments,
                   const std::string& more = "") {
  return "{ launch = \"" + kernel + "\", grid = [1], block = [4], args = [" + arguments + "]" +
         (more.empty() ? "" : ", " + more) + " }";
}

TEST_F(Kept, HoldsEachLaunchAndEdge) {
  const auto kept =
      kept_of({"late", "never"}, {launch("late", "\"x\", \"y\""), launch("late", "\"y\", \"z\""),
                                  launch("never", "\"z\", \"y\"")});
  ASSERT_TRUE(kept);
  ASSERT_EQ(kept->launches.size(), 3u);
  EXPECT_TRUE(kept->is_sound(3));
  const auto is = [&](std::size_t number, bool early, bool waits) {
    return kept->launches[number].early == early && kept->launches[number].waits == waits;
  };
  EXPECT_TRUE(is(0, false, true));
  EXPECT_TRUE(is(1, true, true));
  EXPECT_TRUE(is(2, false, false));
  ASSERT_EQ(kept->edges.size(), 2u);
  EXPECT_EQ(kept->edges[0].verdict, EdgeVerdict::kProven);
  EXPECT_EQ(kept->edges[1].cause, EdgeCause::kNoWait);
}

// A thread that certainly waits ends after the launch before.
TEST_F(Kept, OneThreadThatWaitsIsEnough) {
  const auto kept = kept_of({"late", "one_waits"},
                            {launch("late", "\"x\", \"y\""), launch("one_waits", "\"y\", \"z\"")});
  ASSERT_TRUE(kept);
  EXPECT_TRUE(kept->launches.at(1).early);
  EXPECT_TRUE(kept->launches.at(1).waits);
}

TEST_F(Kept, ADeviceWithoutEarlyStartsIsToldOf) {
  const auto kept =
      kept_of({"late"}, {launch("late", "\"x\", \"y\""), launch("late", "\"y\", \"z\"")}, false);
  ASSERT_TRUE(kept);
  EXPECT_FALSE(kept->launches.at(1).early);
  EXPECT_EQ(kept->edges.at(0).verdict, EdgeVerdict::kProven);
  EXPECT_EQ(kept->edges.at(0).decision, EdgeDecision::kNoPdl);
}

TEST_F(Kept, IsNothingWhereSomethingIsWrong) {
  const std::string first = launch("late", "\"x\", \"y\"");
  EXPECT_TRUE(kept_of({"late"}, {first, launch("late", "\"y\", \"z\"")}));
  EXPECT_FALSE(kept_of({"late", "ahead"}, {first, launch("ahead", "\"y\", \"x\", \"z\"")}))
      << "an unsafe edge";
  EXPECT_FALSE(kept_of({"late"}, {first, launch("late", "\"y\", \"w\"")})) << "a write of a weight";
  EXPECT_FALSE(
      kept_of({"late"}, {session_test::parallel({{first}, {launch("late", "\"x\", \"z\"")}})}))
      << "branches";
}

// Verdicts hold where callers' memory is apart by more than its alignment. Empty buffers may be
// anywhere.
TEST(Judgement, GivenMemoryMeetsInAPartOfAnAlignment) {
  const auto meets = [](const std::vector<std::pair<DeviceAddress, std::uint64_t>>& given) {
    bind::BufferTable buffers(1);  // one that is not given
    buffers[0].bytes = 1 << 20;
    for (const auto& [address, bytes] : given) {
      bind::BoundBuffer& buffer = buffers.emplace_back();
      buffer.given = address;
      buffer.bytes = bytes;
    }
    return given_memory_meets(buffers);
  };
  EXPECT_FALSE(meets({}));
  EXPECT_FALSE(meets({{256, 256}, {512, 4}}));
  EXPECT_FALSE(meets({{512, 4}, {256, 256}}));
  EXPECT_TRUE(meets({{256, 257}, {512, 4}}));
  EXPECT_TRUE(meets({{512, 4}, {256, 257}}));
  EXPECT_TRUE(meets({{256, 64}, {256, 64}}));
  EXPECT_TRUE(meets({{256, 4}, {512, 64}, {516, 8}}));
  EXPECT_FALSE(meets({{256, 64}, {260, 0}}));
  EXPECT_FALSE(meets({{256, 64}, {256, 0}, {512, 1}}));
  EXPECT_TRUE(meets({{256, 64}, {320, 1}})) << "beside it";
  EXPECT_TRUE(meets({{256, 1}, {257, 1}}));
  EXPECT_FALSE(meets({{256, 1}, {512, 1}}));
  EXPECT_TRUE(meets({{320, 1}, {256, 64}}));
  EXPECT_TRUE(meets({{0, 260}, {510, 64}}));
  EXPECT_FALSE(meets({{0, 256}, {256, 64}}));
}

// Kept verdicts are of caches that begin with a line.
TEST(Judgement, HoldsForCachesThatBeginWithALine) {
  ProgramBuffer cache;
  cache.frozen.emplace();
  const ProgramBuffer other;
  const auto holds = [](const ProgramBuffer& definition, std::optional<DeviceAddress> given) {
    bind::BufferTable buffers(1);
    buffers[0].definition = &definition;
    buffers[0].bytes = 512;
    buffers[0].given = given;
    return holds_with_given_memory(buffers);
  };
  EXPECT_TRUE(holds(cache, std::nullopt));
  EXPECT_TRUE(holds(cache, 256));
  EXPECT_TRUE(holds(cache, 384));
  EXPECT_FALSE(holds(cache, 320));
  EXPECT_TRUE(holds(other, 320));
}

}  // namespace
}  // namespace baton::edges::judgement_test
