#include <thread>

#include "sim/device/profile.h"
#include "sim/testing/driver_test.h"
#include "sim/testing/test_kernels.h"

namespace baton::sim::device_test {
namespace {

class DeviceTest : public DriverTest {};

TEST(SimulatedDriver, FillsEveryEntryAndIsOneObject) {
  const driver::Driver& driver = simulated_driver();
  EXPECT_EQ(&driver, &simulated_driver());
#define BATON_DRIVER_ENTRY(name, version, need) EXPECT_NE(driver.cu##name, nullptr) << #name;
#include "driver/entries.inc"
  EXPECT_NE(driver.simulator, nullptr);
  EXPECT_EQ(driver.version, 13000);
}

TEST(SimulatedDriver, HasOneDeviceAProfile) {
  const driver::Driver& driver = simulated_driver();
  int count = 0;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDeviceGetCount(&count));
  ASSERT_EQ(static_cast<std::size_t>(count), simulated_profiles().size());
  EXPECT_EQ(simulated_ordinal("h200"), 0);
  EXPECT_EQ(simulated_ordinal("h100"), 1);
  EXPECT_EQ(simulated_ordinal("tiny"), 2);
  EXPECT_EQ(simulated_ordinal("b200"), 3);
  EXPECT_EQ(simulated_ordinal("a100"), std::nullopt);
  char name[64];
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDeviceGetName(name, sizeof name, 0));
  EXPECT_STREQ(name, "Simulated NVIDIA H200");
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDeviceGetName(name, 5, 0));
  EXPECT_STREQ(name, "Simu");
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuDeviceGetName(name, 0, 0));
  CUuuid first{};
  CUuuid second{};
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDeviceGetUuid(&first, 0));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDeviceGetUuid(&second, 1));
  EXPECT_NE(std::string(first.bytes, 16), std::string(second.bytes, 16));
}

TEST(SimulatedDriver, TinyHasTwoSmsAndLittleMemory) {
  const driver::Driver& driver = simulated_driver();
  const int tiny = *simulated_ordinal("tiny");
  int value = 0;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDeviceGetAttribute(
                                  &value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, tiny));
  EXPECT_EQ(value, 2);
  size_t bytes = 0;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDeviceTotalMem(&bytes, tiny));
  EXPECT_EQ(bytes, size_t{256} << 20);
}

// Blackwell tuning guide, "Streaming Multiprocessor", and what a B200 reports of itself.
TEST(SimulatedDriver, B200HasItsOwnChip) {
  const driver::Driver& driver = simulated_driver();
  const int b200 = *simulated_ordinal("b200");
  const std::pair<CUdevice_attribute, int> wanted[] = {
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 10},
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 148},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
      {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
      {CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 132644864},
      {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 7680}};
  for (const auto& [attribute, want] : wanted) {
    int value = 0;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuDeviceGetAttribute(&value, attribute, b200));
    EXPECT_EQ(value, want) << attribute;
  }
}

// CUDA programming guide, "Technical Specifications per Compute Capability", and what deviceQuery
// reports of the products.
TEST(SimulatedDriver, OtherCapabilitiesHaveTheirOwnChips) {
  const driver::Driver& driver = simulated_driver();
  const struct {
    const char* profile;
    int major, minor, multiprocessors, threads, blocks, shared, optin, clusters, maps;
  } cases[] = {{"sm80", 8, 0, 108, 2048, 32, 167936, 166912, 0, 0},
               {"sm89", 8, 9, 58, 1536, 24, 102400, 101376, 0, 0},
               {"sm120", 12, 0, 170, 1536, 24, 102400, 101376, 1, 1}};
  for (const auto& each : cases) {
    SCOPED_TRACE(each.profile);
    const int device = *simulated_ordinal(each.profile);
    const std::pair<CUdevice_attribute, int> wanted[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, each.major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, each.minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, each.multiprocessors},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, each.threads},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, each.blocks},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, each.shared},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, each.optin},
        {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, each.clusters},
        {CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, each.maps}};
    for (const auto& [attribute, want] : wanted) {
      int value = 0;
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuDeviceGetAttribute(&value, attribute, device));
      EXPECT_EQ(value, want) << attribute;
    }
  }
}

TEST(SimulatedDriver, HandsOutNoOtherTable) {
  const driver::Driver& driver = simulated_driver();
  CUuuid other{};
  const void* table = &other;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuGetExportTable(&table, &other));
  EXPECT_EQ(table, nullptr);
}

TEST_F(DeviceTest, ReportsWhatAnH200Reports) {
  const Profile& profile = profiles().front();
  for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; ++i) {
    const auto attribute = static_cast<CUdevice_attribute>(i);
    // Where the device sits in its machine is the machine's own affair.
    if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID ||
        attribute == CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID ||
        attribute == CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID ||
        attribute == CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID) {
      continue;
    }
    int value = 0;
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuDeviceGetAttribute(&value, attribute, 0)) << i;
    EXPECT_EQ(value, profile.attribute(attribute)) << "attribute " << i;
  }
  size_t bytes = 0;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDeviceTotalMem(&bytes, 0));
  EXPECT_EQ(bytes, profile.memory_bytes());
}

TEST_F(DeviceTest, RefusesWhatIsNoDeviceOrAttribute) {
  int value = 0;
  CUdevice device = 0;
  EXPECT_RESULT(CUDA_ERROR_INVALID_DEVICE, driver.cuDeviceGet(&device, 99));
  EXPECT_RESULT(CUDA_ERROR_INVALID_DEVICE, driver.cuDeviceGet(&device, -1));
  for (int attribute : {0, -1, 148, 9999}) {
    EXPECT_RESULT(
        CUDA_ERROR_INVALID_VALUE,
        driver.cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(attribute), 0))
        << attribute;
  }
  EXPECT_RESULT(CUDA_ERROR_INVALID_DEVICE,
                driver.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99));
  EXPECT_RESULT(CUDA_ERROR_INVALID_DEVICE, driver.cuDevicePrimaryCtxRetain(&context, 77));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuInit(1));
}

TEST_F(DeviceTest, NamesItsErrors) {
  const char* text = nullptr;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGetErrorName(CUDA_ERROR_LAUNCH_TIMEOUT, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_LAUNCH_TIMEOUT");
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGetErrorString(CUDA_ERROR_LAUNCH_TIMEOUT, &text));
  EXPECT_STREQ(text, "the launch timed out and was terminated");
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuGetErrorName(static_cast<CUresult>(12345), &text));
  EXPECT_EQ(text, nullptr);
}

TEST_F(DeviceTest, ContextsStack) {
  CUcontext current = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxGetCurrent(&current));
  EXPECT_EQ(current, nullptr);
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuCtxPopCurrent(&current));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuCtxPushCurrent(nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxPushCurrent(context));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxPushCurrent(context));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(nullptr));  // takes the top off
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxGetCurrent(&current));
  EXPECT_EQ(current, context);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxPopCurrent(&current));
  EXPECT_EQ(current, context);
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuCtxPopCurrent(&current));
}

TEST_F(DeviceTest, ContextStackHasAnEnd) {
  SIMULATED_ONLY();
  CUresult result = CUDA_SUCCESS;
  int pushed = 0;
  while ((result = driver.cuCtxPushCurrent(context)) == CUDA_SUCCESS && pushed < 100000) ++pushed;
  EXPECT_RESULT(CUDA_ERROR_OUT_OF_MEMORY, result);
  while (pushed-- > 0) EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxPopCurrent(nullptr));
}

TEST_F(DeviceTest, CurrentIsPerThread) {
  std::thread([&] {
    CUcontext current = context;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxGetCurrent(&current));
    EXPECT_EQ(current, nullptr);
    CUdeviceptr address = 0;
    EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuMemAlloc(&address, 16));
    EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuCtxSynchronize());
    CUdevice device = 0;
    EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuCtxGetDevice(&device));
    EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuStreamQuery(nullptr));
    EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuStreamQuery(CU_STREAM_PER_THREAD));
  }).join();
}

// The two threads make, find and give back the same kinds of things at once.
TEST_F(DeviceTest, ThreadsUseOneContext) {
  SIMULATED_ONLY();
  constexpr int kRounds = 30;
  const auto use = [&] {
    for (int round = 0; round < kRounds; ++round) {
      CUcontext same = nullptr;
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&same, 0));
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(same));
      const CUlibrary library = load(kTestKernels);
      const CUkernel entry = kernel(library, "store");
      CUfunction function = nullptr;
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuKernelGetFunction(&function, entry));
      const CUdeviceptr memory = allocate(64);
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(memory, 0, 64, nullptr));
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(memory, 1, 64, CU_STREAM_PER_THREAD));
      const CUstream stream = make_stream(CU_STREAM_NON_BLOCKING);
      EXPECT_RESULT(CUDA_SUCCESS,
                    driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
      CUdeviceptr address = memory;
      int value = round;
      EXPECT_RESULT(CUDA_SUCCESS, launch(entry, stream, {&address, &value}));
      CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamIsCapturing(stream, &status));
      EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
      CUgraph graph = nullptr;
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamEndCapture(stream, &graph));
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamDestroy(stream));
      void* pinned = nullptr;
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemHostAlloc(&pinned, 64, 0));
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeHost(pinned));
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(memory));
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryUnload(library));
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRelease(0));
    }
  };
  std::thread other(use);
  use();
  other.join();
}

TEST_F(DeviceTest, PrimaryContextIsCountedAndRevived) {
  CUcontext again = nullptr;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&again, 0));
  EXPECT_EQ(again, context);
  allocate(16);
  const CUstream stream = make_stream();
  const CUevent event = make_event();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRelease(0));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamQuery(stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRelease(0));
  // Still current, but gone, with all it had.
  CUdeviceptr other = 0;
  EXPECT_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, driver.cuMemAlloc(&other, 16));
  EXPECT_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, driver.cuCtxSynchronize());
  EXPECT_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, driver.cuStreamQuery(stream));
  EXPECT_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, driver.cuEventQuery(event));
  EXPECT_RESULT(CUDA_ERROR_CONTEXT_IS_DESTROYED, driver.cuStreamDestroy(stream));
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuDevicePrimaryCtxRelease(0));
  CUdevice device = -1;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxGetDevice(&device));
  EXPECT_EQ(device, 0);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&again, 0));
  EXPECT_EQ(again, context);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemAlloc(&other, 16));
}

TEST_F(DeviceTest, ReleaseWaitsForWhatIsPending) {
  const CUstream stream = make_stream();
  bool ran = false;
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuLaunchHostFunc(
                    stream, [](void* flag) { *static_cast<bool*>(flag) = true; }, &ran));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRelease(0));
  EXPECT_TRUE(ran);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&context, 0));
}

TEST_F(DeviceTest, HandlesThatStandForNothingAreRefused) {
  SIMULATED_ONLY();
  alignas(16) static char junk[64] = {};
  CUcontext junk_context = reinterpret_cast<CUcontext>(junk);
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuCtxSetCurrent(junk_context));
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuCtxPushCurrent(junk_context));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuStreamQuery(reinterpret_cast<CUstream>(junk)));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuEventQuery(reinterpret_cast<CUevent>(junk)));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE,
                driver.cuLibraryUnload(reinterpret_cast<CUlibrary>(junk)));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE,
                driver.cuLaunchKernel(reinterpret_cast<CUfunction>(junk), 1, 1, 1, 1, 1, 1, 0,
                                      nullptr, nullptr, nullptr));
  // One kind of handle is none of another kind.
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE,
                driver.cuEventQuery(reinterpret_cast<CUevent>(make_stream())));
}

}  // namespace
}  // namespace baton::sim::device_test
