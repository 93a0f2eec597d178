#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/image.h"

namespace baton::missing_wait_test {
namespace {

using testing::AllOf;
using testing::Eq;
using testing::HasSubstr;
using testing::Optional;

KernelFacts kernel(std::string name, std::string arch, std::optional<bool> waits) {
  KernelFacts facts;
  facts.demangled = std::move(name);
  facts.arch = std::move(arch);
  facts.waits = waits;
  return facts;
}

TEST(MissingWait, NamesWhatCutlassCompilesOut) {
  const KernelFacts gemm =
      kernel("cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<…>>(…)", "sm_90a", false);
  EXPECT_THAT(missing_wait_cause(gemm), Optional(AllOf(HasSubstr("CUTLASS_ENABLE_GDC_FOR_SM90"),
                                                       HasSubstr("this kernel is for sm_90a"))));
}

TEST(MissingWait, NamesATargetThatHasNone) {
  EXPECT_THAT(missing_wait_cause(kernel("k", "sm_80", false)),
              Optional(AllOf(HasSubstr("sm_80"), HasSubstr("sm_90 and later"))));
}

TEST(MissingWait, HasNothingToSayOfOthers) {
  EXPECT_THAT(missing_wait_cause(kernel("k", "sm_90", false)), Eq(std::nullopt));
  EXPECT_THAT(missing_wait_cause(kernel("k", "", false)), Eq(std::nullopt));
  EXPECT_THAT(missing_wait_cause(kernel("cutlass::device_kernel<…>", "sm_90a", true)),
              Eq(std::nullopt));
  EXPECT_THAT(missing_wait_cause(kernel("k", "sm_80", std::nullopt)), Eq(std::nullopt));
}

}  // namespace
}  // namespace baton::missing_wait_test
