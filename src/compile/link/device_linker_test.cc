#include "compile/link/device_linker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "compile/nvrtc/toolkit.h"

namespace baton::compiler::device_linker_test {
namespace {

constexpr const char* kKernel = R"(.version 8.0
.target sm_90a
.address_size 64
.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.visible .entry plain(.param .u64 out) {
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 7;
  st.global.u32 [%rd1], %r1;
  ret;
}
)";

TEST(Assemble, GivesTheRegistersThatPtxDoesNotName) {
  if (!find_toolkit().nvjitlink) GTEST_SKIP() << "there is no nvJitLink";
  const Image ptx = Image::from_bytes(kKernel, "k.ptx");
  EXPECT_FALSE(read_facts(ptx).kernels.at(0).registers);
  std::string why;
  const std::optional<Image> code = assemble(ptx, "sm_90a", &why);
  ASSERT_TRUE(code) << why;
  EXPECT_EQ(code->kind(), ImageKind::kCubin);
  const ImageFacts facts = read_facts(*code);
  EXPECT_EQ(facts.arch, "sm_90a");
  ASSERT_EQ(facts.kernels.size(), 1u);
  EXPECT_EQ(facts.kernels[0].name, "plain");
  ASSERT_TRUE(facts.kernels[0].registers);
  EXPECT_GT(*facts.kernels[0].registers, 0u);
}

TEST(Assemble, SaysWhatTheAssemblerRefuses) {
  if (!find_toolkit().nvjitlink) GTEST_SKIP() << "there is no nvJitLink";
  std::string why;
  std::string wrong = kKernel;
  wrong.replace(wrong.find("st.global.u32"), 13, "st.nowhere.u32");
  EXPECT_FALSE(assemble(Image::from_bytes(wrong, "k.ptx"), "sm_90a", &why));
  EXPECT_THAT(why, testing::HasSubstr("nowhere"));
}

// The library itself would end the process.
TEST(Assemble, AsksForNoUnknownArchitecture) {
  if (!find_toolkit().nvjitlink) GTEST_SKIP() << "there is no nvJitLink";
  for (const char* arch : {"sm_1", "sm_999a", "sm", ""}) {
    std::string why;
    EXPECT_FALSE(assemble(Image::from_bytes(kKernel, "k.ptx"), arch, &why)) << arch;
    EXPECT_THAT(why, testing::HasSubstr("is not known to assemble for"));
  }
}

TEST(Assemble, GivesNothingWithoutTheLibrary) {
  setenv("BATON_NVJITLINK", "/nonexistent/libnvJitLink.so", 1);
  std::string why;
  EXPECT_FALSE(assemble(Image::from_bytes(kKernel, "k.ptx"), "sm_90a", &why));
  unsetenv("BATON_NVJITLINK");
  EXPECT_EQ(why, "nvJitLink is not installed");
}

}  // namespace
}  // namespace baton::compiler::device_linker_test
