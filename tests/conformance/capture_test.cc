// Launches into streams that are captured: every mode, first launches among them. Capture is the
// driver's own business, so the tests call the driver that the device was opened with.

#include <cuda.h>

#include <cstring>
#include <functional>

#include "conformance/conformance.h"
#include "driver/driver.h"
#include "launch/attribute_table.h"
#include "runtime/context.h"

namespace baton::conformance::capture_test {
namespace {

class Capture : public Conformance {
 protected:
  void SetUp() override {
    Conformance::SetUp();
    if (IsSkipped()) return;
    stream_.emplace(device());
    module_.emplace(load("attributes.cu"));
  }

  const Stream& stream() const { return *stream_; }
  Kernel kernel(std::string_view name) const { return module_->kernel(name); }
  Buffer<unsigned> zeros(std::size_t count) const {
    return Buffer<unsigned>::of(device(), std::vector<unsigned>(count));
  }

  // Captures what `work` launches, and runs the graph `times`. Gives the number of its nodes, and
  // each of them to `look`.
  template <typename Work>
  std::size_t replay(CUstreamCaptureMode mode, int times, Work work,
                     const std::function<void(CUgraphNode)>& look = {}) {
    const driver::Driver& driver = device().driver();
    EXPECT_EQ(driver.cuStreamBeginCapture(stream().native(), mode), CUDA_SUCCESS);
    work();
    CUgraph graph = nullptr;
    EXPECT_EQ(driver.cuStreamEndCapture(stream().native(), &graph), CUDA_SUCCESS);
    if (graph == nullptr) return 0;
    const ContextGuard guard(device());  // which instantiating a graph needs, and capture does not
    std::size_t count = 0;
    EXPECT_EQ(driver.cuGraphGetNodes(graph, nullptr, &count), CUDA_SUCCESS);
    std::vector<CUgraphNode> nodes(look ? count : 0);
    if (look) {
      EXPECT_EQ(driver.cuGraphGetNodes(graph, nodes.data(), &count), CUDA_SUCCESS);
    }
    for (CUgraphNode node : nodes) look(node);
    CUgraphExec exec = nullptr;
    EXPECT_EQ(driver.cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    for (int i = 0; i < times; ++i) {
      EXPECT_EQ(driver.cuGraphLaunch(exec, stream().native()), CUDA_SUCCESS);
    }
    stream().synchronize();
    driver.cuGraphExecDestroy(exec);
    driver.cuGraphDestroy(graph);
    return count;
  }

 private:
  std::optional<Stream> stream_;
  std::optional<Module> module_;
};

constexpr CUstreamCaptureMode kModes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                          CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                          CU_STREAM_CAPTURE_MODE_RELAXED};

TEST_F(Capture, TakesPreparedLaunchesInEveryMode) {
  for (const CUstreamCaptureMode mode : kModes) {
    const auto data = zeros(100);
    const Kernel step = kernel("step");
    const LaunchConfig config{.block = 128, .stream = stream(), .attributes = {pdl()}};
    step.prepare(config);
    const std::size_t nodes = replay(mode, 2, [&] {
      for (int i = 0; i < 5; ++i) step.launch(config, data, 100u);
    });
    EXPECT_EQ(nodes, 5u);
    EXPECT_EQ(data.download()[99], 29524u);
  }
}

// Takes memory from the driver, as pools of others do.
class DriverMemory : public Allocator {
 public:
  DeviceAddress allocate(const Device& device, std::size_t bytes) override {
    CUdeviceptr address = 0;
    EXPECT_EQ(device.driver().cuMemAlloc(&address, bytes), CUDA_SUCCESS);
    return address;
  }
  // The pool keeps the memory.
  void free(const Device&, DeviceAddress address, std::size_t) noexcept override {
    freed.push_back(address);
  }
  std::vector<DeviceAddress> freed;
};

// The capture has no part in it, and goes on.
TEST_F(Capture, MemoryComesAndGoesInEveryMode) {
  for (const CUstreamCaptureMode mode : kModes) {
    SCOPED_TRACE(mode);
    const auto data = zeros(100);
    const Stream other(device());
    const auto pool = std::make_shared<DriverMemory>();
    std::optional<Memory> plain(std::in_place, device(), 4096);
    std::optional<Memory> ordered(Memory::in_order(stream(), 4096));
    std::optional<Memory> beside(Memory::in_order(other, 4096));
    std::optional<Memory> pooled(std::in_place, device(), 4096, pool);
    std::optional<PinnedMemory> pinned(std::in_place, device(), 4096);
    std::optional<Module> module = load("attributes.cu");
    const LaunchConfig config{.block = 128, .stream = stream()};
    plain->fill(0, 1, 4096, 0, other);
    const std::size_t nodes = replay(mode, 2, [&] {
      kernel("step").launch(config, data, 100u);
      plain.reset();
      ordered.reset();
      beside.reset();
      pooled.reset();
      pinned.reset();
      module.reset();
      const Memory again(device(), 4096);
      const PinnedMemory host(device(), 4096);
      kernel("step").launch(config, data, 100u);
    });
    EXPECT_EQ(nodes, 2u);
    EXPECT_EQ(data.download()[99], 40u);
    ASSERT_EQ(pool->freed.size(), 1u);
    const ContextGuard guard(device());
    EXPECT_EQ(device().driver().cuMemFree(pool->freed[0]), CUDA_SUCCESS);
  }
}

// What a capture allocates is part of its graph, and so is its end.
TEST_F(Capture, MemoryOfACaptureEndsInIt) {
  const auto data = zeros(100);
  const LaunchConfig config{.block = 128, .stream = stream()};
  const std::size_t nodes = replay(CU_STREAM_CAPTURE_MODE_GLOBAL, 2, [&] {
    const Memory own = Memory::in_order(stream(), 400);
    kernel("step").launch(config, data, 100u);
  });
  EXPECT_EQ(nodes, 3u);
}

// A kernel's first launch resolves it and raises its opt-ins: none of that harms a capture.
TEST_F(Capture, TakesFirstLaunchesInEveryMode) {
  for (const CUstreamCaptureMode mode : kModes) {
    const auto out = zeros(32), size = zeros(32);
    const Kernel ranks = load("attributes.cu").kernel("cluster_ranks");
    const std::size_t nodes = replay(mode, 1, [&] {
      ranks.launch({.grid = 32,
                    .block = 32,
                    .shared = 100000,
                    .stream = stream(),
                    .attributes = {cluster(16)}},
                   out, size);
    });
    EXPECT_EQ(nodes, 1u);
    EXPECT_EQ(size.download(), std::vector<unsigned>(32, 16));
  }
}

// Whatever a launch asks for, and whichever way it takes, it may be its kernel's first one.
TEST_F(Capture, TakesFirstLaunchesOfEveryKind) {
  const LaunchAttributes kinds[] = {{},
                                    {pdl()},
                                    {cooperative()},
                                    {cluster(4)},
                                    {pdl(), cooperative(), cluster(4)},
                                    {cluster(2), preferred_cluster(4)},
                                    {priority(-1), preferred_shared_memory_carveout(50)}};
  for (const LaunchAttributes& attributes : kinds) {
    SCOPED_TRACE(attributes.empty() ? "none" : attributes.all().back().name());
    const auto out = zeros(16), size = zeros(16);
    const unsigned expected =
        attributes.cluster() ? static_cast<unsigned>(attributes.cluster()->count()) : 1;
    const LaunchConfig config{
        .grid = 16, .block = 32, .stream = stream(), .attributes = attributes, .force_pdl = true};
    const auto expect = [&](auto launch) {
      const Kernel ranks = load("attributes.cu").kernel("cluster_ranks");
      EXPECT_EQ(replay(CU_STREAM_CAPTURE_MODE_GLOBAL, 2, [&] { launch(ranks); }), 1u);
      // A preferred cluster may be taken in the place of the other.
      for (const unsigned blocks : size.download()) EXPECT_EQ(blocks % expected, 0u);
    };
    expect([&](const Kernel& ranks) { ranks.launch(config, out, size); });
    expect([&](const Kernel& ranks) { LaunchPlan::make(ranks, config, out, size).launch(); });
    expect([&](const Kernel& ranks) {
      DeviceAddress addresses[] = {out.memory().address(), size.memory().address()};
      void* const arguments[] = {&addresses[0], &addresses[1]};
      EXPECT_EQ(ranks.launch_raw(config, arguments), CUDA_SUCCESS);
    });
  }
}

// What the table says a graph keeps, the driver gives back byte for byte; what becomes an edge is
// not an attribute of the node.
TEST_F(Capture, NodesKeepWhatTheTableSays) {
  const Memory window(device(), 4096);
  const LaunchAttributes kinds[] = {
      {cluster(4)},
      {cluster(2), cluster_scheduling_policy(ClusterSchedulingPolicy::kLoadBalancing)},
      {cooperative()},
      {priority(-1)},
      {mem_sync_domain(MemSyncDomain::kRemote)},
      {mem_sync_domain_map(1, 0)},
      {access_policy_window(window.address(), 4096, 0.5f, AccessProperty::kPersisting,
                            AccessProperty::kStreaming)},
      {preferred_shared_memory_carveout(50)},
      {nvlink_util_centric_scheduling()},
      {cluster(2), preferred_cluster(4)},
      {pdl()},
  };
  const driver::Driver& driver = device().driver();
  for (const LaunchAttributes& attributes : kinds) {
    const auto out = zeros(16), size = zeros(16);
    const LaunchConfig config{
        .grid = 16, .block = 32, .stream = stream(), .attributes = attributes, .force_pdl = true};
    const auto look = [&](CUgraphNode node) {
      for (const LaunchAttribute& attribute : attributes.all()) {
        SCOPED_TRACE(attribute.name());
        const launch::AttributeRow& row = *launch::find_row(attribute.id());
        CUlaunchAttributeValue kept;
        const CUresult result = driver.cuGraphKernelNodeGetAttribute(
            node, static_cast<CUlaunchAttributeID>(attribute.id()), &kept);
        const bool is_told = attribute.id() != AttributeId::kPreferredCluster &&
                             attribute.id() != AttributeId::kNvlinkUtilCentricScheduling;
        EXPECT_EQ(result == CUDA_SUCCESS, is_told && row.graph == launch::GraphUse::kNode)
            << result;
        if (result != CUDA_SUCCESS) continue;
        for (const launch::AttributeField& field : row.fields) {
          const auto* got = reinterpret_cast<const std::byte*>(&kept) + field.offset;
          const std::byte* given = attribute.value().data() + field.offset;
          EXPECT_EQ(std::memcmp(got, given, field.size), 0) << field.name;
        }
      }
    };
    replay(
        CU_STREAM_CAPTURE_MODE_GLOBAL, 1,
        [&] { kernel("cluster_ranks").launch(config, out, size); }, look);
  }
}

TEST_F(Capture, TakesCooperativeLaunchesAndPlans) {
  const auto values = zeros(16), sum = zeros(16);
  LaunchPlan plan = LaunchPlan::make(
      kernel("grid_sum"),
      {.grid = 16, .block = 64, .stream = stream(), .attributes = {cooperative()}}, values, sum);
  EXPECT_EQ(replay(CU_STREAM_CAPTURE_MODE_GLOBAL, 3, [&] { plan.launch(); }), 1u);
  EXPECT_EQ(sum.download(), std::vector<unsigned>(16, 136));
}

TEST_F(Capture, GivesBackTheHandleOfAnUpdatableNode) {
  const auto data = zeros(100);
  const LaunchConfig config{
      .block = 128, .stream = stream(), .attributes = {device_updatable_node()}};
  LaunchResult result;
  replay(CU_STREAM_CAPTURE_MODE_GLOBAL, 1,
         [&] { result = kernel("step").launch(config, data, 100u); });
  EXPECT_NE(result.device_node, nullptr);
  LaunchPlan plan = LaunchPlan::make(kernel("step"), config, data, 100u);
  LaunchResult planned;
  replay(CU_STREAM_CAPTURE_MODE_GLOBAL, 1, [&] { planned = plan.launch(); });
  EXPECT_NE(planned.device_node, nullptr);
  expect_error(ErrorCode::kUnsupported, {"captured"},
               [&] { kernel("step").launch(config, data, 100u); });
}

}  // namespace
}  // namespace baton::conformance::capture_test
