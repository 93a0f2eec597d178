#include "sim/device/occupancy.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace baton::sim::occupancy_test {
namespace {

const Profile& profile_of(std::string_view name) {
  const auto found = std::find_if(profiles().begin(), profiles().end(),
                                  [&](const Profile& profile) { return profile.name() == name; });
  EXPECT_NE(found, profiles().end()) << name;
  return *found;
}

const Profile& h200() {
  return profile_of("h200");
}

TEST(Occupancy, NothingFitsBeyondTheLimits) {
  EXPECT_EQ(resident_blocks(h200(), {1025, 16, 0}), 0);
  EXPECT_EQ(resident_blocks(h200(), {0, 16, 0}), 0);
  EXPECT_EQ(resident_blocks(h200(), {32, 16, 232449}), 0);
  EXPECT_EQ(resident_blocks(h200(), {32, 16, 232448}), 1);
  EXPECT_EQ(resident_blocks(h200(), {1024, 168, 0}), 0);
}

// What cuOccupancyMaxActiveClusters says on an H200 (driver 580.159) of a kernel of ten registers.
TEST(Occupancy, OfClustersAgreesWithAnH200) {
  constexpr std::uint32_t kSizes[] = {1, 2, 4, 8, 16};
  struct Case {
    chip::BlockNeeds needs;
    int clusters[5];
  };
  const Case cases[] = {
      {{256, 10, 0}, {1056, 528, 248, 124, 58}},   {{256, 10, 49152}, {528, 264, 124, 62, 28}},
      {{256, 10, 102400}, {264, 132, 62, 30, 14}}, {{256, 10, 200000}, {132, 66, 30, 15, 7}},
      {{512, 10, 0}, {528, 264, 124, 62, 28}},     {{1024, 10, 0}, {264, 132, 62, 30, 14}},
      {{1024, 10, 232448}, {132, 66, 30, 15, 7}},
  };
  for (const Case& c : cases) {
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(resident_clusters(h200(), c.needs, kSizes[i]), c.clusters[i])
          << c.needs.threads << " threads, " << c.needs.shared << " bytes, clusters of "
          << kSizes[i];
    }
  }
}

// A cluster of 16 blocks that fill an SM each takes 16 of a group's SMs: 148 SMs in groups of 20
// and 18 hold one in each of the eight.
TEST(Occupancy, OfClustersIsOfTheDevicesOwnGroups) {
  const chip::BlockNeeds full = {1024, 10, 232448};
  EXPECT_EQ(resident_clusters(profile_of("b200"), full, 16), 8);
  EXPECT_EQ(resident_clusters(profile_of("b200"), full, 2), 74);
  EXPECT_EQ(resident_clusters(profile_of("b200"), full, 1), 148);
  EXPECT_EQ(resident_clusters(profile_of("tiny"), full, 2), 1);
  EXPECT_EQ(resident_clusters(profile_of("tiny"), full, 4), 0);
}

TEST(Occupancy, RegistersLimitABlocksThreads) {
  EXPECT_EQ(threads_by_registers(h200(), 168), 384u);  // as the driver says of such a kernel
  EXPECT_EQ(threads_by_registers(h200(), 64), 1024u);
  EXPECT_EQ(threads_by_registers(h200(), 65), 896u);
  EXPECT_EQ(threads_by_registers(h200(), 255), 256u);
}

}  // namespace
}  // namespace baton::sim::occupancy_test
