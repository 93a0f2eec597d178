#include "chip/chip.h"

#include <gtest/gtest.h>

namespace baton::chip::chip_test {
namespace {

TEST(Chip, IsFoundByItsComputeCapability) {
  for (const Chip& chip : chips()) EXPECT_EQ(find(chip.architecture), &chip);
  EXPECT_EQ(find(0), nullptr);
  EXPECT_EQ(find(91), nullptr);
  EXPECT_EQ(find(1000), nullptr);
}

TEST(Chip, OfAnUnknownCapabilityIsTheOneBeforeIt) {
  EXPECT_EQ(nearest(90).architecture, 90);
  EXPECT_EQ(nearest(91).architecture, 90);
  EXPECT_EQ(nearest(99).architecture, 90);
  EXPECT_EQ(nearest(100).architecture, 100);
  EXPECT_EQ(nearest(1000).architecture, chips().back().architecture);
  EXPECT_EQ(nearest(1).architecture, chips().front().architecture);
}

// What the rows of a table can contradict each other in.
TEST(Chip, RowsAgreeWithThemselves) {
  for (const Chip& chip : chips()) {
    SCOPED_TRACE(chip.architecture);
    const Multiprocessor& sm = chip.multiprocessor;
    EXPECT_EQ(sm.threads % sm.warp_size, 0u);
    EXPECT_EQ(sm.registers % (sm.partitions * sm.register_unit), 0u);
    EXPECT_EQ(sm.shared % sm.shared_unit, 0u);
    EXPECT_LE(chip.threads_per_block, sm.threads);
    EXPECT_LE(chip.registers_per_block, sm.registers);
    EXPECT_LE(chip.shared_per_block, chip.shared_per_block_optin);
    // "A thread block can address up to" what a multiprocessor has less what is reserved.
    EXPECT_LE(chip.shared_per_block_optin + sm.reserved_shared, sm.shared);
    EXPECT_EQ(chip.largest_cluster >= kPortableCluster, chip.architecture >= kFirstWithClusters);
    EXPECT_NE(chip.param_base, 0u);
  }
}

// Read off an H200 (driver 580.159), and off cubins for sm_80, sm_90 and sm_100.
TEST(Chip, AgreesWithWhatWasMeasured) {
  const Chip& hopper = *find(90);
  EXPECT_EQ(hopper.multiprocessor.threads, 2048u);
  EXPECT_EQ(hopper.multiprocessor.blocks, 32u);
  EXPECT_EQ(hopper.multiprocessor.registers, 65536u);
  EXPECT_EQ(hopper.multiprocessor.shared, 233472u);
  EXPECT_EQ(hopper.multiprocessor.reserved_shared, 1024u);
  EXPECT_EQ(hopper.shared_per_block, 49152u);
  EXPECT_EQ(hopper.shared_per_block_optin, 232448u);
  EXPECT_EQ(hopper.largest_cluster, 16u);
  EXPECT_EQ(find(80)->param_base, 0x160u);
  EXPECT_EQ(hopper.param_base, 0x210u);
  EXPECT_EQ(find(100)->param_base, 0x380u);
}

}  // namespace
}  // namespace baton::chip::chip_test
