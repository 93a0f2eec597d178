#include "sim/engine/judge/ordering.h"

#include <gtest/gtest.h>

namespace baton::sim::ordering_test {
namespace {

using Kind = Ordering::Kind;
using Relation = Ordering::Relation;

class OrderingTest : public testing::Test {
 protected:
  Ordering::Number add(std::vector<Ordering::Edge> after) { return ordering.add(after, {}); }
  Ordering ordering;
};

TEST_F(OrderingTest, FullEdgesOrder) {
  const auto a = add({});
  const auto b = add({{a, Kind::kFull}});
  const auto c = add({{b, Kind::kFull}});
  const auto other = add({});
  EXPECT_EQ(ordering.relation(c, a), Relation::kBefore);
  EXPECT_EQ(ordering.relation(c, b), Relation::kBefore);
  EXPECT_EQ(ordering.relation(a, c), Relation::kNone);
  EXPECT_EQ(ordering.relation(other, c), Relation::kNone);
  EXPECT_TRUE(ordering.missing_links(other, c).empty());
}

// A conditional is submitted before what its turns submit; what is submitted meanwhile has numbers
// in between.
TEST_F(OrderingTest, WhatIsInsideOfAConditionalLiesAsTheConditional) {
  const auto inside = [&](Ordering::Number conditional, Ordering::Number turn,
                          std::vector<Ordering::Edge> after) {
    return ordering.add(after, {}, {conditional, turn});
  };
  const auto before = add({});
  const auto conditional = add({{before, Kind::kFull}});
  const auto behind = add({{conditional, Kind::kFull}});
  const auto other = add({});
  const auto a = inside(conditional, 0, {});
  const auto b = inside(conditional, 0, {{a, Kind::kFull}});
  const auto c = inside(conditional, 0, {});
  const auto turn = inside(conditional, 0, {{b, Kind::kFull}, {c, Kind::kFull}});
  const auto d = inside(conditional, turn, {});
  EXPECT_EQ(ordering.relation(a, before), Relation::kBefore);
  EXPECT_EQ(ordering.relation(behind, a), Relation::kBefore);
  EXPECT_EQ(ordering.relation(behind, d), Relation::kBefore);
  EXPECT_EQ(ordering.relation(d, behind), Relation::kNone);
  EXPECT_EQ(ordering.relation(other, a), Relation::kNone);
  EXPECT_EQ(ordering.relation(a, other), Relation::kNone);
  EXPECT_EQ(ordering.relation(b, a), Relation::kBefore);
  EXPECT_EQ(ordering.relation(c, a), Relation::kNone);
  EXPECT_EQ(ordering.relation(d, a), Relation::kBefore);  // of the turn before
  EXPECT_EQ(ordering.relation(d, c), Relation::kBefore);
  EXPECT_EQ(ordering.relation(a, d), Relation::kNone);
  // Inside of inside.
  const auto inner = inside(conditional, turn, {{d, Kind::kFull}});
  const auto e = inside(inner, 0, {});
  const auto last = inside(conditional, turn, {{inner, Kind::kFull}});
  EXPECT_EQ(ordering.relation(e, d), Relation::kBefore);
  EXPECT_EQ(ordering.relation(e, b), Relation::kBefore);
  EXPECT_EQ(ordering.relation(last, e), Relation::kBefore);
  EXPECT_EQ(ordering.relation(behind, e), Relation::kBefore);
  EXPECT_EQ(ordering.relation(other, e), Relation::kNone);
  EXPECT_TRUE(ordering.missing_links(other, e).empty());
}

// What the host knows to be done need not be gone through any more.
TEST_F(OrderingTest, AConditionalThatTheHostKnowsToBeDoneIsDoneWithAllThatIsInside) {
  const auto conditional = add({});
  const auto end = add({{conditional, Kind::kFull}});
  const auto a = ordering.add({}, {.name = "a"}, {conditional, 0});
  ordering.host_learns(end);
  EXPECT_EQ(ordering.relation(add({}), a), Relation::kBefore);
  EXPECT_EQ(ordering.operation(a).name, "") << "nothing will be told of it";
}

TEST_F(OrderingTest, ProgrammaticEdgesOrderAfterTheWait) {
  const auto before = add({});
  const auto a = add({{before, Kind::kFull}});
  const auto b = add({{a, Kind::kTriggered}});
  EXPECT_EQ(ordering.relation(b, a), Relation::kAwaited);
  EXPECT_EQ(ordering.relation(b, before), Relation::kBefore);  // done before a began
}

TEST_F(OrderingTest, AGridWithoutWaitHidesItsPrerequisites) {
  const auto a = add({});
  const auto b = add({{a, Kind::kTriggered}});
  const auto c = add({{b, Kind::kTriggered}});
  ordering.note_early_trigger(b);
  EXPECT_EQ(ordering.relation(c, a), Relation::kNone);
  EXPECT_EQ(ordering.missing_links(c, a), std::vector{b});
  ordering.note_wait(b);
  EXPECT_EQ(ordering.relation(c, a), Relation::kAwaited);
}

TEST_F(OrderingTest, WaitingBeforeTheTriggerOrdersTheNextGridsBeginning) {
  const auto a = add({});
  const auto b = add({{a, Kind::kTriggered}});
  const auto c = add({{b, Kind::kTriggered}});
  ordering.note_wait(b);
  EXPECT_EQ(ordering.relation(c, a), Relation::kBefore);
  EXPECT_EQ(ordering.relation(c, b), Relation::kAwaited);
}

// In a graph, a full edge from a grid that never waited says nothing of that grid's prerequisites.
TEST_F(OrderingTest, FullEdgesDoNotReplaceAWait) {
  const auto a = add({});
  const auto b = add({{a, Kind::kTriggered}});
  const auto c = add({{b, Kind::kFull}});
  EXPECT_EQ(ordering.relation(c, b), Relation::kBefore);
  EXPECT_EQ(ordering.relation(c, a), Relation::kNone);
  const auto both = add({{b, Kind::kFull}, {a, Kind::kFull}});
  EXPECT_EQ(ordering.relation(both, a), Relation::kBefore);
}

TEST_F(OrderingTest, BegunIsLessThanTriggered) {
  const auto a = add({});
  const auto b = add({{a, Kind::kTriggered}});
  ordering.note_wait(b);
  const auto begun = add({{b, Kind::kBegun}});
  EXPECT_EQ(ordering.relation(begun, a), Relation::kAwaited);
  const auto loose = add({{b, Kind::kLoose}});
  EXPECT_EQ(ordering.relation(loose, b), Relation::kNone);
}

TEST_F(OrderingTest, TheHostOrdersWhatItSubmitsLater) {
  const auto a = add({});
  const auto unordered = add({});
  ordering.host_learns(a);
  const auto ordered = add({});
  EXPECT_EQ(ordering.relation(unordered, a), Relation::kNone);
  EXPECT_EQ(ordering.relation(ordered, a), Relation::kBefore);
  EXPECT_EQ(ordering.relation(ordered, unordered), Relation::kNone);
}

TEST_F(OrderingTest, WhatTheHostLearnsOfWaitsHoldsForAllThatFollows) {
  const auto unordered = add({});
  auto last = add({});
  const auto first = last;
  for (int i = 0; i < 1000; ++i) {
    last = add({{last, Kind::kTriggered}});
    ordering.note_wait(last);
    if (i % 100 == 0) ordering.host_learns(last);
  }
  ordering.host_learns(last);
  const auto next = add({});
  EXPECT_EQ(ordering.relation(next, first), Relation::kBefore);
  EXPECT_EQ(ordering.relation(next, last), Relation::kBefore);
  EXPECT_EQ(ordering.relation(next, unordered), Relation::kNone);

  // One that did not wait may be done before what it was started early after.
  const auto primary = add({});
  const auto hasty = add({{primary, Kind::kTriggered}});
  ordering.host_learns(hasty);
  const auto after = add({});
  EXPECT_EQ(ordering.relation(after, hasty), Relation::kBefore);
  EXPECT_EQ(ordering.relation(after, primary), Relation::kNone);
}

TEST_F(OrderingTest, OperationsAreForgottenOnceAllIsDone) {
  const auto a = ordering.add({}, {.name = "a"});
  const auto b = ordering.add({}, {.name = "b"});
  ordering.host_learns(a);
  EXPECT_EQ(ordering.operation(a).name, "a") << "b may still race it";
  ordering.host_learns(b);
  EXPECT_EQ(ordering.operation(a).name, "");
  EXPECT_EQ(ordering.operation(b).name, "");
}

// A stream waits for a value that another one writes. The wait is submitted first.
TEST_F(OrderingTest, AWaitForAValueComesAfterWhatWroteIt) {
  const auto wait = add({});
  const auto consumer = add({{wait, Kind::kFull}});
  const auto producer = add({});
  const auto write = add({{producer, Kind::kFull}});
  const auto later = add({{write, Kind::kFull}});
  EXPECT_EQ(ordering.relation(consumer, producer), Relation::kNone);
  ordering.came_after(wait, std::vector{write});
  EXPECT_EQ(ordering.relation(consumer, producer), Relation::kBefore);
  EXPECT_EQ(ordering.relation(consumer, write), Relation::kBefore);
  EXPECT_EQ(ordering.relation(consumer, later), Relation::kNone);
  EXPECT_EQ(ordering.relation(producer, consumer), Relation::kNone);
  // What a third stream does after the consumer.
  const auto last = add({{consumer, Kind::kFull}});
  EXPECT_EQ(ordering.relation(last, producer), Relation::kBefore);
}

// Nothing on the device wrote it: the host did, after what it knew to be done.
TEST_F(OrderingTest, AWaitForAValueOfTheHostComesAfterWhatTheHostKnows) {
  const auto producer = add({});
  const auto other = add({});
  const auto wait = add({});
  const auto consumer = add({{wait, Kind::kFull}});
  ordering.host_learns(producer);
  ordering.came_after(wait, {});
  EXPECT_EQ(ordering.relation(consumer, producer), Relation::kBefore);
  EXPECT_EQ(ordering.relation(consumer, other), Relation::kNone);
}

TEST_F(OrderingTest, LongChainsAreQuickAndForgetTheirBeginning) {
  auto last = add({});
  const auto first = last;
  for (std::size_t k = 0; k < Ordering::kRemembered / 2; ++k)
    last = add({{last, Kind::kTriggered}});
  EXPECT_EQ(ordering.relation(last, last - 1), Relation::kAwaited);
  EXPECT_EQ(ordering.relation(last, first), Relation::kBefore);  // none triggered unordered
  for (std::size_t k = 0; k < Ordering::kRemembered; ++k) add({});
  EXPECT_EQ(ordering.relation(ordering.last(), first), Relation::kBefore);
}

}  // namespace
}  // namespace baton::sim::ordering_test
