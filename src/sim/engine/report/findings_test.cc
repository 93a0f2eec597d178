// What a kernel must not do, and how it is told.

#include "sim/engine/report/findings.h"

#include <gtest/gtest.h>

#include "sim/engine/run/test_device.h"

namespace baton::sim::findings_test {
namespace {

std::string kernel(const std::string& body, const std::string& target = "sm_90") {
  return ".version 8.0\n.target " + target + R"(
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b) {
  .reg .pred %p<9>;
  .reg .b16 %rs<9>;
  .reg .b32 %r<30>;
  .reg .b64 %rd<30>;
  .reg .f32 %f<9>;
  .shared .align 4 .b8 tile[64];
  .local .align 8 .b8 room[64];
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd1, %rd3;
)" + body +
         "\n  ret;\n}\n.file 1 \"norm.cu\"\n";
}

class Findings : public ::testing::Test {
 protected:
  // Runs one block of 32 threads.
  std::vector<driver::Finding> run(const std::string& text, std::uint64_t a, std::uint64_t b = 0) {
    const auto module = device.load(text, "norm.ptx");
    const auto grid = device.run(module, "k", {2}, {32}, a, b);
    state = grid->state();
    fault = grid->fault();
    return device.engine.take_findings();
  }
  TestDevice device;
  Grid::State state = Grid::State::kRunning;
  CUresult fault = CUDA_SUCCESS;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(Findings, OutOfBoundsNamesThreadAddressAndAllocation) {
  const std::uint64_t a = device.upload(std::vector<int>(20));
  device.memory.set_name(a, "buffer y (s32 [20])");
  const auto found = run(kernel(".loc 1 12 7\n  st.global.u32 [%rd4], %r1;"), a);
  EXPECT_EQ(state, Grid::State::kFaulted);
  EXPECT_EQ(fault, CUDA_ERROR_ILLEGAL_ADDRESS);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, driver::FindingKind::kOutOfBounds);
  EXPECT_EQ(found[0].kernel, "k");
  EXPECT_EQ(found[0].thread[0], 20u);
  EXPECT_EQ(found[0].where, "norm.cu:12:7");
  EXPECT_TRUE(contains(found[0].message, "0 bytes past the end of buffer y (s32 [20], 80 bytes at"))
      << found[0].message;
}

TEST_F(Findings, WithoutSourceThePtxLineIsNamed) {
  const auto found = run(kernel("st.global.u32 [%rd1], %r1;"), 0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, driver::FindingKind::kNullPointer);
  EXPECT_EQ(found[0].where.rfind("norm.ptx:", 0), 0u) << found[0].where;
}

TEST_F(Findings, UseAfterFree) {
  const std::uint64_t a = device.upload(std::vector<int>(32));
  ASSERT_TRUE(device.memory.free(a));
  const auto found = run(kernel("ld.global.u32 %r2, [%rd4];"), a);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, driver::FindingKind::kUseAfterFree);
}

TEST_F(Findings, HostPointers) {
  int on_host = 0;
  const auto found =
      run(kernel("ld.global.u32 %r2, [%rd1];"), reinterpret_cast<std::uint64_t>(&on_host));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, driver::FindingKind::kHostPointer);
}

TEST_F(Findings, MisalignedVectors) {
  const std::uint64_t a = device.upload(std::vector<int>(64));
  const auto found = run(kernel("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+8];"), a);
  EXPECT_EQ(fault, CUDA_ERROR_MISALIGNED_ADDRESS);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, driver::FindingKind::kMisaligned);
}

TEST_F(Findings, SharedAndLocalBoundsAreExact) {
  const auto shared = run(kernel("mov.u32 %r2, tile;\n st.shared.u32 [%r2+64], %r1;"), 0);
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_EQ(shared[0].kind, driver::FindingKind::kOutOfBounds);
  EXPECT_TRUE(contains(shared[0].message, "shared")) << shared[0].message;
  const auto local = run(kernel("mov.u64 %rd5, room;\n st.local.u32 [%rd5+64], %r1;"), 0);
  ASSERT_EQ(local.size(), 1u);
  EXPECT_TRUE(contains(local[0].message, "local")) << local[0].message;
  const auto generic = run(kernel(R"(
    mov.u64 %rd5, tile;
    cvta.shared.u64 %rd5, %rd5;
    st.u32 [%rd5+64], %r1;)"),
                           0);
  ASSERT_EQ(generic.size(), 1u);
  EXPECT_TRUE(contains(generic[0].message, "shared")) << generic[0].message;
}

TEST_F(Findings, UnwrittenMemoryWarnsOnceAPlace) {
  const std::uint64_t a = device.memory.allocate(128);
  const auto found = run(kernel("ld.global.u32 %r2, [%rd4];"), a);
  EXPECT_EQ(state, Grid::State::kFinished);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_FALSE(driver::is_error(found[0].kind));
  EXPECT_EQ(found[0].kind, driver::FindingKind::kUninitialized);
  EXPECT_EQ(found[0].count, 64u);  // both blocks' threads
}

TEST_F(Findings, WhatTheKernelWroteIsWritten) {
  const std::uint64_t a = device.memory.allocate(128);
  EXPECT_TRUE(run(kernel("st.global.u32 [%rd4], %r1;\n ld.global.u32 %r2, [%rd4];"), a).empty());
  const auto shared = run(kernel(R"(
    mov.u32 %r2, tile;
    st.shared.u32 [%r2], %r1;
    ld.shared.u32 %r3, [%r2];
    ld.shared.u32 %r4, [%r2+8];)"),
                          a);
  ASSERT_EQ(shared.size(), 1u);
  EXPECT_TRUE(contains(shared[0].message, "shared memory that nothing wrote")) << shared[0].message;
  const auto local = run(kernel(R"(
    mov.u64 %rd5, room;
    st.local.u32 [%rd5], %r1;
    ld.local.u32 %r3, [%rd5];
    ld.local.u32 %r4, [%rd5+8];)"),
                         a);
  ASSERT_EQ(local.size(), 1u);
  EXPECT_TRUE(contains(local[0].message, "local memory that nothing wrote")) << local[0].message;
}

// Structures with padding are copied whole.
TEST_F(Findings, PaddingIsNoFinding) {
  const std::uint64_t a = device.memory.allocate(512);
  EXPECT_TRUE(run(kernel(R"(
    mul.wide.u32 %rd5, %r1, 8;
    add.u64 %rd5, %rd5, %rd1;
    st.global.u8 [%rd5], 1;
    ld.global.u64 %rd6, [%rd5];
    st.global.u64 [%rd5], %rd6;)"),
                  a)
                  .empty());
}

TEST_F(Findings, UnsupportedInstructionsFaultOnlyWhenExecuted) {
  const std::uint64_t a = device.upload(std::vector<int>(32));
  const std::string body = R"(
    setp.eq.u64 %p1, %rd2, 0;
    @%p1 bra END;
    frobnicate.fast.u32 %r2, %r1;
  END:
    st.global.u32 [%rd4], 3;)";
  EXPECT_TRUE(run(kernel(body), a, 0).empty());
  const auto found = run(kernel(body), a, 1);
  EXPECT_EQ(fault, CUDA_ERROR_NOT_SUPPORTED);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, driver::FindingKind::kUnsupportedInstruction);
  EXPECT_TRUE(contains(found[0].message, "frobnicate.fast.u32 %r2, %r1")) << found[0].message;
}

TEST_F(Findings, UnknownModifiersAreNeverIgnored) {
  const auto found = run(kernel("add.quickly.u32 %r2, %r1, %r1;"), 0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(contains(found[0].message, ".quickly")) << found[0].message;
}

TEST_F(Findings, InstructionsAreGatedByTarget) {
  const auto found = run(kernel("griddepcontrol.wait;", "sm_80"), 0);
  EXPECT_EQ(fault, CUDA_ERROR_NOT_SUPPORTED);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(contains(found[0].message, "sm_90")) << found[0].message;
  EXPECT_TRUE(run(kernel("griddepcontrol.wait;\n griddepcontrol.launch_dependents;"), 0).empty());
  const auto general = run(kernel("setmaxnreg.inc.sync.aligned.u32 240;", "sm_90"), 0);
  ASSERT_EQ(general.size(), 1u);
  EXPECT_TRUE(contains(general[0].message, "sm_90a")) << general[0].message;
  // There it is, but a warp is not a warpgroup.
  const auto alone = run(kernel("setmaxnreg.inc.sync.aligned.u32 240;", "sm_90a"), 0);
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].kind, driver::FindingKind::kUnsupported);
  EXPECT_TRUE(contains(alone[0].message, "it takes four")) << alone[0].message;
}

TEST_F(Findings, Traps) {
  const auto found = run(kernel("setp.eq.u32 %p1, %r1, 5;\n @%p1 trap;"), 0);
  EXPECT_EQ(fault, CUDA_ERROR_LAUNCH_FAILED);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, driver::FindingKind::kTrap);
  EXPECT_EQ(found[0].thread[0], 5u);
}

TEST_F(Findings, InlinedPlacesNameTheCallSite) {
  const auto found = run(kernel(R"(.loc 1 5 3
    .loc 1 40 9, function_name $name, inlined_at 1 5 3
    st.global.u32 [%rd1], %r1;)"),
                         0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].where, "norm.cu:40:9 (inlined at norm.cu:5:3)");
}

TEST_F(Findings, InlinedPlacesNameAllCallSites) {
  const auto found = run(kernel(R"(.loc 1 5 3
    .loc 1 40 9, function_name $name, inlined_at 1 5 3
    .loc 1 30 7, function_name $inner, inlined_at 1 40 9
    st.global.u32 [%rd1], %r1;)"),
                         0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].where, "norm.cu:30:7 (inlined at norm.cu:40:9) (inlined at norm.cu:5:3)");
}

TEST_F(Findings, AtomicsInLocalMemoryAreRefused) {
  const auto found = run(kernel(R"(
    mov.u64 %rd5, room;
    cvta.local.u64 %rd5, %rd5;
    red.add.u32 [%rd5], 1;)"),
                         0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, driver::FindingKind::kBadAtomic);
}

// Several workers execute blocks at once. The first block reaches its fault last.
TEST(FaultsOfManyBlocks, AreThatOfTheFirstBlock) {
  TestDevice device(4);
  const auto module = device.load(kernel(R"(  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, 200000;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra wrong;
again:
  sub.u32 %r3, %r3, 1;
  setp.ne.u32 %p2, %r3, 0;
  @%p2 bra again;
wrong:
  st.global.u32 [%rd4], %r1;)"));
  for (int run = 0; run < 20; ++run) {
    const auto grid = device.run(module, "k", {256}, {64}, std::uint64_t{8}, std::uint64_t{0});
    EXPECT_EQ(grid->state(), Grid::State::kFaulted);
    const auto found = device.engine.take_findings();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].block[0], 0u);
    EXPECT_EQ(found[0].count, 1u);
  }
}

}  // namespace
}  // namespace baton::sim::findings_test
