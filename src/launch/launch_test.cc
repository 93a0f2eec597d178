#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <optional>
#include <thread>

#include "base/error.h"
#include "baton/launch_plan.h"
#include "baton/log.h"
#include "baton/module.h"
#include "launch/test_launch.h"

namespace baton::launch_test {
namespace {

using LaunchTest = LaunchCase;

using testing::AllOf;
using testing::HasSubstr;

// pdl() makes such a kernel start early, and nothing makes it wait.
TEST_F(LaunchTest, PdlWithoutAWaitIsRefusedEachTime) {
  const Stream stream(device_);
  const LaunchConfig early{.stream = stream, .attributes = {pdl()}};
  LaunchConfig forced = early;
  forced.force_pdl = true;
  for (int round = 0; round < 3; ++round) {
    try {
      mixed_.launch(early, out_, 1.0f, 1, ThreeFloats{});
      FAIL() << "was launched";
    } catch (const Error& refused) {
      EXPECT_EQ(refused.code(), ErrorCode::kInvalidInput);
      EXPECT_THAT(refused.what(), AllOf(HasSubstr("kernel mixed is launched with pdl and"),
                                        HasSubstr("never waits"), HasSubstr("or force it")));
    }
    EXPECT_THROW(LaunchPlan::make(mixed_, early, out_, 1.0f, 1, ThreeFloats{}), Error);
    // What one launch forced, or sent without PDL, allows no other.
    mixed_.launch(forced, out_, 1.0f, 1, ThreeFloats{});
    mixed_.launch({.stream = stream, .attributes = {priority(-1)}}, out_, 1.0f, 1, ThreeFloats{});
  }
  LaunchPlan plan = LaunchPlan::make(mixed_, forced, out_, 1.0f, 1, ThreeFloats{});
  EXPECT_THROW(plan.set_config(early), Error);
  plan.launch();
}

// The largest cluster that a launch may run in decides the opt-in, on every way to launch.
TEST_F(LaunchTest, PreferredClustersAreOptedIn) {
  constexpr auto kAllowed = CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
  const LaunchConfig portable{
      .grid = 16, .block = 32, .attributes = {cluster(4), preferred_cluster(8)}};
  const LaunchConfig large{
      .grid = 16, .block = 32, .attributes = {cluster(4), preferred_cluster(16)}};
  const auto fresh = [&] {
    return Module::load(device_, Image::from_bytes(kLaunchKernels, "kernels.ptx")).kernel("mixed");
  };
  const std::function<void(const Kernel&, const LaunchConfig&)> ways[] = {
      [&](const Kernel& kernel, const LaunchConfig& config) {
        kernel.launch(config, out_, 1.0f, 1, ThreeFloats{});
      },
      [](const Kernel& kernel, const LaunchConfig& config) { kernel.prepare(config); },
      [&](const Kernel& kernel, const LaunchConfig& config) {
        LaunchPlan::make(kernel, config, out_, 1.0f, 1, ThreeFloats{}).launch();
      },
      [&](const Kernel& kernel, const LaunchConfig& config) {
        const DevicePointer<float> out = out_.data();
        const float one = 1;
        const int two = 2;
        const ThreeFloats three{};
        const void* const arguments[] = {&out, &one, &two, &three};
        std::vector<CUlaunchAttribute> attributes(config.attributes.size());
        std::memcpy(attributes.data(), config.attributes.all().data(),
                    attributes.size() * sizeof(attributes[0]));
        CUlaunchConfig native{};
        native.gridDimX = config.grid.x;
        native.blockDimX = config.block.x;
        native.gridDimY = native.gridDimZ = native.blockDimY = native.blockDimZ = 1;
        native.attrs = attributes.data();
        native.numAttrs = static_cast<unsigned>(attributes.size());
        EXPECT_EQ(kernel.launch_raw(native, const_cast<void**>(arguments)), CUDA_SUCCESS);
      }};
  for (const auto& way : ways) {
    const Kernel kernel = fresh();
    way(kernel, portable);
    EXPECT_EQ(kernel.attribute(kAllowed), 0);
    way(kernel, large);
    EXPECT_EQ(kernel.attribute(kAllowed), 1);
  }
}

TEST_F(LaunchTest, ReportsTheKernelsLimits) {
  EXPECT_EQ(mixed_.max_threads(), 256u);
  EXPECT_EQ(mixed_.max_dynamic_shared(), 232448u - 1024u);
}

TEST_F(LaunchTest, HoldsBlocksAgainstTheKernel) {
  EXPECT_NO_THROW(mixed_.check({.block = 256}));
  EXPECT_THAT(refused_config(mixed_, {.block = 257}),
              AllOf(HasSubstr("kernel mixed"), HasSubstr("257 threads"), HasSubstr("at most 256")));
  EXPECT_NO_THROW(fixed_block_.check({.block = Dim3(16, 4)}));
  EXPECT_THAT(refused_config(fixed_block_, {.block = 64}),
              AllOf(HasSubstr("(64, 1, 1)"), HasSubstr("(16, 4, 1)")));
}

TEST_F(LaunchTest, HoldsSharedMemoryAgainstTheOptIn) {
  EXPECT_NO_THROW(mixed_.check({.shared = 232448 - 1024}));
  EXPECT_THAT(refused_config(mixed_, {.shared = 232448 - 1023}),
              AllOf(HasSubstr("231425 bytes of dynamic"), HasSubstr("1024 of static"),
                    HasSubstr("232449"), HasSubstr("232448"), HasSubstr("231424")));
  EXPECT_THAT(refused_config(mixed_, {.shared = UINT32_MAX}), HasSubstr("4294967295"));
}

// One module serves every device of its driver: the stream says which.
TEST_F(LaunchTest, RunsOnTheStreamsDevice) {
  const Device other = Device::open("sim:tiny");
  const Stream stream(other);
  const Buffer<float> there(other, 1);
  mixed_.launch({.shared = 60000, .stream = stream}, there, 1.5f, 7, ThreeFloats{});
  EXPECT_EQ(there.download()[0], 9.5f);
  mixed_.launch({.stream = other}, there, 2.5f, 7, ThreeFloats{});
  EXPECT_EQ(there.download()[0], 10.5f);
  mixed_.launch({.stream = device_}, out_, 3.5f, 7, ThreeFloats{});
  EXPECT_EQ(out_.download()[0], 11.5f);
  EXPECT_NE(mixed_.native_function(), mixed_.native_function(other));
}

TEST_F(LaunchTest, AdoptedFunctionsStayOnTheirDevice) {
  const Kernel adopted = Kernel::adopt(device_, mixed_.native_function());
  EXPECT_EQ(adopted.name(), "mixed");
  adopted.launch({}, out_, 1.5f, 7, ThreeFloats{});
  EXPECT_EQ(out_.download()[0], 9.5f);
  EXPECT_THROW(adopted.module(), Error);
  const Device other = Device::open("sim:tiny");
  const Error failure =
      failure_of([&] { adopted.launch({.stream = other}, out_, 1.5f, 7, ThreeFloats{}); });
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(failure.what(), AllOf(HasSubstr("sim:h200"), HasSubstr("sim:tiny")));
}

TEST_F(LaunchTest, AdoptedLibrariesHaveTheirKernels) {
  const Module adopted = Module::adopt(device_, module_.native());
  adopted.kernel("mixed").launch({}, out_, 2.0f, 7, ThreeFloats{});
  EXPECT_EQ(out_.download()[0], 10.0f);
}

TEST_F(LaunchTest, TheRawPathGivesTheDriversResult) {
  const DeviceAddress out = out_.data().address;
  const float x = 1.5f;
  const int n = 7;
  const ThreeFloats three{};
  void* const arguments[] = {const_cast<DeviceAddress*>(&out), const_cast<float*>(&x),
                             const_cast<int*>(&n), const_cast<ThreeFloats*>(&three)};
  EXPECT_EQ(mixed_.launch_raw({.shared = 100000}, arguments), CUDA_SUCCESS);
  EXPECT_EQ(out_.download()[0], 9.5f);
  const LaunchConfig wrong{.grid = Dim3(1, 65536)};
  const NativeResult refused = mixed_.launch_raw(wrong, arguments);
  EXPECT_NE(refused, CUDA_SUCCESS);
  const Error told = mixed_.diagnose(wrong, refused);
  EXPECT_EQ(told.driver_result(), refused);
  EXPECT_THAT(told.what(), AllOf(HasSubstr("65536"), HasSubstr("65535")));
  EXPECT_NE(mixed_.launch_raw({.shared = UINT32_MAX}, arguments), CUDA_SUCCESS);
}

TEST_F(LaunchTest, KernelAttributesAreReadAndSet) {
  EXPECT_EQ(mixed_.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 1024);
  mixed_.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000);
  EXPECT_EQ(mixed_.attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 100000);
  // A launch that needs more raises it to the device's limit; one that needs less lets it be.
  mixed_.prepare({.shared = 100000});
  EXPECT_EQ(mixed_.attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 100000);
  mixed_.prepare({.shared = 100001});
  EXPECT_EQ(mixed_.attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 232448 - 1024);
  mixed_.prepare({.shared = 50000});
  EXPECT_EQ(mixed_.attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), 232448 - 1024);
}

// Two kernels of one function, each of which knows only what it raised itself.
TEST_F(LaunchTest, KernelsOfOneFunctionDoNotLowerItsOptIn) {
  const Kernel other = Kernel::adopt(device_, mixed_.native_function());
  const LaunchConfig large{.block = 32, .shared = 100000};
  mixed_.launch(large, out_, 1.0f, 1, ThreeFloats{});
  other.launch({.block = 32, .shared = 60000}, out_, 1.0f, 1, ThreeFloats{});
  mixed_.launch(large, out_, 2.0f, 1, ThreeFloats{});
  EXPECT_EQ(out_.download()[0], 4.0f);
}

// A config keeps no pointer to the Stream that it was made of: moving that and putting another
// device's in its place changes nothing.
TEST_F(LaunchTest, ConfigsSurviveAMoveOfTheirStream) {
  std::optional<Stream> place(std::in_place, device_);
  const LaunchConfig config{.stream = *place};
  LaunchPlan plan = LaunchPlan::make(mixed_, config, out_, 1.0f, 1, ThreeFloats{});
  const Stream moved = std::move(*place);
  const Device tiny = Device::open("sim:tiny");
  place.emplace(tiny);
  mixed_.launch(config, out_, 2.0f, 1, ThreeFloats{});
  moved.synchronize();
  EXPECT_EQ(out_.download()[0], 4.0f);
  plan.set_config(plan.config());
  plan.launch();
  moved.synchronize();
  EXPECT_EQ(out_.download()[0], 3.0f);
}

TEST_F(LaunchTest, DynamicSharedMemoryBeyondThirtyTwoBitsIsRefused) {
  EXPECT_EQ(dynamic_shared_bytes(0), 0u);
  EXPECT_EQ(dynamic_shared_bytes(UINT32_MAX), UINT32_MAX);
  const Error failure = failure_of([] { dynamic_shared_bytes((std::uint64_t{4} << 30) + 1024); });
  EXPECT_EQ(failure.code(), ErrorCode::kLimit);
  EXPECT_THAT(failure.what(), HasSubstr("4294968320 bytes"));
}

TEST_F(LaunchTest, OptInsOfManyThreadsOnlyRise) {
  const Stream stream(device_);
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (std::uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < 20; ++i) {
        try {
          const std::uint32_t shared = (t * 31 + i * 17) % 220 * 1024;
          mixed_.launch({.shared = shared, .stream = stream}, out_, 1.0f, 7, ThreeFloats{});
        } catch (const Error&) {
          ++failures;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  stream.synchronize();
  EXPECT_EQ(failures, 0);
}

TEST_F(LaunchTest, QuestionsBeyondALimitNameIt) {
  const std::uint32_t beyond = mixed_.max_dynamic_shared() + 1;
  const LaunchConfig config{.block = 64, .shared = beyond};
  const auto refused = [&](auto ask) { return failure_of([&] { ask(config); }); };
  for (const Error& failure :
       {refused([&](const LaunchConfig& with) { mixed_.prepare(with); }),
        refused([&](const LaunchConfig& with) { mixed_.blocks_per_multiprocessor(with); }),
        refused([&](const LaunchConfig& with) { mixed_.max_active_clusters(with); }),
        refused([&](const LaunchConfig& with) { mixed_.max_cluster_size(with); }),
        refused([&](const LaunchConfig& with) { mixed_.max_cooperative_blocks(with); })}) {
    EXPECT_EQ(failure.code(), ErrorCode::kLimit);
    EXPECT_THAT(failure.what(), AllOf(HasSubstr("kernel mixed"), HasSubstr(std::to_string(beyond)),
                                      HasSubstr("232448")));
  }
  EXPECT_EQ(mixed_.blocks_per_multiprocessor({.block = 257}), 0u);
  EXPECT_EQ(mixed_.blocks_per_multiprocessor({.block = Dim3(65536, 65536)}), 0u);
}

TEST_F(LaunchTest, EveryDeviceHasItsLimits) {
  const Device other = Device::open("sim:tiny");
  EXPECT_EQ(mixed_.max_threads(other), 256u);
  EXPECT_EQ(mixed_.max_dynamic_shared(other), other.limits().shared_per_block_optin - 1024);
}

// A grid of the driver's own config is told as Baton counts it.
TEST_F(LaunchTest, DriversConfigsAreDiagnosed) {
  CUlaunchAttribute attributes[2] = {};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[1].value.clusterDim = {4, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = 6;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 32;
  config.blockDimY = config.blockDimZ = 1;
  config.attrs = attributes;
  config.numAttrs = 2;
  void* none[] = {nullptr};
  const NativeResult refused = fixed_block_.launch_raw(config, none);
  ASSERT_NE(refused, CUDA_SUCCESS);
  EXPECT_THAT(fixed_block_.diagnose(config, refused).what(),
              AllOf(HasSubstr("the block is (32, 1, 1)"), HasSubstr("(16, 4, 1)")));
  EXPECT_THAT(mixed_.diagnose(config, refused, Device::open("sim:tiny")).what(),
              AllOf(HasSubstr("the grid (6, 1, 1)"), HasSubstr("the cluster (4, 1, 1)")));
}

TEST_F(LaunchTest, AnAttributeThatCannotBeSetIsNamed) {
  const Error failure = failure_of(
      [&] { mixed_.set_attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 300000); });
  EXPECT_THAT(failure.what(),
              AllOf(HasSubstr("attribute 8"), HasSubstr("300000"), HasSubstr("at most ")));
  EXPECT_EQ(failure.code(), ErrorCode::kLimit);
}

// What the driver refuses although nothing above knows why is told with everything it was given.
TEST(Diagnosis, GivesTheDriversWordsWithTheLaunch) {
  const Device device = Device::open("sim:tiny");
  const Module module = Module::load(device, Image::from_bytes(kLaunchKernels, "kernels.ptx"));
  const Kernel kernel = module.kernel("mixed");
  const LaunchConfig config{.grid = Dim3(3, 2), .block = 64, .shared = 100};
  const Error bare = kernel.diagnose(config, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(bare.code(), ErrorCode::kDriver);
  EXPECT_THAT(bare.what(),
              AllOf(HasSubstr("CUDA_ERROR_INVALID_VALUE"), HasSubstr("kernel mixed on sim:tiny"),
                    HasSubstr("(3, 2, 1)"), HasSubstr("(64, 1, 1)"), HasSubstr("100 bytes"),
                    HasSubstr("1024 of static")));
  EXPECT_EQ(kernel.diagnose(config, CUDA_SUCCESS).code(), ErrorCode::kInternal);
  // A limit explains any refusal better than the driver does.
  const Error limit = kernel.diagnose({.block = 2000}, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(limit.code(), ErrorCode::kLimit);
  const Error earlier = kernel.diagnose(config, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(earlier.code(), ErrorCode::kFault);
  EXPECT_THAT(earlier.what(), HasSubstr("kernel mixed was not launched"));
}

TEST(Diagnosis, NamesAStreamThatIsNone) {
  const Device device = Device::open("sim:tiny");
  const Kernel kernel =
      Module::load(device, Image::from_bytes(kLaunchKernels, "kernels.ptx")).kernel("mixed");
  const auto diagnosed = [&](NativeStream stream) {
    const LaunchConfig config{.block = 64, .stream = LaunchConfig::StreamRef(stream, device)};
    return kernel.diagnose(config, CUDA_ERROR_INVALID_HANDLE);
  };
  const Error none = diagnosed(reinterpret_cast<NativeStream>(std::uintptr_t{0xdead}));
  EXPECT_EQ(none.code(), ErrorCode::kInvalidInput);
  EXPECT_EQ(none.driver_result(), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_THAT(none.what(), AllOf(HasSubstr("0xdead is not a stream of sim:tiny"),
                                 HasSubstr("kernel mixed on sim:tiny")));
  const Stream other(Device::open("sim:b200"));
  EXPECT_THAT(diagnosed(other.native()).what(),
              HasSubstr(" is of sim:b200, the launch is on sim:tiny"));
  const Stream own(device);
  EXPECT_EQ(diagnosed(own.native()).code(), ErrorCode::kDriver);
}

}  // namespace
}  // namespace baton::launch_test
