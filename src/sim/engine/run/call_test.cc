// How lanes call functions and branch by an index, each on its own.

#include <gtest/gtest.h>

#include "sim/engine/run/warp_run.h"

namespace baton::sim::call_test {
namespace {

const char kFactorial[] = R"(
.func (.param .b32 result) factorial(.param .b32 n) {
  .reg .pred %p<2>;
  .reg .b32 %r<6>;
  ld.param.u32 %r1, [n];
  setp.gt.u32 %p1, %r1, 1;
  @%p1 bra MORE;
  st.param.b32 [result], 1;
  ret;
MORE:
  sub.u32 %r2, %r1, 1;
  {
    .param .b32 less;
    st.param.b32 [less], %r2;
    .param .b32 back;
    call.uni (back), factorial, (less);
    ld.param.b32 %r3, [back];
  }
  mul.lo.u32 %r4, %r3, %r1;
  st.param.b32 [result], %r4;
  ret;
}
)";

TEST(Call, RecursionToADepthOfItsOwnForEachLane) {
  const WarpRun result = run_kernel(kernel_of(R"(
    and.b32 %r2, %r1, 7;
    {
      .param .b32 a;
      st.param.b32 [a], %r2;
      .param .b32 b;
      call.uni (b), factorial, (a);
      ld.param.b32 %r3, [b];
    }
    st.global.u32 [%rd1], %r3;
  )",
                                              kFactorial),
                                    64);
  ASSERT_EQ(result.state, Grid::State::kFinished);
  const std::uint32_t expected[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (std::uint32_t t = 0; t < 64; ++t) EXPECT_EQ(result.words[t], expected[t % 8]) << t;
  EXPECT_TRUE(result.findings.empty());
}

TEST(Call, EndlessRecursionExhaustsTheStack) {
  const WarpRun result = run_kernel(kernel_of("call forever;", R"(
.func forever() {
  .local .align 8 .b8 room[4096];
  .reg .b64 %rd<2>;
  mov.u64 %rd1, room;
  st.local.u32 [%rd1], 1;
  call forever;
  ret;
}
)"),
                                    1);
  EXPECT_EQ(result.state, Grid::State::kFaulted);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].kind, driver::FindingKind::kStackOverflow);
}

TEST(Call, LanesCallDifferentFunctions) {
  const WarpRun result = run_kernel(kernel_of(R"(
    and.b32 %r2, %r1, 1;
    mul.wide.u32 %rd3, %r2, 8;
    mov.u64 %rd4, table;
    add.u64 %rd4, %rd4, %rd3;
    ld.global.u64 %rd5, [%rd4];
    {
      .param .b32 a;
      st.param.b32 [a], %r1;
      .param .b32 b;
      prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (b), %rd5, (a), prototype;
      ld.param.b32 %r3, [b];
    }
    st.global.u32 [%rd1], %r3;
  )",
                                              R"(
.func (.param .b32 result) twice(.param .b32 n) {
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [n];
  add.u32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
}
.func (.param .b32 result) square(.param .b32 n) {
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [n];
  mul.lo.u32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
}
.global .align 8 .u64 table[2] = {twice, square};
)"),
                                    64);
  ASSERT_EQ(result.state, Grid::State::kFinished);
  for (std::uint32_t t = 0; t < 64; ++t)
    EXPECT_EQ(result.words[t], t % 2 == 0 ? 2 * t : t * t) << t;
}

TEST(Call, IndexedBranches) {
  const WarpRun result = run_kernel(kernel_of(R"(
    and.b32 %r2, %r1, 3;
    ways: .branchtargets A, B, C, D;
    brx.idx %r2, ways;
  A: mov.u32 %r3, 10; bra END;
  B: mov.u32 %r3, 20; bra END;
  C: mov.u32 %r3, 30; bra END;
  D: mov.u32 %r3, 40;
  END:
    st.global.u32 [%rd1], %r3;
  )"),
                                    32);
  ASSERT_EQ(result.state, Grid::State::kFinished);
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(result.words[t], 10 * (t % 4 + 1)) << t;
}

TEST(Call, GuardsLeaveOtherLanesAlone) {
  const WarpRun result = run_kernel(kernel_of(R"(
    mov.u32 %r2, 5;
    setp.lt.u32 %p1, %r1, 7;
    @%p1 mov.u32 %r2, 6;
    @!%p1 st.global.u32 [%rd1+512], %r2;
    @%p1 bra.uni SKIP;
    add.u32 %r2, %r2, 100;
  SKIP:
    st.global.u32 [%rd1], %r2;
  )"),
                                    32);
  for (std::uint32_t t = 0; t < 32; ++t) {
    EXPECT_EQ(result.words[t], t < 7 ? 6u : 105u) << t;
    EXPECT_EQ(result.words[128 + t], t < 7 ? 0u : 5u) << t;
  }
}

}  // namespace
}  // namespace baton::sim::call_test
