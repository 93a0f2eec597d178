// Launch attributes, with the answers of an H200 (driver 580.159).

#include <cstring>
#include <functional>
#include <utility>

#include "sim/testing/driver_test.h"
#include "sim/testing/test_kernels.h"

namespace baton::sim::attributes_test {
namespace {

using Value = CUlaunchAttributeValue;

class AttributesTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    library = load(kTestKernels);
    stream = make_stream();
    event = make_event(CU_EVENT_DISABLE_TIMING);
    timed = make_event();
  }

  static CUlaunchAttribute attribute(int id, const std::function<void(Value&)>& fill = {}) {
    CUlaunchAttribute made;
    std::memset(&made, 0, sizeof made);
    made.id = static_cast<CUlaunchAttributeID>(id);
    if (fill) fill(made.value);
    return made;
  }
  static CUlaunchAttribute cluster(unsigned x, unsigned y = 1, unsigned z = 1) {
    return attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, [&](Value& value) {
      value.clusterDim.x = x;
      value.clusterDim.y = y;
      value.clusterDim.z = z;
    });
  }
  static CUlaunchAttribute preferred(unsigned x) {
    return attribute(CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, [&](Value& value) {
      value.preferredClusterDim.x = x;
      value.preferredClusterDim.y = value.preferredClusterDim.z = 1;
    });
  }
  static CUlaunchAttribute cooperative(int on = 1) {
    return attribute(CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                     [&](Value& value) { value.cooperative = on; });
  }
  static CUlaunchAttribute dependent(int on = 1) {
    return attribute(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                     [&](Value& value) { value.programmaticStreamSerializationAllowed = on; });
  }
  static CUlaunchAttribute programmatic_event(CUevent recorded, int flags = 0) {
    return attribute(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, [&](Value& value) {
      value.programmaticEvent.event = recorded;
      value.programmaticEvent.flags = flags;
    });
  }
  static CUlaunchAttribute completion_event(CUevent recorded) {
    return attribute(CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
                     [&](Value& value) { value.launchCompletionEvent.event = recorded; });
  }

  std::string launch_with(std::vector<CUlaunchAttribute> attributes, const char* name = "empty",
                          unsigned grid = 64, unsigned block = 32, void** params = nullptr) {
    CUlaunchConfig config{};
    config.gridDimX = grid;
    config.blockDimX = block;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream;
    config.attrs = attributes.data();
    config.numAttrs = static_cast<unsigned>(attributes.size());
    const auto entry = reinterpret_cast<CUfunction>(kernel(library, name));
    return name_of(driver.cuLaunchKernelEx(&config, entry, params, nullptr));
  }

  CUlibrary library = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUevent timed = nullptr;
};

constexpr char kOk[] = "CUDA_SUCCESS";
constexpr char kBadValue[] = "CUDA_ERROR_INVALID_VALUE";
constexpr char kBadCluster[] = "CUDA_ERROR_INVALID_CLUSTER_SIZE";
constexpr char kNotSupported[] = "CUDA_ERROR_NOT_SUPPORTED";

TEST_F(AttributesTest, OnlyThoseOfLaunchesAreKnown) {
  EXPECT_EQ(launch_with({attribute(CU_LAUNCH_ATTRIBUTE_IGNORE)}), kOk);
  EXPECT_EQ(launch_with({attribute(CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY)}), kBadValue);
  for (const int id : {15, 17, 18, 19, 20, 40, -1}) {
    EXPECT_EQ(launch_with({attribute(id)}), kBadValue) << id;
  }
}

TEST_F(AttributesTest, ValuesAreHeldAgainstTheirRanges) {
  const auto carveout = [&](unsigned percent) {
    return launch_with({attribute(CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                  [&](Value& value) { value.sharedMemCarveout = percent; })});
  };
  EXPECT_EQ(carveout(0), kOk);
  EXPECT_EQ(carveout(100), kOk);
  EXPECT_EQ(carveout(101), kBadValue);
  EXPECT_EQ(carveout(static_cast<unsigned>(-1)), kBadValue);
  const auto policy = [&](int number) {
    return launch_with(
        {attribute(CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, [&](Value& value) {
          std::memcpy(&value.clusterSchedulingPolicyPreference, &number, sizeof number);
        })});
  };
  EXPECT_EQ(policy(0), kOk);
  EXPECT_EQ(policy(2), kOk);
  EXPECT_EQ(policy(3), kBadValue);
  EXPECT_EQ(policy(-1), kBadValue);
  const auto domain = [&](int number) {
    return launch_with({attribute(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, [&](Value& value) {
      std::memcpy(&value.memSyncDomain, &number, sizeof number);
    })});
  };
  EXPECT_EQ(domain(1), kOk);
  EXPECT_EQ(domain(2), kBadValue);
  const auto map = [&](unsigned char first, unsigned char second) {
    return launch_with({attribute(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, [&](Value& value) {
      value.memSyncDomainMap.default_ = first;
      value.memSyncDomainMap.remote = second;
    })});
  };
  EXPECT_EQ(map(3, 0), kOk);
  EXPECT_EQ(map(4, 0), kBadValue);
  EXPECT_EQ(map(16, 0), kBadValue);
  const auto priority = [&](int number) {
    return launch_with(
        {attribute(CU_LAUNCH_ATTRIBUTE_PRIORITY, [&](Value& value) { value.priority = number; })});
  };
  for (const int number : {-100, -5, 0, 1, 100}) EXPECT_EQ(priority(number), kOk) << number;
  const auto nvlink = [&](unsigned on) {
    return launch_with({attribute(CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
                                  [&](Value& value) { value.nvlinkUtilCentricScheduling = on; })});
  };
  EXPECT_EQ(nvlink(1), kOk);
  EXPECT_EQ(nvlink(2), kBadValue);
  for (const int on : {2, -1}) {
    EXPECT_EQ(launch_with({cooperative(on)}), kOk);
    EXPECT_EQ(launch_with({dependent(on)}), kOk);
  }
  EXPECT_EQ(launch_with({attribute(
                CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
                [](Value& value) { value.deviceUpdatableKernelNode.deviceUpdatable = 1; })}),
            kNotSupported);
}

TEST_F(AttributesTest, AccessPolicyWindows) {
  const CUdeviceptr memory = allocate(4096);
  const auto window = [&](std::size_t bytes, float ratio, CUaccessProperty miss) {
    return launch_with({attribute(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, [&](Value& value) {
      value.accessPolicyWindow.base_ptr = reinterpret_cast<void*>(memory);
      value.accessPolicyWindow.num_bytes = bytes;
      value.accessPolicyWindow.hitRatio = ratio;
      value.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_PERSISTING;
      value.accessPolicyWindow.missProp = miss;
    })});
  };
  EXPECT_EQ(window(4096, 1, CU_ACCESS_PROPERTY_STREAMING), kOk);
  EXPECT_EQ(window(4096, -0.1f, CU_ACCESS_PROPERTY_STREAMING), kBadValue);
  EXPECT_EQ(window(4096, 1.1f, CU_ACCESS_PROPERTY_STREAMING), kBadValue);
  EXPECT_EQ(window(4096, 1, CU_ACCESS_PROPERTY_PERSISTING), kBadValue);
  EXPECT_EQ(window(std::size_t{1} << 30, 1, CU_ACCESS_PROPERTY_STREAMING), kBadValue);
}

TEST_F(AttributesTest, EventsAreRecorded) {
  EXPECT_EQ(launch_with({programmatic_event(nullptr)}), "CUDA_ERROR_INVALID_HANDLE");
  EXPECT_EQ(launch_with({programmatic_event(timed)}), kNotSupported);
  EXPECT_EQ(launch_with({completion_event(timed)}), kNotSupported);
  EXPECT_EQ(launch_with({programmatic_event(event, 1)}), "CUDA_ERROR_ILLEGAL_STATE");
  // A stream that waits for the event sees what the grid wrote.
  for (const auto& make : {+[](CUevent e) { return programmatic_event(e); },
                           +[](CUevent e) { return completion_event(e); }}) {
    CUdeviceptr out = upload(std::vector<int>{0});
    int value = 5;
    void* params[] = {&out, &value};
    ASSERT_EQ(launch_with({make(event)}, "store", 1, 1, params), kOk);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventSynchronize(event));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventQuery(event));
  }
}

TEST_F(AttributesTest, ClusterSizesAreLimited) {
  const std::pair<CUlaunchAttribute, const char*> cases[] = {
      {cluster(0), kBadCluster},   {cluster(1), kOk},
      {cluster(3), kBadCluster},   {cluster(8), kOk},
      {cluster(9), kBadCluster},   {cluster(16), kBadCluster},
      {cluster(32), kBadCluster},  {cluster(1, 1, 0), kBadCluster},
      {cluster(1, 2), kBadCluster}};
  for (const auto& [each, want] : cases) {
    const auto& dim = each.value.clusterDim;
    EXPECT_EQ(launch_with({each}), want) << dim.x << ", " << dim.y << ", " << dim.z;
  }
  EXPECT_EQ(launch_with({cluster(2), cluster(2)}), kOk);
  CUfunction function = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuKernelGetFunction(&function, kernel(library, "empty")));
  ASSERT_RESULT(CUDA_SUCCESS,
                driver.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1,
                                            kernel(library, "empty"), 0));
  EXPECT_EQ(launch_with({cluster(16)}), kOk);
  EXPECT_EQ(launch_with({cluster(32)}), kBadCluster);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
}

TEST_F(AttributesTest, PreferredClustersAreMultiples) {
  EXPECT_EQ(launch_with({preferred(4)}), kBadCluster);
  EXPECT_EQ(launch_with({cluster(2), preferred(1)}), kBadCluster);
  EXPECT_EQ(launch_with({cluster(2), preferred(2)}), kOk);
  EXPECT_EQ(launch_with({cluster(2), preferred(3)}), kBadCluster);
  EXPECT_EQ(launch_with({preferred(16), cluster(2)}), kOk);
  EXPECT_EQ(launch_with({preferred(32), cluster(4)}), kOk);  // beyond what a device has
  EXPECT_EQ(launch_with({cluster(2), preferred(4), cooperative(), dependent()}), kNotSupported);
  EXPECT_EQ(launch_with({cooperative(), preferred(4)}), kBadCluster);
}

TEST_F(AttributesTest, TheImagesClusterCounts) {
  EXPECT_EQ(launch_with({}, "paired"), kOk);
  EXPECT_EQ(launch_with({cluster(1)}, "paired"), kBadCluster);
  EXPECT_EQ(launch_with({cluster(2)}, "paired"), kOk);
  EXPECT_EQ(launch_with({cluster(4)}, "paired"), kBadCluster);
  EXPECT_EQ(launch_with({}, "paired", 3), kBadCluster);
}

TEST_F(AttributesTest, CooperativeGridsMustBeResident) {
  EXPECT_EQ(launch_with({cooperative(), dependent(), cluster(2)}), kOk);
  int blocks = 0;
  int sms = 0;
  CUfunction function = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuKernelGetFunction(&function, kernel(library, "empty")));
  ASSERT_RESULT(CUDA_SUCCESS,
                driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1024, 0));
  ASSERT_RESULT(CUDA_SUCCESS,
                driver.cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  const auto most = static_cast<unsigned>(blocks * sms);
  EXPECT_EQ(launch_with({cooperative()}, "empty", most, 1024), kOk);
  EXPECT_EQ(launch_with({cooperative()}, "empty", most + 1, 1024),
            "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE");
  EXPECT_EQ(launch_with({cooperative(0)}, "empty", most + 1, 1024), kOk);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
}

TEST_F(AttributesTest, OccupancyOfClusters) {
  CUlaunchConfig config{};
  config.gridDimX = 16;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 1024;
  config.blockDimY = config.blockDimZ = 1;
  CUlaunchAttribute sixteen = cluster(16);
  config.attrs = &sixteen;
  config.numAttrs = 1;
  const CUkernel entry = kernel(library, "empty");
  CUfunction function = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuKernelGetFunction(&function, entry));
  int clusters = 0;
  EXPECT_RESULT(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                driver.cuOccupancyMaxActiveClusters(&clusters, function, &config));
  int largest = 0;
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuOccupancyMaxPotentialClusterSize(&largest, function, &config));
  EXPECT_EQ(largest, 8);
  ASSERT_RESULT(
      CUDA_SUCCESS,
      driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  ASSERT_RESULT(
      CUDA_SUCCESS,
      driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
  config.sharedMemBytes = 232448;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuOccupancyMaxActiveClusters(&clusters, function, &config));
  EXPECT_EQ(clusters, 7);
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuOccupancyMaxPotentialClusterSize(&largest, function, &config));
  EXPECT_EQ(largest, 16);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuOccupancyMaxActiveClusters(&clusters, function, nullptr));
}

TEST_F(AttributesTest, DependentLaunchesComeInOrder) {
  // A secondary's griddepcontrol.wait finds its primary done.
  const CUlibrary waiting = load(R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry next(.param .u64 next_p) {
  .reg .u32 %r<3>;
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [next_p];
  griddepcontrol.wait;
  ld.global.u32 %r1, [%rd1];
  mad.lo.u32 %r2, %r1, 3, 1;
  griddepcontrol.launch_dependents;
  st.global.u32 [%rd1], %r2;
  ret;
}
)");
  library = waiting;
  CUdeviceptr value = upload(std::vector<int>{1});
  void* params[] = {&value};
  for (int k = 0; k < 3; ++k) ASSERT_EQ(launch_with({dependent()}, "next", 1, 1, params), kOk);
  EXPECT_EQ(download<int>(value, 1, stream)[0], 40);
}

// What only later GPUs have.
TEST_F(AttributesTest, AreRefusedByOlderDevices) {
  SIMULATED_ONLY();
  const int sm80 = *simulated_ordinal("sm80");
  CUcontext older = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&older, sm80));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(older));
  const CUstream own = std::exchange(stream, nullptr);
  library =
      load(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry empty() { ret; }\n");
  EXPECT_EQ(launch_with({dependent()}), "CUDA_ERROR_NOT_SUPPORTED");
  EXPECT_EQ(launch_with({cluster(2)}), "CUDA_ERROR_NOT_SUPPORTED");
  EXPECT_EQ(launch_with({cooperative()}), "CUDA_SUCCESS");
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSynchronize());
  stream = own;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(context));
  driver.cuDevicePrimaryCtxRelease(sm80);
}

}  // namespace
}  // namespace baton::sim::attributes_test
