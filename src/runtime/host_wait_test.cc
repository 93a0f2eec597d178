#include "runtime/host_wait.h"

#include <cuda.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <optional>
#include <thread>

#include "baton/buffer.h"
#include "baton/error.h"
#include "baton/stream.h"
#include "driver/driver.h"
#include "runtime/context.h"

namespace baton::host_wait_test {
namespace {

// Counts the waits of one thread. Work that is awaited for a moment may end, or the wait ends
// first.
class CountedWait : public HostWait {
 public:
  bool serves_this_thread() noexcept override { return std::this_thread::get_id() == thread_; }
  void until(const driver::Driver&, CUcontext, const Wait& wait) override {
    ++waits_;
    while (!wait()) work_may_end();
    more_work();
  }
  bool until_released(const driver::Driver&, CUcontext, const Wait& wait) noexcept override {
    ++releases_;
    while (!wait()) {
      if (ends_first_) return false;
      work_may_end();
    }
    more_work();
    return true;
  }
  // The other threads let the work end.
  void let_others_run(const std::function<void()>& call) noexcept override {
    work_may_end();
    call();
  }

  // Work that goes on until `work_may_end`.
  void begin_work(const Stream& stream) {
    work_.emplace();
    ended_ = false;
    const Device device = stream.device();
    const ContextGuard guard(device);
    const auto held = [](void* work) {
      static_cast<std::promise<void>*>(work)->get_future().wait();
    };
    BATON_DRIVER_CALL(device.driver(), cuLaunchHostFunc, stream.native(), held, &*work_);
  }
  void work_may_end() {
    if (!ended_ && work_) work_->set_value();
    ended_ = true;
  }
  void end_first() { ends_first_ = true; }
  // The next waits end when another thread has enqueued work again.
  void bring_work(const Stream& stream, int times) {
    bringing_ = &stream;
    times_ = times;
    begin_work(stream);
  }
  int waits() const { return waits_; }
  int releases() const { return releases_; }

 private:
  void more_work() {
    if (times_ == 0) return;
    --times_;
    begin_work(*bringing_);
  }

  const std::thread::id thread_ = std::this_thread::get_id();
  std::optional<std::promise<void>> work_;
  bool ended_ = false, ends_first_ = false;
  int waits_ = 0, releases_ = 0;
  const Stream* bringing_ = nullptr;
  int times_ = 0;
};

class HostWaitTest : public testing::Test {
 protected:
  HostWaitTest() { set_host_wait(&wait_); }
  ~HostWaitTest() override { set_host_wait(nullptr); }

  const Device device_ = Device::open("sim:tiny");
  CountedWait wait_;
};

TEST_F(HostWaitTest, NothingIsAwaitedOfAnIdleDevice) {
  { const Memory memory(device_, 16); }
  device_.synchronize();
  EXPECT_EQ(wait_.waits(), 0);
  EXPECT_EQ(wait_.releases(), 0);
}

TEST_F(HostWaitTest, CallsAwaitTheWork) {
  const Stream stream(device_);
  wait_.begin_work(stream);
  device_.synchronize();
  EXPECT_EQ(wait_.waits(), 1);
  stream.synchronize();
  EXPECT_EQ(wait_.waits(), 2) << "a stream is asked, which takes no thread";
}

TEST_F(HostWaitTest, DestructorsAwaitTheWork) {
  const Stream stream(device_);
  {
    const Memory memory(device_, 16);
    wait_.begin_work(stream);
  }
  EXPECT_EQ(wait_.releases(), 1);
  EXPECT_TRUE(stream.done());
}

// The driver would wait for it with the interpreter's lock, deaf to signals.
TEST_F(HostWaitTest, WorkThatComesMeanwhileIsAwaitedToo) {
  const Stream stream(device_);
  wait_.bring_work(stream, 2);
  device_.synchronize();
  EXPECT_EQ(wait_.waits(), 3);
  {
    const Memory memory(device_, 16);
    wait_.bring_work(stream, 2);
  }
  EXPECT_EQ(wait_.releases(), 3);
}

// Then the driver waits, and only other threads can end the work.
TEST_F(HostWaitTest, WorkThatNeverStopsComingIsLeftToTheDriver) {
  const Stream stream(device_);
  {
    const Memory memory(device_, 16);
    wait_.bring_work(stream, 1000);
  }
  EXPECT_LT(wait_.releases(), 100);
  EXPECT_TRUE(stream.done());
}

TEST_F(HostWaitTest, WhatIsStillInUseStays) {
  const Stream stream(device_);
  DeviceAddress address = 0;
  {
    const Memory memory(device_, 16);
    address = memory.address();
    wait_.begin_work(stream);
    wait_.end_first();
  }
  wait_.work_may_end();
  stream.synchronize();
  const ContextGuard guard(device_);
  EXPECT_EQ(device_.driver().cuMemFree(address), CUDA_SUCCESS);
}

// A release while a stream is captured waits for the work of the other streams.
TEST_F(HostWaitTest, DestructorsLeaveCapturesAsTheyAre) {
  const driver::Driver& driver = device_.driver();
  const Stream captured(device_), working(device_);
  for (const CUstreamCaptureMode mode :
       {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        CU_STREAM_CAPTURE_MODE_RELAXED}) {
    const ContextGuard guard(device_);
    {
      const Memory memory(device_, 16);
      wait_.begin_work(working);
      ASSERT_EQ(driver.cuStreamBeginCapture(captured.native(), mode), CUDA_SUCCESS);
    }
    CUgraph graph = nullptr;
    EXPECT_EQ(driver.cuStreamEndCapture(captured.native(), &graph), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuGraphDestroy(graph), CUDA_SUCCESS);
    EXPECT_TRUE(working.done());
  }
  EXPECT_EQ(wait_.releases(), 3);
}

// A wait that was asked for is one that the capture does not allow.
TEST_F(HostWaitTest, WaitsEndCaptures) {
  const driver::Driver& driver = device_.driver();
  const Stream captured(device_);
  const ContextGuard guard(device_);
  ASSERT_EQ(driver.cuStreamBeginCapture(captured.native(), CU_STREAM_CAPTURE_MODE_RELAXED),
            CUDA_SUCCESS);
  EXPECT_THROW(device_.synchronize(), Error);
  CUgraph graph = nullptr;
  EXPECT_EQ(driver.cuStreamEndCapture(captured.native(), &graph),
            CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

// A GPU does not tell whether it is idle. It takes an event, or a thread where the driver is old
// and where a release waits.
TEST_F(HostWaitTest, AGpuIsAwaitedByAnEventOrAThread) {
  driver::Driver with_events = device_.driver();
  with_events.simulator = nullptr;
  driver::Driver without = with_events;
  without.cuCtxRecordEvent = nullptr;
  const CUcontext context = device_.native_context();
  const Stream stream(device_);
  for (const driver::Driver& driver : {with_events, without}) {
    wait_.begin_work(stream);
    await_work(driver, context);
    EXPECT_TRUE(stream.done());
    wait_.begin_work(stream);
    EXPECT_TRUE(await_release(driver, context));
    EXPECT_TRUE(stream.done());
  }
  EXPECT_EQ(wait_.waits(), 2);
  EXPECT_EQ(wait_.releases(), 2);
}

TEST_F(HostWaitTest, OtherThreadsLeaveTheWaitToTheDriver) {
  std::async(std::launch::async, [this] {
    const Stream stream(device_);
    wait_.begin_work(stream);
    wait_.work_may_end();
    device_.synchronize();
  }).get();
  EXPECT_EQ(wait_.waits(), 0);
}

}  // namespace
}  // namespace baton::host_wait_test
