#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pdl/rewrite/rewritten_test.h"

namespace baton::overlap::rewrite_own_wait_test {
namespace {

using testing::HasSubstr;

TEST(Rewrite, AKernelThatWaitsKeepsItsWaitAndGetsPlainLoads) {
  const std::string weight = "ld.global.nc.f32 %f1, [%a];\n";
  const std::string body = weight + kOwnWait + "ld.global.nc.f32 %f2, [%b];\n" + weight +
                           "st.global.f32 [%c], %f1;\n" + kOwnTrigger + "ret;";
  const Rewriting done = rewritten(body);
  EXPECT_EQ(text(body), weight + kOwnWait + "ld.global.f32 %f2, [%b];\n" + weight +
                            "st.global.f32 [%c], %f1;\n" + kOwnTrigger + "ret;");
  const RewrittenKernel& kernel = done.kernels[0];
  EXPECT_EQ(kernel.own, "its own wait, at k.ptx:15, and its own trigger, at k.ptx:19");
  ASSERT_EQ(kernel.changes.size(), 1u);
  EXPECT_EQ(kernel.changes[0].kind, Change::Kind::kPlainLoad);
  EXPECT_EQ(kernel.changes[0].where, "k.ptx:16");
  // The trigger that it has is the one.
  for (const TriggerPlace trigger :
       {TriggerPlace::kBehindLoads, TriggerPlace::kAtExits, TriggerPlace::kAtTop}) {
    EXPECT_EQ(text(body, trigger), text(body));
  }
  // In a function.
  const std::string call = "{ .param .b64 q;\nst.param.b64 [q], %b;\ncall.uni loads, (q); }\nret;";
  const Rewriting inner = rewritten(kOwnWait + call, TriggerPlace::kNowhere, kFunctions);
  EXPECT_THAT(inner.module->text(), HasSubstr("[from]; ld.global.f32 %f1, [%d1]"));
}

TEST(Rewrite, OnlyTheNonCoherenceOfALoadGoes) {
  for (const auto& [before, after] : std::initializer_list<std::pair<std::string, std::string>>{
           {"ld.global.ca.nc.f32 %f1, [%b];", "ld.global.ca.f32 %f1, [%b];"},
           {"ld.global.cs.nc.L2::128B.v2.f32 {%f1, %f2}, [%b];",
            "ld.global.cs.L2::128B.v2.f32 {%f1, %f2}, [%b];"},
           {"ld.global.nc.L1::no_allocate.L2::evict_last.L2::cache_hint.L2::256B.v4.b32 "
            "{%r3, %r4, %r5, %r6}, [%b], %d1;",
            "ld.global.L1::no_allocate.L2::evict_last.L2::cache_hint.L2::256B.v4.b32 "
            "{%r3, %r4, %r5, %r6}, [%b], %d1;"},
           {"@%p1 ld.global.nc.v8.b32 {%r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10}, [%b];",
            "@%p1 ld.global.v8.b32 {%r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10}, [%b];"},
           {"ldu.global.v4.f32 {%f1, %f2, %f3, %f4}, [%b];",
            "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%b];"}}) {
    EXPECT_EQ(text(kOwnWait + before + "\nret;"), kOwnWait + after + "\nret;");
  }
}

TEST(Rewrite, AKernelThatWaitsMayHaveNothingToBeDone) {
  for (const std::string body :
       {"ld.global.f32 %f1, [%b];\nret;", "ld.global.nc.f32 %f1, [%a];\nret;",
        "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f5}];\nret;"}) {
    const Rewriting done = rewritten(kOwnWait + body);
    EXPECT_EQ(done.module, nullptr) << body;
    EXPECT_EQ(done.kernels[0].obstacle, "");
    EXPECT_EQ(done.kernels[0].own, "its own wait, at k.ptx:14");
    EXPECT_TRUE(done.kernels[0].changes.empty());
  }
}

TEST(Rewrite, OtherThreadsMayWaitAndSomeMayEndBefore) {
  const std::string load = "ld.global.nc.f32 %f1, [%b];\nret;";
  const std::string plain = "ld.global.f32 %f1, [%b];\nret;";
  for (const std::string before :
       {"setp.ge.u32 %p1, %r1, %r0;\n@%p1 ret;\ngriddepcontrol.wait;\n",
        "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra ALL;\ngriddepcontrol.wait;\nALL: bar.sync 0;\n"}) {
    EXPECT_EQ(text(before + load), before + plain);
  }
}

TEST(Rewrite, AKernelThatWaitsMayBeGivenATrigger) {
  const std::string wait = kOwnWait;
  const std::string body = "ld.global.nc.f32 %f1, [%b];\nst.global.f32 [%c], %f1;\nret;";
  EXPECT_EQ(text(wait + body, TriggerPlace::kBehindLoads),
            wait + "ld.global.f32 %f1, [%b];\nTRIGGER st.global.f32 [%c], %f1;\nret;");
  EXPECT_EQ(text(wait + body, TriggerPlace::kAtExits),
            wait + "ld.global.f32 %f1, [%b];\nst.global.f32 [%c], %f1;\nTRIGGER ret;");
  EXPECT_EQ(text(wait + body, TriggerPlace::kAtTop),
            "TRIGGER " + wait + "ld.global.f32 %f1, [%b];\nst.global.f32 [%c], %f1;\nret;");
  // Not in front of the wait, though all loads are.
  EXPECT_EQ(text("ld.global.f32 %f1, [%a];\nadd.f32 %f1, %f1, %f1;\n" + wait +
                     "st.global.f32 [%c], %f1;\nret;",
                 TriggerPlace::kBehindLoads),
            "ld.global.f32 %f1, [%a];\nadd.f32 %f1, %f1, %f1;\n" + wait +
                "TRIGGER st.global.f32 [%c], %f1;\nret;");
}

TEST(Rewrite, ThreadsThatDoNotWaitThemselvesDoNotTrigger) {
  const std::string returns =
      "setp.ge.u32 %p1, %r1, %r0;\n@%p1 ret;\ngriddepcontrol.wait;\nld.global.f32 %f1, [%b];\n";
  EXPECT_EQ(text(returns + "st.global.f32 [%c], %f1;\nret;", TriggerPlace::kAtExits),
            returns + "st.global.f32 [%c], %f1;\nTRIGGER ret;");
  // Those of other warps have nothing to load.
  const std::string parts =
      "setp.ge.u32 %p1, %r1, 32;\n@%p1 bra OTHER;\ngriddepcontrol.wait;\n"
      "ld.global.f32 %f1, [%b];\n";
  const std::string rest = "st.global.f32 [%c], %f1;\nret;\nOTHER: st.shared.f32 [%r2], %f1;\nret;";
  EXPECT_EQ(text(parts + rest, TriggerPlace::kBehindLoads), parts + "TRIGGER " + rest);
}

TEST(Rewrite, LeavesKernelsThatTouchMemoryAheadOfTheirWait) {
  const std::string rest = std::string(kOwnWait) + "ld.global.nc.f32 %f2, [%b];\nret;";
  EXPECT_EQ(text("ld.global.f32 %f1, [%c];\n" + rest),
            "it reads memory at k.ptx:14, which its own wait, at k.ptx:15, does not precede");
  EXPECT_EQ(text("st.global.f32 [%a], %f1;\n" + rest),
            "it writes memory at k.ptx:14, which its own wait, at k.ptx:15, does not precede");
  EXPECT_EQ(text("setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\ngriddepcontrol.wait;\n"
                 "L: atom.global.add.u32 %r3, [%c], 1;\nld.global.nc.f32 %f2, [%b];\nret;"),
            "it reads and writes memory at k.ptx:17, which its own wait, at k.ptx:16, does not "
            "precede");
  // A role that an mbarrier holds back, perhaps.
  EXPECT_EQ(text("setp.ge.u32 %p1, %r1, 32;\n@%p1 bra CONSUMER;\ngriddepcontrol.wait;\n"
                 "mbarrier.arrive.shared::cta.b64 %d1, [%r2];\nret;\n"
                 "CONSUMER: mbarrier.try_wait.shared::cta.b64 %p2, [%r2], %d1;\n"
                 "@!%p2 bra CONSUMER;\nld.global.nc.f32 %f1, [%b];\nret;"),
            "it reads memory at k.ptx:21, and nothing proves that its own wait, at k.ptx:16, comes "
            "before");
}

TEST(Rewrite, AWaitThatNoPathComesByIsNone) {
  EXPECT_EQ(text("ld.global.f32 %f1, [%b];\nret;\ngriddepcontrol.wait;\nret;"),
            "WAIT ld.global.f32 %f1, [%b];\nret;\ngriddepcontrol.wait;\nret;");
}

TEST(Rewrite, LeavesWhatItCannotChange) {
  EXPECT_EQ(text("griddepcontrol.launch_dependents; ret;"),
            "it has a trigger of its own, at k.ptx:14, and no wait");
  EXPECT_THAT(text("bra NOWHERE;"), HasSubstr("NOWHERE"));
  const auto old = ptx::ParsedModule::parse(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }", "old.ptx");
  const RewriteRequest request{old->function("k"), {}, TriggerPlace::kNowhere};
  const Rewriting done = rewrite(old, std::span(&request, 1));
  EXPECT_EQ(done.module, nullptr);
  EXPECT_THAT(done.kernels[0].obstacle, HasSubstr("PTX 8.0 is for sm_80"));
}

}  // namespace
}  // namespace baton::overlap::rewrite_own_wait_test
