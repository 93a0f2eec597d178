#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/launch_plan.h"
#include "launch/test_launch.h"

namespace baton::launch_test::launch_arguments_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using LaunchArguments = LaunchCase;

TEST_F(LaunchArguments, PassesArguments) {
  mixed_.launch({}, out_, 1.5f, 7, ThreeFloats{});
  EXPECT_EQ(out_.download()[0], 9.5f);
  enum class Count : int { kSeven = 7 };
  mixed_.launch({}, DevicePointer<float>{out_.data().address}, 1.0f, Count::kSeven, ThreeFloats{});
  EXPECT_EQ(out_.download()[0], 9.0f);
  // The pointer of another allocator.
  auto* const foreign = reinterpret_cast<float*>(out_.data().address);
  mixed_.launch({}, device_pointer(foreign), 2.0f, 7, ThreeFloats{});
  EXPECT_EQ(out_.download()[0], 10.0f);
  mixed_.launch({}, device_pointer(static_cast<void*>(foreign)), 3.0f, 7, ThreeFloats{});
  EXPECT_EQ(out_.download()[0], 11.0f);
}

TEST_F(LaunchArguments, NamesTheSignatureWhereTheCountIsWrong) {
  EXPECT_THAT(refused_arguments(out_, 1.0f),
              AllOf(HasSubstr("kernel mixed takes 4 arguments ("), HasSubstr("2 were given")));
  EXPECT_THAT(refused_arguments(), HasSubstr("0 were given"));
}

TEST_F(LaunchArguments, NamesTheArgumentThatDoesNotFit) {
  EXPECT_THAT(refused_arguments(out_, 1.0f, 7L, ThreeFloats{}),
              AllOf(HasSubstr("argument 2 has 8 bytes"), HasSubstr("has 4")));
  EXPECT_THAT(refused_arguments(out_, 1.0f, 7, 1.0),
              AllOf(HasSubstr("argument 3 has 8 bytes"), HasSubstr("has 12")));
  EXPECT_THAT(refused_arguments(1, 1.0f, 7, ThreeFloats{}), HasSubstr("argument 0 has 4 bytes"));
}

TEST_F(LaunchArguments, AFloatIsNoInteger) {
  EXPECT_THAT(refused_arguments(out_, 1, 7, ThreeFloats{}), HasSubstr("argument 1 is of type i32"));
  EXPECT_THAT(refused_arguments(out_, 1.0f, 7.0f, ThreeFloats{}),
              HasSubstr("argument 2 is of type f32"));
  EXPECT_THAT(refused_arguments(1.0, 1.0f, 7, ThreeFloats{}),
              HasSubstr("argument 0 is of type f64"));
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

TEST_F(LaunchArguments, AnAddressIsNoInteger) {
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

TEST_F(LaunchArguments, ElementsAreOfTheTypeThatTheNameGives) {
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
  check(Memory(device_, 16), DevicePointer<ThreeFloats>{at}, DevicePointer<char>{at});
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

TEST_F(LaunchArguments, ChecksArgumentTypesWithoutLaunching) {
  const ArgumentType good[] = {
      {8, true, {}}, {4, false, {}}, {4, false, DType::kU32}, {12, false, {}}};
  EXPECT_NO_THROW(mixed_.check(good));
  EXPECT_THROW(mixed_.check(std::span(good).first(3)), Error);
}

// What types can show to be wrong does not compile.
template <typename... Args>
concept Launchable = requires(const Kernel& kernel, const Args&... args) {
  kernel.launch({}, args...);
};
struct WithString {
  std::string text;
};
static_assert(Launchable<Buffer<float>, float, int, ThreeFloats>);
static_assert(!Launchable<float*>);
static_assert(!Launchable<const void*>);
static_assert(!Launchable<char[6]>);
static_assert(!Launchable<std::string>);
static_assert(!Launchable<WithString>);
static_assert(!Launchable<std::vector<int>>);
static_assert(!Launchable<Stream>);
static_assert(!Launchable<int ThreeFloats::*>);
static_assert(!Launchable<std::span<float>>);
static_assert(!Launchable<std::span<const int, 4>>);
static_assert(!Launchable<std::string_view>);
static_assert(!Launchable<std::initializer_list<int>>);
static_assert(!Launchable<std::vector<int>::const_iterator>);
static_assert(Launchable<std::array<float, 4>>);

}  // namespace
}  // namespace baton::launch_test::launch_arguments_test
