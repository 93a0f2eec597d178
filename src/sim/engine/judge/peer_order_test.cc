#include "sim/engine/judge/peer_order.h"

#include <gtest/gtest.h>

namespace baton::sim::peer_order_test {
namespace {

using Number = Ordering::Number;

Number submit(std::vector<Ordering::Edge> after = {}) {
  return Ordering::instance().add(after, {"kernel"});
}

// What one warp of one cluster did up to the segment, of a grid of one cluster.
ClusterTimes times(std::uint32_t segments) {
  return ClusterTimes(1, 0, {segments});
}
PeerClock clock(Number grid, std::uint32_t segments, bool has_waited = false) {
  return PeerClock({grid, has_waited, times(segments)});
}

TEST(AccessNotes, SayWhetherAccessesAreOver) {
  AccessNotes notes;
  EXPECT_TRUE(notes.are_over(0, 4, 7, true, times(0)));  // nothing was noted
  notes.add(8, 4, {.grid = 7, .cluster = 0, .party = 0, .segment = 3, .writes = true});
  EXPECT_FALSE(notes.are_over(8, 4, 7, true, times(3)));
  EXPECT_TRUE(notes.are_over(8, 4, 7, true, times(4)));
  EXPECT_FALSE(notes.are_over(0, 64, 7, true, times(3)));
  // Other bytes, another grid, reads.
  EXPECT_TRUE(notes.are_over(12, 20, 7, true, times(0)));
  EXPECT_TRUE(notes.are_over(8, 4, 8, true, times(0)));
  EXPECT_TRUE(notes.are_over(8, 4, 7, false, times(0)));
  // The latest of a warp counts, byte by byte.
  notes.add(8, 2, {.grid = 7, .cluster = 0, .party = 0, .segment = 5, .writes = true});
  EXPECT_FALSE(notes.are_over(8, 1, 7, true, times(4)));
  EXPECT_TRUE(notes.are_over(10, 2, 7, true, times(4)));
  // Accesses over several sectors.
  notes.add(30, 40, {.grid = 7, .cluster = 0, .party = 0, .segment = 9, .writes = false});
  EXPECT_FALSE(notes.are_over(64, 1, 7, false, times(9)));
  EXPECT_TRUE(notes.are_over(70, 1, 7, false, times(0)));
  notes.clear();
  EXPECT_TRUE(notes.are_over(64, 1, 7, false, times(0)));
}

TEST(PeerClock, KnowsWhatItMerged) {
  PeerClock one = clock(11, 3);
  EXPECT_TRUE(one.covers({}));
  EXPECT_FALSE(one.covers(clock(11, 4)));
  EXPECT_FALSE(one.covers(clock(11, 3, true)));
  one.merge(clock(12, 1, true));
  one.merge(clock(11, 5));
  EXPECT_TRUE(one.covers(clock(11, 5)));
  EXPECT_TRUE(one.covers(clock(12, 1, true)));
  EXPECT_EQ(one.grids().size(), 2u);
}

TEST(PeerOrder, AFlagTellsThoseOfItsScope) {
  PeerOrder peers;
  const PeerOrder::Writer writer{.device = 0, .grid = 21};
  peers.tell(100, writer, false, {}, clock(21, 1));
  // The own device alone; for another one the scope is too narrow.
  EXPECT_FALSE(peers.told(100, 0, true).device.empty());
  EXPECT_TRUE(peers.told(100, 1, true).all.empty());
  EXPECT_FALSE(peers.told(100, 1, true).narrow.empty());
  peers.tell(100, writer, false, clock(21, 2), clock(21, 2));
  EXPECT_TRUE(peers.told(100, 1, true).all.covers(clock(21, 2)));
  // Who reads it for its own device is told nothing by another one.
  EXPECT_TRUE(peers.told(100, 1, false).all.empty());
  EXPECT_FALSE(peers.told(100, 1, false).narrow.empty());
  EXPECT_TRUE(peers.told(104, 1, true).all.empty());
  // An update adds to it, and another warp's write begins anew.
  peers.tell(100, {.device = 1, .grid = 22}, true, clock(22, 1), clock(22, 1));
  EXPECT_TRUE(peers.told(100, 1, true).all.covers(clock(21, 2)));
  peers.tell(100, {.device = 1, .grid = 23}, false, {}, {});
  EXPECT_TRUE(peers.told(100, 1, true).all.empty());
}

// first -> second in one stream, other in another one.
TEST(PeerOrder, LaterGridsInheritWhatWasLearned) {
  PeerOrder peers;
  const AccessNotes none;
  const Number other = submit();
  const Number first = submit();
  peers.learn(first, false, clock(other, 1));
  const Number second = submit({{first, Ordering::Kind::kFull}});
  const Number third = submit({{second, Ordering::Kind::kFull}});
  const Number apart = submit();
  EXPECT_TRUE(PeerOrder::comes_after(peers.inherited(second, false), other, true, none, 0, 4));
  EXPECT_TRUE(PeerOrder::comes_after(peers.inherited(third, false), other, true, none, 0, 4));
  EXPECT_FALSE(PeerOrder::comes_after(peers.inherited(apart, false), other, true, none, 0, 4));
  // A dependent grid knows it from its wait on.
  const Number early = submit({{first, Ordering::Kind::kTriggered}});
  EXPECT_FALSE(PeerOrder::comes_after(peers.inherited(early, false), other, true, none, 0, 4));
  EXPECT_TRUE(PeerOrder::comes_after(peers.inherited(early, true), other, true, none, 0, 4));
}

// What comes before a grid that told something is known, and what follows it is not.
TEST(PeerOrder, WhatComesBeforeAGridIsKnownWithIt) {
  const AccessNotes none;
  const Number before = submit();
  const Number grid = submit({{before, Ordering::Kind::kFull}});
  const Number behind = submit({{grid, Ordering::Kind::kFull}});
  EXPECT_TRUE(PeerOrder::comes_after(clock(grid, 1), before, true, none, 0, 4));
  EXPECT_FALSE(PeerOrder::comes_after(clock(grid, 1), behind, true, none, 0, 4));
  AccessNotes notes;
  notes.add(0, 4, {.grid = grid, .cluster = 0, .party = 0, .segment = 1, .writes = true});
  EXPECT_FALSE(PeerOrder::comes_after(clock(grid, 1), grid, true, notes, 0, 4));
  EXPECT_TRUE(PeerOrder::comes_after(clock(grid, 2), grid, true, notes, 0, 4));
}

}  // namespace
}  // namespace baton::sim::peer_order_test
