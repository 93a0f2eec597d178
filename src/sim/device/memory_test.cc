#include <cstring>
#include <limits>
#include <numeric>

#include "sim/testing/driver_test.h"

namespace baton::sim::memory_test {
namespace {

class MemoryTest : public DriverTest {
 protected:
  template <typename T>
  T pointer_attribute(CUpointer_attribute attribute, CUdeviceptr address) {
    T value{};
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuPointerGetAttribute(&value, attribute, address));
    return value;
  }
};

TEST_F(MemoryTest, AllocatesAndFrees) {
  CUdeviceptr address = 0;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemAlloc(&address, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemAlloc(nullptr, 16));
  address = allocate(1000);
  EXPECT_EQ(address % 256, 0u);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemFree(address + 8));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(address));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemFree(address));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(0));
  char on_stack = 0;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuMemFree(reinterpret_cast<CUdeviceptr>(&on_stack)));
}

TEST_F(MemoryTest, EndsWhereTheDeviceEnds) {
  CUdeviceptr address = 0;
  EXPECT_RESULT(CUDA_ERROR_OUT_OF_MEMORY, driver.cuMemAlloc(&address, size_t{1} << 50));
  EXPECT_RESULT(CUDA_ERROR_OUT_OF_MEMORY,
                driver.cuMemAlloc(&address, std::numeric_limits<size_t>::max()));
  size_t free_before = 0;
  size_t total = 0;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemGetInfo(&free_before, &total));
  EXPECT_LE(free_before, total);
  address = allocate(size_t{64} << 20);
  size_t free_after = 0;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemGetInfo(&free_after, &total));
  EXPECT_GE(free_before - free_after, size_t{64} << 20);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(address));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemGetInfo(&free_after, nullptr));
}

TEST_F(MemoryTest, KnowsTheRangeOfAnAddress) {
  const CUdeviceptr address = allocate(1000);
  CUdeviceptr base = 0;
  size_t size = 0;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemGetAddressRange(&base, &size, address + 999));
  EXPECT_EQ(base, address);
  EXPECT_EQ(size, 1000u);
  EXPECT_RESULT(CUDA_ERROR_NOT_FOUND, driver.cuMemGetAddressRange(&base, &size, 12345));
}

TEST_F(MemoryTest, CopiesThereAndBack) {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), 7);
  const CUdeviceptr first = upload(values);
  const CUdeviceptr second = allocate(values.size() * sizeof(int));
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuMemcpyDtoDAsync(second, first, values.size() * sizeof(int), nullptr));
  EXPECT_EQ(download<int>(second, values.size()), values);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyDtoDAsync(second + 4, first, 8, nullptr));
  EXPECT_EQ(download<int>(second, 4), (std::vector<int>{7, 7, 8, 10}));
}

TEST_F(MemoryTest, FillsInEachWidth) {
  const CUdeviceptr address = allocate(16);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(address, 0x11, 16, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD16Async(address + 2, 0x2233, 2, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(address + 8, 0x44556677, 1, nullptr));
  EXPECT_EQ(download<std::uint32_t>(address, 4),
            (std::vector<std::uint32_t>{0x22331111, 0x11112233, 0x44556677, 0x11111111}));
}

TEST_F(MemoryTest, ChecksFills) {
  const CUdeviceptr address = allocate(1000);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(address, 1, 0, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(0, 1, 0, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemsetD8Async(12345, 1, 1, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemsetD8Async(address + 990, 1, 20, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemsetD16Async(address + 1, 1, 1, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemsetD32Async(address + 2, 1, 1, nullptr));
  EXPECT_RESULT(
      CUDA_ERROR_INVALID_VALUE,
      driver.cuMemsetD32Async(address, 1, std::numeric_limits<size_t>::max() / 2, nullptr));
}

TEST_F(MemoryTest, ChecksCopies) {
  const CUdeviceptr address = allocate(1000);
  char host[64] = {};
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyHtoDAsync(0, nullptr, 0, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemcpyHtoDAsync(address, nullptr, 4, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemcpyHtoDAsync(12345, host, 4, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuMemcpyHtoDAsync(address + 990, host, 20, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuMemcpyDtoHAsync(host, address + 990, 20, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemcpyDtoHAsync(nullptr, address, 4, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemcpyDtoDAsync(12345, address, 4, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemcpyDtoDAsync(address, 12345, 4, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(address));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemcpyHtoDAsync(address, host, 4, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSynchronize());
}

TEST_F(MemoryTest, PageableSourcesAreTakenAtTheCall) {
  const CUstream stream = make_stream();
  const CUdeviceptr address = allocate(sizeof(int));
  int value = 42;
  Gate gate;
  ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyHtoDAsync(address, &value, sizeof value, stream));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuStreamQuery(stream));
  value = 43;
  gate.open();
  EXPECT_EQ(download<int>(address, 1, stream)[0], 42);
}

TEST_F(MemoryTest, PinnedSourcesAreReadWhenTheCopyRuns) {
  const CUstream stream = make_stream();
  const CUdeviceptr address = allocate(sizeof(int));
  void* pinned = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuMemHostAlloc(&pinned, sizeof(int), 0));
  auto* value = static_cast<int*>(pinned);
  *value = 42;
  Gate gate;
  ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyHtoDAsync(address, pinned, sizeof(int), stream));
  *value = 43;
  // Nor does a copy into pinned memory wait.
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyDtoHAsync(value, address, sizeof(int), stream));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuStreamQuery(stream));
  gate.open();
  EXPECT_EQ(download<int>(address, 1, stream)[0], 43);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeHost(pinned));
}

TEST_F(MemoryTest, BigCopiesAreWhole) {
  SIMULATED_ONLY();  // more than is staged at once, so the copy is waited for
  std::vector<char> values(size_t{65} << 20, 'x');
  values.back() = 'y';
  const CUdeviceptr address = allocate(values.size());
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuMemcpyHtoDAsync(address, values.data(), values.size(), nullptr));
  EXPECT_EQ(download<char>(address + values.size() - 2, 2), (std::vector<char>{'x', 'y'}));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(address));
}

TEST_F(MemoryTest, PinnedMemoryIsKnown) {
  void* pinned = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemHostAlloc(&pinned, 16, 0xff00));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuMemHostAlloc(&pinned, 100, CU_MEMHOSTALLOC_PORTABLE));
  const auto address = reinterpret_cast<CUdeviceptr>(pinned);
  EXPECT_EQ(pointer_attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 10),
            static_cast<unsigned>(CU_MEMORYTYPE_HOST));
  EXPECT_EQ(pointer_attribute<void*>(CU_POINTER_ATTRIBUTE_HOST_POINTER, address + 10),
            static_cast<char*>(pinned) + 10);
  CUdeviceptr base = 0;
  size_t size = 0;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemGetAddressRange(&base, &size, address + 10));
  EXPECT_EQ(base, address);
  EXPECT_EQ(size, 100u);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemGetAddressRange(&base, &size, address + 99));
  if (!tests_cuda()) {  // a GPU's driver hands out whole pages
    unsigned type = 0;
    EXPECT_RESULT(CUDA_ERROR_NOT_FOUND, driver.cuMemGetAddressRange(&base, &size, address + 100));
    EXPECT_RESULT(
        CUDA_ERROR_INVALID_VALUE,
        driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 100));
  }
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemFree(address));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemFreeHost(static_cast<char*>(pinned) + 4));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeHost(pinned));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemFreeHost(pinned));
  char on_stack[16];
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemFreeHost(on_stack));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeHost(nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemHostAlloc(&pinned, 0, 0));
  EXPECT_EQ(pinned, nullptr);
  EXPECT_RESULT(CUDA_ERROR_OUT_OF_MEMORY, driver.cuMemHostAlloc(&pinned, SIZE_MAX, 0));
}

// One address space: each copy and fill takes pinned memory for a device's, and the other way.
TEST_F(MemoryTest, PinnedAndDeviceMemoryShareTheAddressSpace) {
  void* pinned = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuMemHostAlloc(&pinned, 16, 0));
  auto* words = static_cast<std::uint32_t*>(pinned);
  const auto address = reinterpret_cast<CUdeviceptr>(pinned);
  const CUdeviceptr memory = upload(std::vector<std::uint32_t>{1, 2, 3, 4});
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyDtoDAsync(address, memory, 8, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD16Async(address + 8, 0x0506, 4, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(nullptr));
  EXPECT_EQ(std::vector<std::uint32_t>(words, words + 4),
            (std::vector<std::uint32_t>{1, 2, 0x05060506, 0x05060506}));
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuMemcpyHtoDAsync(memory, reinterpret_cast<void*>(memory + 8), 8, nullptr));
  EXPECT_EQ(download<std::uint32_t>(memory, 2), (std::vector<std::uint32_t>{3, 4}));
  EXPECT_EQ(download<std::uint32_t>(address, 1), (std::vector<std::uint32_t>{1}));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemsetD8Async(address + 8, 1, 9, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeHost(pinned));
}

TEST_F(MemoryTest, PointersHaveAttributes) {
  const CUdeviceptr address = allocate(1000);
  const CUdeviceptr inside = address + 10;
  EXPECT_EQ(pointer_attribute<CUcontext>(CU_POINTER_ATTRIBUTE_CONTEXT, inside), context);
  EXPECT_EQ(pointer_attribute<unsigned>(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside),
            static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
  EXPECT_EQ(pointer_attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, inside), inside);
  EXPECT_EQ(pointer_attribute<int>(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside), 0);
  EXPECT_EQ(pointer_attribute<CUdeviceptr>(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside), address);
  EXPECT_EQ(pointer_attribute<size_t>(CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside), 1000u);
  EXPECT_NE(pointer_attribute<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID, inside),
            pointer_attribute<unsigned long long>(CU_POINTER_ATTRIBUTE_BUFFER_ID, allocate(8)));
  unsigned long long value = 0;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_HOST_POINTER, inside));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                             reinterpret_cast<CUdeviceptr>(&value)));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuPointerGetAttribute(&value, static_cast<CUpointer_attribute>(77), inside));
}

TEST_F(MemoryTest, StreamOrderedAllocations) {
  const CUstream stream = make_stream();
  CUdeviceptr address = 1;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemAllocAsync(&address, 0, stream));
  EXPECT_EQ(address, 0u);
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuMemAllocAsync(&address, 100, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(address, 5, 100, stream));
  EXPECT_EQ(download<char>(address, 1, stream)[0], 5);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemFreeAsync(address + 1, stream));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemFreeAsync(12345, stream));
  Gate gate;
  ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeAsync(address, stream));
  // From the call on it is gone for whoever comes after, though what is queued may use it.
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemFreeAsync(address, stream));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemsetD8Async(address, 5, 100, stream));
  gate.open();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeAsync(0, stream));
  // Either kind of allocation may be freed either way.
  address = allocate(100);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeAsync(address, stream));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuMemAllocAsync(&address, 100, CU_STREAM_PER_THREAD));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(address));
  EXPECT_RESULT(CUDA_ERROR_OUT_OF_MEMORY,
                driver.cuMemAllocAsync(&address, size_t{1} << 50, stream));
}

TEST_F(MemoryTest, ARefusedFreeLeavesTheAllocation) {
  const CUdeviceptr address = allocate(64);
  const CUstream stream = make_stream();
  ASSERT_RESULT(CUDA_SUCCESS,
                driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  SIMULATED_ONLY();  // a GPU's driver captures it
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, driver.cuMemFreeAsync(address, stream));
  CUgraph graph = nullptr;
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, driver.cuStreamEndCapture(stream, &graph));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(address, 1, 64, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(address));
}

TEST_F(MemoryTest, FreeWaitsForTheDevice) {
  const CUstream stream = make_stream();
  const CUdeviceptr address = allocate(64);
  bool ran = false;
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuLaunchHostFunc(
                    stream, [](void* flag) { *static_cast<bool*>(flag) = true; }, &ran));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(address, 1, 64, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(address));
  EXPECT_TRUE(ran);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamQuery(stream));
}

// A copy that another stream's free overtakes: legal when it was submitted, wrong when it runs.
TEST_F(MemoryTest, CopyAfterAnUnorderedFreeIsAFinding) {
  SIMULATED_ONLY();
  const CUstream first = make_stream();
  const CUstream second = make_stream();
  const CUdeviceptr address = allocate(64);
  Gate gate;
  ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, first));
  const CUevent event = make_event();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(address, 1, 64, first));
  // The free is ordered before the fill only by the priority of its stream.
  CUstream urgent = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS,
                driver.cuStreamCreateWithPriority(&urgent, CU_STREAM_NON_BLOCKING, -5));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeAsync(address, urgent));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, second));
  gate.open();
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuCtxSynchronize());
  const auto findings = driver.simulator->take_findings(context);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, driver::FindingKind::kUseAfterFree);
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuEventSynchronize(event));
}

TEST_F(MemoryTest, CopiesBetweenDevices) {
  SIMULATED_ONLY();  // peer access is a matter of the machine
  CUcontext other = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&other, 1));
  std::vector<int> values(3 << 18);
  std::iota(values.begin(), values.end(), 0);
  const CUdeviceptr here = upload(values);
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxPushCurrent(other));
  const CUdeviceptr there = allocate(values.size() * sizeof(int));
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuMemcpyDtoDAsync(there, here, values.size() * sizeof(int), nullptr));
  EXPECT_EQ(download<int>(there, values.size()), values);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(here));  // whatever is current
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxPopCurrent(nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRelease(1));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemFree(there));
}

}  // namespace
}  // namespace baton::sim::memory_test
