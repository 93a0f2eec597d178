#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pdl/footprint/bound.h"
#include "pdl/footprint/footprint_text_test.h"

namespace baton::overlap::footprint_addresses_test {
namespace {

using testing::HasSubstr;

// A warp's number by way of lane `%r4`.
constexpr char kRole[] = "shr.u32 %r3, %r1, 5; shfl.sync.idx.b32 %r5, %r3, %r4, 31, -1;\n";
// Those whose number is 0 wait for the block.
constexpr char kFirstWaits[] =
    "setp.ne.u32 %p1, %r5, 0; @%p1 bra OVER; griddepcontrol.wait;\nOVER: bar.sync 0;\n"
    "ld.global.f32 %f1, [%a];";

// wgmma adds to its accumulator, and multiplies what is in shared memory.
TEST(Footprint, AProductHoldsWhatItsAccumulatorAndItsMatricesHeld) {
  const std::string product =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%r3, %r4, %r5, %r6}, %d5, %d6, %p1, 1, "
      "1, 0, 0;\n";
  const std::string read = "mov.b64 %d3, {%r3, %r4}; ld.global.u32 %r9, [%d3];\n";
  EXPECT_THAT(text("mov.b64 {%r3, %r4}, %a;\n" + product + read + kWait), HasSubstr("p0"));
  EXPECT_THAT(text("st.shared.u64 [shared], %a;\n" + product + read + kWait), HasSubstr("loaded"));
  // In a loop, its own result is among its operands.
  EXPECT_THAT(text("AGAIN:\n" + product + "@%p2 bra AGAIN;\n" + read + kWait), HasSubstr("loaded"));
}

// Where something is written, and where it is read, can be told from what is read. Found by
// tests/verdicts/generated_test.cc.
TEST(Footprint, PlacesInLocalMemoryTellWhatDecidesThem) {
  const std::string begin = ".local .align 8 .b8 spill[64]; mov.u64 %d2, spill;\n";
  const std::string access = "add.u64 %d9, %b, %d3; ld.global.u32 %r3, [%d9];\n";
  const std::string marks =
      "and.b64 %d1, %d1, 8; add.u64 %d2, %d2, %d1; st.local.u64 [%d2], 1;\n"
      "ld.local.u64 %d3, [spill+8];\n" +
      access;
  const std::string table =
      "st.local.u64 [spill], 0; st.local.u64 [spill+8], 1; and.b64 %d1, %d1, 8;\n"
      "add.u64 %d2, %d2, %d1; ld.local.u64 %d3, [%d2];\n" +
      access;
  const std::string bit = begin + "shr.u64 %d1, %a, 10;\n";
  EXPECT_EQ(text(bit + marks + kWait), "early read p0*+p1 p1");
  EXPECT_EQ(text(bit + table + kWait), "early read p0*+p1+loaded p1 p1+loaded");
  const std::string loaded = begin + "ld.global.u64 %d1, [%c]; shr.u64 %d1, %d1, 10;\n";
  EXPECT_EQ(text(loaded + marks + kWait), "early read p1 p1+loaded; early read p2");
  EXPECT_EQ(text(loaded + table + kWait), "early read p1 p1+loaded; early read p2");
}

// A condition can lead a generic address from shared memory to what decides the condition. Found by
// tests/verdicts/generated_test.cc.
TEST(Footprint, KeepsAddressesOfTheBlockWhereAnAddressDecides) {
  const std::string access =
      "mov.u64 %d3, shared; cvta.shared.u64 %d3, %d3; add.u64 %d9, %d3, %d2; ld.u32 %r3, [%d9];\n";
  const std::string bit = "and.b64 %d1, %d1, 1; setp.ne.u64 %p1, %d1, 0; selp.u64 %d2, 8, 0, %p1;";
  const Footprint found = footprint_of("shr.u64 %d1, %a, 13;" + bit + access + kWait);
  EXPECT_EQ(text_of(found), "early read shared");
  const std::vector<GivenArgument> given = {GivenArgument::pointer(1), GivenArgument::pointer(2),
                                            GivenArgument::pointer(3), GivenArgument::scalar(0)};
  const BoundLaunch bound =
      bind(found, given, {32, 1, 1}, {1, 1, 1}, [](std::string_view, bool) { return MemoryId{9}; });
  ASSERT_EQ(bound.accesses.size(), 1u);
  EXPECT_EQ(bound.accesses[0].memory, MemoryId{1});
  EXPECT_EQ(text("cvt.u64.u32 %d1, %r1;" + bit + access + kWait), "");
}

// Whether two addresses are aligned is not a way from one to the other, though loaded values decide
// paths, too.
TEST(Footprint, TheAlignmentOfSeveralAddressesLeadsNowhere) {
  const auto all_known = [](const std::string& alignment) {
    const Footprint found = footprint_of(
        std::string(kWait) + "ld.global.u32 %r9, [%a]; setp.ne.u32 %p2, %r9, 0;" + alignment +
            "setp.ne.s64 %p1, %d9, 0; @%p1 bra L; @%p2 bra L; st.global.f32 [%c], %f1;\nL:",
        "");
    const GivenArgument given[] = {GivenArgument::pointer(1), GivenArgument::pointer(2),
                                   GivenArgument::pointer(3), GivenArgument::scalar(0)};
    const BoundLaunch bound = bind(found, given, {32, 1, 1}, {1, 1, 1},
                                   [](std::string_view, bool) { return MemoryId{9}; });
    return std::ranges::all_of(bound.accesses,
                               [](const BoundAccess& access) { return access.memory.has_value(); });
  };
  EXPECT_TRUE(all_known("and.b64 %d9, %a, 15;"));
  EXPECT_TRUE(all_known("or.b64 %d1, %a, %c; and.b64 %d9, %d1, 15;"));
  EXPECT_TRUE(all_known("or.b64 %d1, %a, %c; xor.b64 %d2, %d1, %b; and.b64 %d9, %d2, 255;"));
  EXPECT_TRUE(all_known("xor.b64 %d1, %a, %c; add.s64 %d2, %d1, 4; and.b64 %d9, 15, %d2;"));
  // These tell other bits of it.
  EXPECT_FALSE(all_known("and.b64 %d9, %a, 511;"));
  EXPECT_FALSE(all_known("or.b64 %d1, %a, %c; and.b64 %d9, %d1, 4096;"));
  EXPECT_FALSE(all_known("or.b64 %d1, %a, %c; shr.u64 %d2, %d1, 4; and.b64 %d9, %d2, 15;"));
  EXPECT_FALSE(all_known("shr.u64 %d1, %a, 4; or.b64 %d2, %d1, %c; and.b64 %d9, %d2, 15;"));
  EXPECT_FALSE(all_known("shr.u64 %d1, %a, 4; or.b64 %d2, %d1, %a; and.b64 %d9, %d2, 15;"));
  EXPECT_FALSE(all_known("or.b64 %d1, %a, %c; mul.lo.s64 %d2, %d1, %d1; and.b64 %d9, %d2, 15;"));
  EXPECT_FALSE(
      all_known("or.b64 %d1, %a, %c; mov.b64 {%r3, %r4}, %d1; mov.b64 %d2, {%r4, %r3}; "
                "and.b64 %d9, %d2, 15;"));
}

TEST(Footprint, FollowsAddresses) {
  const auto of = [](const std::string& compute) {
    return text(std::string(kWait) + compute + "ld.global.f32 %f1, [%d9];");
  };
  EXPECT_EQ(of("mul.wide.u32 %d1, %r1, 4; add.s64 %d9, %a, %d1;"), "read p0");
  EXPECT_EQ(of("mad.wide.s32 %d9, %r1, 4, %b;"), "read p1");
  EXPECT_EQ(of("mad.lo.s64 %d9, %d1, 4, %b;"), "read p1");
  EXPECT_EQ(of("mov.b64 %d1, %c; mov.u64 %d9, %d1;"), "read p2");
  EXPECT_EQ(of("setp.eq.u32 %p1, %r1, 0; selp.b64 %d9, %a, %b, %p1;"), "read p0 p1");
  EXPECT_EQ(of("and.b64 %d9, %a, -128;"), "read p0");
  EXPECT_EQ(of("and.b64 %d9, -128, %a;"), "read p0");
  EXPECT_EQ(of("xor.b64 %d9, %a, 8;"), "read p0");
  EXPECT_EQ(of("xor.b64 %d9, 8, %a;"), "read p0");
  EXPECT_EQ(of("mov.b64 {%r3, %r4}, %a; mov.b64 %d9, {%r3, %r4};"), "read p0");
  EXPECT_EQ(of("cvt.u32.u64 %r3, %a; mov.b64 {%r5, %r4}, %a; mov.b64 %d9, {%r3, %r4};"), "read p0");
  EXPECT_EQ(of("cvt.s64.u64 %d9, %a;"), "read p0");
  EXPECT_EQ(of("cvt.u64.u16 %d9, %r3; add.u64 %d9, %a, %d9;"), "read p0");
  EXPECT_EQ(of("ld.param.u64 %d8, [p1]; add.s64 %d9, %d8, 8;"), "read p1");
  // A pointer that moves on in a loop.
  EXPECT_EQ(of("mov.b64 %d9, %a;\nL: add.s64 %d9, %d9, 4; setp.ne.u32 %p1, %r1, 0; @%p1 bra L;"),
            "read p0 p0");
  EXPECT_EQ(of("ld.global.u64 %d9, [%a];"), "read p0; read loaded") << "a pointer from memory";
  EXPECT_EQ(of("ld.global.u64 %d1, [%a]; add.s64 %d9, %b, %d1;"), "read p0; read p1+loaded")
      << "an index from memory";
  EXPECT_EQ(of("cvt.u64.u32 %d9, %r1;"), "read number");
  EXPECT_EQ(of("mov.u64 %d9, 0;"), "read null");
  // From one buffer into another by their distance: one of both.
  EXPECT_EQ(of("sub.s64 %d1, %b, %a; shr.s64 %d2, %d1, 2; mad.lo.s64 %d9, %d2, 4, %a;"),
            "read p0*+p1*");
  EXPECT_EQ(of("sub.s64 %d1, %b, %a; shr.s64 %d2, %d1, 2; shl.b64 %d3, %d2, 2; add.s64 %d9, %a, "
               "%d3;"),
            "read p0*+p1*");
  EXPECT_EQ(of("mov.u64 %d9, shared; cvta.shared.u64 %d9, %d9;"), "read shared")
      << "the space of the load is global";
  EXPECT_EQ(text("mov.u64 %d9, shared; cvta.shared.u64 %d9, %d9; ld.f32 %f1, [%d9];"), "");
}

TEST(Footprint, FollowsSpills) {
  const std::string spill = R"(
.local .align 8 .b8 depot[16]; .reg .b64 %SP;
mov.u64 %SP, depot; st.local.u64 [%SP+8], %b;
griddepcontrol.wait;
ld.local.u64 %d1, [%SP+8]; ld.global.f32 %f1, [%d1];)";
  EXPECT_EQ(text(spill), "read p1");
}

// Its address was stored and loaded again, so the load may be of local memory or of other memory.
TEST(Footprint, FollowsSpillsByGenericAddresses) {
  EXPECT_EQ(text(R"(
.local .align 8 .b8 depot[16]; .reg .b64 %SP;
mov.u64 %SP, depot; st.local.u64 [%SP], %b;
cvta.local.u64 %SP, %SP; st.shared.u64 [shared], %SP;
griddepcontrol.wait;
ld.shared.u64 %d1, [shared]; ld.u64 %d2, [%d1]; ld.global.f32 %f1, [%d2];)"),
            "read p1 loaded; read loaded");
}

TEST(Footprint, VariablesOfTheModuleAreMemoryToo) {
  const Footprint found = footprint_of(
      "griddepcontrol.wait; ld.const.f32 %f1, [table]; atom.global.add.u32 %r3, [counter], 1;",
      ".global .u32 counter; .const .f32 table[4];");
  EXPECT_EQ(text_of(found), "update counter; non-coherent read table");
}

TEST(Footprint, VariablesOfOtherSpacesAreNone) {
  EXPECT_EQ(text_of(footprint_of("griddepcontrol.wait; mov.u64 %d9, dynamic;\n"
                                 "cvta.shared.u64 %d9, %d9; ld.f32 %f1, [%d9];",
                                 ".extern .shared .align 16 .b8 dynamic[];")),
            "");
  EXPECT_EQ(text_of(footprint_of("griddepcontrol.wait; mov.u64 %d1, slots;\n"
                                 "add.s64 %d9, %a, %d1; ld.global.f32 %f1, [%d9];",
                                 ".local .align 8 .b8 slots[8];")),
            "read p0");
}

TEST(Footprint, AnIndexFromAVariableIntoABufferIsOfBoth) {
  const Footprint found = footprint_of(
      "griddepcontrol.wait; mov.u64 %d1, counter; add.s64 %d2, %d1, %a; ld.global.f32 %f1, [%d2];",
      ".global .u32 counter;");
  EXPECT_EQ(text_of(found), "read p0+counter");
}

TEST(Footprint, NothingIsLeftOfAnUnknownValueTimesZero) {
  for (const char* gone : {"and.b32 %r3, %r3, 0;", "mul.lo.u32 %r3, 0, %r3;"}) {
    EXPECT_EQ(text("ld.shared.u32 %r3, [%r2]; " + std::string(gone) +
                   " setp.ne.u32 %p1, %r3, 0; @%p1 bra OVER; griddepcontrol.wait;\nOVER:\n"
                   "bar.sync 0;\nld.global.f32 %f1, [%a];"),
              "read p0")
        << gone;
  }
}

TEST(Footprint, WhatIsUnknownStaysSoInASum) {
  const auto of = [](const std::string& sum) {
    // Half of the load lies after the parameter.
    return text(kWait + ("ld.param.u64 %d1, [p0+4]; " + sum) + " ld.global.f32 %f1, [%d9];");
  };
  EXPECT_EQ(of("mov.u64 %d9, %d1;"), "read ?");
  EXPECT_EQ(of("add.s64 %d9, %a, %d1;"), "read ?");
  EXPECT_EQ(of("add.s64 %d9, %d1, %a;"), "read ?");
}

TEST(Footprint, ARegisterThatIsWrittenAgainWasSomethingElseBefore) {
  const std::string lane = "mov.u32 %r4, 0;\n";
  EXPECT_EQ(text(lane + kRole + "mov.u32 %r4, %ctaid.x;\n" + kFirstWaits), "read p0");
  EXPECT_EQ(text("mov.u32 %r4, %ctaid.x; add.u32 %r6, %r4, 1;\n" + lane + kRole + kFirstWaits),
            "read p0");
  EXPECT_EQ(text("mov.u32 %r4, 7; sub.u32 %r4, %r4, 7;\n" + std::string(kRole) + kFirstWaits),
            "read p0");
  // A loop or a guard makes one of the two.
  const std::string again = "add.u32 %r4, %r4, 1; setp.lt.u32 %p2, %r4, %r0; @%p2 bra L;\n";
  EXPECT_EQ(text(lane + "L:\n" + kRole + again + kFirstWaits), "unclear read p0");
  const std::string other = "@%p2 mov.u32 %r4, 5;\n";
  EXPECT_EQ(text(lane + "setp.eq.u32 %p2, %r0, 1;\n" + other + kRole + kFirstWaits),
            "unclear read p0");
  EXPECT_EQ(text(lane + "setp.ne.u32 %p2, %r1, 0;\n" + other + kRole + kFirstWaits), "read p0")
      << "the thread itself is not among those whom the guard lets pass";
  EXPECT_EQ(text("setp.eq.u32 %p2, %r1, 0; @!%p2 mov.u32 %r4, 5; @%p2 mov.u32 %r4, 0;\n" +
                 std::string(kRole) + kFirstWaits),
            "read p0");
}

TEST(Footprint, AnUnsetRegisterMayHoldAnything) {
  // Written only further down, or on some ways to where it is read.
  EXPECT_EQ(text(kRole + std::string(kFirstWaits) + "mov.u32 %r4, 0;"), "unclear read p0");
  EXPECT_EQ(text("setp.eq.u32 %p2, %r0, 1; @%p2 bra M; mov.u32 %r4, 0;\nM:\n" + std::string(kRole) +
                 kFirstWaits),
            "unclear read p0");
  EXPECT_EQ(
      text("setp.eq.u32 %p2, %r0, 1; @%p2 mov.u32 %r4, 0;\n" + std::string(kRole) + kFirstWaits),
      "unclear read p0");
  // As an index it leaves an address in its buffer.
  EXPECT_EQ(text("griddepcontrol.wait; add.s64 %d1, %a, %d5; setp.eq.u32 %p2, %r0, 1;\n"
                 "@%p2 mov.b64 %d1, %b; ld.global.f32 %f1, [%d1];"),
            "read p0 p1");
}

TEST(Footprint, PartsOfVectorRegistersAreNotFollowed) {
  const std::string vector = ".reg .v2 .b64 %v; mov.v2.b64 %v, {%b, %b};\n";
  EXPECT_EQ(text(vector + "mov.v2.b64 {%d1, %d2}, %v; ld.global.f32 %f1, [%d1];"),
            "early read p1*");
  EXPECT_EQ(text(vector + "mov.b64 %d1, %v.x; ld.global.f32 %f1, [%d1];"), "early read ?");
  EXPECT_EQ(unseen(footprint_of(vector + "mov.b64 %v.x, %a;")),
            "a write to a part of a vector register is at k.ptx:15");
}

TEST(Footprint, AnAddressIsWhatItWasWhereItIsUsed) {
  const std::string late = "griddepcontrol.wait; mov.b64 %d1, %a; ld.global.f32 %f2, [%d1];";
  EXPECT_EQ(text("mov.b64 %d1, %b; ld.global.f32 %f1, [%d1];\n" + late), "read p0; early read p1");
  EXPECT_EQ(text("griddepcontrol.wait; mov.b64 %d1, %b; setp.eq.u32 %p2, %r0, 1;\n"
                 "@%p2 mov.b64 %d1, %a; ld.global.f32 %f1, [%d1];"),
            "read p0 p1");
  EXPECT_EQ(text("griddepcontrol.wait; mov.b64 %d1, %b;\nL: ld.global.f32 %f1, [%d1];\n"
                 "mov.b64 %d1, %a; setp.eq.u32 %p2, %r0, 1; @%p2 bra L;"),
            "read p0 p1");
}

// An address that is taken apart and put together again.
TEST(Footprint, PartsOfAnAddressAreFollowed) {
  const auto reads = [](const std::string& computes) {
    return text_of(
        footprint_of("griddepcontrol.wait;\n" + computes + "\nld.global.f32 %f1, [%d3];"));
  };
  const std::string taken = "mov.b64 {%r3, %r4}, %a;\n", put = "\nmov.b64 %d3, {%r3, %r4};";
  EXPECT_EQ(reads(taken + put), "read p0");
  EXPECT_EQ(reads(taken + "add.cc.u32 %r3, %r3, 4; addc.u32 %r4, %r4, 0;" + put), "read p0*");
  EXPECT_EQ(reads(taken +
                  "shfl.sync.idx.b32 %r3, %r3, 0, 31, -1;\n"
                  "shfl.sync.idx.b32 %r4, %r4, 0, 31, -1;" +
                  put),
            "read p0 p0*")
      << "lanes in two branches may give a half for the other one";
  EXPECT_EQ(reads("ld.param.v2.u32 {%r3, %r4}, [p0];" + put), "read p0");
  EXPECT_EQ(reads(".local .align 8 .b8 l[8];\n" + taken +
                  "st.local.v2.u32 [l], {%r3, %r4}; ld.local.u64 %d3, [l];"),
            "read p0*");
  // Quarters, of which the upper ones are another address's.
  EXPECT_EQ(reads(".reg .b16 %h<4>, %g<4>; mov.b64 {%h0, %h1, %h2, %h3}, %a;\n"
                  "mov.b64 {%g0, %g1, %g2, %g3}, %b; mov.b64 %d3, {%h0, %h1, %g2, %g3};"),
            "read p0*+p1*");
  // The carry of a sum goes into the next turn of a loop.
  EXPECT_EQ(reads(taken + "L: addc.u32 %r5, 0, 0; add.cc.u32 %r6, %r3, %r3; @%p1 bra L;\n"
                          "cvt.u64.u32 %d1, %r5; add.s64 %d3, %b, %d1;"),
            "read p0*+p1");
  // The low half of another one, and an index that is a difference.
  EXPECT_EQ(reads(taken + "mov.b64 {%r3, %r5}, %b; add.u32 %r3, %r3, 4;" + put), "read p0*+p1*");
  EXPECT_EQ(reads("sub.s64 %d1, %a, %b; cvt.u32.u64 %r3, %d1; add.s32 %r3, %r3, 1;\n"
                  "cvt.s64.s32 %d2, %r3; add.s64 %d3, %b, %d2;"),
            "read p0*+p1*");
  // Not of the parameter that it is added to, which may be given a number.
  const Footprint loaded = footprint_of(
      "griddepcontrol.wait; ld.shared.v2.u32 {%r3, %r4}, [shared];\n"
      "mov.b64 %d1, {%r3, %r4}; add.s64 %d2, %a, %d1; ld.global.f32 %f1, [%d2];");
  EXPECT_EQ(text_of(loaded), "read p0+loaded");
  // A comparison of addresses leaves nothing of them.
  EXPECT_EQ(reads("setp.ne.u64 %p1, %a, 0; selp.u32 %r3, 1, 0, %p1;\n"
                  "mul.wide.u32 %d1, %r3, 4; add.s64 %d3, %b, %d1;"),
            "read p1");
}

// What a map that is a parameter shows is distinguished from what lies after any other.
TEST(Footprint, TensorMapsAreParameters) {
  const auto module = ptx::ParsedModule::parse(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 p0[128], .param .align 64 .b8 p1[128], .param .u64 p2) {
.reg .b64 %d<9>; .reg .b32 %r<9>;
.shared .align 128 .b8 tile[256]; .shared .align 8 .b64 bar;
mov.b64 %d1, p0; cvta.param.u64 %d1, %d1;
mov.b64 %d2, p1; cvta.param.u64 %d2, %d2;
ld.param.u64 %d3, [p2];
ld.param.u64 %d4, [p0+8];
mov.u32 %r1, tile; mov.u32 %r2, 0;
prefetch.tensormap [%d3];
cp.async.bulk.prefetch.tensor.1d.L2.global [%d3, {%r2}];
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2, %r2}], [bar];
griddepcontrol.wait;
cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d2, {%r2, %r2}], [%r1];
cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%d2, {%r2}], [%r1];
cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d3, {%r2}], [bar];
cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d4, {%r2}], [bar];
ret;
})",
                                               "k.ptx");
  const Footprint found = read_footprint(module, *module->function("k"), {});
  EXPECT_EQ(text_of(found), "read p0; read p2; early read &p0; write &p1; update &p1");
  // What is bound to them: a map's buffer, and nothing for the map's bits taken as an address.
  std::vector<GivenArgument> given(3);
  given[0] = GivenArgument::tensor_map(5, 64);
  given[1] = GivenArgument();
  given[2] = GivenArgument::pointer(7);
  const BoundLaunch bound =
      bind(found, given, {}, {}, [](std::string_view, bool) { return MemoryId{9}; });
  for (const BoundAccess& access : bound.accesses) {
    if (access.group->order == Order::kBefore) {
      EXPECT_EQ(access.memory, MemoryId{5});
      EXPECT_EQ(access.offset, 64u);
    } else {
      EXPECT_FALSE(access.memory.has_value());
    }
  }
}

TEST(Footprint, AMapsBitsAreNoAddress) {
  const Footprint found = footprint_of("ld.global.f32 %f1, [%a]; st.global.f32 [%b], %f1;");
  std::vector<GivenArgument> given(4);
  for (GivenArgument& each : given) each = GivenArgument::tensor_map(5);
  const BoundLaunch bound =
      bind(found, given, {}, {}, [](std::string_view, bool) { return MemoryId{9}; });
  ASSERT_EQ(bound.accesses.size(), 2u);
  for (const BoundAccess& access : bound.accesses) EXPECT_FALSE(access.memory.has_value());
}

// A callee may take what it is passed in other parts than those that were put.
TEST(Footprint, CallsPassParts) {
  const auto of = [](const std::string& puts, const std::string& takes) {
    return text_of(
        footprint_of("mov.b64 {%r3, %r4}, %a; mov.b64 {%r5, %r6}, %b;\n"
                     "{ .param .b64 q;\n" +
                         puts + "call.uni f, (q); }",
                     ".func f(.param .b64 q) { .reg .b32 %x<3>; .reg .b64 %d;\n" + takes +
                         "ld.global.u32 %x2, [%d]; ret; }\n"));
  };
  const std::string whole = "ld.param.b64 %d, [q];\n",
                    halves =
                        "ld.param.b32 %x0, [q]; ld.param.b32 %x1, [q+4];\n"
                        "mov.b64 %d, {%x0, %x1};\n";
  EXPECT_EQ(of("st.param.b64 [q], %a;\n", whole), "early read p0");
  EXPECT_EQ(of("st.param.b64 [q], %a;\n", halves), "early read p0*");
  EXPECT_EQ(of("st.param.b32 [q], %r3; st.param.b32 [q+4], %r4;\n", whole),
            "early read p0* p0* p0*");
  EXPECT_EQ(of("st.param.b32 [q], %r3; st.param.b32 [q+4], %r6;\n", whole),
            "early read p0* p0*+p1* p1*");
}

// Without a launch no field of a struct is known.
TEST(Footprint, AFieldThatDecidesIsAnything) {
  EXPECT_EQ(text("mov.b64 %d5, p3; ld.param.u32 %r3, [%d5]; setp.eq.u32 %p1, %r3, 0;\n"
                 "@%p1 griddepcontrol.wait;\nst.global.u32 [%c], 1;"),
            "early write p2");
}

// `.global` variables of a function are memory as those of a module are.
TEST(Footprint, VariablesOfTheKernelAreMemory) {
  EXPECT_EQ(text(".global .align 4 .u32 own;\nst.global.u32 [own], 1;\n" + std::string(kWait)),
            "early write own");
  EXPECT_EQ(text(".global .align 4 .u32 own;\nmov.u64 %d1, own; ld.global.u32 %r3, [%d1+4];\n"),
            "early read own");
}

// A value that may be anything can decide what is stored, and so what all accesses touch.
TEST(Footprint, AConditionThatMayBeAnythingIsKept) {
  const auto decides_unknown = [](const std::string& value) {
    const Footprint found =
        footprint_of(value + "setp.eq.u32 %p1, %r3, 0; @%p1 bra END;\n" + kReadA + "END:\n",
                     ".extern .func (.param .b32 out) other();\n");
    return std::ranges::any_of(found.conditions, &Origin::is_unknown);
  };
  EXPECT_FALSE(decides_unknown("mov.u32 %r3, %tid.y;\n"));
  EXPECT_TRUE(
      decides_unknown("{ .param .b32 o; call.uni (o), other, (); ld.param.b32 %r3, [o]; }\n"));
}

// Parts of an address that are stored may be loaded again.
TEST(Footprint, NotesWhatIsStored) {
  const auto stored = [](const std::string& body) { return footprint_of(body).stored.size(); };
  EXPECT_EQ(stored("st.global.u64 [%c], %a;\n"), 0u) << "an address as it is";
  EXPECT_EQ(stored("st.global.u32 [%c], %r1;\n"), 0u) << "a number";
  EXPECT_EQ(stored("sub.s64 %d1, %a, %b; st.global.u64 [%c], %d1;\n"), 1u);
  EXPECT_EQ(stored("sub.s64 %d1, %a, %b; atom.global.add.u64 %d2, [%c], %d1;\n"), 1u);
  EXPECT_EQ(stored("sub.s64 %d1, %a, %b; red.global.add.u64 [%c], %d1;\n"), 1u);
  EXPECT_EQ(stored(".reg .b16 %h; cvt.u16.u64 %h, %a; st.global.u16 [%c], %h;\n"), 1u)
      << "a part of one is none";
  // The number of bytes that an mbarrier expects is memory too. Places of the block tell nothing.
  const auto expected = [&](const std::string& address) {
    return stored(".local .b64 local; mov.b64 %d1, " + address +
                  "; shr.u64 %d1, %d1, 4; cvt.u32.u64 %r3, %d1;\n"
                  "mbarrier.arrive.expect_tx.shared.b64 %d2, [shared], %r3;\n");
  };
  EXPECT_EQ(expected("%a"), 1u);
  for (const char* const place : {"shared", "local", "p0"}) EXPECT_EQ(expected(place), 0u) << place;
  EXPECT_EQ(stored("sub.s64 %d1, %a, %b; cvt.u32.u64 %r3, %d1;\n"
                   "mbarrier.arrive.expect_tx.shared.b64 %d2, [shared], %r3;\n"),
            1u);
}

// Fewer bits than half of an address are not half of it.
TEST(Footprint, NarrowConversionsMix) {
  const std::string halves = ".reg .b16 %h; .reg .b32 %lo, %hi; mov.b64 {%lo, %hi}, %a;\n";
  const std::string joins = "mov.b64 %d2, {%lo, %hi}; ld.global.u32 %r3, [%d2];\n";
  EXPECT_EQ(text(halves + joins), "early read p0");
  EXPECT_EQ(text(halves + "cvt.u32.u64 %lo, %a;\n" + joins), "early read p0");
  EXPECT_EQ(text(halves + "cvt.u16.u64 %h, %a; cvt.u32.u16 %lo, %h;\n" + joins), "early read p0*");
}

// Two words of a struct are 64 bits of it only in their order, at a multiple of 8 bytes.
TEST(Footprint, WordsOfAStructAreItsAddressesInOrder) {
  const auto of_words = [](int low, int high) {
    const auto module = ptx::ParsedModule::parse(
        fmt::format(".version 8.7\n.target sm_90a\n.address_size 64\n"
                    ".visible .entry k(.param .align 8 .b8 p[24]) {{\n"
                    ".reg .b32 %r<4>; .reg .b64 %d<2>;\n"
                    "ld.param.u32 %r1, [p+{}]; ld.param.u32 %r2, [p+{}];\n"
                    "mov.b64 %d1, {{%r1, %r2}}; ld.global.u32 %r3, [%d1];\nret;\n}}\n",
                    low, high),
        "k.ptx");
    const Footprint found = read_footprint(module, *module->function("k"), {});
    const GivenArgument given[] = {{.kind = GivenArgument::Kind::kStruct,
                                    .fields = {{.position = 0, .memory = 1},
                                               {.position = 8, .memory = 2},
                                               {.position = 16, .memory = 3}}}};
    std::string memories;
    for (const BoundAccess& access :
         bind(found, given, {32, 1, 1}, {1, 1, 1}, [](std::string_view, bool) {
           return 9u;
         }).accesses) {
      memories += access.memory ? std::to_string(*access.memory) : "any";
    }
    return memories;
  };
  EXPECT_EQ(of_words(0, 4), "1");
  EXPECT_EQ(of_words(8, 12), "2");
  EXPECT_EQ(of_words(16, 20), "3");
  EXPECT_EQ(of_words(0, 12), "12") << "of two addresses";
  EXPECT_EQ(of_words(4, 8), "12");
}

TEST(Footprint, ANegatedAddressIsMixed) {
  EXPECT_EQ(text("neg.s64 %d1, %a; ld.global.u32 %r3, [%d1];\n"), "early read p0*");
}

TEST(Footprint, TheLesserOfTwoAddressesIsOneOfThem) {
  for (const char* name : {"min.u64", "max.s64"}) {
    EXPECT_EQ(text(std::string(name) + " %d1, %a, %b; ld.global.u32 %r3, [%d1];\n"),
              "early read p0 p1");
  }
}

}  // namespace
}  // namespace baton::overlap::footprint_addresses_test
