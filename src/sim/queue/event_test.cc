#include "sim/testing/driver_test.h"

namespace baton::sim::event_test {
namespace {

class EventTest : public DriverTest {};

TEST_F(EventTest, Flags) {
  CUevent event = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuEventCreate(&event, 0xff));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuEventCreate(&event, CU_EVENT_INTERPROCESS));
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuEventCreate(nullptr, 0));
}

TEST_F(EventTest, NullIsNoEvent) {
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuEventQuery(nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuEventRecord(nullptr, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuStreamWaitEvent(nullptr, nullptr, 0));
}

TEST_F(EventTest, DestroyedEventsAreUnknown) {
  SIMULATED_ONLY();
  const CUevent event = make_event();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventDestroy(event));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuEventQuery(event));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuEventDestroy(event));
}

TEST_F(EventTest, UnrecordedEventsHinderNobody) {
  const CUevent event = make_event();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventQuery(event));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventSynchronize(event));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamWaitEvent(nullptr, event, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuStreamWaitEvent(nullptr, event, 77));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(nullptr));
  float milliseconds = -1;
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuEventElapsedTime(&milliseconds, event, event));
}

TEST_F(EventTest, AContextsEventComesAfterTheWorkOfAllStreams) {
  if (driver.cuCtxRecordEvent == nullptr) GTEST_SKIP() << "the driver has no such entry";
  const CUevent event = make_event(CU_EVENT_DISABLE_TIMING);
  const CUstream streams[] = {make_stream(CU_STREAM_DEFAULT), make_stream()};
  Gate gates[2];
  for (int i = 0; i < 2; ++i) {
    EXPECT_RESULT(CUDA_SUCCESS, gates[i].close(driver, streams[i]));
  }
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxRecordEvent(context, event));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuEventQuery(event));
  gates[0].open();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(streams[0]));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuEventQuery(event));
  gates[1].open();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventSynchronize(event));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamQuery(streams[1]));
}

// Also of work that has ended before the event is recorded, of which the host did not know.
TEST_F(EventTest, WhoKnowsAContextsEventKnowsTheEndOfAllWork) {
  SIMULATED_ONLY();
  set_schedule({});
  const CUdeviceptr address = allocate(256);
  std::promise<void> ended;
  const auto end = [](void* promise) { static_cast<std::promise<void>*>(promise)->set_value(); };
  const CUstream first = make_stream();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(address, 1, 256, first));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuLaunchHostFunc(first, end, &ended));
  ended.get_future().wait();
  const CUevent event = make_event();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxRecordEvent(context, event));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventSynchronize(event));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(address, 2, 256, make_stream()));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSynchronize());
  EXPECT_TRUE(take_findings().empty());
}

TEST_F(EventTest, AContextRecordsItsOwnEventsAlone) {
  if (driver.cuCtxRecordEvent == nullptr) GTEST_SKIP() << "the driver has no such entry";
  const CUevent event = make_event();
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuCtxRecordEvent(nullptr, event));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuCtxRecordEvent(context, nullptr));
}

TEST_F(EventTest, MeasuresTime) {
  const CUevent start = make_event();
  const CUevent end = make_event();
  const CUevent untimed = make_event(CU_EVENT_DISABLE_TIMING);
  const CUdeviceptr address = allocate(1 << 20);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(start, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(untimed, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(address, 1, 1 << 20, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(end, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventSynchronize(end));
  float milliseconds = -1;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventElapsedTime(&milliseconds, start, end));
  EXPECT_GT(milliseconds, 0);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventElapsedTime(&milliseconds, start, start));
  EXPECT_EQ(milliseconds, 0);
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE,
                driver.cuEventElapsedTime(&milliseconds, start, untimed));
}

TEST_F(EventTest, IsReadyWhenReached) {
  const CUstream stream = make_stream();
  const CUevent event = make_event();
  Gate gate;
  ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, stream));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuEventQuery(event));
  float milliseconds = -1;
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuEventElapsedTime(&milliseconds, event, event));
  gate.open();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventSynchronize(event));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventQuery(event));
}

TEST_F(EventTest, OrdersStreams) {
  const CUstream first = make_stream();
  const CUstream second = make_stream();
  const CUevent event = make_event(CU_EVENT_DISABLE_TIMING);
  const CUdeviceptr source = allocate(4);
  const CUdeviceptr target = allocate(4);
  Gate gate;
  ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, first));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(source, 99, 1, first));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, first));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamWaitEvent(second, event, 0));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyDtoDAsync(target, source, 4, second));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuStreamQuery(second));
  // A wait keeps what it waits for, though the event goes on to other things and dies.
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, make_stream()));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventDestroy(event));
  gate.open();
  EXPECT_EQ(download<int>(target, 1, second)[0], 99);
}

TEST_F(EventTest, RerecordingMovesTheEvent) {
  const CUstream stream = make_stream();
  const CUevent event = make_event();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventSynchronize(event));
  Gate gate;
  ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, stream));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuEventQuery(event));
  gate.open();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventSynchronize(event));
}

TEST_F(EventTest, OrdersDevices) {
  SIMULATED_ONLY();  // other machines may have one device
  const CUstream here = make_stream();
  const CUevent event = make_event(CU_EVENT_DISABLE_TIMING);
  CUcontext other = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&other, 2));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(other));
  const CUstream there = make_stream();
  const CUdeviceptr address = allocate(4);
  Gate gate;
  ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, here));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, here));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuEventRecord(event, there));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamWaitEvent(there, event, 0));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(address, 5, 1, there));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuStreamQuery(there));
  gate.open();
  EXPECT_EQ(download<int>(address, 1, there)[0], 5);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRelease(2));
}

}  // namespace
}  // namespace baton::sim::event_test
