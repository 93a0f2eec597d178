#include "image/ptx/ptx_polls.h"

#include <gtest/gtest.h>

#include <string>

#include "baton/image.h"
#include "ptx/ast.h"

namespace baton::ptx_polls_test {
namespace {

std::optional<bool> polls(const std::string& body) {
  const std::string ptx =
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
      "  .reg .pred %p<4>;\n  .reg .b32 %r<8>;\n  .reg .b64 %rd<4>;\n"
      "  ld.param.u64 %rd1, [p];\n  ld.param.u32 %r1, [n];\n" +
      body + "  ret;\n}\n";
  return read_facts(Image::from_bytes(ptx, "k.ptx")).kernels.at(0).polls;
}

TEST(PtxPolls, ALoopUntilAnotherWrites) {
  for (const char* load : {"ld.volatile.global.u32", "ld.volatile.u32", "ld.acquire.gpu.global.u32",
                           "ld.relaxed.sys.global.u32"}) {
    EXPECT_EQ(polls(std::string("L:\n  ") + load +
                    " %r2, [%rd1];\n  setp.eq.u32 %p1, %r2, 0;\n  @%p1 bra L;\n"),
              true)
        << load;
  }
}

TEST(PtxPolls, AWorkerThatEndsByAValueInItsLoop) {
  EXPECT_EQ(polls("L:\n  ld.acquire.sys.global.u32 %r2, [%rd1];\n  and.b32 %r3, %r2, 3;\n"
                  "  setp.eq.u32 %p1, %r3, 2;\n  @%p1 bra E;\n"
                  "  st.global.u32 [%rd1+4], %r2;\n  bra L;\nE:\n"),
            true);
  EXPECT_EQ(polls("L:\n  ld.volatile.global.u32 %r2, [%rd1];\n  setp.eq.u32 %p1, %r2, 2;\n"
                  "  @%p1 ret;\n  bra L;\n"),
            true);
}

TEST(PtxPolls, LoopsThatEndByThemselves) {
  // By a count; by plain loads, which nothing has to change; by shared memory; without a loop.
  EXPECT_EQ(polls("L:\n  ld.volatile.global.u32 %r2, [%rd1];\n  add.u32 %r1, %r1, %r2;\n"
                  "  sub.u32 %r3, %r3, 1;\n  setp.ne.u32 %p1, %r3, 0;\n  @%p1 bra L;\n"),
            false);
  EXPECT_EQ(polls("L:\n  ld.global.u32 %r2, [%rd1];\n  setp.eq.u32 %p1, %r2, 0;\n  @%p1 bra L;\n"),
            false);
  EXPECT_EQ(polls("L:\n  ld.volatile.shared.u32 %r2, [%r1];\n  setp.eq.u32 %p1, %r2, 0;\n"
                  "  @%p1 bra L;\n"),
            false);
  EXPECT_EQ(polls("  ld.volatile.global.u32 %r2, [%rd1];\n  setp.eq.u32 %p1, %r2, 0;\n"
                  "  @%p1 bra E;\n  st.global.u32 [%rd1], %r2;\nE:\n"),
            false);
}

TEST(PtxPolls, ABranchInsideOfALoopDoesNotEndIt) {
  EXPECT_EQ(polls("L:\n  ld.volatile.global.u32 %r2, [%rd1];\n  setp.eq.u32 %p1, %r2, 0;\n"
                  "  @%p1 bra M;\n  st.global.u32 [%rd1], %r2;\nM:\n  sub.u32 %r3, %r3, 1;\n"
                  "  setp.ne.u32 %p2, %r3, 0;\n  @%p2 bra L;\n"),
            false);
}

TEST(PtxPolls, ManyLoopsTakeLinearTime) {
  // One strong load, and each branch back over all before it.
  std::string body = "L:\n  ld.volatile.global.u32 %r2, [%rd1];\n";
  for (int k = 0; k < 20000; ++k) body += "  @%p2 bra L;\n";
  EXPECT_EQ(polls(body), false);
}

TEST(PtxPolls, MachineCodeDoesNotSay) {
  const Image cubin = Image::from_file(BATON_SOURCE_DIR "/src/image/testdata/linked_sm_90.cubin");
  for (const KernelFacts& kernel : read_facts(cubin).kernels) EXPECT_EQ(kernel.polls, std::nullopt);
}

}  // namespace
}  // namespace baton::ptx_polls_test
