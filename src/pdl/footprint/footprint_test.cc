#include "pdl/footprint/footprint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file/file.h"
#include "pdl/footprint/bound.h"
#include "pdl/footprint/footprint_text_test.h"

namespace baton::overlap::footprint_test {
namespace {

using testing::HasSubstr;
using Waits = Footprint::Waits;

TEST(Footprint, TellsEarlyFromLate) {
  const Footprint found = footprint_of(std::string(kReadA) + kWait + kReadB + kWriteC);
  EXPECT_EQ(text_of(found), "early read p0; read p1; write p2");
  EXPECT_EQ(found.waits, Waits::kAll);
  EXPECT_EQ(found.accesses[0].where, "k.ptx:14");
  EXPECT_EQ(found.accesses[1].where, "k.ptx:16");
  EXPECT_FALSE(found.triggers);
}

TEST(Footprint, KnowsWhatItNeverWaitsFor) {
  const Footprint found = footprint_of(std::string(kReadA) + kWriteC);
  EXPECT_EQ(found.waits, Waits::kNever);
  EXPECT_EQ(text_of(found), "early read p0; early write p2");
}

// A barrier that the others pass when the waiting warp has ended is none that it takes part in.
// Found by tests/verdicts/generated_test.cc.
TEST(Footprint, ABarrierOrdersIfTheThreadThatWaitsComesToIt) {
  const auto of = [](const std::string& behind_its_wait) {
    return text_of(footprint_of("setp.ge.u32 %p1, %r1, 32; @%p1 bra OTHERS;\n" +
                                    std::string(kWait) + behind_its_wait + "OTHERS: bar.sync 0;\n" +
                                    kReadA,
                                "", {64, 1, 1}));
  };
  EXPECT_EQ(of(""), "read p0");
  EXPECT_EQ(of("ret;\n"), "unclear read p0");
  EXPECT_EQ(of("setp.eq.u32 %p2, %r0, 7; @%p2 exit;\n"), "unclear read p0");
  EXPECT_EQ(of("bar.sync 0; ret;\n"), "read p0");
}

TEST(Footprint, KnowsEveryKindOfAccess) {
  const auto of = [](const std::string& access) { return text(kWait + access); };
  EXPECT_EQ(of("atom.global.add.u32 %r3, [%a], 1;"), "update p0");
  EXPECT_EQ(of("red.global.add.u32 [%a], 1;"), "update p0");
  EXPECT_EQ(of("ld.global.nc.f32 %f1, [%a];"), "non-coherent read p0");
  EXPECT_EQ(of("cp.async.cg.shared.global [%r2], [%a], 16;"), "read p0");
  EXPECT_EQ(of("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%a], "
               "64, [%r3];"),
            "read p0");
  EXPECT_EQ(of("cp.async.bulk.global.shared::cta.bulk_group [%b], [%r2], 64;"), "write p1");
  EXPECT_EQ(of("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%b], [%r2], 64;"),
            "update p1");
  EXPECT_EQ(of("prefetch.global.L2 [%a];"), "") << "takes no value";
  EXPECT_EQ(of("prefetch.global.L2::evict_last [%a];"), "");
  EXPECT_EQ(of("prefetch.global.L2::evict_normal [%a];"), "");
  EXPECT_EQ(of("prefetch.global.L1 [%a];"), "read p0");
  EXPECT_EQ(of("fence.proxy.tensormap::generic.acquire.gpu [%a], 128;"), "read p0");
  EXPECT_EQ(of("fence.proxy.tensormap::generic.release.gpu;"), "");
  EXPECT_EQ(of("cp.async.bulk.prefetch.L2.global [%a], 64;"), "");
  EXPECT_EQ(of("discard.global.L2 [%a], 128;"), "write p0");
  EXPECT_EQ(of("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%a+16];"), "read p0");
  EXPECT_EQ(of("frobnicate.global.u32 %r3, [%a];"), "update p0") << "an unknown instruction";
  EXPECT_EQ(of("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%a, {%f1,%f2}];"), "non-coherent read p0");
  EXPECT_EQ(of("mbarrier.try_wait.shared::cta.b64 %p1, [%r2], %d1; ld.shared.f32 %f1, [%r2];"), "");
}

TEST(Footprint, APathWithoutTheWaitCounts) {
  const std::string early_return =
      "setp.ge.u32 %p1, %r1, %r0;\n@%p1 bra DONE;\ngriddepcontrol.wait;\nld.global.f32 %f1, [%a];\n"
      "DONE: ret;";
  const Footprint found = footprint_of(early_return);
  EXPECT_EQ(text_of(found), "read p0");
  EXPECT_EQ(found.waits, Waits::kSometimes);
  // Thread 0 of block 0 waits if n is greater than 0.
  const auto waits = [&](const std::vector<std::optional<std::uint64_t>>& params) {
    KnownThread any;
    any.block = {{128, 1, 1}};
    any.grid = {{1, 1, 1}};
    any.params = params;
    return found.waits_for_certain(any);
  };
  EXPECT_TRUE(waits({{}, {}, {}, 100}));
  EXPECT_FALSE(waits({{}, {}, {}, 0}));
  EXPECT_FALSE(waits({}));
}

// As FlashInfer's kernels for decoding do: without a mask of blocks, all of them work and wait.
TEST(Footprint, ANullPointerInAStructMayTellThatAThreadWaits) {
  const auto module = ptx::ParsedModule::parse(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .align 8 .b8 p[24]) {
.reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
ld.param.u64 %d1, [p+16]; setp.eq.s64 %p1, %d1, 0; @%p1 bra WORK;
cvta.to.global.u64 %d2, %d1; ld.global.u8 %r1, [%d2]; setp.eq.u32 %p2, %r1, 0; @%p2 bra DONE;
WORK: griddepcontrol.wait; ld.param.u64 %d3, [p]; cvta.to.global.u64 %d3, %d3;
st.global.u32 [%d3], 1;
DONE: ret; }
)",
                                               "k.ptx");
  const Footprint found = read_footprint(module, *module->function("k"), {32, 1, 1});
  EXPECT_EQ(found.waits, Waits::kSometimes);
  const auto waits = [&](GivenArgument given) {
    given.kind = GivenArgument::Kind::kStruct;
    const BoundLaunch bound = bind(found, std::span(&given, 1), {32, 1, 1}, {1, 1, 1},
                                   [](std::string_view, bool) { return MemoryId{9}; });
    EXPECT_TRUE(bound.by_value);
    return bound.waits;
  };
  const std::vector<GivenArgument::Field> one = {{0, MemoryId{1}, 0}};
  EXPECT_TRUE(waits({.fields = one, .numbers = {{16, 8, 0}}}));
  EXPECT_FALSE(waits({.fields = {{0, MemoryId{1}, 0}, {16, MemoryId{2}, 0}}}));
  EXPECT_FALSE(waits({.fields = one})) << "the mask is not known";
  EXPECT_FALSE(waits({.fields = one, .numbers = {{16, 4, 0}}})) << "its upper half is not known";
}

TEST(Footprint, AGuardMayCompareTheExtentOfTheGrid) {
  const Footprint found = footprint_of(
      "mov.u32 %r3, %nctaid.y; setp.ne.u32 %p1, %r3, 4; @%p1 bra OVER;\n"
      "griddepcontrol.wait;\nOVER: ret;");
  const auto waits = [&](const std::array<std::uint32_t, 3>& grid) {
    KnownThread any;
    any.block = {{32, 1, 1}};
    any.grid = grid;
    return found.waits_for_certain(any);
  };
  EXPECT_TRUE(waits({1, 4, 1}));
  EXPECT_FALSE(waits({4, 3, 1}));
}

TEST(Footprint, AGuardedWaitIsNone) {
  EXPECT_EQ(text("setp.eq.u32 %p1, %r1, 7; @%p1 griddepcontrol.wait;\nld.global.f32 %f1, [%a];"),
            "early read p0");
  // What is guarded alike has waited, which the launch's own numbers show.
  EXPECT_EQ(text("setp.eq.u32 %p1, %r1, 7; @%p1 griddepcontrol.wait;\n@%p1 ld.global.f32 %f1, "
                 "[%a];"),
            "early read p0");
  EXPECT_EQ(text("setp.eq.u32 %p1, %r1, 7; @%p1 griddepcontrol.wait; setp.ne.u32 %p2, %r1, 7;\n"
                 "@!%p2 ld.global.f32 %f1, [%a];"),
            "early read p0");
  EXPECT_EQ(text("setp.eq.u32 %p1, %r1, 7; @%p1 griddepcontrol.wait;\n@!%p1 ld.global.f32 %f1, "
                 "[%a];"),
            "early read p0");
}

TEST(Footprint, ALoopMayRunBeforeItsWait) {
  EXPECT_EQ(text("L: ld.global.f32 %f1, [%a]; griddepcontrol.wait; ld.global.f32 %f2, [%b];\n"
                 "setp.ne.u32 %p1, %r1, 0; @%p1 bra L;"),
            "early read p0; read p1");
}

TEST(Footprint, ABarrierOrdersTheBlockBehindTheThreadThatWaited) {
  const std::string first_thread =
      "setp.ne.u32 %p1, %r1, 0; @%p1 bra OVER; griddepcontrol.wait;\nOVER:\n";
  const Footprint ordered = footprint_of(first_thread + "bar.sync 0;\n" + kReadA);
  EXPECT_EQ(text_of(ordered), "read p0");
  EXPECT_EQ(ordered.waits, Waits::kOne);
  EXPECT_EQ(text(first_thread + kReadA), "early read p0") << "no barrier";
  EXPECT_EQ(text("bar.sync 0;\n" + first_thread + kReadA), "early read p0") << "too early";
  EXPECT_EQ(text("bar.sync 0;\n" + first_thread + "bar.sync 0;\n" + kReadA), "read p0");
  EXPECT_EQ(text(first_thread + "bar.sync 1, 64;\n" + kReadA), "unclear read p0");
  EXPECT_EQ(text(first_thread + "bar.warp.sync -1;\n" + kReadA), "unclear read p0");
  EXPECT_EQ(text(first_thread + "bar.sync 0, 64;\nbar.sync 0;\n" + kReadA), "unclear read p0")
      << "some threads alone may complete the barrier";
  // The whole first warp, found by its number.
  EXPECT_EQ(text("shr.u32 %r3, %r1, 5; setp.eq.u32 %p1, %r3, 0; @%p1 griddepcontrol.wait; "
                 "barrier.sync.aligned 0;\n" +
                 std::string(kReadA)),
            "read p0");
}

TEST(Footprint, AnotherWarpMayWait) {
  const std::string fourth_warp =
      "shr.u32 %r3, %r1, 5; setp.ne.u32 %p1, %r3, 3; @%p1 bra OVER; griddepcontrol.wait;\nOVER:\n"
      "bar.sync 0;\nld.global.f32 %f1, [%a];";
  EXPECT_EQ(text_of(footprint_of(fourth_warp, "", {128, 1, 1})), "read p0");
  EXPECT_EQ(text_of(footprint_of(fourth_warp, "", {96, 1, 1})), "unclear read p0")
      << "there is no fourth warp";
  EXPECT_EQ(text_of(footprint_of(fourth_warp)), "unclear read p0") << "nor is one known";
}

TEST(Footprint, AThreadBeyondTheBlockDoesNotWait) {
  const std::string second_layer =
      "mov.u32 %r3, %tid.z; setp.ne.u32 %p1, %r3, 1; @%p1 bra OVER; griddepcontrol.wait;\nOVER:\n"
      "bar.sync 0;\nld.global.f32 %f1, [%a];";
  EXPECT_EQ(text_of(footprint_of(second_layer, "", {32, 1, 2})), "read p0");
  EXPECT_EQ(text_of(footprint_of(second_layer, "", {32, 1, 1})), "unclear read p0");
}

TEST(Footprint, TheNumberOfAWarpMayChange) {
  const std::string not_first =
      "mov.u32 %r3, %warpid; setp.eq.u32 %p1, %r3, 0; @%p1 bra OVER; griddepcontrol.wait;\nOVER:\n"
      "bar.sync 0;\nld.global.f32 %f1, [%a];";
  EXPECT_EQ(text_of(footprint_of(not_first, "", {64, 1, 1})), "unclear read p0");
}

// What is taken for a condition that always holds would be a wait that is none.
TEST(Footprint, AConditionThatMayFailIsNone) {
  const auto waits = [](const std::string& computes, const std::string& functions = "") {
    return footprint_of(computes + "\n@%p1 griddepcontrol.wait; ld.global.f32 %f1, [%b];",
                        functions, {64, 1, 1})
        .waits;
  };
  const std::string is_set = "\nsetp.ne.u32 %p1, %r4, 0;";
  // A destination that is not wanted is one all the same, and the next one the second.
  EXPECT_EQ(waits("mov.u32 %r3, 5; setp.eq.u32 %p1|_, %r3, 5;"), Waits::kOne);
  EXPECT_EQ(waits("mov.u32 %r3, 5; setp.eq.u32 _|%p1, %r3, 5;"), Waits::kSometimes);
  EXPECT_EQ(waits("mov.u64 %d1, 5; mov.b64 {_, %r4}, %d1;" + is_set), Waits::kSometimes);
  EXPECT_EQ(waits("mov.u32 %r3, 1; shfl.sync.idx.b32 _|%p1, %r3, 0, 31, -1;"), Waits::kSometimes);
  // Arithmetic of something else than one integer.
  EXPECT_EQ(waits("mov.u32 %r3, 0xFFFF; add.u16x2 %r4, %r3, 1;\nsetp.eq.u32 %p1, %r4, 0x10000;"),
            Waits::kSometimes);
  EXPECT_EQ(waits(".reg .b16 %h<3>; mov.b16 %h1, 0x3F80; add.bf16 %h2, %h1, %h1;\n"
                  "setp.eq.b16 %p1, %h2, 0x7F00;"),
            Waits::kSometimes);
  EXPECT_EQ(waits(".reg .b16 %h<3>; mul.bf16 %h2, %h1, 0;\nsetp.eq.b16 %p1, %h2, 0;"),
            Waits::kSometimes);
  // What a call passes, as it is and otherwise.
  const auto passes = [&](const std::string& gives, const std::string& takes) {
    return waits("{ .param .align 8 .b8 q[8]; .param .b32 result; mov.u32 %r3, -256;\n" + gives +
                     " call (result), f, (q); ld.param.b32 %r4, [result]; }" + is_set,
                 ".func (.param .b32 result) f(.param .align 8 .b8 a[8]) { .reg .b32 %r;\n" +
                     takes + " st.param.b32 [result], %r; ret; }\n");
  };
  EXPECT_EQ(passes("st.param.b32 [q], %r3;", "ld.param.u32 %r, [a];"), Waits::kOne);
  EXPECT_EQ(passes("st.param.b32 [q+4], %r3;", "ld.param.u32 %r, [a+4];"), Waits::kOne);
  EXPECT_EQ(passes("st.param.b16 [q], %r3;", "ld.param.u16 %r, [a];"), Waits::kOne);
  EXPECT_EQ(passes("st.param.b8 [q], %r3;", "ld.param.u8 %r, [a];"), Waits::kSometimes);
  EXPECT_EQ(passes("st.param.b32 [q], %r3;", "ld.param.u8 %r, [a];"), Waits::kSometimes);
  EXPECT_EQ(passes("st.param.b32 [q], %r3;", "ld.param.u32 %r, [a+4];"), Waits::kSometimes);
  EXPECT_EQ(passes("st.param.b32 [q], %r3; st.param.b32 [q+4], 0;", "ld.param.u32 %r, [a];"),
            Waits::kSometimes);
  EXPECT_EQ(passes("st.param.b32 [q], %r3;",
                   ".reg .b64 %d; ld.param.s32 %d, [a]; shr.u64 %d, %d, 63; cvt.u32.u64 %r, %d;"),
            Waits::kOne);
}

// A thread of each block waits before it arrives at the cluster's barrier.
TEST(Footprint, ClusterBarriersOrder) {
  const auto text = [](const std::string& body) { return text_of(footprint_of(body)); };
  const std::string first = "setp.ne.u32 %p1, %r1, 0; @%p1 bra ON; griddepcontrol.wait; ON:\n";
  const std::string arrive = "barrier.cluster.arrive;\n", pass = "barrier.cluster.wait;\n";
  const std::string read = "ld.global.u32 %r3, [%a]; ret;\n";
  EXPECT_EQ(text(first + arrive + pass + read), "read p0");
  EXPECT_EQ(text(first + "barrier.cluster.arrive.release.aligned;\n" +
                 "barrier.cluster.wait.acquire.aligned;\n" + read),
            "read p0");
  EXPECT_NE(text(first + arrive + read), "read p0") << "no thread is awaited";
  EXPECT_NE(text(first + pass + read), "read p0") << "no thread has arrived";
  EXPECT_NE(text(first + "barrier.cluster.arrive.relaxed;\n" + pass + read), "read p0");
  EXPECT_NE(text(arrive + first + pass + read), "read p0") << "arrives before it waits";
  EXPECT_EQ(text(arrive + first + pass + arrive + pass + read), "read p0");
  EXPECT_NE(text(first + "setp.eq.u32 %p2, %r1, 0; @%p2 ret;\n" + arrive + pass + read), "read p0")
      << "the waiting thread ends, and is not awaited";
  EXPECT_NE(text(first + "@%p1 " + arrive + pass + read), "read p0") << "nor does it arrive";
  EXPECT_NE(text(first + arrive + "setp.eq.u32 %p2, %r0, 0; @%p2 " + pass + read), "read p0");
}

// A producer waits and loads; consumers are told by an mbarrier and store.
TEST(Footprint, AnMbarrierMayOrder) {
  EXPECT_EQ(
      text("setp.ge.u32 %p1, %r1, 32; @%p1 bra CONSUMER;\n"
           "griddepcontrol.wait; ld.global.f32 %f1, [%a];\n"
           "mbarrier.arrive.shared::cta.b64 %d1, [%r2]; ret;\n"
           "CONSUMER: mbarrier.try_wait.shared::cta.b64 %p2, [%r2], %d1; @!%p2 bra CONSUMER;\n"
           "st.global.f32 [%c], %f1;"),
      "read p0; unclear write p2");
}

TEST(Footprint, TriggersBeforeOrBehindTheWait) {
  EXPECT_FALSE(footprint_of(std::string(kWait) + kTrigger).triggers_before_wait);
  EXPECT_TRUE(footprint_of(std::string(kTrigger) + kWait).triggers_before_wait);
  EXPECT_TRUE(footprint_of(std::string(kWait) + kTrigger).triggers);
  EXPECT_TRUE(footprint_of(kTrigger).triggers_before_wait);
}

TEST(Footprint, CallsArePutInPlace) {
  const std::string functions = R"(
.func (.param .b64 out) advance(.param .b64 from, .param .b32 by) {
  .reg .b64 %d<4>; .reg .b32 %r<2>;
  ld.param.u64 %d1, [from]; ld.param.u32 %r1, [by];
  mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;
  st.param.b64 [out], %d3; ret;
}
.func hold() { griddepcontrol.wait; ret; }
.func back() { call again; ret; }
.func again() { call back; ret; }
.extern .func elsewhere();
)";
  const auto of = [&](const std::string& body) { return footprint_of(body, functions); };
  const std::string call = R"({ .param .b64 q0; .param .b32 q1; .param .b64 result;
st.param.b64 [q0], %b; st.param.b32 [q1], %r1;
call.uni (result), advance, (q0, q1);
ld.param.b64 %d9, [result]; }
)";
  EXPECT_EQ(text_of(of("call hold;\n" + call + "ld.global.f32 %f1, [%d9];")), "read p1");
  EXPECT_EQ(text_of(of(call + "ld.global.f32 %f1, [%d9]; call hold;")), "early read p1");
  EXPECT_EQ(of("call hold;").waits, Waits::kAll);
  EXPECT_THAT(unseen(of("call back;")), HasSubstr("a recursive call is at k.ptx:"));
  EXPECT_THAT(unseen(of("call elsewhere;")), HasSubstr("whose body is elsewhere"));
  EXPECT_THAT(unseen(of("call %d1, (), proto;")), HasSubstr("a call through a register"));
  EXPECT_EQ(of("call elsewhere;").waits, Waits::kUnknown);
  // What a callee is passed lies in local memory once its address is taken.
  EXPECT_THAT(unseen(footprint_of("{ .param .b64 q; st.param.b64 [q], %b; call f, (q); }",
                                  ".func f(.param .b64 q) { .reg .b64 %d; mov.b64 %d, q;\n"
                                  "ld.local.u64 %d, [%d]; ld.global.u64 %d, [%d]; ret; }\n")),
              HasSubstr("taking the address of what a call passes is at k.ptx:"));
}

// The elected thread need not be the first one of its warp.
TEST(Footprint, ABarrierAfterAnElectedThreadOrdersIfThatThreadWaits) {
  const auto of = [](const std::string& condition) {
    return text_of(footprint_of("elect.sync _|%p1, 0xffffffff; @!%p1 bra OVER;\n" + condition +
                                    "griddepcontrol.wait;\n"
                                    "OVER: bar.sync 0; st.global.u32 [%c], 1;",
                                "", {64, 1, 1}));
  };
  EXPECT_EQ(of(""), "write p2");
  EXPECT_EQ(of("setp.ne.u32 %p2, %r1, 0; @%p2 bra OVER;\n"), "unclear write p2");
}

// Nor does its number tell what it does.
TEST(Footprint, AnElectedThreadMayNotBeTheFirst) {
  const auto waits = [](const std::string& condition) {
    KnownThread any;
    any.block = {{64, 1, 1}};
    any.grid = {{1, 1, 1}};
    return footprint_of("elect.sync _|%p1, 0xffffffff; @!%p1 bra OVER;\n" + condition +
                            "griddepcontrol.wait;\nOVER: ret;",
                        "", {64, 1, 1})
        .waits_for_certain(any);
  };
  EXPECT_TRUE(waits(""));
  EXPECT_FALSE(waits("setp.ne.u32 %p2, %r1, 0; @%p2 bra OVER;\n"));
}

TEST(Footprint, WhatCannotBeReadHasItsCause) {
  EXPECT_EQ(footprint_of("bra NOWHERE;").unseen->cause, UnseenCause::kUnreadable);
  const auto narrow = ptx::ParsedModule::parse(
      ".version 6.0\n.target sm_50\n.address_size 32\n.visible .entry k() { ret; }", "k.ptx");
  EXPECT_EQ(read_footprint(narrow, *narrow->function("k"), {}).unseen->cause,
            UnseenCause::kShortAddresses);
}

TEST(Footprint, WhatCannotBeReadIsUnknown) {
  EXPECT_THAT(unseen(footprint_of("bra NOWHERE;")), HasSubstr("NOWHERE"));
  EXPECT_THAT(unseen(footprint_of("ld.global.f32 %f1, [;")), HasSubstr("expected"));
}

// Calls that double the code at each level stay within bounds.
TEST(Footprint, IsBounded) {
  std::string functions = ".func f0() { .reg .b32 %x; mov.b32 %x, 0; ret; }\n";
  for (int k = 1; k < 40; ++k) {
    functions += fmt::format(".func f{}() {{ call f{}; call f{}; ret; }}\n", k, k - 1, k - 1);
  }
  EXPECT_THAT(unseen(footprint_of("call f39;", functions)), HasSubstr("more than"));
  // As do calls of what has many operands.
  std::string wide = ".func wide() { .reg .b32 %x; mov.b32 {%x", calls;
  for (int k = 0; k < 2000; ++k) wide += ", %x";
  for (int k = 0; k < 3000; ++k) calls += "call wide;\n";
  EXPECT_THAT(unseen(footprint_of(calls, wide + "}, 0; ret; }\n")), HasSubstr("operands"));
}

// PTX of every kind that compilers make: each kernel has an answer.
TEST(Footprint, ReadsWhatCompilersMake) {
  int kernels = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(BATON_SOURCE_DIR "/src/ptx/testdata/ptx")) {
    const auto module = ptx::ParsedModule::parse(read_file(entry.path()), entry.path().filename());
    for (const ptx::Function* kernel : module->entries()) {
      const Footprint found = read_footprint(module, *kernel, {});
      const bool waits = module->text().find("griddepcontrol.wait") != std::string::npos;
      if (!found.unseen) {
        EXPECT_EQ(found.waits, waits ? Waits::kAll : Waits::kNever) << kernel->name;
      }
      ++kernels;
    }
  }
  EXPECT_GT(kernels, 50);
}

TEST(Footprint, ATriggerOrdersNothing) {
  EXPECT_EQ(text(std::string(kTrigger) + kReadA + kWait + kReadB), "early read p0; read p1");
}

TEST(Footprint, NothingComesBehindATrap) {
  EXPECT_EQ(
      text("setp.eq.u32 %p1, %r1, 0; @!%p1 bra ON; trap;\nON:\n" + std::string(kWait) + kReadA),
      "read p0");
}

// The thread that waits has passed one barrier before: only the second one orders the others.
TEST(Footprint, BarriersAreCounted) {
  const auto of = [](const std::string& between) {
    return text_of(footprint_of("setp.eq.u32 %p1, %r1, 0; bar.sync 0;\n@%p1 " + std::string(kWait) +
                                    between + "bar.sync 0;\n" + kReadB,
                                "", {64, 1, 1}));
  };
  EXPECT_EQ(of(kReadA), "early read p0; read p1");
  EXPECT_EQ(of(""), "read p1");
}

// A wait empties no constant cache, whatever the address comes from.
TEST(Footprint, LoadsOfConstantMemoryAreNotOrdered) {
  EXPECT_EQ(text(std::string(kWait) + "ld.const.u32 %r3, [%a];\n"), "non-coherent read p0");
}

TEST(Footprint, NothingFollowsATrapThatAllTake) {
  EXPECT_EQ(text(std::string(kWait) + "trap;\n" + kReadA), "");
}

}  // namespace
}  // namespace baton::overlap::footprint_test
