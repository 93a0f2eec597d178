// Answers that the simulated driver never gives: its table, with one entry replaced.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>

#include "baton/launch_plan.h"
#include "runtime/device_state.h"
#include "runtime/exception_result.h"
#include "runtime/provider.h"

namespace baton::other_driver_test {
namespace {

using testing::HasSubstr;

constexpr const char* kKernel = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 k_param_0) { ret; }
)";

class OtherDriver : public testing::Test {
 protected:
  // A table for these tests alone, which what they made of it outlives.
  static driver::Driver& table() {
    static driver::Driver own = *driver_providers().back().driver(nullptr);
    return own;
  }
  void TearDown() override { table() = whole_; }

  const driver::Driver whole_ = table();
  const Device device_ = DeviceState::handle(DeviceState::acquire(
      driver_providers().back(), table(), *driver_providers().back().ordinal("tiny")));
  const Kernel kernel_ =
      Module::load(device_, Image::from_bytes(kKernel, "kernel.ptx")).kernel("k");
  std::uint32_t value_ = 1;
  void* const arguments_[1] = {&value_};
};

TEST_F(OtherDriver, WithoutHostMemoryARawLaunchGivesAResult) {
  LaunchPlan plan = LaunchPlan::make(kernel_, {.block = 32}, value_);
  ASSERT_EQ(kernel_.launch_raw({.block = 32}, arguments_), CUDA_SUCCESS);
  table().cuCtxGetCurrent = [](CUcontext*) -> CUresult { throw std::bad_alloc(); };
  const NativeResult raw = kernel_.launch_raw({.block = 32}, arguments_);
  const NativeResult planned = plan.try_launch();
  const NativeResult raised = kernel_.launch_raw({.block = 32, .shared = 100000}, arguments_);
  table() = whole_;
  EXPECT_EQ(raw, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(planned, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(raised, CUDA_ERROR_OUT_OF_MEMORY);
}

// A driver that loads lazily does so where it is asked for a kernel's function.
TEST_F(OtherDriver, KernelsThatAreLoadedBeforehandNeedNothingAtTheirFirstLaunch) {
  const auto refuse = [](CUfunction*, CUkernel) -> CUresult { return CUDA_ERROR_UNKNOWN; };
  const Image image = Image::from_bytes(kKernel, "kernel.ptx");
  const Module lazy = Module::load(device_, image), loaded = Module::load(device_, image);
  loaded.load_kernels();
  table().cuKernelGetFunction = refuse;
  EXPECT_THROW(lazy.kernel("k").launch({.block = 32}, value_), Error);
  EXPECT_NO_THROW(loaded.kernel("k").launch({.block = 32}, value_));
  device_.synchronize();
}

// An Error that is not the driver's has no result of its own, and is not a success.
TEST_F(OtherDriver, AnErrorThatIsNotTheDriversIsNoSuccess) {
  table().cuFuncSetAttribute = [](CUfunction, CUfunction_attribute, int) -> CUresult {
    throw Error(ErrorCode::kInternal, "not the driver's");
  };
  const Stream stream(device_);
  const LaunchConfig shared{.block = 32, .shared = 100000, .stream = stream};
  EXPECT_EQ(kernel_.launch_raw(shared, arguments_), CUDA_ERROR_INVALID_VALUE);
  const LaunchConfig clusters{
      .grid = 16, .block = 32, .stream = stream, .attributes = {cluster(16)}};
  EXPECT_EQ(kernel_.launch_raw(clusters, arguments_), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(OtherDriver, ExceptionsHaveResults) {
  const auto result_of = [](auto thrown) {
    try {
      throw thrown;
    } catch (...) {
      return result_of_exception();
    }
  };
  EXPECT_EQ(result_of(std::bad_alloc()), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(result_of(Error(ErrorCode::kInternal, "")), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(result_of(42), CUDA_ERROR_UNKNOWN);
  Error drivers(ErrorCode::kDriver, "");
  drivers.of_driver(CUDA_ERROR_ECC_UNCORRECTABLE);
  EXPECT_EQ(result_of(drivers), CUDA_ERROR_ECC_UNCORRECTABLE);
}

TEST_F(OtherDriver, AClusterThatFitsNowhereIsToldWithItsNumbers) {
  table().cuOccupancyMaxActiveClusters = [](int* clusters, CUfunction,
                                            const CUlaunchConfig*) -> CUresult {
    *clusters = 0;
    return CUDA_SUCCESS;
  };
  try {
    kernel_.check({.grid = 4, .block = {32, 3}, .shared = 1000, .attributes = {cluster(2)}});
    FAIL() << "nothing was refused";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kLimit);
    EXPECT_THAT(failure.what(),
                HasSubstr("kernel k: no cluster (2, 1, 1) of blocks of 96 threads "
                          "and 1000 bytes of dynamic shared memory fits on sim:tiny"));
  }
}

}  // namespace
}  // namespace baton::other_driver_test
