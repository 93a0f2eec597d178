// What stream captures forbid to other calls, in answers that a GPU gives too.

#include <functional>
#include <thread>

#include "driver/capture_mode.h"
#include "sim/testing/driver_test.h"

namespace baton::sim::capture_rules_test {
namespace {

constexpr auto kGlobal = CU_STREAM_CAPTURE_MODE_GLOBAL;
constexpr auto kOwn = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
constexpr auto kRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED;

class CaptureRulesTest : public DriverTest {
 protected:
  using Call = std::function<CUresult()>;

  void SetUp() override {
    DriverTest::SetUp();
    stream = make_stream(CU_STREAM_NON_BLOCKING);
    other = make_stream(CU_STREAM_NON_BLOCKING);
    event = make_event(CU_EVENT_DISABLE_TIMING);
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, other));
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(other));
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuMemAlloc(&memory, 16));
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuMemAllocAsync(&in_order, 16, other));
  }
  void TearDown() override {
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(memory));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeAsync(in_order, other));
    DriverTest::TearDown();
  }

  // What may wait for captured work, or does. None of it concerns the captured stream.
  std::vector<Call> unsafe_calls() {
    return {
        [&] {
          CUdeviceptr more = 0;
          const CUresult result = driver.cuMemAlloc(&more, 16);
          if (result == CUDA_SUCCESS) driver.cuMemFree(more);
          return result;
        },
        [&] {
          const CUresult result = driver.cuMemFree(memory);
          if (result == CUDA_SUCCESS) driver.cuMemAlloc(&memory, 16);
          return result;
        },
        [&] {
          const CUresult result = driver.cuMemFreeAsync(in_order, other);
          if (result == CUDA_SUCCESS) driver.cuMemAllocAsync(&in_order, 16, other);
          return result;
        },
        [&] { return driver.cuEventQuery(event); },
        [&] { return driver.cuStreamSynchronize(other); },
    };
  }
  // Does something while a stream is captured, and tells how the capture ends.
  CUresult captured(CUstreamCaptureMode mode, const std::function<void()>& inside) {
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamBeginCapture(stream, mode));
    inside();
    CUgraph graph = nullptr;
    const CUresult result = driver.cuStreamEndCapture(stream, &graph);
    if (graph != nullptr) driver.cuGraphDestroy(graph);
    return result;
  }
  void in_another_thread(const std::function<void()>& call) {
    std::thread([&] {
      driver.cuCtxSetCurrent(context);
      call();
    }).join();
  }

  CUstream stream = nullptr, other = nullptr;
  CUevent event = nullptr;
  CUdeviceptr memory = 0, in_order = 0;
};

TEST_F(CaptureRulesTest, UnsafeCallsEndTheThreadsOwnCaptures) {
  for (const Call& call : unsafe_calls()) {
    for (const CUstreamCaptureMode mode : {kGlobal, kOwn}) {
      const CUresult end =
          captured(mode, [&] { EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, call()); });
      EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, end);
    }
    EXPECT_RESULT(CUDA_SUCCESS, captured(kRelaxed, [&] { EXPECT_RESULT(CUDA_SUCCESS, call()); }));
    EXPECT_RESULT(CUDA_SUCCESS, call());
  }
}

TEST_F(CaptureRulesTest, UnsafeCallsEndGlobalCapturesOfOtherThreads) {
  for (const Call& call : unsafe_calls()) {
    const auto refused = [&] { EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, call()); };
    const auto made = [&] { EXPECT_RESULT(CUDA_SUCCESS, call()); };
    EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                  captured(kGlobal, [&] { in_another_thread(refused); }));
    EXPECT_RESULT(CUDA_SUCCESS, captured(kOwn, [&] { in_another_thread(made); }));
  }
}

TEST_F(CaptureRulesTest, ARelaxedThreadMayCallWhatItLikes) {
  for (const Call& call : unsafe_calls()) {
    const auto relaxed = [&] {
      const driver::RelaxedCapture mode(driver);
      EXPECT_RESULT(CUDA_SUCCESS, call());
    };
    for (const CUstreamCaptureMode mode : {kGlobal, kOwn, kRelaxed}) {
      EXPECT_RESULT(CUDA_SUCCESS, captured(mode, relaxed));
    }
    EXPECT_RESULT(CUDA_SUCCESS, captured(kGlobal, [&] { in_another_thread(relaxed); }));
    // The mode is what it was before.
    const CUresult end = captured(kGlobal, [&] {
      relaxed();
      EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, call());
    });
    EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, end);
  }
}

// An event of the capture has no state to ask for, and to ask does no harm.
TEST_F(CaptureRulesTest, EventsOfACaptureAreRefusedAlone) {
  const CUresult end = captured(kGlobal, [&] {
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, stream));
    EXPECT_RESULT(CUDA_ERROR_CAPTURED_EVENT, driver.cuEventQuery(event));
  });
  EXPECT_RESULT(CUDA_SUCCESS, end);
}

TEST_F(CaptureRulesTest, CallsOnTheContextEndEveryCapture) {
  const Call calls[] = {
      [&] { return driver.cuCtxSynchronize(); },
      [&] { return driver.cuCtxRecordEvent(context, event); },
  };
  for (const Call& call : calls) {
    for (const CUstreamCaptureMode mode : {kGlobal, kOwn, kRelaxed}) {
      const CUresult end = captured(mode, [&] {
        const driver::RelaxedCapture relaxed(driver);
        EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, call());
      });
      EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, end);
    }
    EXPECT_RESULT(CUDA_SUCCESS, call());
  }
}

}  // namespace
}  // namespace baton::sim::capture_rules_test
