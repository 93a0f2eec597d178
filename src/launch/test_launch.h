#pragma once

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "baton/module.h"

// Kernels that the tests of launches launch, and how they are refused.
namespace baton::launch_test {

// Parameters of every kind, 1 KiB of static shared memory, at most 256 threads; and one kernel that
// wants its block to be (16, 4, 1).
inline constexpr const char* kLaunchKernels = R"(
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

struct ThreeFloats {
  float x, y, z;
};

class LaunchCase : public testing::Test {
 protected:
  const Device device_ = Device::open("sim:h200");
  const Module module_ = Module::load(device_, Image::from_bytes(kLaunchKernels, "kernels.ptx"));
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

}  // namespace baton::launch_test
