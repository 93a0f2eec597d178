#include <atomic>
#include <mutex>
#include <thread>

#include "sim/api/current.h"
#include "sim/device/objects.h"
#include "sim/testing/driver_test.h"
#include "sim/testing/test_kernels.h"

namespace baton::sim::stream_test {
namespace {

// Notes the order in which host functions ran.
class Journal {
 public:
  CUresult enter(const driver::Driver& driver, CUstream stream, int what) {
    entries_.push_back(std::make_unique<Entry>(Entry{this, what}));
    return driver.cuLaunchHostFunc(stream, &Journal::note, entries_.back().get());
  }
  std::vector<int> order() {
    std::lock_guard lock(mutex_);
    return order_;
  }

 private:
  struct Entry {
    Journal* journal;
    int what;
  };
  static void note(void* argument) {
    auto* entry = static_cast<Entry*>(argument);
    std::lock_guard lock(entry->journal->mutex_);
    entry->journal->order_.push_back(entry->what);
  }

  std::vector<std::unique_ptr<Entry>> entries_;
  std::mutex mutex_;
  std::vector<int> order_;
};

class StreamTest : public DriverTest {
 protected:
  Journal journal;
};

TEST_F(StreamTest, FlagsAndPriorities) {
  CUstream stream = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuStreamCreateWithPriority(&stream, 99, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuStreamCreateWithPriority(nullptr, 0, 0));
  int least = 1;
  int greatest = 1;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQ(least, 0);
  EXPECT_EQ(greatest, -5);
  int priority = 1;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamCreateWithPriority(&stream, 1, -100));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamGetPriority(stream, &priority));
  EXPECT_EQ(priority, -5);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamCreateWithPriority(&stream, 1, 100));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamGetPriority(stream, &priority));
  EXPECT_EQ(priority, 0);
  CUcontext owner = nullptr;
  for (CUstream each : {stream, CUstream{nullptr}, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD}) {
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamGetCtx(each, &owner));
    EXPECT_EQ(owner, context);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamQuery(each));
  }
}

TEST_F(StreamTest, DefaultStreamsCannotBeDestroyed) {
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuStreamDestroy(nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuStreamDestroy(CU_STREAM_LEGACY));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuStreamDestroy(CU_STREAM_PER_THREAD));
}

TEST_F(StreamTest, DestroyedStreamsAreUnknown) {
  SIMULATED_ONLY();
  const CUstream stream = make_stream();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamDestroy(stream));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuStreamQuery(stream));
  EXPECT_RESULT(CUDA_ERROR_INVALID_HANDLE, driver.cuStreamDestroy(stream));
  EXPECT_NE(make_stream(), stream);
}

TEST_F(StreamTest, PendingWorkOutlivesItsStream) {
  const CUstream stream = make_stream(CU_STREAM_DEFAULT);
  Gate gate;
  ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, stream));
  EXPECT_RESULT(CUDA_SUCCESS, journal.enter(driver, stream, 1));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamDestroy(stream));
  gate.open();
  // The legacy stream is still ordered after it.
  EXPECT_RESULT(CUDA_SUCCESS, journal.enter(driver, nullptr, 2));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(nullptr));
  EXPECT_EQ(journal.order(), (std::vector<int>{1, 2}));
}

TEST_F(StreamTest, RunInTheOrderOfSubmission) {
  const CUstream stream = make_stream();
  std::vector<int> want;
  for (int i = 0; i < 100; ++i) {
    ASSERT_RESULT(CUDA_SUCCESS, journal.enter(driver, stream, i));
    want.push_back(i);
  }
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
  EXPECT_EQ(journal.order(), want);
}

TEST_F(StreamTest, HostFunctionsMayNotCallTheDriver) {
  struct Results {
    const driver::Driver& driver;
    CUresult allocate, query, free;
  } results{driver, CUDA_SUCCESS, CUDA_SUCCESS, CUDA_SUCCESS};
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuLaunchHostFunc(nullptr, nullptr, nullptr));
  auto function = [](void* argument) {
    auto& r = *static_cast<Results*>(argument);
    CUdeviceptr address = 0;
    size_t bytes = 0;
    r.allocate = r.driver.cuMemAlloc(&address, 4);
    r.query = r.driver.cuStreamQuery(nullptr);
    r.free = r.driver.cuMemGetInfo(&bytes, &bytes);
  };
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuLaunchHostFunc(nullptr, function, &results));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(nullptr));
  EXPECT_RESULT(CUDA_ERROR_NOT_PERMITTED, results.allocate);
  EXPECT_RESULT(CUDA_ERROR_NOT_PERMITTED, results.query);
  EXPECT_RESULT(CUDA_ERROR_NOT_PERMITTED, results.free);
}

TEST_F(StreamTest, LegacyStreamIsOrderedAgainstBlockingStreams) {
  const CUstream blocking = make_stream(CU_STREAM_DEFAULT);
  const CUstream free_running = make_stream(CU_STREAM_NON_BLOCKING);
  Gate gate;
  ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, blocking));
  EXPECT_RESULT(CUDA_SUCCESS, journal.enter(driver, blocking, 1));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuStreamQuery(nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamQuery(CU_STREAM_PER_THREAD));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamQuery(free_running));
  EXPECT_RESULT(CUDA_SUCCESS, journal.enter(driver, nullptr, 2));
  EXPECT_RESULT(CUDA_SUCCESS, journal.enter(driver, CU_STREAM_PER_THREAD, 3));
  const CUevent after_legacy = make_event();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(after_legacy, CU_STREAM_PER_THREAD));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuEventQuery(after_legacy));
  gate.open();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(CU_STREAM_PER_THREAD));
  EXPECT_EQ(journal.order(), (std::vector<int>{1, 2, 3}));
}

TEST_F(StreamTest, BlockingStreamsWaitForTheLegacyStream) {
  const CUstream blocking = make_stream(CU_STREAM_DEFAULT);
  Gate gate;
  ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, journal.enter(driver, nullptr, 1));
  EXPECT_RESULT(CUDA_SUCCESS, journal.enter(driver, blocking, 2));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuStreamQuery(blocking));
  gate.open();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(blocking));
  EXPECT_EQ(journal.order(), (std::vector<int>{1, 2}));
}

TEST_F(StreamTest, EachThreadHasADefaultStreamOfItsOwn) {
  Gate gate;
  ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, CU_STREAM_PER_THREAD));
  std::thread([&] {
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(context));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamQuery(CU_STREAM_PER_THREAD));
  }).join();
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuStreamQuery(CU_STREAM_PER_THREAD));
}

// An explicit stream says which context is meant; the default streams need a current one.
TEST_F(StreamTest, NeedsNoCurrentContext) {
  const CUstream stream = make_stream();
  const CUevent event = make_event();
  const CUdeviceptr address = allocate(64);
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(nullptr));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(address, 3, 64, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamWaitEvent(stream, event, 0));
  EXPECT_EQ(download<char>(address, 1, stream)[0], 3);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventSynchronize(event));
  EXPECT_RESULT(CUDA_SUCCESS, journal.enter(driver, stream, 1));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
  CUdeviceptr other = 0;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemAllocAsync(&other, 16, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeAsync(other, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(address));
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuEventRecord(event, nullptr));
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuStreamWaitEvent(nullptr, event, 0));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamDestroy(stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventDestroy(event));
}

TEST_F(StreamTest, PollingHostsSeeTheEnd) {
  const CUstream stream = make_stream();
  const CUdeviceptr address = allocate(64);
  const CUevent event = make_event();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(address, 3, 64, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, stream));
  CUresult result = CUDA_ERROR_NOT_READY;
  while ((result = driver.cuEventQuery(event)) == CUDA_ERROR_NOT_READY) std::this_thread::yield();
  EXPECT_RESULT(CUDA_SUCCESS, result);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamQuery(stream));
}

// A query never blocks, whatever the schedule: the host function waits for what the host does after
// its query.
TEST_F(StreamTest, QueriesDoNotWaitForHostFunctions) {
  SIMULATED_ONLY();
  const CUstream stream = make_stream();
  const CUevent event = make_event();
  for (const ScheduleKind kind : {ScheduleKind::kSerial, ScheduleKind::kLate, ScheduleKind::kEarly,
                                  ScheduleKind::kReverse, ScheduleKind::kRandom}) {
    set_schedule({kind, 1});
    std::atomic<bool> go{false};
    const auto wait_for_go = [](void* flag) {
      while (!static_cast<std::atomic<bool>*>(flag)->load()) std::this_thread::yield();
    };
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuLaunchHostFunc(stream, wait_for_go, &go));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, stream));
    while (driver.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY) {
      EXPECT_TRUE(driver.cuEventQuery(event) == CUDA_ERROR_NOT_READY || go);
      go = true;
    }
    EXPECT_TRUE(go);
  }
}

TEST_F(StreamTest, TheScheduleChangesWhileOthersLaunch) {
  SIMULATED_ONLY();
  constexpr int kRounds = 300;
  const CUlibrary library = load(kTestKernels);
  const CUdeviceptr memory = upload(std::vector<int>(256));
  std::thread other([&] {
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(context));
    const CUstream stream = make_stream();
    CUdeviceptr address = memory;
    int one = 1;
    int count = 256;
    for (int round = 0; round < kRounds; ++round) {
      EXPECT_RESULT(CUDA_SUCCESS,
                    launch(kernel(library, "add"), stream, {&address, &one, &count}, 4, 64));
      if (round % 4 != 0) continue;
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
    }
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
  });
  for (int round = 0; round < kRounds; ++round) {
    const auto kind = round % 2 == 0 ? ScheduleKind::kReverse : ScheduleKind::kSerial;
    set_schedule({kind, 0});
  }
  other.join();
  EXPECT_EQ(download<int>(memory, 256), std::vector<int>(256, kRounds));
}

// What a server does that makes a stream for each request, or a thread.
TEST_F(StreamTest, DestroyedStreamsAreForgotten) {
  SIMULATED_ONLY();
  const CUstream stream = make_stream(CU_STREAM_DEFAULT);
  const std::weak_ptr<SimStream> made = Objects::instance().streams.find(stream);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(allocate(64), 0, 64, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamDestroy(stream));
  make_stream(CU_STREAM_DEFAULT);
  EXPECT_TRUE(made.expired());
}

TEST_F(StreamTest, StreamsOfEndedThreadsAreForgotten) {
  SIMULATED_ONLY();
  std::weak_ptr<SimStream> made;
  std::thread([&] {
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(context));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(allocate(64), 0, 64, CU_STREAM_PER_THREAD));
    made = usable_stream(CU_STREAM_PER_THREAD);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(CU_STREAM_PER_THREAD));
  }).join();
  make_stream(CU_STREAM_DEFAULT);
  EXPECT_TRUE(made.expired());
}

// The work of a thread that ended goes on, and the legacy stream still waits for it.
TEST_F(StreamTest, PendingWorkOutlivesItsThread) {
  Gate gate;
  std::thread([&] {
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(context));
    ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, CU_STREAM_PER_THREAD));
    EXPECT_RESULT(CUDA_SUCCESS, journal.enter(driver, CU_STREAM_PER_THREAD, 1));
  }).join();
  make_stream(CU_STREAM_DEFAULT);
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuStreamQuery(nullptr));
  gate.open();
  EXPECT_RESULT(CUDA_SUCCESS, journal.enter(driver, nullptr, 2));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(nullptr));
  EXPECT_EQ(journal.order(), (std::vector<int>{1, 2}));
}

TEST_F(StreamTest, ManyThreadsOnManyStreams) {
  constexpr int kThreads = 8;
  constexpr int kRounds = 200;
  constexpr std::size_t kCount = 256;
  std::vector<std::thread> threads;
  std::atomic<int> mismatches{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(context));
      const CUstream streams[] = {make_stream(), make_stream(CU_STREAM_DEFAULT)};
      const CUdeviceptr first = allocate(kCount * 4);
      const CUdeviceptr second = allocate(kCount * 4);
      for (int round = 0; round < kRounds; ++round) {
        const CUstream stream = streams[round % 2];
        const CUstream other = streams[1 - round % 2];
        const auto value = static_cast<unsigned>(t * kRounds + round);
        const CUevent event = make_event(CU_EVENT_DISABLE_TIMING);
        EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(first, value, kCount, stream));
        EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, stream));
        EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamWaitEvent(other, event, 0));
        EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventDestroy(event));
        EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyDtoDAsync(second, first, kCount * 4, other));
        CUdeviceptr scratch = 0;
        EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemAllocAsync(&scratch, 64, other));
        EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeAsync(scratch, other));
        if (round % 16 == 0) {
          EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(nullptr));
        }
        for (unsigned seen : download<unsigned>(second, kCount, other)) mismatches += seen != value;
      }
      for (CUstream stream : streams) EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamDestroy(stream));
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(first));
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(second));
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(mismatches, 0);
}

}  // namespace
}  // namespace baton::sim::stream_test
