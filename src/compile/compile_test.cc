#include "baton/compile.h"

#include <gtest/gtest.h>

#include "baton/error.h"

namespace baton {
namespace {

constexpr char kSaxpy[] = R"(
extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
)";

TEST(Compile, GivesPtxAndACubin) {
  const Compiled compiled =
      compile(Source::from_text(kSaxpy), {.arch = "sm_90a", .entries = {}, .use_cache = false});
  EXPECT_EQ(compiled.ptx.kind(), ImageKind::kPtx);
  ASSERT_TRUE(compiled.cubin);
  EXPECT_EQ(compiled.cubin->kind(), ImageKind::kCubin);
  const ImageFacts facts = read_facts(compiled.ptx);
  EXPECT_EQ(facts.arch, "sm_90a");
  EXPECT_EQ(find_kernel(facts, "", "saxpy").params.value().size(), 4u);
}

}  // namespace
}  // namespace baton
