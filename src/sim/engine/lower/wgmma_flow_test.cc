// Where the registers of wgmma may be used wrongly, on graphs of a few instructions.

#include "sim/engine/lower/wgmma_flow.h"

#include <gtest/gtest.h>

#include <string>

#include "ptx/parser.h"

namespace baton::sim::wgmma_flow_test {
namespace {

using Kind = WgmmaStep::Kind;

constexpr std::uint32_t kSum = 1, kOther = 2, kLeft = 3;

WgmmaStep step(Kind kind, std::vector<std::uint32_t> writes = {},
               std::vector<std::uint32_t> reads = {}, std::uint32_t left = 0) {
  WgmmaStep made;
  made.kind = kind;
  made.writes = std::move(writes);
  made.reads = std::move(reads);
  made.left = left;
  made.shape = 4;
  return made;
}
WgmmaStep writes(std::uint32_t reg) {
  return step(Kind::kOther, {reg});
}
WgmmaStep reads(std::uint32_t reg) {
  return step(Kind::kOther, {}, {reg});
}
const WgmmaStep kProduct = step(Kind::kMultiply, {kSum}, {kLeft});
const WgmmaStep kFence = step(Kind::kFence), kCommit = step(Kind::kCommit);
WgmmaStep waits(std::uint32_t left) {
  return step(Kind::kWait, {}, {}, left);
}

// A function whose instructions follow each other; with `again`, from its end to the one of that
// number.
struct Function {
  explicit Function(std::vector<WgmmaStep> made, int again = -1) : steps(std::move(made)) {
    std::string text =
        ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n.reg .pred %p;\n";
    for (std::size_t k = 0; k < steps.size(); ++k) {
      if (static_cast<int>(k) == again) text += "AGAIN:\n";
      const bool is_last = again >= 0 && k + 1 == steps.size();
      text += is_last ? "@%p bra AGAIN;\n" : "membar.cta;\n";
    }
    module = ptx::ParsedModule::parse(text + "ret;\n}\n", "k.ptx");
    flat = std::make_unique<ptx::FlatFunction>(*module->function("k"));
    graph = std::make_unique<ptx::ControlFlow>(*flat);
    steps.push_back(step(Kind::kOther));  // ret
    flow = std::make_unique<WgmmaFlow>(*graph, steps);
  }
  std::vector<WgmmaStep> steps;
  std::shared_ptr<const ptx::ParsedModule> module;
  std::unique_ptr<ptx::FlatFunction> flat;
  std::unique_ptr<ptx::ControlFlow> graph;
  std::unique_ptr<WgmmaFlow> flow;
};

TEST(WgmmaFlow, WhatKeepsTheRulesIsClean) {
  const Function straight({writes(kSum), writes(kLeft), kFence, kProduct, kProduct, kCommit,
                           waits(0), reads(kSum), writes(kLeft)});
  EXPECT_TRUE(straight.flow->is_clean());
  const Function loop(
      {writes(kSum), kFence, kProduct, kCommit, waits(0), reads(kSum), step(Kind::kOther)}, 1);
  EXPECT_TRUE(loop.flow->is_clean());
}

TEST(WgmmaFlow, FindsUsesBeforeTheWait) {
  const Function early({kFence, kProduct, kCommit, reads(kSum), waits(0)});
  EXPECT_TRUE(early.flow->may_be_busy(3));
  const Function short_of_one(
      {kFence, kProduct, kCommit, kProduct, kCommit, waits(1), reads(kSum)});
  EXPECT_TRUE(short_of_one.flow->may_be_busy(6));
  const Function uncommitted({kFence, kProduct, waits(0), reads(kSum)});
  EXPECT_TRUE(uncommitted.flow->may_be_busy(3));
  // Reading a is allowed, writing it is not.
  EXPECT_FALSE(Function({kFence, kProduct, kCommit, reads(kLeft)}).flow->may_be_busy(3));
  EXPECT_TRUE(Function({kFence, kProduct, kCommit, writes(kLeft)}).flow->may_be_busy(3));
}

TEST(WgmmaFlow, FollowsCopies) {
  const WgmmaStep copy = step(Kind::kCopy, {kOther}, {kSum});
  const Function moved({kFence, kProduct, kCommit, copy, reads(kOther), waits(0), reads(kOther)});
  EXPECT_FALSE(moved.flow->may_be_busy(3));
  EXPECT_TRUE(moved.flow->may_be_busy(4));
  EXPECT_FALSE(moved.flow->may_be_busy(6));
}

TEST(WgmmaFlow, FindsMissingFences) {
  EXPECT_TRUE(Function({writes(kSum), kProduct}).flow->may_lack_fence(1));
  EXPECT_TRUE(Function({writes(kLeft), kProduct}).flow->may_lack_fence(1));
  WgmmaStep constant = writes(kSum);
  constant.is_constant = true;
  EXPECT_FALSE(Function({writes(kSum), kFence, constant, kProduct}).flow->may_lack_fence(3));
  // Only in the second turn of the loop.
  const Function loop({kFence, kProduct, kCommit, waits(0), writes(kSum), step(Kind::kOther)}, 1);
  EXPECT_TRUE(loop.flow->may_lack_fence(1));
  EXPECT_TRUE(loop.flow->is_used_unfenced(kSum));
  EXPECT_FALSE(loop.flow->is_used_unfenced(kLeft));
}

TEST(WgmmaFlow, AccumulatorsOfAnotherShapeConflict) {
  WgmmaStep other = kProduct;
  other.shape = 8;
  const Function mixed({kFence, kProduct, other});
  EXPECT_TRUE(mixed.flow->may_be_busy(2));
  EXPECT_EQ(mixed.flow->conflicts(2), std::vector<std::uint32_t>{kSum});
}

}  // namespace
}  // namespace baton::sim::wgmma_flow_test
