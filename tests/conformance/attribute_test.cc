#include <cuda.h>

#include <numeric>

#include "conformance/conformance.h"

namespace baton::conformance::attribute_test {
namespace {

class Attributes : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    if (IsSkipped()) return;
    if (device().architecture() < 90) GTEST_SKIP() << "needs compute capability 9.0";
    module_.emplace(load("attributes.cu"));
    stream_.emplace(device());
  }

  Kernel kernel(std::string_view name) const { return module_->kernel(name); }
  const Module& module() const { return *module_; }
  const Stream& stream() const { return *stream_; }
  Buffer<unsigned> zeros(std::size_t count) const {
    return Buffer<unsigned>::of(device(), std::vector<unsigned>(count));
  }

  // Every block of a grid of whole clusters knows its rank and the cluster's size.
  void expect_ranks(Dim3 grid, Dim3 blocks, const LaunchAttributes& more = {}) {
    LaunchAttributes attributes = more;
    attributes.set(cluster(blocks));
    expect_ranks_of("cluster_ranks", grid, blocks, attributes);
  }
  void expect_ranks_of(const char* name, Dim3 grid, Dim3 blocks,
                       const LaunchAttributes& attributes = {}) {
    const auto rank = zeros(grid.count()), size = zeros(grid.count());
    kernel(name).launch({.grid = grid, .block = 32, .stream = stream(), .attributes = attributes},
                        rank, size);
    stream().synchronize();
    const auto ranks = rank.download(), sizes = size.download();
    for (std::uint32_t z = 0; z < grid.z; ++z) {
      for (std::uint32_t y = 0; y < grid.y; ++y) {
        for (std::uint32_t x = 0; x < grid.x; ++x) {
          const std::size_t block = x + std::size_t{grid.x} * (y + std::size_t{grid.y} * z);
          const std::uint32_t expected =
              x % blocks.x + blocks.x * (y % blocks.y + blocks.y * (z % blocks.z));
          ASSERT_EQ(ranks[block], expected) << x << " " << y << " " << z;
          ASSERT_EQ(sizes[block], blocks.count());
        }
      }
    }
  }

  // A chain of ten dependent steps, launched with these attributes.
  void expect_chain(const LaunchAttributes& attributes) {
    constexpr unsigned kCount = 1000;
    const auto data = zeros(kCount);
    const LaunchConfig config{
        .grid = ceil_div(kCount, 128u), .block = 128, .stream = stream(), .attributes = attributes};
    for (int i = 0; i < 10; ++i) kernel("step").launch(config, data, kCount);
    stream().synchronize();
    EXPECT_EQ(data.download(), std::vector<unsigned>(kCount, 29524));  // (3^10 − 1) / 2
  }

  void expect_grid_sum(const LaunchConfig& config) {
    const auto blocks = static_cast<unsigned>(config.grid.count());
    const auto values = zeros(blocks), sum = zeros(blocks);
    kernel("grid_sum").launch(config, values, sum);
    stream().synchronize();
    EXPECT_EQ(sum.download(), std::vector<unsigned>(blocks, blocks * (blocks + 1) / 2));
  }

 private:
  std::optional<Module> module_;
  std::optional<Stream> stream_;
};

TEST_F(Attributes, ThatChangeNoResultAreTaken) {
  const Event event(device(), false);
  const Memory window(device(), 4096);
  const LaunchAttribute all[] = {
      cluster_scheduling_policy(ClusterSchedulingPolicy::kSpread),
      cluster_scheduling_policy(ClusterSchedulingPolicy::kLoadBalancing),
      pdl(),
      programmatic_event(event),
      programmatic_event(event, true),
      launch_completion_event(event),
      priority(-1),
      priority(1000),
      mem_sync_domain(MemSyncDomain::kRemote),
      mem_sync_domain_map(0, 1),
      access_policy_window(window.address(), 4096, 0.5f, AccessProperty::kPersisting,
                           AccessProperty::kStreaming),
      preferred_shared_memory_carveout(50),
      nvlink_util_centric_scheduling(),
      cluster(1),
  };
  for (const LaunchAttribute& attribute : all) {
    SCOPED_TRACE(attribute.name());
    expect_chain({attribute});
  }
  event.synchronize();
}

TEST_F(Attributes, KernelsSayHowTheyAreLaunched) {
  EXPECT_EQ(kernel("step").cluster(), std::nullopt);
  EXPECT_EQ(kernel("step").cooperative(), false);
  EXPECT_EQ(kernel("grid_sum").cooperative(), true);
  EXPECT_EQ(kernel("grid_sum").pdl(), false);
  EXPECT_EQ(kernel("cluster_of_16").cluster(), (Dim3{16, 1, 1}));
  EXPECT_EQ(kernel("everything").pdl(), true);
  EXPECT_EQ(kernel("everything").cooperative(), true);
}

TEST_F(Attributes, PdlWithFalseIsPdlLeftOut) {
  const LaunchConfig off{.attributes = {pdl(false)}};
  EXPECT_FALSE(off.pdl());
  EXPECT_TRUE(off.attributes.empty());
  expect_chain(off.attributes);
  expect_chain({pdl()});
}

TEST_F(Attributes, ClustersInOneTwoAndThreeDimensions) {
  expect_ranks(8, 1);
  expect_ranks(8, 2);
  expect_ranks(16, 8);
  expect_ranks({6, 4}, {3, 2});
  expect_ranks({4, 4, 4}, {2, 2, 2});
  expect_ranks({3, 2, 4}, {1, 2, 4});
}

TEST_F(Attributes, LargeClustersOptIn) {
  const LaunchConfig config{.grid = 32, .block = 32};
  if (kernel("cluster_ranks").max_cluster_size(config) < 16) {
    GTEST_SKIP() << "the device has no clusters of 16 blocks";
  }
  expect_ranks(32, 16);
  expect_ranks(32, 8);
  expect_ranks({16, 4}, {8, 2});
}

TEST_F(Attributes, ClustersOfTheImageNeedNoAttribute) {
  if (kernel("cluster_of_16").max_cluster_size({.grid = 32, .block = 32}) < 16) {
    GTEST_SKIP() << "the device has no clusters of 16 blocks";
  }
  expect_ranks_of("cluster_of_16", 32, 16);
  expect_ranks_of("cluster_of_16", 32, 16, {cluster(16)});
  expect_error(ErrorCode::kLimit, {"cluster_of_16", "(8, 1, 1)", "(16, 1, 1)"}, [&] {
    kernel("cluster_of_16").check({.grid = 32, .block = 32, .attributes = {cluster(8)}});
  });
}

// What Baton did not load is known by what the driver says of it.
TEST_F(Attributes, ForeignKernelsBringTheirClusters) {
  const Kernel large = kernel("cluster_of_16");
  const Kernel adopted[] = {Module::adopt(device(), module().native()).kernel("cluster_of_16"),
                            Kernel::adopt(device(), large.native()),
                            Kernel::adopt(device(), large.native_function())};
  const LaunchConfig odd{.grid = 24, .block = 32, .stream = stream()};
  for (const Kernel& foreign : adopted) {
    if (foreign.max_cluster_size({.grid = 32, .block = 32}) < 16) {
      GTEST_SKIP() << "the device has no clusters of 16 blocks";
    }
    const auto rank = zeros(32), size = zeros(32);
    foreign.launch({.grid = 32, .block = 32, .stream = stream()}, rank, size);
    stream().synchronize();
    EXPECT_EQ(size.download(), std::vector<unsigned>(32, 16));
    EXPECT_EQ(rank.download()[21], 5u);
    expect_error(ErrorCode::kDriver, {"clusters of (16, 1, 1)", "grid (24, 1, 1)"},
                 [&] { foreign.launch(odd, rank, size); });
  }
}

TEST_F(Attributes, OptInsThatOtherCodeLoweredAreTold) {
  const Kernel ranks = kernel("cluster_ranks");
  const LaunchConfig config{.block = 32, .shared = 100000, .stream = stream()};
  ranks.prepare(config);
  const auto out = zeros(1);
  // As code would that was handed the native function.
  Kernel::adopt(device(), ranks.native_function())
      .set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000);
  expect_error(ErrorCode::kDriver,
               {"allows 60000 bytes", "set the attribute 8 of the function to 100000"},
               [&] { ranks.launch(config, out, out); });
  ranks.set_attribute(8, 100000);
  ranks.launch(config, out, out);
  stream().synchronize();
}

TEST_F(Attributes, GridsCountBlocksAlsoWhereTheDriverCountsClusters) {
  if (device().driver_version() < 13000) GTEST_SKIP() << "__block_size__ needs CUDA 13";
  const Kernel counted = kernel("block_and_cluster");
  expect_ranks_of("block_and_cluster", 2, 2);
  expect_ranks_of("block_and_cluster", {6, 3, 2}, 2);
  expect_ranks_of("block_and_cluster", 8, 2, {cluster(2)});
  counted.check({.grid = 8, .block = 32, .attributes = {preferred_cluster(4)}});

  const LaunchConfig odd{.grid = 5, .block = 32, .stream = stream()};
  const auto rank = zeros(8), size = zeros(8);
  expect_error(ErrorCode::kLimit, {"block_and_cluster", "(5, 1, 1)", "(2, 1, 1)"},
               [&] { counted.launch(odd, rank, size); });
  DeviceAddress rank_at = rank.memory().address(), size_at = size.memory().address();
  void* arguments[] = {&rank_at, &size_at};
  EXPECT_NE(counted.launch_raw(odd, arguments), CUDA_SUCCESS);

  LaunchPlan plan =
      LaunchPlan::make(counted, {.grid = 2, .block = 32, .stream = stream()}, rank, size);
  plan.set_grid(8);
  plan.launch();
  stream().synchronize();
  EXPECT_EQ(size.download(), std::vector<unsigned>(8, 2));
}

TEST_F(Attributes, ClustersShareMemory) {
  for (const unsigned size : {1u, 2u, 4u, 8u}) {
    const auto sum = zeros(16);
    kernel("cluster_sum")
        .launch({.grid = 16, .block = 32, .stream = stream(), .attributes = {cluster(size)}}, sum);
    stream().synchronize();
    const auto got = sum.download();
    for (unsigned block = 0; block < 16; ++block) {
      const unsigned first = block / size * size;
      unsigned expected = 0;
      for (unsigned b = first; b < first + size; ++b) expected += b + 1;
      EXPECT_EQ(got[block], expected) << "cluster of " << size << ", block " << block;
    }
  }
}

TEST_F(Attributes, PreferredClustersKeepWholeClusters) {
  const auto sum = zeros(16);
  const LaunchConfig config{.grid = 16,
                            .block = 32,
                            .stream = stream(),
                            .attributes = {cluster(2), preferred_cluster(4)}};
  kernel("cluster_sum").launch(config, sum);
  stream().synchronize();
  for (const unsigned value : sum.download()) EXPECT_GT(value, 0u);
}

TEST_F(Attributes, ClustersThatDoNotFitAreToldWithBothNumbers) {
  const Kernel ranks = kernel("cluster_ranks");
  const auto refuse = [&](const LaunchConfig& config, auto... parts) {
    const auto out = zeros(64);
    expect_error(ErrorCode::kLimit, {"cluster_ranks", parts...},
                 [&] { ranks.launch(config, out, out); });
    expect_error(ErrorCode::kLimit, {"cluster_ranks", parts...}, [&] { ranks.check(config); });
  };
  refuse({.grid = 10, .block = 32, .attributes = {cluster(4)}}, "(10, 1, 1)", "(4, 1, 1)");
  refuse({.grid = Dim3(4, 3), .block = 32, .attributes = {cluster({2, 2})}}, "(4, 3, 1)");
  refuse({.grid = 64, .block = 32, .attributes = {cluster(64)}}, "64 blocks");
  refuse({.grid = 64, .block = 32, .attributes = {cluster({2, 0})}}, "(2, 0, 1)");
  refuse({.grid = 16, .block = 32, .attributes = {cluster(2), preferred_cluster(3)}}, "(3, 1, 1)",
         "(2, 1, 1)");
  refuse({.grid = 12, .block = 32, .attributes = {cluster(2), preferred_cluster(8)}}, "(8, 1, 1)",
         "(12, 1, 1)");
}

TEST_F(Attributes, ThatExcludeEachOtherAreToldSo) {
  const Kernel ranks = kernel("cluster_ranks");
  expect_error(ErrorCode::kInvalidInput, {"preferred_cluster", "cluster"},
               [&] { ranks.check({.grid = 4, .attributes = {preferred_cluster(2)}}); });
  expect_error(ErrorCode::kInvalidInput, {"preferred_cluster", "cooperative", "exclude"}, [&] {
    ranks.check({.grid = 4, .attributes = {cluster(2), preferred_cluster(4), cooperative()}});
  });
  expect_error(ErrorCode::kInvalidInput, {"synchronization_policy", "streams"}, [&] {
    ranks.check({.attributes = {LaunchAttribute(AttributeId::kSynchronizationPolicy, 1)}});
  });
}

TEST_F(Attributes, ThatTheDriverLacksNameTheVersion) {
  if (device().driver_version() >= 13020) GTEST_SKIP() << "the driver has them all";
  const Kernel ranks = kernel("cluster_ranks");
  expect_error(
      ErrorCode::kUnsupported, {"portable_cluster_size_mode", "CUDA 13.2", "CUDA 13.0"}, [&] {
        ranks.check({.attributes = {
                         portable_cluster_size_mode(PortableClusterSizeMode::kAllowNonPortable)}});
      });
  // Some values are newer than their attribute.
  expect_error(
      ErrorCode::kUnsupported, {"shared_memory_mode = prefer_oversized", "CUDA 13.4", "CUDA 13.0"},
      [&] {
        ranks.check({.attributes = {shared_memory_mode(SharedMemoryMode::kPreferOversized)}});
      });
}

TEST_F(Attributes, UnknownIdsAreTheDriversToRefuse) {
  const auto out = zeros(1);
  const DeviceAddress address = out.data().address;
  void* const arguments[] = {const_cast<DeviceAddress*>(&address),
                             const_cast<DeviceAddress*>(&address)};
  const LaunchAttribute unknown(AttributeId{40}, 1);
  const LaunchConfig config{.block = 32, .stream = stream()};
  const Kernel ranks = kernel("cluster_ranks");
  EXPECT_EQ(ranks.launch_raw(config, arguments, std::span(&unknown, 1)), CUDA_ERROR_INVALID_VALUE);
  expect_error(ErrorCode::kDriver, {"attribute 40 is not known to Baton", "cluster_ranks"}, [&] {
    ranks.launch({.block = 32, .stream = stream(), .attributes = {unknown}}, out, out);
  });
  EXPECT_EQ(ranks.launch_raw(config, arguments), CUDA_SUCCESS);
  stream().synchronize();
}

TEST_F(Attributes, ValuesBeyondTheDeviceAreToldWithBothNumbers) {
  const Kernel ranks = kernel("cluster_ranks");
  const auto refuse = [&](ErrorCode code, const LaunchAttribute& attribute, auto... parts) {
    const auto out = zeros(1);
    const LaunchConfig config{.block = 32, .stream = stream(), .attributes = {attribute}};
    expect_error(code, {"cluster_ranks", parts...}, [&] { ranks.launch(config, out, out); });
    expect_error(code, {"cluster_ranks", parts...}, [&] { ranks.check(config); });
  };
  const int domains = device().attribute(CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT);
  const std::string last = std::to_string(domains - 1), beyond = std::to_string(domains);
  refuse(ErrorCode::kLimit, mem_sync_domain_map(static_cast<std::uint8_t>(domains), 0),
         "mem_sync_domain_map.default is " + beyond, "at most " + last);
  const Memory memory(device(), 4096);
  const auto window = device().attribute(CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
  const std::size_t bytes = static_cast<std::size_t>(window) * 8;
  refuse(ErrorCode::kLimit,
         access_policy_window(memory.address(), bytes, 0.5f, AccessProperty::kPersisting,
                              AccessProperty::kNormal),
         std::to_string(bytes), "at most " + std::to_string(window));
  refuse(ErrorCode::kInvalidInput,
         cluster_scheduling_policy(static_cast<ClusterSchedulingPolicy>(9)),
         "cluster_scheduling_policy is 9", "spread");
}

TEST_F(Attributes, CooperativeGridsMeetAtABarrier) {
  for (const unsigned blocks : {1u, 2u, 16u, 100u}) {
    expect_grid_sum(
        {.grid = blocks, .block = 64, .stream = stream(), .attributes = {cooperative()}});
  }
}

TEST_F(Attributes, TheLargestCooperativeGridFitsAndOneMoreDoesNot) {
  LaunchConfig config{.block = 1024, .stream = stream(), .attributes = {cooperative()}};
  const Kernel sum = kernel("grid_sum");
  const std::uint64_t largest = sum.max_cooperative_blocks(config);
  ASSERT_GE(largest, device().limits().multiprocessors);
  EXPECT_EQ(largest, std::uint64_t{sum.blocks_per_multiprocessor(config)} *
                         device().limits().multiprocessors);
  config.grid = largest;
  EXPECT_NO_THROW(sum.check(config));
  expect_grid_sum(config);
  config.grid = largest + 1;
  const std::string has = std::to_string(largest + 1), fits = std::to_string(largest);
  expect_error(ErrorCode::kLimit, {"cooperative", has, fits}, [&] { sum.check(config); });
  expect_error(ErrorCode::kLimit, {"cooperative", has, fits}, [&] { expect_grid_sum(config); });
}

TEST_F(Attributes, PdlCooperativeAndClusterGoTogether) {
  const auto values = zeros(16), sum = zeros(16);
  const LaunchConfig config{.grid = 16,
                            .block = 64,
                            .stream = stream(),
                            .attributes = {pdl(), cooperative(), cluster(4)}};
  kernel("everything").launch(config, values, sum);
  kernel("everything").launch(config, values, sum);
  stream().synchronize();
  EXPECT_EQ(sum.download(), std::vector<unsigned>(16, 64));
}

TEST_F(Attributes, OccupancyIsOneCallEach) {
  const Kernel ranks = kernel("cluster_ranks");
  const LaunchConfig config{.grid = 64, .block = 1024};
  EXPECT_EQ(ranks.blocks_per_multiprocessor(config), 2u);
  EXPECT_EQ(ranks.blocks_per_multiprocessor({.block = 1024, .shared = 200000}), 1u);
  const std::uint32_t pairs =
      ranks.max_active_clusters({.grid = 64, .block = 1024, .attributes = {cluster(2)}});
  EXPECT_GT(pairs, 0u);
  EXPECT_LE(pairs, device().limits().multiprocessors);
  EXPECT_GE(ranks.max_cluster_size(config), 8u);
}

TEST_F(Attributes, WorkOnTheDefaultStreams) {
  const auto rank = zeros(4), size = zeros(4);
  const LaunchAttributes two{cluster(2)};
  kernel("cluster_ranks").launch({.grid = 4, .block = 32, .attributes = two}, rank, size);
  const Stream legacy = Stream::adopt(device(), CU_STREAM_LEGACY);
  const Stream own = Stream::adopt(device(), CU_STREAM_PER_THREAD);
  kernel("cluster_ranks")
      .launch({.grid = 4, .block = 32, .stream = legacy, .attributes = two}, rank, size);
  kernel("cluster_ranks")
      .launch({.grid = 4, .block = 32, .stream = own, .attributes = two}, rank, size);
  EXPECT_EQ(size.download(), std::vector<unsigned>(4, 2));
}

}  // namespace
}  // namespace baton::conformance::attribute_test
