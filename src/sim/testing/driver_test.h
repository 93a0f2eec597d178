#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "base/system/environment.h"
#include "driver/cuda.h"
#include "driver/simulator.h"
#include "sim/api/driver.h"

namespace baton::sim {

// The driver that the tests call: the simulated one; with BATON_TEST_DRIVER=cuda the machine's own,
// which shows whether the simulated one behaves as it does.
inline bool tests_cuda() {
  return read_environment("BATON_TEST_DRIVER") == "cuda";
}

inline const driver::Driver& driver_under_test() {
  return tests_cuda() ? *driver::load_cuda() : simulated_driver();
}

inline std::string name_of(CUresult result) {
  const char* name = nullptr;
  driver_under_test().cuGetErrorName(result, &name);
  return name != nullptr ? name : "unknown result " + std::to_string(result);
}

#define EXPECT_RESULT(want, call) EXPECT_EQ(name_of(call), #want)
#define ASSERT_RESULT(want, call) ASSERT_EQ(name_of(call), #want)

// For what a CUDA driver answers by crashing, or cannot know.
#define SIMULATED_ONLY() \
  if (tests_cuda()) GTEST_SKIP() << "holds for the simulated driver only"

// A host function that keeps its stream waiting until it is opened.
class Gate {
 public:
  ~Gate() { open(); }
  CUresult close(const driver::Driver& driver, CUstream stream) {
    // The function may still be waking up when the gate is gone, so it has a future of its own.
    return driver.cuLaunchHostFunc(stream, &Gate::pass, new std::shared_future<void>(future_));
  }
  void open() {
    if (!opened_) promise_.set_value();
    opened_ = true;
  }

 private:
  static void pass(void* argument) {
    std::unique_ptr<std::shared_future<void>>(static_cast<std::shared_future<void>*>(argument))
        ->wait();
  }

  std::promise<void> promise_;
  std::shared_future<void> future_ = promise_.get_future().share();
  bool opened_ = false;
};

// Device 0 with its primary context current.
class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuDevicePrimaryCtxRetain(&context, 0));
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(context));
  }
  void TearDown() override {
    session_.reset();
    driver.cuCtxSetCurrent(nullptr);
    driver.cuDevicePrimaryCtxRelease(0);
  }

  // The test's own session with that schedule, from its start, in place of an earlier one.
  void set_schedule(const Schedule& schedule) {
    session_.reset();
    session_ = driver.simulator->begin(context, {.schedule = schedule});
  }
  // The findings of the session if there is one, else those of work in none.
  std::vector<driver::Finding> take_findings() {
    return session_ != nullptr ? session_->take_findings()
                               : driver.simulator->take_findings(context);
  }

  CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemAlloc(&address, bytes));
    return address;
  }

  CUstream make_stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream stream = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamCreateWithPriority(&stream, flags, 0));
    return stream;
  }

  CUevent make_event(unsigned flags = CU_EVENT_DEFAULT) {
    CUevent event = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventCreate(&event, flags));
    return event;
  }

  template <typename T>
  std::vector<T> download(CUdeviceptr address, std::size_t count, CUstream stream = nullptr) {
    std::vector<T> values(count);
    EXPECT_RESULT(CUDA_SUCCESS,
                  driver.cuMemcpyDtoHAsync(values.data(), address, count * sizeof(T), stream));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
    return values;
  }

  template <typename T>
  CUdeviceptr upload(const std::vector<T>& values) {
    const CUdeviceptr address = allocate(values.size() * sizeof(T));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyHtoDAsync(address, values.data(),
                                                         values.size() * sizeof(T), nullptr));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(nullptr));
    return address;
  }

  CUlibrary load(const char* ptx) {
    CUlibrary library = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryLoadData(&library, ptx, nullptr, nullptr, 0,
                                                         nullptr, nullptr, 0));
    return library;
  }

  CUkernel kernel(CUlibrary library, const char* name) {
    CUkernel found = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryGetKernel(&found, library, name)) << name;
    return found;
  }

  CUresult launch(CUkernel entry, CUstream stream, std::vector<void*> params = {},
                  unsigned grid = 1, unsigned block = 1, unsigned shared = 0) {
    return driver.cuLaunchKernel(reinterpret_cast<CUfunction>(entry), grid, 1, 1, block, 1, 1,
                                 shared, stream, params.data(), nullptr);
  }

  const driver::Driver& driver = driver_under_test();
  CUcontext context = nullptr;

 private:
  std::unique_ptr<driver::Simulator::Session> session_;
};

}  // namespace baton::sim
