// What the numbers of two launches tell of memory that a kernel chooses by them.

#include "pdl/verdict/launch_evidence.h"

#include <gtest/gtest.h>

#include <string>

#include "pdl/footprint/bound.h"
#include "pdl/verdict/chain_test.h"

namespace baton::overlap::launch_evidence_test {
namespace {

constexpr LaunchExtents kExtents = {{32, 1, 1}, {1, 1, 1}};
const VariableNumber kNoVariable = [](std::string_view, bool) { return MemoryId{77}; };

std::vector<GivenArgument> given(std::uint64_t number) {
  return {GivenArgument::pointer(kX), GivenArgument::pointer(kY), GivenArgument::pointer(kZ),
          GivenArgument::scalar(number)};
}

// The verdict about a launch that follows another one. `number` is the scalar of both.
EdgeVerdict verdict(const std::string& first, const std::string& second, std::uint64_t number) {
  const Footprint before = footprint_of(first), now = footprint_of(second);
  const auto bound_of = [&](const Footprint& footprint) {
    return overlap::bind(footprint, given(number), kExtents.block, kExtents.grid, kNoVariable);
  };
  LaunchChain chain([](MemoryId) { return false; }, {}, {});
  chain.follow(bound_of(before), false);
  EvidenceBudget budget{.witness_steps = 1 << 16};
  ExaminedLaunch earlier(before, given(number), kExtents, kNoVariable, budget);
  ExaminedLaunch own(now, given(number), kExtents, kNoVariable, budget);
  LaunchEvidence evidence(own, [&](std::uint32_t) -> ExaminedLaunch& { return earlier; });
  return chain.judge(bound_of(now), &evidence).kind;
}

// %d1: x for numbers below 8, else `other`.
std::string chooses(const std::string& other) {
  return "setp.lt.u32 %p1, %r0, 8; selp.b64 %d1, %a, " + other + ", %p1;\n";
}
const std::string kReadsEarly =
    "ld.global.u32 %r3, [%d1]; griddepcontrol.wait; st.global.u32 [%c], %r3;";
const std::string kWritesY = "griddepcontrol.wait; st.global.u32 [%b], 1;";

TEST(LaunchEvidence, NumbersChooseTheMemoryThatIsRead) {
  const std::string reads = chooses("%b") + kReadsEarly;
  EXPECT_EQ(verdict(kWritesY, reads, 7), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(kWritesY, reads, 8), EdgeVerdict::kUnsafe);
}

TEST(LaunchEvidence, NumbersChooseTheMemoryThatIsWritten) {
  const std::string writes = chooses("%b") + "griddepcontrol.wait; st.global.u32 [%d1], 1;";
  const std::string reads_x =
      "ld.global.u32 %r3, [%a]; griddepcontrol.wait; st.global.u32 [%c], %r3;";
  EXPECT_EQ(verdict(writes, reads_x, 8), EdgeVerdict::kProven);
  EXPECT_EQ(verdict(writes, reads_x, 7), EdgeVerdict::kUnsafe);
}

// A condition may have told an address bit by bit, and the access is then one of its memory.
TEST(LaunchEvidence, ConditionsOnAddressesLeadToTheirMemory) {
  const auto reads = [](const std::string& decides) {
    return decides + "@%p2 bra L; nanosleep.u32 1; L:\n" + chooses("%b") + kReadsEarly;
  };
  const std::string loaded = "ld.global.u32 %r4, [%c]; setp.eq.u32 %p2, %r4, 0; ";
  EXPECT_EQ(verdict(kWritesY, reads(loaded), 7), EdgeVerdict::kProven);
  const std::string address = "sub.s64 %d2, %a, %b; setp.lt.s64 %p2, %d2, 0; ";
  EXPECT_EQ(verdict(kWritesY, reads(address), 7), EdgeVerdict::kUnknown);
}

// Only addresses with a number added are known to lie in their memory.
TEST(LaunchEvidence, WhatIsLoadedMayLeadAnywhere) {
  const std::string loads =
      "ld.global.u32 %r4, [%c]; mul.wide.u32 %d2, %r4, 4; add.s64 %d2, %b, %d2;\n";
  EXPECT_EQ(verdict(kWritesY, loads + chooses("%d2") + kReadsEarly, 7), EdgeVerdict::kUnknown);
}

}  // namespace
}  // namespace baton::overlap::launch_evidence_test
