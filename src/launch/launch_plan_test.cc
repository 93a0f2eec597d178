#include "baton/launch_plan.h"

#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

namespace baton::launch_plan_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// out[block] = a + b of a 128-byte struct's last word.
constexpr const char* kKernel = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry add(
  .param .u64 add_param_0,
  .param .u32 add_param_1,
  .param .align 64 .b8 add_param_2[128]
)
{
  .reg .u32 %r<5>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [add_param_0];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.u32 %r1, [add_param_1];
  ld.param.u32 %r2, [add_param_2+124];
  add.u32 %r3, %r1, %r2;
  mov.u32 %r4, %ctaid.x;
  mul.wide.u32 %rd3, %r4, 4;
  add.u64 %rd2, %rd2, %rd3;
  st.global.u32 [%rd2], %r3;
  ret;
}
)";

// A parameter of each size at which the copy of an argument may differ.
constexpr const char* kSizes = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry sizes(
  .param .u8 sizes_param_0,
  .param .u16 sizes_param_1,
  .param .align 1 .b8 sizes_param_2[3],
  .param .u32 sizes_param_3,
  .param .align 1 .b8 sizes_param_4[7],
  .param .u64 sizes_param_5,
  .param .align 1 .b8 sizes_param_6[9],
  .param .align 16 .b8 sizes_param_7[16],
  .param .align 8 .b8 sizes_param_8[24],
  .param .align 128 .b8 sizes_param_9[256]
)
{
  ret;
}
)";

template <std::size_t kBytes>
using Bytes = std::array<std::uint8_t, kBytes>;

struct alignas(64) Large {
  std::uint32_t words[32] = {};
};

class LaunchPlanTest : public testing::Test {
 protected:
  static Large ending_in(std::uint32_t value) {
    Large large;
    large.words[31] = value;
    return large;
  }

  std::string refusal_of(auto function) {
    try {
      function();
    } catch (const Error& failure) {
      return failure.message();
    }
    ADD_FAILURE() << "nothing was refused";
    return {};
  }

  const Device device_ = Device::open("sim:h200");
  const Stream stream_{device_};
  const Kernel kernel_ = Module::load(device_, Image::from_bytes(kKernel, "add.ptx")).kernel("add");
  const Buffer<std::uint32_t> out_{device_, 4};
};

TEST_F(LaunchPlanTest, PatchesArgumentsAndGrid) {
  out_.upload(std::vector<std::uint32_t>(4));
  LaunchPlan plan =
      LaunchPlan::make(kernel_, {.block = 1, .stream = stream_}, out_, 5, ending_in(10));
  plan.launch();
  stream_.synchronize();
  EXPECT_THAT(out_.download(), testing::ElementsAre(15, 0, 0, 0));
  plan.set(1, 7u);
  plan.set(2, ending_in(20));
  plan.set_grid(3);
  plan.launch();
  stream_.synchronize();
  EXPECT_THAT(out_.download(), testing::ElementsAre(27, 27, 27, 0));
  const std::uint32_t written = 1;
  std::memcpy(plan.argument(1).data(), &written, sizeof(written));
  EXPECT_EQ(plan.try_launch(), 0);
  stream_.synchronize();
  EXPECT_THAT(out_.download(), testing::ElementsAre(21, 21, 21, 0));
}

TEST_F(LaunchPlanTest, ReplacesArgumentsOfEverySizeAndNoByteBeside) {
  const Kernel sizes =
      Module::load(device_, Image::from_bytes(kSizes, "sizes.ptx")).kernel("sizes");
  LaunchPlan plan =
      LaunchPlan::make(sizes, {.stream = stream_}, Bytes<1>{}, Bytes<2>{}, Bytes<3>{}, Bytes<4>{},
                       Bytes<7>{}, Bytes<8>{}, Bytes<9>{}, Bytes<16>{}, Bytes<24>{}, Bytes<256>{});
  const auto replace = [&]<std::size_t kBytes>(std::size_t index, Bytes<kBytes>) {
    Bytes<kBytes> value;
    for (std::size_t i = 0; i < kBytes; ++i) value[i] = static_cast<std::uint8_t>(i + 1);
    plan.set(index, value);
    for (std::size_t other = 0; other < 10; ++other) {
      const auto bytes = plan.argument(other);
      if (other == index) {
        ASSERT_EQ(bytes.size(), kBytes);
        EXPECT_EQ(std::memcmp(bytes.data(), value.data(), kBytes), 0) << kBytes;
      } else {
        EXPECT_TRUE(
            std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{}; }))
            << kBytes << " beside " << other;
      }
    }
    plan.set(index, Bytes<kBytes>{});
  };
  replace(0, Bytes<1>{});
  replace(1, Bytes<2>{});
  replace(2, Bytes<3>{});
  replace(3, Bytes<4>{});
  replace(4, Bytes<7>{});
  replace(5, Bytes<8>{});
  replace(6, Bytes<9>{});
  replace(7, Bytes<16>{});
  replace(8, Bytes<24>{});
  replace(9, Bytes<256>{});
  EXPECT_THAT(refusal_of([&] { plan.set(4, Bytes<8>{}); }), HasSubstr("argument 4 has 8 bytes"));
  EXPECT_THAT(refusal_of([&] { plan.set(5, Bytes<4>{}); }), HasSubstr("argument 5 has 4 bytes"));
  EXPECT_EQ(plan.try_launch(), 0);
  stream_.synchronize();
}

TEST_F(LaunchPlanTest, KeepsTheAlignmentOfLargeArguments) {
  LaunchPlan plan = LaunchPlan::make(kernel_, {}, out_, 5, ending_in(10));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(plan.argument(2).data()) % 128, 0u);
  EXPECT_EQ(plan.argument(2).size(), 128u);
  LaunchPlan moved = std::move(plan);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(moved.argument(2).data()) % 128, 0u);
  moved.launch();
  device_.synchronize();
  EXPECT_EQ(out_.download()[0], 15u);
}

TEST_F(LaunchPlanTest, ACopyIsALaunchOfItsOwn) {
  out_.upload(std::vector<std::uint32_t>(4));
  std::optional<LaunchPlan> plan =
      LaunchPlan::make(kernel_, {.block = 1, .stream = stream_, .attributes = {priority(0)}}, out_,
                       5, ending_in(10));
  LaunchPlan copy = *plan;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(copy.argument(2).data()) % 128, 0u);
  copy.set(1, 6u);
  copy.set_grid(2);
  plan->launch();
  stream_.synchronize();
  EXPECT_THAT(out_.download(), testing::ElementsAre(15, 0, 0, 0));
  plan.reset();
  copy.launch();
  stream_.synchronize();
  EXPECT_THAT(out_.download(), testing::ElementsAre(16, 16, 0, 0));
  plan.emplace(LaunchPlan::make(kernel_, {}, out_, 7, ending_in(10)));
  copy = *plan;
  copy.launch();
  device_.synchronize();
  EXPECT_EQ(out_.download()[0], 17u);
}

TEST_F(LaunchPlanTest, RefusesWhatDoesNotFit) {
  LaunchPlan plan = LaunchPlan::make(kernel_, {.grid = 2}, out_, 5, Large{});
  EXPECT_THAT(refusal_of([&] { plan.set(1, 5.0f); }), HasSubstr("argument 1 is of type f32"));
  EXPECT_THAT(refusal_of([&] { plan.set(1, std::int64_t{5}); }),
              AllOf(HasSubstr("argument 1 has 8 bytes"), HasSubstr("has 4")));
  EXPECT_THAT(refusal_of([&] { plan.set(3, 5); }),
              AllOf(HasSubstr("3 arguments"), HasSubstr("no argument 3")));
  EXPECT_THAT(refusal_of([&] { plan.set_grid(Dim3(1, 65536)); }), HasSubstr("65535"));
  EXPECT_EQ(plan.config().grid, Dim3(2));
  EXPECT_THAT(refusal_of([&] { LaunchPlan::make(kernel_, {}, out_, 5); }),
              HasSubstr("2 were given"));
  EXPECT_THAT(refusal_of([&] { plan.set_config({.block = 2000}); }), HasSubstr("2000 threads"));
}

TEST_F(LaunchPlanTest, KeepsItsModuleLoaded) {
  LaunchPlan plan = [&] {
    const Module module = Module::load(device_, Image::from_bytes(kKernel, "add.ptx"));
    return LaunchPlan::make(module.kernel("add"), {}, out_, 40, ending_in(2));
  }();
  plan.launch();
  device_.synchronize();
  EXPECT_EQ(out_.download()[0], 42u);
}

TEST_F(LaunchPlanTest, StreamsOfAnotherDeviceNeedAConfig) {
  const Device other = Device::open("sim:tiny");
  const Stream there(other);
  const Buffer<std::uint32_t> out(other, 1);
  LaunchPlan plan = LaunchPlan::make(kernel_, {.stream = stream_}, out, 40, ending_in(3));
  EXPECT_THAT(refusal_of([&] { plan.set_stream(there); }),
              AllOf(HasSubstr("sim:h200"), HasSubstr("sim:tiny")));
  plan.set_config({.stream = there});
  plan.launch();
  there.synchronize();
  EXPECT_EQ(out.download()[0], 43u);
}

TEST_F(LaunchPlanTest, OneThatWasMovedFromSaysSo) {
  LaunchPlan plan = LaunchPlan::make(kernel_, {.stream = stream_}, out_, 1u, ending_in(2));
  LaunchPlan moved = std::move(plan);
  const auto refused = [this](const auto& use) {
    EXPECT_THAT(refusal_of(use), HasSubstr("moved from"));
  };
  refused([&] { plan.launch(); });
  refused([&] { plan.kernel(); });
  refused([&] { plan.config(); });
  refused([&] { plan.argument(0); });
  refused([&] { plan.set_grid(2); });
  refused([&] { plan.set_config({}); });
  refused([&] { LaunchPlan copy(plan); });
  EXPECT_EQ(plan.try_launch(), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(moved.try_launch(), CUDA_SUCCESS);
  plan = std::move(moved);
  EXPECT_EQ(plan.try_launch(), CUDA_SUCCESS);
}

}  // namespace
}  // namespace baton::launch_plan_test
