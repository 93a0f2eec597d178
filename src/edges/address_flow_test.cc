#include "edges/address_flow.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace baton::edges::address_flow_test {
namespace {

// Launches that read and write memory by one letter each; '?' is memory that is not known.
class AddressFlowTest : public testing::Test {
 protected:
  AddressFlowTest() {
    seen_.code = std::make_shared<const overlap::Code>();
    unseen_.code = seen_.code;
    unseen_.unseen = overlap::Unseen{overlap::UnseenCause::kCall, "k.cu:1"};
    reads_.reads = writes_.writes = true;
  }
  overlap::BoundLaunch launch(const std::string& reads, const std::string& writes,
                              bool leaves = false) {
    overlap::BoundLaunch bound;
    bound.number = launches_++;
    bound.footprint = &seen_;
    bound.stores_differences = leaves;
    add(bound, reads, reads_);
    add(bound, writes, writes_);
    return bound;
  }
  overlap::BoundLaunch unseen() {
    overlap::BoundLaunch bound;
    bound.number = launches_++;
    bound.footprint = &unseen_;
    return bound;
  }
  static overlap::MemoryId id(char name) { return static_cast<overlap::MemoryId>(name); }
  // The memory among x, y, z and t that may have addresses.
  static std::string spread(const AddressFlow& flow, const KeptAddresses& kept = {}) {
    const KeptAddresses found = flow.spread(kept, name_of);
    std::string text;
    for (const char* name : {"x", "y", "z", "t"}) text += found.may_be_in(name) ? name : "";
    return text;
  }
  static const std::string& name_of(overlap::MemoryId id) {
    static std::vector<std::string> names(256);
    return names[id] = std::string(1, static_cast<char>(id));
  }

 private:
  static void add(overlap::BoundLaunch& bound, const std::string& names,
                  const overlap::AccessGroup& group) {
    for (const char name : names) {
      overlap::BoundAccess& access = bound.accesses.emplace_back();
      access.group = &group;
      if (name != '?') access.memory = id(name);
    }
  }
  overlap::Footprint seen_, unseen_;
  overlap::AccessGroup reads_, writes_;
  std::uint32_t launches_ = 0;
};

TEST_F(AddressFlowTest, IsEmptyWhereNothingIsLeft) {
  AddressFlow flow;
  flow.add(launch("x?", "y?"));
  flow.add(unseen());
  EXPECT_EQ(spread(flow), "");
  EXPECT_TRUE(flow.spread({}, name_of).is_empty());
}

TEST_F(AddressFlowTest, GoesOnFromReadsToWrites) {
  AddressFlow flow;
  flow.add(launch("y", "z"));
  flow.add(launch("x", "y"));
  EXPECT_EQ(spread(flow), "");
  flow.add(launch("t", "x", true));
  EXPECT_EQ(spread(flow), "xyz");
}

TEST_F(AddressFlowTest, GoesThroughMemoryThatIsNotKnown) {
  AddressFlow flow;
  flow.add(launch("", "x", true));
  EXPECT_EQ(spread(flow), "x");
  AddressFlow reads = flow, writes = flow, both = flow;
  reads.add(launch("?", "y"));
  EXPECT_EQ(spread(reads), "xy");
  writes.add(launch("y", "?"));
  EXPECT_EQ(spread(writes), "x");
  writes.add(launch("x", "?"));
  EXPECT_EQ(spread(writes), "xyzt");
  both.add(unseen());
  EXPECT_EQ(spread(both), "xyzt");
}

TEST_F(AddressFlowTest, LaterExecutionsOfALaunchCount) {
  AddressFlow flow;
  flow.add(launch("", "x", true));
  overlap::BoundLaunch first = launch("y", "z"), second = launch("x", "z");
  second.number = first.number;
  flow.add(first);
  flow.add(first);
  EXPECT_EQ(spread(flow), "x");
  flow.add(second);
  EXPECT_EQ(spread(flow), "xz");
}

TEST_F(AddressFlowTest, OtherStepsMoveWhatTheyRead) {
  const int copy = 0, other = 0, fill = 0;
  AddressFlow flow;
  flow.add(&copy, id('x'), false);
  flow.add(&copy, id('y'), true);
  flow.add(&other, id('z'), false);
  flow.add(&fill, id('t'), true);
  flow.add(launch("", "x", true));
  EXPECT_EQ(spread(flow), "xy");
}

// A loop that tests memory counts what is there.
TEST_F(AddressFlowTest, WhatDecidesAStepIsToldByIt) {
  const int fill = 0;
  const std::vector<overlap::MemoryId> tested = {id('x')};
  AddressFlow flow;
  flow.add(launch("y", "y"), tested);
  flow.add(&fill, id('z'), true, tested);
  EXPECT_EQ(spread(flow), "");
  flow.add(launch("", "x", true));
  EXPECT_EQ(spread(flow), "xyz");
}

// Another device may send an address, if steps of this one store addresses.
TEST_F(AddressFlowTest, OtherDevicesMayGiveThem) {
  const int collective = 0;
  AddressFlow flow;
  flow.add(&collective, id('z'), false, {}, true);
  flow.add(&collective, id('y'), true, {}, true);
  flow.add(launch("z", "t"), {}, true);
  EXPECT_EQ(spread(flow), "");
  flow.add(launch("", "x", true));
  EXPECT_EQ(spread(flow), "xyt");
}

TEST_F(AddressFlowTest, KeepsWhatWasThereBefore) {
  AddressFlow before, flow;
  before.add(launch("", "x", true));
  flow.add(launch("x", "y"));
  EXPECT_EQ(spread(flow, before.spread({}, name_of)), "xy");
  EXPECT_EQ(flow.spread(KeptAddresses::anywhere(), name_of), KeptAddresses::anywhere());
}

TEST_F(AddressFlowTest, TellsWhichLaunchesMayLoadThem) {
  AddressFlow flow;
  EXPECT_FALSE(KeptAddresses().may_reach(launch("?", ""), name_of));
  flow.add(launch("", "x", true));
  const KeptAddresses kept = flow.spread({}, name_of);
  EXPECT_TRUE(kept.may_reach(launch("yx", ""), name_of));
  EXPECT_TRUE(kept.may_reach(launch("?", ""), name_of));
  EXPECT_TRUE(kept.may_reach(unseen(), name_of));
  EXPECT_FALSE(kept.may_reach(launch("y", "x?"), name_of));
  EXPECT_TRUE(KeptAddresses::anywhere().may_reach(launch("", ""), name_of));
}

}  // namespace
}  // namespace baton::edges::address_flow_test
