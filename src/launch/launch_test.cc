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

namespace baton::launch_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Parameters of every kind, 1 KiB of static shared memory, at most 256 threads; and one kernel that
// wants its block to be (16, 4, 1).
constexpr const char* kKernels = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dynamic[];

.visible .entry mixed(
  .param .u64 mixed_param_0,
  .param .f32 mixed_param_1,
  .param .u32 mixed_param_2,
  .param .align 4 .b8 mixed_param_3[12]
)
.maxntid 256, 1, 1
{
  .reg .u32 %r<3>;
  .reg .f32 %f<3>;
  .reg .u64 %rd<3>;
  .shared .align 4 .b8 fixed[1024];
  ld.param.u64 %rd1, [mixed_param_0];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.f32 %f1, [mixed_param_1];
  ld.param.u32 %r1, [mixed_param_2];
  add.s32 %r2, %r1, 1;
  cvt.rn.f32.s32 %f2, %r2;
  add.f32 %f1, %f1, %f2;
  st.shared.f32 [fixed], %f1;
  st.global.f32 [%rd2], %f1;
  ret;
}

.visible .entry fixed_block(.param .u64 fixed_block_param_0)
.reqntid 16, 4, 1
{
  ret;
}
)";

struct Three {
  float x, y, z;
};

class LaunchTest : public testing::Test {
 protected:
  const Device device_ = Device::open("sim:h200");
  const Module module_ = Module::load(device_, Image::from_bytes(kKernels, "kernels.ptx"));
  const Kernel mixed_ = module_.kernel("mixed");
  const Kernel fixed_block_ = module_.kernel("fixed_block");
  const Buffer<float> out_{device_, 1};

  template <typename Function>
  static Error failure_of(Function function) {
    try {
      function();
    } catch (Error& failure) {
      return failure;
    }
    ADD_FAILURE() << "nothing failed";
    return Error(ErrorCode::kInternal, "");
  }

  template <typename... Args>
  std::string refused_arguments(const Args&... args) {
    const Error failure = failure_of([&] { mixed_.launch({}, args...); });
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput) << failure.what();
    return failure.message();
  }

  std::string refused_config(const Kernel& kernel, const LaunchConfig& config) {
    const Error failure = failure_of([&] { kernel.check(config); });
    EXPECT_EQ(failure.code(), ErrorCode::kLimit) << failure.what();
    EXPECT_EQ(exit_status(failure.code()), 2);
    return failure.message();
  }
};

TEST_F(LaunchTest, PassesArguments) {
  mixed_.launch({}, out_, 1.5f, 7, Three{});
  EXPECT_EQ(out_.download()[0], 9.5f);
  enum class Count : int { kSeven = 7 };
  mixed_.launch({}, DevicePointer<float>{out_.data().address}, 1.0f, Count::kSeven, Three{});
  EXPECT_EQ(out_.download()[0], 9.0f);
  // The pointer of another allocator.
  auto* const foreign = reinterpret_cast<float*>(out_.data().address);
  mixed_.launch({}, device_pointer(foreign), 2.0f, 7, Three{});
  EXPECT_EQ(out_.download()[0], 10.0f);
  mixed_.launch({}, device_pointer(static_cast<void*>(foreign)), 3.0f, 7, Three{});
  EXPECT_EQ(out_.download()[0], 11.0f);
}

TEST_F(LaunchTest, NamesTheSignatureWhereTheCountIsWrong) {
  EXPECT_THAT(refused_arguments(out_, 1.0f),
              AllOf(HasSubstr("kernel mixed takes 4 arguments ("), HasSubstr("2 were given")));
  EXPECT_THAT(refused_arguments(), HasSubstr("0 were given"));
}

TEST_F(LaunchTest, NamesTheArgumentThatDoesNotFit) {
  EXPECT_THAT(refused_arguments(out_, 1.0f, 7L, Three{}),
              AllOf(HasSubstr("argument 2 has 8 bytes"), HasSubstr("has 4")));
  EXPECT_THAT(refused_arguments(out_, 1.0f, 7, 1.0),
              AllOf(HasSubstr("argument 3 has 8 bytes"), HasSubstr("has 12")));
  EXPECT_THAT(refused_arguments(1, 1.0f, 7, Three{}), HasSubstr("argument 0 has 4 bytes"));
}

TEST_F(LaunchTest, AFloatIsNoInteger) {
  EXPECT_THAT(refused_arguments(out_, 1, 7, Three{}), HasSubstr("argument 1 is of type i32"));
  EXPECT_THAT(refused_arguments(out_, 1.0f, 7.0f, Three{}), HasSubstr("argument 2 is of type f32"));
  EXPECT_THAT(refused_arguments(1.0, 1.0f, 7, Three{}), HasSubstr("argument 0 is of type f64"));
}

// Types by the mangled name (numbers, strings), by the way they are used alone (named), and
// two parameters of eight bytes that nothing tells.
constexpr const char* kTyped = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry _Z7numbersPfPKtPcyPv(
  .param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u64 e) { ret; }
.visible .entry _Z6halvesP6__halfP13__nv_bfloat16Pd(.param .u64 a, .param .u64 b, .param .u64 c) {
  ret;
}
.visible .entry used(.param .u64 pointer, .param .u64 either, .param .u64 unknown) {
  .reg .u64 %rd<5>;
  ld.param.u64 %rd1, [pointer];
  ld.param.u64 %rd2, [either];
  mul.lo.u64 %rd3, %rd2, 3;
  st.global.u64 [%rd1], %rd3;
  ret;
}
)";

TEST_F(LaunchTest, AnAddressIsNoInteger) {
  const Module module = Module::load(device_, Image::from_bytes(kTyped, "typed.ptx"));
  const Kernel numbers = module.kernel("_Z7numbersPfPKtPcyPv");
  const auto address = out_.data();
  const std::uint64_t number = address.address;
  const DevicePointer<const unsigned short> shorts{number};
  numbers.launch({}, out_, shorts, DevicePointer<char>{number}, number, nullptr);
  const auto refused = [&](const auto&... arguments) {
    return std::string(failure_of([&] { numbers.launch({}, arguments...); }).what());
  };
  EXPECT_THAT(refused(number, shorts, nullptr, number, nullptr),
              AllOf(HasSubstr("argument 0 is of type u64, the parameter is float*"),
                    HasSubstr("device_pointer(p)")));
  EXPECT_THAT(refused(out_, shorts, nullptr, out_, nullptr),
              HasSubstr("argument 3 is the address of f32 elements, the parameter is unsigned long "
                        "long"));
  EXPECT_THAT(refused(out_, shorts, nullptr, nullptr, nullptr),
              HasSubstr("argument 3 is a device address, the parameter is unsigned long long"));
  EXPECT_THAT(refused(out_, shorts, nullptr, number, 1.0),
              HasSubstr("argument 4 is of type f64, the parameter is void*"));
  // By its use alone, a number may be an address; an address is never a number.
  const Kernel used = module.kernel("used");
  used.check(std::array<ArgumentType, 3>{{{8, true, {}}, {8, true, {}}, {8, true, {}}}});
  used.check(std::array<ArgumentType, 3>{
      {{8, true, {}}, {8, false, DType::kU64}, {8, false, DType::kI64}}});
  const ArgumentType number_first[] = {{8, false, DType::kU64}, {8, true, {}}, {8, true, {}}};
  EXPECT_THROW(used.check(number_first), Error);
  const ArgumentType float_second[] = {{8, true, {}}, {8, false, DType::kF64}, {8, true, {}}};
  EXPECT_THROW(used.check(float_second), Error);
}

TEST_F(LaunchTest, ElementsAreOfTheTypeThatTheNameGives) {
  const Module module = Module::load(device_, Image::from_bytes(kTyped, "typed.ptx"));
  const Kernel numbers = module.kernel("_Z7numbersPfPKtPcyPv");
  const std::uint64_t at = out_.data().address;
  const auto check = [&](const auto& first, const auto& second, const auto& third) {
    numbers.launch({}, first, second, third, at, nullptr);
  };
  const auto refused = [&](const auto& first, const auto& second) {
    const Error failure = failure_of([&] { check(first, second, nullptr); });
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    return failure.message();
  };
  const DevicePointer<unsigned short> shorts{at};
  EXPECT_THAT(refused(shorts, shorts),
              HasSubstr("argument 0 is the address of u16 elements, the parameter is float*"));
  EXPECT_THAT(refused(DevicePointer<int>{at}, shorts),
              HasSubstr("argument 0 is the address of i32"));
  EXPECT_THAT(refused(DevicePointer<double>{at}, shorts), HasSubstr("of f64 elements"));
  EXPECT_THAT(refused(out_, DevicePointer<unsigned>{at}),
              HasSubstr("argument 1 is the address of u32 elements, the parameter is unsigned "
                        "short const*"));
  // Either sign; bytes for anything and anything for bytes; types that are not known.
  check(DevicePointer<const float>{at}, DevicePointer<short>{at}, DevicePointer<double>{at});
  check(DevicePointer<unsigned char>{at}, DevicePointer<std::byte>{at}, shorts);
  check(Memory(device_, 16), DevicePointer<Three>{at}, DevicePointer<char>{at});
  const Kernel halves = module.kernel("_Z6halvesP6__halfP13__nv_bfloat16Pd");
  halves.launch({}, shorts, DevicePointer<short>{at}, DevicePointer<double>{at});
  EXPECT_THROW(halves.launch({}, out_, shorts, DevicePointer<double>{at}), Error);
  EXPECT_THROW(halves.launch({}, shorts, shorts, DevicePointer<std::int64_t>{at}), Error);
  try {
    halves.launch({.block = 4096}, shorts, DevicePointer<short>{at}, DevicePointer<double>{at});
    FAIL() << "was launched";
  } catch (const Error& limit) {
    EXPECT_THAT(limit.what(),
                AllOf(HasSubstr("kernel halves: "), testing::Not(HasSubstr("_Z6halves"))));
  }
  // The way of a plan.
  LaunchPlan plan = LaunchPlan::make(numbers, {}, out_, shorts, nullptr, at, nullptr);
  EXPECT_THROW(plan.set(0, shorts), Error);
  EXPECT_THROW(plan.set(0, at), Error);
  plan.set(0, DevicePointer<float>{at});
}

// pdl() makes such a kernel start early, and nothing makes it wait.
TEST_F(LaunchTest, PdlWithoutAWaitIsRefusedEachTime) {
  const Stream stream(device_);
  const LaunchConfig early{.stream = stream, .attributes = {pdl()}};
  LaunchConfig forced = early;
  forced.force_pdl = true;
  for (int round = 0; round < 3; ++round) {
    try {
      mixed_.launch(early, out_, 1.0f, 1, Three{});
      FAIL() << "was launched";
    } catch (const Error& refused) {
      EXPECT_EQ(refused.code(), ErrorCode::kInvalidInput);
      EXPECT_THAT(refused.what(), AllOf(HasSubstr("kernel mixed is launched with pdl and"),
                                        HasSubstr("never waits"), HasSubstr("or force it")));
    }
    EXPECT_THROW(LaunchPlan::make(mixed_, early, out_, 1.0f, 1, Three{}), Error);
    // What one launch forced, or sent without PDL, allows no other.
    mixed_.launch(forced, out_, 1.0f, 1, Three{});
    mixed_.launch({.stream = stream, .attributes = {priority(-1)}}, out_, 1.0f, 1, Three{});
  }
  LaunchPlan plan = LaunchPlan::make(mixed_, forced, out_, 1.0f, 1, Three{});
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
    return Module::load(device_, Image::from_bytes(kKernels, "kernels.ptx")).kernel("mixed");
  };
  const std::function<void(const Kernel&, const LaunchConfig&)> ways[] = {
      [&](const Kernel& kernel, const LaunchConfig& config) {
        kernel.launch(config, out_, 1.0f, 1, Three{});
      },
      [](const Kernel& kernel, const LaunchConfig& config) { kernel.prepare(config); },
      [&](const Kernel& kernel, const LaunchConfig& config) {
        LaunchPlan::make(kernel, config, out_, 1.0f, 1, Three{}).launch();
      },
      [&](const Kernel& kernel, const LaunchConfig& config) {
        const DevicePointer<float> out = out_.data();
        const float one = 1;
        const int two = 2;
        const Three three{};
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

TEST_F(LaunchTest, ChecksArgumentTypesWithoutLaunching) {
  const ArgumentType good[] = {
      {8, true, {}}, {4, false, {}}, {4, false, DType::kU32}, {12, false, {}}};
  EXPECT_NO_THROW(mixed_.check(good));
  EXPECT_THROW(mixed_.check(std::span(good).first(3)), Error);
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
  mixed_.launch({.shared = 60000, .stream = stream}, there, 1.5f, 7, Three{});
  EXPECT_EQ(there.download()[0], 9.5f);
  mixed_.launch({.stream = other}, there, 2.5f, 7, Three{});
  EXPECT_EQ(there.download()[0], 10.5f);
  mixed_.launch({.stream = device_}, out_, 3.5f, 7, Three{});
  EXPECT_EQ(out_.download()[0], 11.5f);
  EXPECT_NE(mixed_.native_function(), mixed_.native_function(other));
}

TEST_F(LaunchTest, AdoptedFunctionsStayOnTheirDevice) {
  const Kernel adopted = Kernel::adopt(device_, mixed_.native_function());
  EXPECT_EQ(adopted.name(), "mixed");
  adopted.launch({}, out_, 1.5f, 7, Three{});
  EXPECT_EQ(out_.download()[0], 9.5f);
  EXPECT_THROW(adopted.module(), Error);
  const Device other = Device::open("sim:tiny");
  const Error failure =
      failure_of([&] { adopted.launch({.stream = other}, out_, 1.5f, 7, Three{}); });
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(failure.what(), AllOf(HasSubstr("sim:h200"), HasSubstr("sim:tiny")));
}

TEST_F(LaunchTest, AdoptedLibrariesHaveTheirKernels) {
  const Module adopted = Module::adopt(device_, module_.native());
  adopted.kernel("mixed").launch({}, out_, 2.0f, 7, Three{});
  EXPECT_EQ(out_.download()[0], 10.0f);
}

TEST_F(LaunchTest, TheRawPathGivesTheDriversResult) {
  const DeviceAddress out = out_.data().address;
  const float x = 1.5f;
  const int n = 7;
  const Three three{};
  void* const arguments[] = {const_cast<DeviceAddress*>(&out), const_cast<float*>(&x),
                             const_cast<int*>(&n), const_cast<Three*>(&three)};
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
  mixed_.launch(large, out_, 1.0f, 1, Three{});
  other.launch({.block = 32, .shared = 60000}, out_, 1.0f, 1, Three{});
  mixed_.launch(large, out_, 2.0f, 1, Three{});
  EXPECT_EQ(out_.download()[0], 4.0f);
}

// A config keeps no pointer to the Stream that it was made of: moving that and putting another
// device's in its place changes nothing.
TEST_F(LaunchTest, ConfigsSurviveAMoveOfTheirStream) {
  std::optional<Stream> place(std::in_place, device_);
  const LaunchConfig config{.stream = *place};
  LaunchPlan plan = LaunchPlan::make(mixed_, config, out_, 1.0f, 1, Three{});
  const Stream moved = std::move(*place);
  const Device tiny = Device::open("sim:tiny");
  place.emplace(tiny);
  mixed_.launch(config, out_, 2.0f, 1, Three{});
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

// What types can show to be wrong does not compile.
template <typename... Args>
concept Launchable = requires(const Kernel& kernel, const Args&... args) {
  kernel.launch({}, args...);
};
struct WithString {
  std::string text;
};
static_assert(Launchable<Buffer<float>, float, int, Three>);
static_assert(!Launchable<float*>);
static_assert(!Launchable<const void*>);
static_assert(!Launchable<char[6]>);
static_assert(!Launchable<std::string>);
static_assert(!Launchable<WithString>);
static_assert(!Launchable<std::vector<int>>);
static_assert(!Launchable<Stream>);
static_assert(!Launchable<int Three::*>);
static_assert(!Launchable<std::span<float>>);
static_assert(!Launchable<std::span<const int, 4>>);
static_assert(!Launchable<std::string_view>);
static_assert(!Launchable<std::initializer_list<int>>);
static_assert(!Launchable<std::vector<int>::const_iterator>);
static_assert(Launchable<std::array<float, 4>>);

TEST_F(LaunchTest, OptInsOfManyThreadsOnlyRise) {
  const Stream stream(device_);
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (std::uint32_t t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < 20; ++i) {
        try {
          const std::uint32_t shared = (t * 31 + i * 17) % 220 * 1024;
          mixed_.launch({.shared = shared, .stream = stream}, out_, 1.0f, 7, Three{});
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
  const Module module = Module::load(device, Image::from_bytes(kKernels, "kernels.ptx"));
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
      Module::load(device, Image::from_bytes(kKernels, "kernels.ptx")).kernel("mixed");
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
