#include "session/advice/edge_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace baton::edge_advice_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

EdgeReport full(EdgeDecision decision, EdgeCause cause = EdgeCause::kConflict) {
  EdgeReport edge;
  edge.decision = decision;
  edge.cause = cause;
  edge.reason = "it reads y early";
  return edge;
}

EdgeReport proven() {
  EdgeReport edge;
  edge.verdict = EdgeVerdict::kProven;
  edge.programmatic = true;
  edge.decision = EdgeDecision::kProven;
  return edge;
}

// Four executions, which lose 3 microseconds each between the launches.
trace::EdgeCost full_cost() {
  trace::EdgeCost cost;
  cost.executions = 4;
  cost.gap = 2;
  cost.tail = 1;
  return cost;
}

trace::EdgeCost early_cost() {
  trace::EdgeCost cost = full_cost();
  cost.early = 4;
  cost.gap = 0;
  return cost;
}

std::vector<EdgeAdvice> of(const trace::EdgeCost& cost, const EdgeReport& edge) {
  return advise(cost, &edge, "norm", "matvec");
}

TEST(EdgeAdvice, SaysWhatKeepsAnEdgeFull) {
  const auto advice = of(full_cost(), full(EdgeDecision::kNotProven, EdgeCause::kNoWait));
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_THAT(advice[0].text, HasSubstr("matvec never waits"));
  EXPECT_DOUBLE_EQ(advice[0].seconds, 4 * 3e-6);
  EXPECT_THAT(of(full_cost(), full(EdgeDecision::kNotProven))[0].text,
              HasSubstr("it reads y early"));
  EXPECT_THAT(of(full_cost(), full(EdgeDecision::kUnsafe))[0].text, HasSubstr("it reads y early"));
  EXPECT_THAT(of(full_cost(), full(EdgeDecision::kOff))[0].text, HasSubstr("PDL is off"));
  EXPECT_THAT(of(full_cost(), full(EdgeDecision::kOtherEdge))[0].text, HasSubstr("another edge"));
}

TEST(EdgeAdvice, IsSilentWhereNothingCanBeChanged) {
  for (const EdgeDecision decision : {EdgeDecision::kNoPdl, EdgeDecision::kCooperative,
                                      EdgeDecision::kOtherPart, EdgeDecision::kEmptyGrid}) {
    EXPECT_THAT(of(full_cost(), full(decision)), IsEmpty());
  }
  EXPECT_THAT(advise(full_cost(), nullptr, "a", "b"), IsEmpty());
  trace::EdgeCost cheap = full_cost();
  cheap.gap = 0.05;
  cheap.tail = 0;
  EXPECT_THAT(of(cheap, full(EdgeDecision::kOff)), IsEmpty());
}

TEST(EdgeAdvice, AsksForATrigger) {
  const auto advice = of(early_cost(), proven());
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_THAT(advice[0].text, HasSubstr("norm never triggers"));
  EXPECT_DOUBLE_EQ(advice[0].seconds, 4e-6);
}

TEST(EdgeAdvice, AsksForAnEarlierTrigger) {
  trace::EdgeCost cost = early_cost();
  cost.triggered = 4;
  cost.lead = 0.25;
  const auto advice = of(cost, proven());
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_THAT(
      advice[0].text,
      HasSubstr("triggers 0.2 us before its end, when half of its blocks are done for 0.8 us"));
  EXPECT_DOUBLE_EQ(advice[0].seconds, 3e-6);
  cost.lead = 2;
  EXPECT_THAT(of(cost, proven()), IsEmpty());
}

TEST(EdgeAdvice, AsksForRoom) {
  trace::EdgeCost cost = early_cost();
  cost.triggered = 4;
  cost.lead = 2;
  EdgeReport edge = proven();
  edge.room = EarlyRoom{2, 0, 1, "registers"};
  const auto advice = of(cost, edge);
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_THAT(advice[0].text, HasSubstr("use less of registers in either"));
  edge.room->beside = 1;
  EXPECT_THAT(of(cost, edge), IsEmpty());
}

TEST(EdgeAdvice, AsksForWorkBeforeTheWait) {
  trace::EdgeCost cost = early_cost();
  cost.triggered = 4;
  cost.lead = cost.tail = 5;
  cost.wait = 4;
  cost.early_work = 1;
  const auto advice = of(cost, proven());
  ASSERT_THAT(advice, SizeIs(1));
  EXPECT_THAT(advice[0].text, HasSubstr("waits for 4.0 us after 1.0 us of work"));
  EXPECT_DOUBLE_EQ(advice[0].seconds, 4 * 3e-6);
}

TEST(EdgeAdvice, ComesByWhatItMaySave) {
  trace::EdgeCost cost = early_cost();
  cost.wait = 9;
  const auto advice = of(cost, proven());
  ASSERT_THAT(advice, SizeIs(2));
  EXPECT_GT(advice[0].seconds, advice[1].seconds);
  EXPECT_THAT(advice[0].text, HasSubstr("before the wait"));
}

}  // namespace
}  // namespace baton::edge_advice_test
