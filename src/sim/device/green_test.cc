// Green contexts: parts of a device's multiprocessors (SMs).

#include <algorithm>
#include <set>

#include "sim/testing/driver_test.h"

namespace baton::sim::green_test {
namespace {

constexpr const char* kKernels = R"(
.version 8.0
.target sm_80
.address_size 64

// to[%ctaid.x] = %smid, for blocks that stay until all of them have come: *count of them.
.visible .entry place(.param .u64 to, .param .u64 count) {
  .reg .pred %p1;
  .reg .b32 %r<6>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [to];
  ld.param.u64 %d3, [count];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %smid;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d1, %d1, %d2;
  st.global.u32 [%d1], %r2;
  atom.global.add.u32 %r3, [%d3], 1;
wait:
  ld.relaxed.gpu.global.u32 %r5, [%d3];
  setp.lt.u32 %p1, %r5, %r4;
  @%p1 bra wait;
  ret;
}
)";

class GreenTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    if (driver.cuGreenCtxStreamCreate == nullptr) GTEST_SKIP() << "the driver has no such entries";
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
  }
  // A green context that is left would keep the device's primary context alive for the next test.
  void TearDown() override {
    for (const CUstream stream : streams_) driver.cuStreamDestroy(stream);
    for (const CUgreenCtx green : greens_) driver.cuGreenCtxDestroy(green);
    DriverTest::TearDown();
  }

  std::vector<CUdevResource> split(unsigned least, CUdevResource* rest = nullptr) {
    unsigned count = 0;
    EXPECT_RESULT(CUDA_SUCCESS,
                  driver.cuDevSmResourceSplitByCount(nullptr, &count, &all, nullptr, 0, least));
    std::vector<CUdevResource> groups(count);
    EXPECT_RESULT(CUDA_SUCCESS,
                  driver.cuDevSmResourceSplitByCount(groups.data(), &count, &all, rest, 0, least));
    EXPECT_EQ(count, groups.size());
    return groups;
  }

  CUresult describe(std::vector<CUdevResource> parts, CUdevResourceDesc* descriptor) {
    return driver.cuDevResourceGenerateDesc(descriptor, parts.data(),
                                            static_cast<unsigned>(parts.size()));
  }

  CUgreenCtx make_green(const std::vector<CUdevResource>& parts) {
    CUdevResourceDesc descriptor = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, describe(parts, &descriptor));
    CUgreenCtx green = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS,
                  driver.cuGreenCtxCreate(&green, descriptor, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    greens_.push_back(green);
    return green;
  }

  CUresult destroy(CUgreenCtx green) {
    std::erase(greens_, green);
    return driver.cuGreenCtxDestroy(green);
  }
  CUresult destroy(CUstream stream) {
    std::erase(streams_, stream);
    return driver.cuStreamDestroy(stream);
  }

  unsigned sms_of(CUgreenCtx green) {
    CUdevResource resource{};
    EXPECT_RESULT(CUDA_SUCCESS,
                  driver.cuGreenCtxGetDevResource(green, &resource, CU_DEV_RESOURCE_TYPE_SM));
    return resource.sm.smCount;
  }

  CUstream make_stream_in(CUgreenCtx green) {
    CUstream stream = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS,
                  driver.cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    streams_.push_back(stream);
    return stream;
  }

  // The SMs of so many blocks of 1024 threads, of which an SM holds two.
  std::set<unsigned> run(CUstream stream, unsigned blocks) {
    CUdeviceptr to = allocate(4 * blocks);
    CUdeviceptr count = upload<unsigned>({0});
    EXPECT_RESULT(CUDA_SUCCESS, launch(place, stream, {&to, &count}, blocks, 1024));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
    const std::vector<unsigned> sms = download<unsigned>(to, blocks);
    return {sms.begin(), sms.end()};
  }

  static bool are_disjoint(const std::set<unsigned>& a, const std::set<unsigned>& b) {
    return std::ranges::none_of(a, [&](unsigned sm) { return b.contains(sm); });
  }

  CUdevResource all{};
  CUkernel place = kernel(load(kKernels), "place");

 private:
  std::vector<CUgreenCtx> greens_;
  std::vector<CUstream> streams_;
};

TEST_F(GreenTest, PartsOfOneSplitRunSideBySideOnTheirSms) {
  std::vector<CUdevResource> groups = split(8);
  ASSERT_GE(groups.size(), 4u);
  const unsigned each = groups[0].sm.smCount;
  const CUgreenCtx small = make_green({groups[0]});
  const CUgreenCtx large = make_green({groups[1], groups[2], groups[3]});
  EXPECT_EQ(sms_of(small), each);
  EXPECT_EQ(sms_of(large), 3 * each);
  const CUstream streams[] = {make_stream_in(small), make_stream_in(large)};
  const std::set<unsigned> first = run(streams[0], 2 * each);
  const std::set<unsigned> second = run(streams[1], 6 * each);
  EXPECT_EQ(first.size(), each);
  EXPECT_EQ(second.size(), 3 * each);
  EXPECT_TRUE(are_disjoint(first, second));
  for (const CUstream stream : streams) {
    EXPECT_RESULT(CUDA_SUCCESS, destroy(stream));
  }
  EXPECT_RESULT(CUDA_SUCCESS, destroy(small));
  EXPECT_RESULT(CUDA_SUCCESS, destroy(large));
}

TEST_F(GreenTest, AKernelNodeTakesTheContextThatItIsGiven) {
  const std::vector<CUdevResource> groups = split(8);
  const unsigned blocks = groups[0].sm.smCount;
  const CUgreenCtx green = make_green({groups[1]});
  const CUstream stream = make_stream_in(green);
  const std::set<unsigned> own = run(stream, blocks);
  CUdeviceptr to = allocate(4 * blocks);
  CUdeviceptr count = upload<unsigned>({0});
  void* params[] = {&to, &count};
  CUDA_KERNEL_NODE_PARAMS node_params{};
  node_params.kern = place;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxFromGreenCtx(&node_params.ctx, green));
  node_params.gridDimX = blocks;
  node_params.blockDimX = 1024;
  node_params.gridDimY = node_params.gridDimZ = node_params.blockDimY = node_params.blockDimZ = 1;
  node_params.kernelParams = params;
  CUgraph graph = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphCreate(&graph, 0));
  CUgraphNode node = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphAddKernelNode(&node, graph, nullptr, 0, &node_params));
  CUgraphExec exec = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphInstantiateWithFlags(&exec, graph, 0));
  // The stream is on the whole device; the node is not.
  const CUstream whole = make_stream();
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, whole));
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(whole));
    for (const unsigned sm : download<unsigned>(to, blocks)) EXPECT_TRUE(own.contains(sm)) << sm;
    count = upload<unsigned>({0});
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphExecKernelNodeSetParams(exec, node, &node_params));
  }
}

TEST_F(GreenTest, AStreamTellsItsGreenContext) {
  const CUgreenCtx green = make_green({split(8)[0]});
  const CUstream stream = make_stream_in(green);
  const CUstream plain = make_stream();
  CUgreenCtx told = nullptr;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamGetGreenCtx(stream, &told));
  EXPECT_EQ(told, green);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamGetGreenCtx(plain, &told));
  EXPECT_EQ(told, nullptr);
  CUcontext own = nullptr;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamGetCtx(stream, &own));
  EXPECT_NE(own, context);
  // A stream that is made while a green context is current is in it.
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxPushCurrent(own));
  const CUstream inside = make_stream();
  CUdevice device = 1;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxGetDevice(&device));
  EXPECT_EQ(device, 0);
  CUcontext popped = nullptr;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxPopCurrent(&popped));
  EXPECT_EQ(popped, own);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamGetGreenCtx(inside, &told));
  EXPECT_EQ(told, green);
}

TEST_F(GreenTest, EventsOrderStreamsOfDifferentContexts) {
  const std::vector<CUdevResource> groups = split(8);
  const CUstream first = make_stream_in(make_green({groups[0]}));
  const CUstream second = make_stream_in(make_green({groups[1]}));
  const CUdeviceptr memory = upload<unsigned>({1, 2});
  const CUevent event = make_event();
  Gate gate;
  ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, first));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(memory, 7, 1, first));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, first));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuStreamWaitEvent(second, event, 0));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuMemcpyDtoDAsync(memory + 4, memory, 4, second));
  gate.open();
  EXPECT_EQ(download<unsigned>(memory, 2, second)[1], 7u);
}

TEST_F(GreenTest, RefusesWhatIsNotOneSplit) {
  CUdevResource rest{};
  const std::vector<CUdevResource> groups = split(8, &rest);
  const std::vector<CUdevResource> others = split(8);
  CUdevResourceDesc descriptor = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                describe({groups[0], others[1]}, &descriptor));
  if (rest.type == CU_DEV_RESOURCE_TYPE_SM) {
    EXPECT_RESULT(CUDA_SUCCESS, describe({groups[0], rest}, &descriptor));
  }
  unsigned count = 1;
  CUdevResource again{};
  EXPECT_RESULT(CUDA_ERROR_INVALID_RESOURCE_TYPE,
                driver.cuDeviceGetDevResource(0, &again, CU_DEV_RESOURCE_TYPE_INVALID));
  EXPECT_RESULT(
      CUDA_ERROR_INVALID_VALUE,
      driver.cuDevSmResourceSplitByCount(&again, &count, &all, nullptr, 0, all.sm.smCount + 1));
}

TEST_F(GreenTest, RefusesWhatTheDriverLeavesUndefined) {
  SIMULATED_ONLY();
  const std::vector<CUdevResource> groups = split(8);
  CUdevResourceDesc descriptor = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                describe({groups[0], groups[0]}, &descriptor));
  unsigned count = 1;
  CUdevResource again{};
  EXPECT_RESULT(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                driver.cuDevSmResourceSplitByCount(&again, &count, &groups[0], nullptr, 0, 8));
  const CUgreenCtx green = make_green({groups[0]});
  const CUstream stream = make_stream_in(green);
  CUstream other = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuGreenCtxStreamCreate(&other, green, 0, 0));
  EXPECT_RESULT(CUDA_SUCCESS, destroy(green));
  EXPECT_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, driver.cuStreamSynchronize(stream));
  EXPECT_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, destroy(stream));
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, destroy(green));
}

TEST_F(GreenTest, ACooperativeGridHasToFitIntoItsPart) {
  const std::vector<CUdevResource> groups = split(8);
  const unsigned each = groups[0].sm.smCount;
  const CUstream stream = make_stream_in(make_green({groups[0]}));
  CUdeviceptr to = allocate(4 * 3 * each);
  const auto launch_cooperative = [&](unsigned blocks) {
    CUdeviceptr count = upload<unsigned>({0});
    void* params[] = {&to, &count};
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    attribute.value.cooperative = 1;
    CUlaunchConfig config{};
    config.gridDimX = blocks;
    config.blockDimX = 1024;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    const CUresult result =
        driver.cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(place), params, nullptr);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
    return result;
  };
  EXPECT_RESULT(CUDA_SUCCESS, launch_cooperative(2 * each));
  EXPECT_RESULT(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, launch_cooperative(2 * each + 1));
}

}  // namespace
}  // namespace baton::sim::green_test
