#include <array>
#include <cstring>

#include "sim/testing/driver_test.h"
#include "sim/testing/test_kernels.h"

namespace baton::sim::launch_test {
namespace {

class LaunchTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    library = load(kTestKernels);
  }

  CUfunction function(const char* name) {
    CUfunction found = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuKernelGetFunction(&found, kernel(library, name)));
    return found;
  }

  CUresult launch_dims(const char* name, std::array<unsigned, 3> grid,
                       std::array<unsigned, 3> block, unsigned shared = 0,
                       void** params = nullptr) {
    return driver.cuLaunchKernel(function(name), grid[0], grid[1], grid[2], block[0], block[1],
                                 block[2], shared, nullptr, params, nullptr);
  }

  CUlibrary library = nullptr;
};

TEST_F(LaunchTest, RunsAKernel) {
  CUdeviceptr address = upload(std::vector<int>(1000, 5));
  int amount = 37;
  int count = 999;
  EXPECT_RESULT(CUDA_SUCCESS,
                launch(kernel(library, "add"), nullptr, {&address, &amount, &count}, 8, 128));
  amount = 1000;  // arguments were taken at the call
  const std::vector<int> values = download<int>(address, 1000);
  EXPECT_EQ(values[0], 42);
  EXPECT_EQ(values[998], 42);
  EXPECT_EQ(values[999], 5);
}

TEST_F(LaunchTest, TakesParametersOfEverySize) {
  CUdeviceptr out = upload(std::vector<char>(32, 0));
  std::uint8_t first = 0xab;
  std::array<std::uint64_t, 3> second = {1, 0x1122334455667788, 3};
  std::uint16_t third = 0xcdef;
  std::array<std::uint32_t, 4> fourth = {1, 2, 3, 0x99aabbcc};
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "mixed"), nullptr,
                                     {&first, &second, &third, &fourth, &out}));
  EXPECT_EQ(download<std::uint32_t>(out, 5),
            (std::vector<std::uint32_t>{0xab, 0xcdef, 0x55667788, 0x11223344, 0x99aabbcc}));
}

TEST_F(LaunchTest, TakesParametersAsOneBuffer) {
  CUdeviceptr address = upload(std::vector<int>{5});
  struct {
    CUdeviceptr address;
    int amount;
    int count;
  } block{address, 2, 1};
  size_t size = sizeof block;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuLaunchKernel(function("add"), 1, 1, 1, 1, 1, 1, 0, nullptr,
                                                    nullptr, extra));
  EXPECT_EQ(download<int>(address, 1)[0], 7);
  void* unknown[] = {reinterpret_cast<void*>(7), nullptr, CU_LAUNCH_PARAM_END};
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuLaunchKernel(function("add"), 1, 1, 1, 1, 1, 1,
                                                                0, nullptr, nullptr, unknown));
  void* params[] = {&address, &block.amount, &block.count};
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuLaunchKernel(function("add"), 1, 1, 1, 1, 1, 1,
                                                                0, nullptr, params, extra));
  size = 4;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuLaunchKernel(function("add"), 1, 1, 1, 1, 1, 1,
                                                                0, nullptr, nullptr, extra));
}

TEST_F(LaunchTest, NeedsItsParameters) {
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, launch_dims("add", {1, 1, 1}, {1, 1, 1}));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE,
                driver.cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuLaunchKernelEx(nullptr, function("empty"), nullptr, nullptr));
}

TEST_F(LaunchTest, HoldsTheLimitsOfTheDevice) {
  EXPECT_RESULT(CUDA_SUCCESS, launch_dims("empty", {1, 1, 1}, {1024, 1, 1}));
  EXPECT_RESULT(CUDA_SUCCESS, launch_dims("empty", {1, 1, 1}, {1, 1, 64}));
  EXPECT_RESULT(CUDA_SUCCESS, launch_dims("empty", {1, 65535, 1}, {1, 1, 1}));
  const std::array<unsigned, 3> one = {1, 1, 1};
  for (std::array<unsigned, 3> grid : {std::array<unsigned, 3>{0, 1, 1},
                                       {1, 0, 1},
                                       {1, 1, 0},
                                       {0x80000000u, 1, 1},
                                       {1, 65536, 1},
                                       {1, 1, 65536}}) {
    EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, launch_dims("empty", grid, one));
  }
  for (std::array<unsigned, 3> block : {std::array<unsigned, 3>{0, 1, 1},
                                        {1025, 1, 1},
                                        {1, 1, 65},
                                        {1024, 2, 1},
                                        {0xffffffffu, 0xffffffffu, 1}}) {
    EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, launch_dims("empty", one, block));
  }
}

TEST_F(LaunchTest, HoldsTheLimitsOfTheKernel) {
  const std::array<unsigned, 3> one = {1, 1, 1};
  EXPECT_RESULT(CUDA_SUCCESS, launch_dims("bounded", one, {256, 1, 1}));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, launch_dims("bounded", one, {257, 1, 1}));
  EXPECT_RESULT(CUDA_SUCCESS, launch_dims("fixed", one, {64, 2, 1}));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, launch_dims("fixed", one, {128, 1, 1}));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, launch_dims("fixed", one, {32, 1, 1}));
  EXPECT_RESULT(CUDA_ERROR_INVALID_CLUSTER_SIZE, launch_dims("paired", {3, 1, 1}, one));
}

TEST_F(LaunchTest, HoldsTheSharedMemoryLimit) {
  CUdeviceptr out = upload(std::vector<int>{0});
  void* params[] = {&out};
  const std::array<unsigned, 3> one = {1, 1, 1};
  EXPECT_RESULT(CUDA_SUCCESS, launch_dims("sized", one, one, 48 * 1024, params));
  EXPECT_EQ(download<int>(out, 1)[0], 48 * 1024);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, launch_dims("sized", one, one, 48 * 1024 + 4, params));
  const CUkernel sized = kernel(library, "sized");
  auto allow = [&](int bytes) {
    return driver.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes,
                                       sized, 0);
  };
  EXPECT_RESULT(CUDA_SUCCESS, allow(100000));
  EXPECT_RESULT(CUDA_SUCCESS, launch_dims("sized", one, one, 100000, params));
  EXPECT_EQ(download<int>(out, 1)[0], 100000);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, launch_dims("sized", one, one, 100004, params));
  EXPECT_RESULT(CUDA_SUCCESS, allow(232448));
  EXPECT_RESULT(CUDA_SUCCESS, launch_dims("sized", one, one, 232448, params));
  EXPECT_EQ(download<int>(out, 1)[0], 232448);
  EXPECT_RESULT(CUDA_SUCCESS, allow(1000));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, launch_dims("sized", one, one, 2000, params));
  EXPECT_RESULT(CUDA_SUCCESS, launch_dims("staged", one, one, 48 * 1024 - 4000, params));
  EXPECT_EQ(download<int>(out, 1)[0], 7);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                launch_dims("staged", one, one, 48 * 1024 - 4000 + 4, params));
}

TEST_F(LaunchTest, StreamDecidesTheContext) {
  const CUstream stream = make_stream();
  const CUkernel empty = kernel(library, "empty");
  const CUfunction placed = function("empty");
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, launch(empty, stream));
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuLaunchKernel(placed, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, launch(empty, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
}

TEST_F(LaunchTest, OneLibraryServesEveryDevice) {
  SIMULATED_ONLY();  // other machines may have one device
  const CUfunction here = function("store");
  CUcontext other = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&other, 2));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(other));
  CUdeviceptr address = upload(std::vector<int>{0});
  int value = 9;
  void* params[] = {&address, &value};
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE,
                driver.cuLaunchKernel(here, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "store"), nullptr, {&address, &value}));
  EXPECT_EQ(download<int>(address, 1)[0], 9);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRelease(2));
}

TEST_F(LaunchTest, AttributesWithoutEffectAreTaken) {
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  const CUfunction empty = function("empty");
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuLaunchKernelEx(&config, empty, nullptr, nullptr));
  CUlaunchAttribute attributes[2] = {};
  config.attrs = attributes;
  config.numAttrs = 2;
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[1].value.clusterDim = {1, 1, 1};
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuLaunchKernelEx(&config, empty, nullptr, nullptr));
  attributes[0].id = static_cast<CUlaunchAttributeID>(99);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuLaunchKernelEx(&config, empty, nullptr, nullptr));
  config.attrs = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuLaunchKernelEx(&config, empty, nullptr, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSynchronize());
}

TEST_F(LaunchTest, GridsThatWaitForEachOtherBothRun) {
  const CUstream first = make_stream();
  const CUstream second = make_stream();
  CUdeviceptr flag = upload(std::vector<int>{0});
  CUdeviceptr out = upload(std::vector<int>{0});
  int value = 1;
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "await"), first, {&flag, &out}));
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "store"), second, {&flag, &value}));
  EXPECT_EQ(download<int>(out, 1, first)[0], 1);
}

TEST_F(LaunchTest, CopiesPassGridsThatWait) {
  const CUstream first = make_stream();
  const CUstream second = make_stream();
  CUdeviceptr flag = upload(std::vector<int>{0});
  CUdeviceptr out = upload(std::vector<int>{0});
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "await"), first, {&flag, &out}));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(flag, 1, 1, second));
  EXPECT_EQ(download<int>(out, 1, first)[0], 1);
}

TEST_F(LaunchTest, OccupancyFollowsTheKernel) {
  int blocks = 0;
  auto occupancy = [&](const char* name, int block, size_t shared) {
    return driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function(name), block,
                                                              shared);
  };
  EXPECT_RESULT(CUDA_SUCCESS, occupancy("empty", 1024, 0));
  EXPECT_EQ(blocks, 2);
  EXPECT_RESULT(CUDA_SUCCESS, occupancy("empty", 32, 0));
  EXPECT_EQ(blocks, 32);
  EXPECT_RESULT(CUDA_SUCCESS, occupancy("empty", 32, 49152));
  EXPECT_EQ(blocks, 4);
  EXPECT_RESULT(CUDA_SUCCESS, occupancy("empty", 32, 49153));
  EXPECT_EQ(blocks, 0);
  EXPECT_RESULT(CUDA_SUCCESS, occupancy("empty", 1025, 0));
  EXPECT_EQ(blocks, 0);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, occupancy("empty", 0, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE,
                driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nullptr, 32, 0));
}

// A device of compute capability 9.0 holds 128 grids. The last grid sets the flag that the others
// poll: with 127 of them it begins, with 128 it never does.
TEST_F(LaunchTest, AtMost128GridsAreResident) {
  SIMULATED_ONLY();
  set_schedule({ScheduleKind::kReverse, 0});
  const CUdeviceptr out = upload(std::vector<int>{0});
  for (const int pollers : {127, 128}) {
    CUdeviceptr flag = upload(std::vector<int>{0});
    CUdeviceptr written = out;
    int one = 1;
    for (int k = 0; k < pollers; ++k) {
      ASSERT_RESULT(CUDA_SUCCESS,
                    launch(kernel(library, "await"), make_stream(), {&flag, &written}));
    }
    // This schedule begins the work of the highest priority last.
    CUstream last = nullptr;
    ASSERT_RESULT(CUDA_SUCCESS,
                  driver.cuStreamCreateWithPriority(&last, CU_STREAM_NON_BLOCKING, -5));
    ASSERT_RESULT(CUDA_SUCCESS, launch(kernel(library, "store"), last, {&flag, &one}));
    if (pollers == 127) {
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSynchronize());
      continue;
    }
    // Each question is worth 16 turns: far more than the grid would need to begin and to end.
    for (int k = 0; k < 20; ++k) {
      EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuStreamQuery(last));
    }
    EXPECT_EQ(driver.simulator->stop(context).lines.size(), 128u);
  }
}

}  // namespace
}  // namespace baton::sim::launch_test
