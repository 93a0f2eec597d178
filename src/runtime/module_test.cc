#include "baton/module.h"

#include <cuda.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "baton/log.h"

namespace baton::module_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kCounters = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter = 40;
.visible .const .align 8 .f64 factor = 0d3FF8000000000000;

.visible .entry bump(.param .u32 bump_param_0)
{
  .reg .u32 %r<3>;
  .reg .u64 %rd<2>;
  ld.param.u32 %r1, [bump_param_0];
  mov.u64 %rd1, counter;
  atom.global.add.u32 %r2, [%rd1], %r1;
  ret;
}

.visible .entry nothing()
{
  ret;
}
)";

class ModuleTest : public testing::Test {
 protected:
  const Device device_ = Device::open("sim:tiny");
  const Image ptx_ = Image::from_bytes(kCounters, "counters.ptx");

  static std::string prebuilt(const char* file) {
    return std::string(BATON_SOURCE_DIR "/tests/conformance/kernels/") + file;
  }

  std::uint32_t read_counter(const Module& module) {
    device_.synchronize();
    std::uint32_t value = 0;
    const Stream stream(device_);
    module.variable("counter").download(&value, sizeof(value), 0, stream);
    stream.synchronize();
    return value;
  }

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
};

TEST_F(ModuleTest, LoadsPtx) {
  const Module module = Module::load(device_, ptx_);
  EXPECT_EQ(module.device(), device_);
  EXPECT_EQ(module.facts().kernels.size(), 2u);
  module.kernel("bump").launch({.grid = 3, .block = 5}, 2u);
  EXPECT_EQ(read_counter(module), 40u + 3 * 5 * 2);
}

TEST_F(ModuleTest, KernelsAreTheSameObject) {
  const Module module = Module::load(device_, ptx_);
  EXPECT_EQ(module.kernel("bump").native(), module.kernel("bump").native());
  EXPECT_NE(module.kernel("bump").native(), module.kernel("nothing").native());
  EXPECT_EQ(module.kernel("bump").name(), "bump");
  EXPECT_EQ(module.kernel("bump").module().native(), module.native());
}

TEST_F(ModuleTest, UnknownKernelsNameThoseThereAre) {
  const Module module = Module::load(device_, ptx_);
  const Error failure = failure_of([&] { module.kernel("bunp"); });
  EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
  EXPECT_THAT(failure.what(),
              AllOf(HasSubstr("bunp"), HasSubstr("bump"), HasSubstr("counters.ptx")));
}

TEST_F(ModuleTest, UnknownVariablesNameTheNearest) {
  const Module module = Module::load(device_, ptx_);
  EXPECT_EQ(module.global("factor").second, 8u);
  const Error failure = failure_of([&] { module.global("conter"); });
  EXPECT_EQ(failure.code(), ErrorCode::kNotFound);
  EXPECT_THAT(failure.what(), AllOf(HasSubstr("conter"), HasSubstr("counter")));
}

TEST_F(ModuleTest, AKernelOutlivesItsModule) {
  const Kernel bump = Module::load(device_, ptx_).kernel("bump");
  bump.launch({}, 2u);
  EXPECT_EQ(read_counter(bump.module()), 42u);
}

TEST_F(ModuleTest, AVariableOutlivesItsModule) {
  const Memory counter = Module::load(device_, ptx_).variable("counter");
  std::uint32_t value = 0;
  const Stream stream(device_);
  counter.download(&value, sizeof(value), 0, stream);
  stream.synchronize();
  EXPECT_EQ(value, 40u);
}

TEST_F(ModuleTest, MachineCodeAloneIsRefusedWithWhatWouldServe) {
  const Image cubin = Image::from_file(prebuilt("prebuilt_sm_90.cubin"));
  const Error failure = failure_of([&] { Module::load(device_, cubin); });
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  EXPECT_EQ(exit_status(failure.code()), 2);
  EXPECT_THAT(failure.what(), AllOf(HasSubstr("prebuilt_sm_90.cubin"), HasSubstr("sim:tiny"),
                                    HasSubstr("bring PTX"), HasSubstr("NO_BINARY_FOR_GPU"),
                                    Not(HasSubstr("or machine code for"))));
  const Image older = Image::from_file(prebuilt("prebuilt_sm_80.cubin"));
  EXPECT_THAT(failure_of([&] { Module::load(device_, older); }).what(),
              HasSubstr("bring PTX, or machine code for sm_90a"));
}

TEST_F(ModuleTest, OfSeveralImagesOneThatSuitsIsTaken) {
  const Image images[] = {Image::from_file(prebuilt("prebuilt_sm_80.cubin")),
                          Image::from_file(prebuilt("prebuilt.ptx"))};
  const Module module = Module::load(device_, images);
  EXPECT_EQ(module.facts().kernels.size(), 3u);
  // The machine code adds what PTX does not say, and the device goes by it.
  const Kernel saxpy = module.kernel("saxpy");
  ASSERT_TRUE(saxpy.facts().registers.has_value());
  EXPECT_EQ(static_cast<std::uint32_t>(saxpy.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS)),
            *saxpy.facts().registers);
}

TEST_F(ModuleTest, NoImagesAreAnError) {
  EXPECT_EQ(failure_of([&] { Module::load(device_, std::span<const Image>()); }).code(),
            ErrorCode::kInvalidInput);
}

TEST_F(ModuleTest, BadPtxIsRefusedWithTheReason) {
  std::string text(kCounters);
  text.replace(text.find(".visible .entry nothing"), 8, ".vizible");
  const Error failure =
      failure_of([&] { Module::load(device_, Image::from_bytes(text, "bad.ptx")); });
  EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
  EXPECT_THAT(failure.what(), AllOf(HasSubstr("bad.ptx"), HasSubstr("vizible")));
}

// The facts and the simulated driver share one parse.
TEST_F(ModuleTest, PtxIsParsedOnce) {
  int parsed = 0;
  set_log_level(LogLevel::kDebug);
  set_log_callback([&](LogLevel, std::string_view message) {
    if (message.starts_with("parsed the PTX of ")) ++parsed;
  });
  const Image image = Image::from_bytes(std::string(kCounters) + "// once\n", "once.ptx");
  const Module module = Module::load(device_, image);
  module.kernel("bump");
  set_log_callback({});
  set_log_level(LogLevel::kWarning);
  EXPECT_EQ(parsed, 1);
}

}  // namespace
}  // namespace baton::module_test
