// Random programs, held to the promises of verdicts: what is proven never races on the simulated
// GPU, and what is unsafe always does. docs/verdicts.md describes the families.
//
// BATON_GENERATED_PROGRAMS sets the number of programs, BATON_GENERATED_SEED the first seed.

#include <gtest/gtest.h>

#include "exchange_chain.h"
#include "generated_family.h"
#include "laundered_chain.h"
#include "ordered_chain.h"
#include "outlined_chain.h"
#include "signal_chain.h"

namespace baton::verdicts::generated_test {
namespace {

GeneratedChain passed(GeneratedChain chain, Passing passing) {
  for (GeneratedLaunch& launch : chain.launches) launch.passing = passing;
  return chain;
}

TEST(Generated, LaunderedPointers) {
  const GeneratedRange range = generated_range(1500);
  const FamilyCount count = hold_family(range, laundered_chain);
  EXPECT_GT(count.proven, range.count / 50);
}

TEST(Generated, AddressesToldByOutcomes) {
  const GeneratedRange range = generated_range(200);
  const FamilyCount count = hold_family(range, told_chain);
  EXPECT_GT(count.unknown_races, range.count / 4);
  hold_family(range, [](std::uint64_t seed) { return passed(told_chain(seed), Passing::kViews); });
}

TEST(Generated, ControlFlowAndRoles) {
  const GeneratedRange range = generated_range(800);
  const FamilyCount count = hold_family(range, ordered_chain);
  EXPECT_GT(count.proven, range.count / 50);
  EXPECT_GT(count.unsafe, range.count / 50);
}

TEST(Generated, OutlinedControlFlow) {
  const GeneratedRange range = generated_range(400);
  const FamilyCount count =
      hold_family(range, [](std::uint64_t seed) { return outlined(ordered_chain(seed), seed); });
  EXPECT_GT(count.proven, range.count / 50);
  EXPECT_GT(count.unsafe, range.count / 50);
}

TEST(Generated, OutlinedPointers) {
  const GeneratedRange range = generated_range(400);
  hold_family(range, [](std::uint64_t seed) { return outlined(laundered_chain(seed), seed); });
}

TEST(Generated, PointersInStructs) {
  const GeneratedRange range = generated_range(400);
  const FamilyCount count = hold_family(
      range, [](std::uint64_t seed) { return passed(ordered_chain(seed), Passing::kStruct); });
  EXPECT_GT(count.proven, range.count / 50);
  EXPECT_GT(count.unsafe, range.count / 50);
  hold_family(range,
              [](std::uint64_t seed) { return passed(laundered_chain(seed), Passing::kStruct); });
}

TEST(Generated, Views) {
  const GeneratedRange range = generated_range(400);
  const FamilyCount count = hold_family(
      range, [](std::uint64_t seed) { return passed(ordered_chain(seed), Passing::kViews); });
  EXPECT_GT(count.proven, range.count / 50);
}

TEST(Generated, ClustersAndBulkCopies) {
  const GeneratedRange range = generated_range(500);
  const FamilyCount count = hold_family(range, exchange_chain);
  EXPECT_GT(count.proven, range.count / 50);
  // Most kernels leave addresses in memory, so that few edges are certain to be unsafe.
  EXPECT_GT(count.unknown_races, range.count / 50);
}

TEST(Generated, OrderInsideBlocks) {
  const GeneratedRange range = generated_range(300);
  const FamilyCount count = hold_family(range, signal_chain, 5);
  EXPECT_GT(count.proven, range.count / 50);
}

TEST(Generated, Pipelines) {
  const GeneratedRange range = generated_range(250);
  const FamilyCount count = hold_family(range, pipeline_chain, 10);
  EXPECT_GT(count.proven, range.count / 50);
}

TEST(Generated, Flags) {
  const GeneratedRange range = generated_range(250);
  const FamilyCount count = hold_family(range, flag_chain, 10);
  EXPECT_GT(count.proven, range.count / 50);
}

// Chains that were unsafe, and in which no race was found.
TEST(Generated, SeedsThatFailed) {
  for (const std::uint64_t seed :
       {202221, 223222, 243711, 405379, 486453, 6036229, 700511365, 700037564}) {
    const FamilyCount count = hold_family({1, seed}, ordered_chain);
    EXPECT_EQ(count.unconfirmed, 0u) << seed;
  }
  for (const std::uint64_t seed : {102547, 115405}) {
    EXPECT_EQ(hold_family({1, seed}, exchange_chain).unconfirmed, 0u) << seed;
  }
  EXPECT_EQ(hold_family({1, 703014758}, flag_chain, 10).unconfirmed, 0u);
}

TEST(Generated, MetamorphosesOfLaunderedPointers) {
  hold_metamorphoses(generated_range(300), laundered_chain);
}
TEST(Generated, MetamorphosesOfSignals) {
  hold_metamorphoses(generated_range(100), signal_chain, 10);
  hold_metamorphoses(generated_range(100), pipeline_chain, 10);
  hold_metamorphoses(generated_range(100), flag_chain, 10);
}
TEST(Generated, MetamorphosesOfControlFlow) {
  hold_metamorphoses(generated_range(300), ordered_chain);
}

}  // namespace
}  // namespace baton::verdicts::generated_test
