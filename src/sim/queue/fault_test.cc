#include <thread>

#include "base/error.h"
#include "sim/testing/driver_test.h"
#include "sim/testing/test_kernels.h"

namespace baton::sim::fault_test {
namespace {

class FaultTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    library = load(kTestKernels);
  }
  CUlibrary library = nullptr;
};

TEST_F(FaultTest, PoisonsTheContext) {
  const CUstream stream = make_stream();
  const CUevent event = make_event();
  const CUdeviceptr memory = allocate(64);
  const CUdeviceptr kept = allocate(64);
  CUdeviceptr wrong = 8;
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "fault"), stream, {&wrong}));
  CUresult ended = CUDA_ERROR_NOT_READY;
  while ((ended = driver.cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, ended);
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuStreamSynchronize(stream));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuStreamQuery(nullptr));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuEventRecord(event, stream));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuEventQuery(event));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuCtxSynchronize());
  CUdeviceptr other = 0;
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuMemAlloc(&other, 4));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuMemAllocAsync(&other, 4, stream));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuMemsetD8Async(memory, 0, 4, nullptr));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, launch(kernel(library, "empty"), stream));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuMemFree(memory));
  // What needs no device works on.
  unsigned type = 0;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(context));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&context, 0));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRelease(0));
  const CUlibrary more = load(kTestKernels);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryUnload(more));
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, kept));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuEventDestroy(event));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuStreamDestroy(stream));
}

TEST_F(FaultTest, ResettingTheContextClearsTheError) {
  SIMULATED_ONLY();  // a GPU's error stays with the process
  CUdeviceptr wrong = 8;
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "fault"), nullptr, {&wrong}));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuCtxSynchronize());
  EXPECT_FALSE(driver.simulator->take_findings(context).empty());
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRelease(0));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&context, 0));
  EXPECT_TRUE(driver.simulator->take_findings(context).empty());
  CUdeviceptr address = upload(std::vector<int>{0});
  int value = 3;
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "store"), nullptr, {&address, &value}));
  EXPECT_EQ(download<int>(address, 1)[0], 3);
}

TEST_F(FaultTest, WhatComesAfterDoesNotRun) {
  SIMULATED_ONLY();
  const CUstream stream = make_stream();
  CUdeviceptr wrong = 8;
  bool ran = false;
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "fault"), stream, {&wrong}));
  const CUresult submitted = driver.cuLaunchHostFunc(
      stream, [](void* flag) { *static_cast<bool*>(flag) = true; }, &ran);
  EXPECT_TRUE(submitted == CUDA_SUCCESS || submitted == CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuStreamSynchronize(stream));
  EXPECT_FALSE(ran);
}

TEST_F(FaultTest, TrapsAndMisalignedAccesses) {
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "trapping"), nullptr));
  EXPECT_RESULT(CUDA_ERROR_LAUNCH_FAILED, driver.cuCtxSynchronize());
  if (tests_cuda()) return;  // one fault a process there
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRelease(0));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&context, 0));
  CUdeviceptr odd = allocate(64) + 1;
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "fault"), nullptr, {&odd}));
  EXPECT_RESULT(CUDA_ERROR_MISALIGNED_ADDRESS, driver.cuCtxSynchronize());
}

TEST_F(FaultTest, FindingsNameTheAllocation) {
  SIMULATED_ONLY();
  CUdeviceptr address = allocate(64);
  driver.simulator->name_allocation(address, "buffer x");
  CUdeviceptr behind = address + 64;
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "fault"), nullptr, {&behind}));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuCtxSynchronize());
  const auto findings = driver.simulator->take_findings(context);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kernel, "fault");
  EXPECT_NE(findings[0].message.find("buffer x"), std::string::npos) << findings[0].message;
}

TEST_F(FaultTest, StopEndsAKernelThatLoopsForEver) {
  SIMULATED_ONLY();
  const CUstream stream = make_stream();
  EXPECT_TRUE(driver.simulator->stop(context).lines.empty());  // nothing runs, nothing is harmed
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSynchronize());
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "forever"), stream));
  std::thread waiter(
      [&] { EXPECT_RESULT(CUDA_ERROR_LAUNCH_TIMEOUT, driver.cuStreamSynchronize(stream)); });
  const std::vector<std::string> wait_report = driver.simulator->stop(context).lines;
  waiter.join();
  EXPECT_RESULT(CUDA_ERROR_LAUNCH_TIMEOUT, driver.cuCtxSynchronize());
  for (const std::string& line : wait_report) {
    EXPECT_NE(line.find("forever"), std::string::npos) << line;
  }
}

TEST_F(FaultTest, StopSaysWhereTheWarpsStand) {
  SIMULATED_ONLY();
  CUdeviceptr flag = upload(std::vector<int>{0});
  CUdeviceptr out = upload(std::vector<int>{0});
  CUdeviceptr other_flag = upload(std::vector<int>{0});
  int one = 1;
  // Once the first grid has let the second one in, both are running.
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "await"), make_stream(), {&other_flag, &out}));
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "store"), make_stream(), {&flag, &one}));
  const CUevent event = make_event();
  EXPECT_RESULT(CUDA_SUCCESS,
                launch(kernel(library, "store"), CU_STREAM_PER_THREAD, {&flag, &one}));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, CU_STREAM_PER_THREAD));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventSynchronize(event));
  const std::vector<std::string> wait_report = driver.simulator->stop(context).lines;
  ASSERT_FALSE(wait_report.empty());
  EXPECT_NE(wait_report[0].find("await"), std::string::npos) << wait_report[0];
  EXPECT_RESULT(CUDA_ERROR_LAUNCH_TIMEOUT, driver.cuCtxSynchronize());
}

TEST_F(FaultTest, LaunchesAreCountedWhereSomebodyAsks) {
  SIMULATED_ONLY();
  const CUstream stream = make_stream();
  CUdeviceptr address = upload(std::vector<int>(1024, 1));
  int amount = 1;
  int count = 1024;
  const auto add = [&](unsigned blocks) {
    EXPECT_RESULT(CUDA_SUCCESS,
                  launch(kernel(library, "add"), stream, {&address, &amount, &count}, blocks, 128));
  };
  const auto take = [&] {
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
    return driver.simulator->take_counted(stream);
  };
  add(1);
  EXPECT_TRUE(take().empty());
  driver.simulator->count_launches(stream, true);
  add(8);
  add(2);
  const std::vector<driver::Counters> counted = take();
  ASSERT_EQ(counted.size(), 2u);
  EXPECT_EQ(counted[0].blocks, 8u);
  EXPECT_EQ(counted[0].bytes_written, 4096u);
  EXPECT_EQ(counted[0].bytes_read, 4096u);
  EXPECT_GT(counted[0].warp_instructions, 0u);
  EXPECT_GE(counted[0].lane_instructions, counted[0].warp_instructions);
  EXPECT_EQ(counted[1].blocks, 2u);
  EXPECT_EQ(counted[1].bytes_written, 1024u);
  EXPECT_TRUE(take().empty());
  add(4);
  driver.simulator->count_launches(stream, false);
  EXPECT_TRUE(take().empty());
  EXPECT_THROW(driver.simulator->take_counted(nullptr), Error);
  EXPECT_THROW(driver.simulator->take_findings(nullptr), Error);
}

}  // namespace
}  // namespace baton::sim::fault_test
