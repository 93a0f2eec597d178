#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "baton/buffer.h"
#include "baton/launch_plan.h"
#include "baton/log.h"
#include "baton/module.h"

// The warning about kernels that are loaded beside a launch that polls. The simulated GPU loads
// without a wait, and says as a driver does whether it loads lazily.

namespace baton::lazy_loading_test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kKernels = R"(
.version 8.0
.target sm_80
.address_size 64

.visible .entry polls(.param .u64 flag)
{
  .reg .pred %p1;
  .reg .b32 %r1;
  .reg .b64 %rd1;
  ld.param.u64 %rd1, [flag];
AGAIN:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra AGAIN;
  ret;
}

.visible .entry first(.param .u64 unused)
{
  ret;
}

.visible .entry second(.param .u64 unused)
{
  ret;
}
)";

class LazyLoadingTest : public testing::Test {
 protected:
  LazyLoadingTest() {
    set_log_callback([this](LogLevel, std::string_view message) {
      if (message.find("is loaded while") != std::string_view::npos) logged_ += message;
    });
    // The value that the kernel waits for is there already, so the kernel ends.
    flag_.memory().fill(1, 4, 1, 0, stream_);
    stream_.synchronize();
  }
  ~LazyLoadingTest() override { set_log_callback({}); }

  void launch(const char* kernel) const {
    module_.kernel(kernel).launch({.stream = stream_}, flag_);
  }

  std::string logged_;
  const Device device_ = Device::open("sim:tiny");
  const Module module_ = Module::load(device_, Image::from_bytes(kKernels, "kernels.ptx"));
  const Stream stream_{device_};
  Buffer<int> flag_{device_, 1};
};

TEST_F(LazyLoadingTest, AKernelThatIsLoadedBesideAPollingOneIsWarnedOf) {
  launch("first");
  launch("polls");
  launch("first");
  EXPECT_THAT(logged_, IsEmpty());
  launch("second");
  EXPECT_THAT(logged_, HasSubstr("kernel second is loaded while kernel polls may run, which polls "
                                 "memory: a driver that loads lazily may wait for it"));
  stream_.synchronize();
}

TEST_F(LazyLoadingTest, APlanLaunchesToo) {
  LaunchPlan plan = LaunchPlan::make(module_.kernel("polls"), {.stream = stream_}, flag_);
  LaunchPlan::make(module_.kernel("first"), {.stream = stream_}, flag_);
  EXPECT_THAT(logged_, IsEmpty());
  plan.launch();
  LaunchPlan::make(module_.kernel("second"), {.stream = stream_}, flag_);
  EXPECT_THAT(logged_, HasSubstr("kernel second"));
  stream_.synchronize();
}

TEST_F(LazyLoadingTest, KernelsThatAreLoadedBeforeAreNot) {
  module_.load_kernels();
  launch("polls");
  launch("first");
  launch("second");
  EXPECT_THAT(logged_, IsEmpty());
  stream_.synchronize();
}

TEST_F(LazyLoadingTest, NothingIsAmissAfterAWait) {
  launch("polls");
  stream_.synchronize();
  launch("first");
  launch("polls");
  device_.synchronize();
  launch("second");
  EXPECT_THAT(logged_, IsEmpty());
  stream_.synchronize();
}

TEST(LazyLoading, ADriverThatLoadsEagerlyIsNotWarnedOf) {
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  std::string logged;
  set_log_callback([&](LogLevel, std::string_view message) { logged += message; });
  {
    const Device device = Device::open("sim:tiny");
    const Module module = Module::load(device, Image::from_bytes(kKernels, "kernels.ptx"));
    const Stream stream(device);
    Buffer<int> flag(device, 1);
    flag.memory().fill(1, 4, 1, 0, stream);
    module.kernel("polls").launch({.stream = stream}, flag);
    module.kernel("second").launch({.stream = stream}, flag);
    stream.synchronize();
  }
  unsetenv("CUDA_MODULE_LOADING");
  set_log_callback({});
  EXPECT_THAT(logged, IsEmpty());
}

}  // namespace
}  // namespace baton::lazy_loading_test
