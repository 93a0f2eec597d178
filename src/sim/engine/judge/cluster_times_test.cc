#include "sim/engine/judge/cluster_times.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace baton::sim::cluster_times_test {
namespace {

TEST(ClusterTimes, KnowNothingAtFirst) {
  const ClusterTimes none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.of(0), nullptr);
  EXPECT_TRUE(none.covers(none));
}

TEST(ClusterTimes, OfOneCluster) {
  for (const std::uint64_t clusters : {1ull, 2ull, 16ull, 17ull, 1ull << 20, 1ull << 40}) {
    SCOPED_TRACE(clusters);
    const ClusterTimes last(clusters, clusters - 1, {3, 0, 5});
    ASSERT_NE(last.of(clusters - 1), nullptr);
    EXPECT_EQ(*last.of(clusters - 1), (Times{3, 0, 5}));
    if (clusters > 1) {
      EXPECT_EQ(last.of(clusters - 2), nullptr);
    }
    EXPECT_FALSE(ClusterTimes().covers(last));
    EXPECT_TRUE(last.covers({}));
  }
}

// Against a map of vectors.
TEST(ClusterTimes, MergeLikeMaps) {
  constexpr std::uint64_t kClusters = 300;
  struct Model {
    ClusterTimes times;
    std::map<std::uint64_t, Times> map;
  };
  const auto covers_all = [](const Model& a, const Model& b) {
    for (const auto& [cluster, times] : b.map) {
      const auto found = a.map.find(cluster);
      if (found == a.map.end() || !covers(found->second, times)) return false;
    }
    return true;
  };
  std::mt19937 random(7);
  std::vector<Model> models(8);
  for (int round = 0; round < 4000; ++round) {
    Model& into = models[random() % models.size()];
    if (random() % 3 != 0) {
      const std::uint64_t cluster = random() % kClusters;
      const Times added = {static_cast<std::uint32_t>(random() % 9),
                           static_cast<std::uint32_t>(random() % 9)};
      into.times.merge({kClusters, cluster, added});
      merge(into.map[cluster], added);
    } else {
      const Model& from = models[random() % models.size()];
      EXPECT_EQ(into.times.covers(from.times), covers_all(into, from));
      into.times.merge(from.times);
      for (const auto& [cluster, times] : std::map(from.map)) merge(into.map[cluster], times);
      EXPECT_TRUE(into.times.covers(from.times));
    }
    if (random() % 100 == 0) into = {};
  }
  for (const Model& model : models) {
    for (std::uint64_t cluster = 0; cluster < kClusters; ++cluster) {
      const Times* const times = model.times.of(cluster);
      const auto found = model.map.find(cluster);
      ASSERT_EQ(times != nullptr, found != model.map.end());
      if (times != nullptr) {
        EXPECT_EQ(*times, found->second);
      }
    }
  }
}

}  // namespace
}  // namespace baton::sim::cluster_times_test
