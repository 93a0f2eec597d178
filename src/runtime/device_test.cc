#include "baton/device.h"

#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>

#include "base/error.h"
#include "baton/buffer.h"
#include "runtime/context.h"

namespace baton::device_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Each case runs in a process of its own under ctest; alone in one process they must still agree.
class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    // A machine with a GPU must give the same results.
    setenv("BATON_CUDA_DRIVER", "/nonexistent/libcuda.so", 1);
    unsetenv("BATON_DEVICE");
  }

  static Error failure_of(std::string_view spec) {
    try {
      Device::open(spec);
    } catch (Error& failure) {
      return failure;
    }
    ADD_FAILURE() << spec << " was opened";
    return Error(ErrorCode::kInternal, "");
  }
};

TEST_F(DeviceTest, WithoutACudaDriverTheSimulatedGpuIsTaken) {
  EXPECT_EQ(Device::open().spec(), "sim:h200");
}

TEST_F(DeviceTest, TheEnvironmentChooses) {
  setenv("BATON_DEVICE", "sim:tiny", 1);
  EXPECT_EQ(Device::open().spec(), "sim:tiny");
  setenv("BATON_DEVICE", "sim:tyni", 1);
  try {
    Device::open();
    FAIL();
  } catch (const Error& failure) {
    EXPECT_THAT(failure.what(), AllOf(HasSubstr("sim:tyni"), HasSubstr("BATON_DEVICE")));
  }
}

TEST_F(DeviceTest, EveryProfileHasItsSpec) {
  EXPECT_EQ(Device::open("sim").spec(), "sim:h200");
  for (const char* spec :
       {"sim:h100", "sim:h200", "sim:b200", "sim:tiny", "sim:sm80", "sim:sm89", "sim:sm120"}) {
    EXPECT_EQ(Device::open(spec).spec(), spec);
  }
}

TEST_F(DeviceTest, UnknownSpecsNameTheNearest) {
  for (const char* spec : {"sim:h20", "sim:", "gpu", "", "cuda:", "cuda:x", "cuda:-1", "cuda:1x",
                           "cuda:99999999999", "SIM"}) {
    const Error failure = failure_of(spec);
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput) << spec;
    EXPECT_THAT(failure.what(), HasSubstr("unknown device \"" + std::string(spec) + "\"")) << spec;
  }
  EXPECT_THAT(failure_of("sim:h20").what(), HasSubstr("did you mean \"sim:h200\"?"));
}

TEST_F(DeviceTest, AnAbsentGpuIsNoDevice) {
  const Error failure = failure_of("cuda:0");
  EXPECT_EQ(failure.code(), ErrorCode::kNoDevice);
  EXPECT_EQ(exit_status(failure.code()), 3);
  EXPECT_THAT(failure.what(), HasSubstr("/nonexistent/libcuda.so"));
}

TEST_F(DeviceTest, ListingSaysWhyThereIsNoGpu) {
  std::string why;
  const auto devices = list_devices(&why);
  ASSERT_EQ(devices.size(), 7u);
  EXPECT_EQ(devices[0].spec, "sim:h200");
  EXPECT_EQ(devices[0].architecture, 90);
  const auto tiny = std::ranges::find(devices, "sim:tiny", &DeviceSummary::spec);
  ASSERT_NE(tiny, devices.end());
  EXPECT_GT(devices[0].total_memory, tiny->total_memory);
  EXPECT_THAT(why, HasSubstr("no CUDA driver"));
}

TEST_F(DeviceTest, ReportsTheChip) {
  const Device device = Device::open("sim:h200");
  EXPECT_THAT(device.name(), HasSubstr("H200"));
  EXPECT_EQ(device.architecture(), 90);
  EXPECT_EQ(device.compile_arch(), "sm_90a");
  EXPECT_EQ(device.limits().threads_per_block, 1024u);
  EXPECT_EQ(device.limits().grid[1], 65535u);
  EXPECT_EQ(device.limits().shared_per_block_optin, 232448u);
  EXPECT_EQ(device.limits().warp_size, 32u);
  EXPECT_EQ(device.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 132);
  EXPECT_THROW(device.attribute(100000), Error);
  EXPECT_LE(device.free_memory(), device.total_memory());
  EXPECT_GE(device.driver_version(), 12040);
}

TEST_F(DeviceTest, OpeningAgainGivesTheSameDevice) {
  const Device one = Device::open("sim"), two = Device::open("sim:h200");
  EXPECT_EQ(one, two);
  EXPECT_EQ(one.native_context(), two.native_context());
  EXPECT_FALSE(one == Device::open("sim:tiny"));
}

CUcontext current_context(const Device& device) {
  CUcontext current = nullptr;
  BATON_DRIVER_CALL(device.driver(), cuCtxGetCurrent, &current);
  return current;
}

TEST_F(DeviceTest, TheCallersContextStaysCurrent) {
  const Device tiny = Device::open("sim:tiny"), h200 = Device::open("sim:h200");
  EXPECT_EQ(current_context(tiny), nullptr);
  const auto use = [&] {
    const Buffer<int> buffer(tiny, 100);
    buffer.upload(std::vector<int>(100, 1));
    tiny.synchronize();
    EXPECT_THROW(Buffer<int>(tiny, tiny.total_memory()), Error);
  };
  use();
  EXPECT_EQ(current_context(tiny), nullptr);
  const ContextGuard outer(h200);
  use();
  EXPECT_EQ(current_context(tiny), h200.native_context());
  {
    const ContextGuard inner(tiny);
    use();
    EXPECT_EQ(current_context(tiny), tiny.native_context());
  }
  EXPECT_EQ(current_context(tiny), h200.native_context());
}

TEST_F(DeviceTest, AContextLivesAsLongAsAnythingOfIt) {
  std::unique_ptr<Buffer<int>> buffer;
  {
    const Device device = Device::open("sim:tiny");
    buffer = std::make_unique<Buffer<int>>(device, 10);
  }
  buffer->upload(std::vector<int>(10, 3));
  EXPECT_EQ(buffer->download(), std::vector<int>(10, 3));
  // Used after the last handle is gone, the device starts afresh.
  buffer.reset();
  EXPECT_EQ(Buffer<int>::of(Device::open("sim:tiny"), std::vector<int>{1}).download()[0], 1);
}

TEST(BrokenDriver, IsNoReasonToSimulate) {
  setenv("BATON_CUDA_DRIVER", "libc.so.6", 1);
  unsetenv("BATON_DEVICE");
  // The driver is loaded once a process, so this takes a fresh one.
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        try {
          Device::open();
        } catch (const Error& failure) {
          std::fprintf(stderr, "%s\n", failure.what());
          std::_Exit(failure.code() == ErrorCode::kNoDevice ? 0 : 2);
        }
        std::_Exit(1);
      },
      testing::ExitedWithCode(0), "does not start");
}

// Last, because they count as devices from here on.
TEST_F(DeviceTest, FurtherSimulatedDevicesHaveContextsOfTheirOwn) {
  const Device first = Device::open("sim:tiny");
  const Device second = Device::open("sim:tiny:1");
  EXPECT_EQ(second.spec(), "sim:tiny:1");
  EXPECT_EQ(second.name(), first.name());
  EXPECT_NE(second.native(), first.native());
  EXPECT_NE(second.native_context(), first.native_context());
  EXPECT_EQ(Device::open("sim:tiny:1").native(), second.native());
  // Each has its own memory and its own streams: a host function of one may wait for the other.
  const Memory there(second, 4);
  std::uint32_t bits = 0;
  const Stream stream(second);
  there.fill(7, 4, 1, 0, stream);
  there.download(&bits, 4, 0, stream);
  stream.synchronize();
  EXPECT_EQ(bits, 7u);
  for (const char* spec : {"sim:tiny:0", "sim:tiny:x", "sim:tiny:", "sim:tony:1"}) {
    EXPECT_THAT(failure_of(spec).message(), HasSubstr("unknown device"));
  }
  // Seven further ones at least, whatever the number of kinds.
  for (int number = 2; number <= 7; ++number) {
    EXPECT_EQ(Device::open("sim:tiny:" + std::to_string(number)).name(), first.name());
  }
  const auto open_too_many = [] {
    for (int number = 8; number < 100; ++number) Device::open("sim:tiny:" + std::to_string(number));
  };
  try {
    open_too_many();
    FAIL() << "there was room";
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(failure.message(), HasSubstr("at most 15 simulated devices"));
  }
}

}  // namespace
}  // namespace baton::device_test
