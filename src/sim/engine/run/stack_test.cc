#include "sim/engine/run/stack.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "sim/engine/run/test_device.h"

namespace baton::sim::stack_test {
namespace {

using driver::FindingKind;

constexpr const char* kHead = R"(.version 8.3
.target sm_90
.address_size 64
)";
// %r1 is the thread's number in its block, %d1 its word of the result.
constexpr const char* kBegin = R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<4>;
  .reg .b32 %r<20>;
  .reg .b64 %d<20>;
  mov.u32 %r1, %tid.x;
  ld.param.u64 %d1, [out];
  mad.wide.u32 %d1, %r1, 4, %d1;
)";

struct Result {
  std::vector<std::uint32_t> words;
  std::vector<driver::Finding> findings;
  CUresult fault = CUDA_SUCCESS;
};

Result run(const std::string& body, const std::string& functions = "") {
  TestDevice device;
  const auto module = device.load(kHead + functions + kBegin + body + "\n  ret;\n}\n");
  const std::uint64_t out = device.upload(std::vector<std::uint32_t>(64));
  const auto grid = device.run(module, "k", {2}, {32}, out);
  return {device.download<std::uint32_t>(out, 32), device.engine.take_findings(), grid->fault()};
}

// Thread t sums the numbers below t + 1 in an array of its own of t + 1 words.
constexpr const char* kSums = R"(
  add.u32 %r2, %r1, 1;
  mul.wide.u32 %d2, %r2, 4;
  alloca.u64 %d3, %d2, 16;
  mov.u32 %r3, 0;
WRITE:
  mul.wide.u32 %d4, %r3, 4;
  add.u64 %d4, %d3, %d4;
  st.local.u32 [%d4], %r3;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, %r2;
  @%p1 bra WRITE;
  mov.u32 %r4, 0;
  mov.u32 %r3, 0;
READ:
  mul.wide.u32 %d4, %r3, 4;
  add.u64 %d4, %d3, %d4;
  ld.local.u32 %r5, [%d4];
  add.u32 %r4, %r4, %r5;
  add.u32 %r3, %r3, 1;
  setp.lt.u32 %p1, %r3, %r2;
  @%p1 bra READ;
)";

void expect_sums(const Result& result) {
  EXPECT_EQ(result.fault, CUDA_SUCCESS);
  for (const auto& finding : result.findings) ADD_FAILURE() << finding.message;
  for (std::uint32_t k = 0; k < 32; ++k) EXPECT_EQ(result.words[k], k * (k + 1) / 2);
}

TEST(Stack, EachThreadHasItsOwn) {
  expect_sums(run(std::string(kSums) + "st.global.u32 [%d1], %r4;"));
}

TEST(Stack, GenericAddressesLeadThere) {
  expect_sums(run(std::string(kSums) + R"(
  cvta.local.u64 %d5, %d3;
  st.u32 [%d5], %r4;
  ld.local.u32 %r6, [%d3];
  st.global.u32 [%d1], %r6;)"));
}

TEST(Stack, ACalleesVariablesLieBehindIt) {
  const std::string callee = R"(
.func (.param .b32 result) clobbers(.param .b32 value) {
  .local .align 4 .b8 own[256];
  .reg .b32 %r<4>;
  .reg .pred %p;
  ld.param.u32 %r1, [value];
  mov.u32 %r2, 0;
FILL:
  mov.u32 %r3, own;
  add.u32 %r3, %r3, %r2;
  st.local.u32 [%r3], 77;
  add.u32 %r2, %r2, 4;
  setp.lt.u32 %p, %r2, 256;
  @%p bra FILL;
  st.param.b32 [result], %r1;
  ret;
}
)";
  expect_sums(run(std::string(kSums) + R"(
  st.local.u32 [%d3], %r4;
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r1;
    call.uni (b), clobbers, (a);
    ld.param.b32 %r7, [b]; }
  ld.local.u32 %r6, [%d3];
  sub.u32 %r7, %r7, %r1;
  add.u32 %r6, %r6, %r7;
  st.global.u32 [%d1], %r6;)",
                  callee));
}

TEST(Stack, ItIsGoneWhenTheFunctionReturns) {
  // A stack that grew by 4 KiB a call would not have room for 1000 of them.
  const std::string callee = R"(
.func (.param .b32 result) takes(.param .b32 value) {
  .reg .b32 %r<4>;
  ld.param.u32 %r1, [value];
  alloca.u32 %r2, 4096;
  st.local.u32 [%r2+4092], %r1;
  ld.local.u32 %r3, [%r2+4092];
  st.param.b32 [result], %r3;
  ret;
}
)";
  expect_sums(run(std::string(kSums) + R"(
  mov.u32 %r8, 0;
AGAIN:
  { .param .b32 a; .param .b32 b;
    st.param.b32 [a], %r4;
    call.uni (b), takes, (a);
    ld.param.b32 %r4, [b]; }
  add.u32 %r8, %r8, 1;
  setp.lt.u32 %p1, %r8, 1000;
  @%p1 bra AGAIN;
  st.global.u32 [%d1], %r4;)",
                  callee));
}

TEST(Stack, ALoopThatRestoresNeedsNoMore) {
  expect_sums(run(std::string(kSums) + R"(
  mov.u32 %r8, 0;
AGAIN:
  stacksave.u64 %d6;
  alloca.u64 %d7, 8192, 64;
  and.b64 %d8, %d7, 63;
  cvt.u32.u64 %r9, %d8;
  st.local.u32 [%d7+8188], %r4;
  ld.local.u32 %r4, [%d7+8188];
  stackrestore.u64 %d6;
  add.u32 %r4, %r4, %r9;
  add.u32 %r8, %r8, 1;
  setp.lt.u32 %p1, %r8, 1000;
  @%p1 bra AGAIN;
  st.global.u32 [%d1], %r4;)"));
}

TEST(Stack, AlignsTo8WhereNothingIsWritten) {
  const Result result = run(R"(
  alloca.u32 %r2, 5;
  alloca.u32 %r3, 1;
  or.b32 %r2, %r2, %r3;
  and.b32 %r2, %r2, 7;
  st.global.u32 [%d1], %r2;)");
  EXPECT_EQ(result.fault, CUDA_SUCCESS);
  EXPECT_EQ(result.words, std::vector<std::uint32_t>(32, 0));
}

void expect_fault(const std::string& body, FindingKind kind, CUresult code,
                  const std::string& message) {
  const Result result = run(body);
  EXPECT_EQ(result.fault, code);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].kind, kind) << result.findings[0].message;
  EXPECT_NE(result.findings[0].message.find(message), std::string::npos)
      << result.findings[0].message;
}

TEST(Stack, AnAccessBehindTheStackOfALaneIsFound) {
  // Other lanes have room there.
  expect_fault(R"(
  add.u32 %r2, %r1, 1;
  mul.wide.u32 %d2, %r2, 16;
  alloca.u64 %d3, %d2;
  setp.ne.u32 %p1, %r1, 3;
  @%p1 ret;
  st.local.u32 [%d3+64], %r1;)",
               FindingKind::kOutOfBounds, CUDA_ERROR_ILLEGAL_ADDRESS,
               "writes 4 bytes of local memory");
}

TEST(Stack, AUseAfterARestoreIsFound) {
  expect_fault(R"(
  stacksave.u64 %d2;
  alloca.u64 %d3, 64;
  st.local.u32 [%d3], %r1;
  stackrestore.u64 %d2;
  ld.local.u32 %r2, [%d3];
  st.global.u32 [%d1], %r2;)",
               FindingKind::kOutOfBounds, CUDA_ERROR_ILLEGAL_ADDRESS,
               "reads 4 bytes of local memory");
}

TEST(Stack, WhatNothingWroteSinceARestoreIsFound) {
  const Result result = run(R"(
  stacksave.u64 %d2;
  alloca.u64 %d3, 64;
  st.local.u32 [%d3], %r1;
  stackrestore.u64 %d2;
  alloca.u64 %d3, 64;
  ld.local.u32 %r2, [%d3];
  st.global.u32 [%d1], %r2;)");
  EXPECT_EQ(result.fault, CUDA_SUCCESS);
  ASSERT_EQ(result.findings.size(), 1u);
  EXPECT_EQ(result.findings[0].kind, FindingKind::kUninitialized);
}

TEST(Stack, ASizeThatDoesNotFitIsFound) {
  for (const char* bytes : {"524288", "0xffffffffffffffff"}) {
    expect_fault(fmt::format("alloca.u64 %d3, {};", bytes), FindingKind::kStackOverflow,
                 CUDA_ERROR_HARDWARE_STACK_ERROR, "the stack is exhausted");
  }
}

TEST(Stack, ARestoreToAnotherPlaceIsFound) {
  for (const char* place : {"0x100000", "0xffffffff00000000"}) {
    expect_fault(fmt::format("mov.u64 %d2, {}; stackrestore.u64 %d2;", place),
                 FindingKind::kUnsupported, CUDA_ERROR_ILLEGAL_INSTRUCTION,
                 "which stacksave did not give in this call");
  }
}

}  // namespace
}  // namespace baton::sim::stack_test
