#include "pdl/rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "pdl/test_support.h"

namespace baton::overlap {
namespace {

using testing::HasSubstr;

// Of k(u64 p0, u64 p1, u64 p2, u32 p3): p0 is a weight, and the other pointers are written.
constexpr EarlyArgument kUses[] = {EarlyArgument::kConstantMemory, EarlyArgument::kAny,
                                   EarlyArgument::kAny, EarlyArgument::kScalar};

Rewriting rewritten(std::string_view body, TriggerPlace trigger = TriggerPlace::kNowhere,
                    std::string_view before = "") {
  const auto module = module_of(body, before);
  RewriteRequest request;
  request.kernel = module->function("k");
  request.early.params.assign(std::begin(kUses), std::end(kUses));
  request.early.constant_memory = true;
  request.trigger = trigger;
  return rewrite(module, std::span(&request, 1));
}

// The body as rewritten, with "WAIT" and "TRIGGER" for what was inserted; or why it was not.
std::string text(std::string_view body, TriggerPlace trigger = TriggerPlace::kNowhere,
                 std::string_view before = "") {
  const Rewriting done = rewritten(body, trigger, before);
  if (done.module == nullptr) return done.kernels[0].obstacle;
  std::string result = done.module->text();
  const auto replace = [&](std::string_view from, std::string_view to) {
    for (std::size_t at = 0; (at = result.find(from, at)) != std::string::npos;) {
      result.replace(at, from.size(), to);
    }
  };
  replace("griddepcontrol.wait; ", "WAIT ");
  replace("griddepcontrol.launch_dependents; ", "TRIGGER ");
  // What stands right behind the brace, and what behind the common beginning.
  const std::size_t brace = result.find('{', result.find(".visible .entry")) + 1;
  const std::string head = result.substr(brace, result.find('\n', brace) - brace);
  const std::string last = "shl.b32 %r2, %r1, 2;\n";
  const std::size_t begin = result.find(last) + last.size();
  return head + result.substr(begin, result.rfind("\n}") - begin);
}

TEST(Rewrite, WaitsRightBeforeTheFirstDependentAccess) {
  EXPECT_EQ(text("add.u32 %r3, %r1, 1;\nld.global.f32 %f1, [%b];\nst.global.f32 [%c], %f1;\nret;"),
            "add.u32 %r3, %r1, 1;\nWAIT ld.global.f32 %f1, [%b];\nst.global.f32 [%c], %f1;\nret;");
  EXPECT_EQ(text("@%p1 st.global.f32 [%c], %f1; ret;"), "WAIT @%p1 st.global.f32 [%c], %f1; ret;");
}

TEST(Rewrite, SaysWhereAndWhy) {
  const Rewriting done = rewritten("add.u32 %r3, %r1, 1;\nld.global.f32 %f1, [%b];\nret;");
  const std::vector<Change>& changes = done.kernels[0].changes;
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].where, "k.ptx:15");
  EXPECT_EQ(changes[0].because, "directly after it the kernel reads memory at k.ptx:15");
  EXPECT_EQ(done.kernels[0].kernel, "k");
}

TEST(Rewrite, LeavesWeightsParametersAndSharedMemoryEarly) {
  EXPECT_EQ(text("ld.global.nc.f32 %f1, [%a];\nst.shared.f32 [%r2], %f1;\nbar.sync 0;\n"
                 "ld.shared.f32 %f2, [%r2];\nprefetch.global.L2 [%b];\nld.param.u32 %r4, [p3];\n"
                 "ld.global.f32 %f3, [%b];\nret;"),
            "ld.global.nc.f32 %f1, [%a];\nst.shared.f32 [%r2], %f1;\nbar.sync 0;\n"
            "ld.shared.f32 %f2, [%r2];\nprefetch.global.L2 [%b];\nld.param.u32 %r4, [p3];\n"
            "WAIT ld.global.f32 %f3, [%b];\nret;");
  EXPECT_EQ(text("cp.async.cg.shared.global [%r2], [%a], 16; cp.async.wait_all;\n"
                 "cp.async.cg.shared.global [%r2], [%b], 16; ret;"),
            "cp.async.cg.shared.global [%r2], [%a], 16; cp.async.wait_all;\n"
            "WAIT cp.async.cg.shared.global [%r2], [%b], 16; ret;");
  // An index into weights that another launch writes is read behind the wait, and so are they.
  EXPECT_EQ(text("ld.global.u64 %d1, [%b]; add.s64 %d2, %a, %d1; ld.global.f32 %f1, [%d2]; ret;"),
            "WAIT ld.global.u64 %d1, [%b]; add.s64 %d2, %a, %d1; ld.global.f32 %f1, [%d2]; ret;");
  EXPECT_EQ(text("ld.const.f32 %f1, [table]; st.global.f32 [%c], %f1; ret;", TriggerPlace::kNowhere,
                 ".const .f32 table[4];"),
            "ld.const.f32 %f1, [table]; WAIT st.global.f32 [%c], %f1; ret;");
}

TEST(Rewrite, CountsAsDependentWhatMayBe) {
  const auto waits_first = [](const std::string& access, std::string_view before = "") {
    EXPECT_EQ(text(access + " ret;", TriggerPlace::kNowhere, before), "WAIT " + access + " ret;");
  };
  waits_first("atom.global.add.u32 %r3, [%a], 1;");
  waits_first("red.global.add.u32 [%a], 1;");
  waits_first("st.global.f32 [%a], %f1;");
  waits_first("ld.volatile.global.f32 %f1, [%a];");
  waits_first("ld.acquire.gpu.global.f32 %f1, [%a];");
  waits_first("ld.f32 %f1, [%b];");
  waits_first("ld.global.f32 %f1, [%d9];");
  waits_first("prefetch.global.L1 [%b];");
  waits_first("cp.async.bulk.global.shared::cta.bulk_group [%c], [%r2], 64;");
  waits_first("ld.global.f32 %f1, [counter];", ".global .f32 counter;");
  waits_first("frobnicate.global.u32 %r3, [%a];");
  waits_first("discard.global.L2 [%a], 128;");
}

TEST(Rewrite, MakesNonCoherentLoadsOfWhatMayBeWrittenPlain) {
  const std::string body =
      "ld.global.nc.f32 %f1, [%a];\nld.global.nc.L1::no_allocate.v2.f32 {%f1, %f2}, [%b];\n"
      "ldu.global.f32 %f3, [%c];\nret;";
  EXPECT_EQ(text(body),
            "ld.global.nc.f32 %f1, [%a];\nWAIT ld.global.L1::no_allocate.v2.f32 {%f1, %f2}, [%b];\n"
            "ld.global.f32 %f3, [%c];\nret;");
  const Rewriting done = rewritten(body);
  ASSERT_EQ(done.kernels[0].changes.size(), 3u);
  EXPECT_EQ(done.kernels[0].changes[1].kind, Change::Kind::kPlainLoad);
  EXPECT_EQ(done.kernels[0].changes[1].where, "k.ptx:15");
  EXPECT_EQ(done.kernels[0].changes[2].where, "k.ptx:16");
}

TEST(Rewrite, WaitsBeforeThreadsPart) {
  // Whoever returns early has waited too.
  EXPECT_EQ(
      text("setp.ge.u32 %p1, %r1, %r0;\n@%p1 bra DONE;\nld.global.f32 %f1, [%b];\nDONE: ret;"),
      "setp.ge.u32 %p1, %r1, %r0;\nWAIT @%p1 bra DONE;\nld.global.f32 %f1, [%b];\nDONE: ret;");
  EXPECT_EQ(text("setp.ge.u32 %p1, %r1, %r0;\n@%p1 ret;\nld.global.f32 %f1, [%b];\nret;"),
            "setp.ge.u32 %p1, %r1, %r0;\nWAIT @%p1 ret;\nld.global.f32 %f1, [%b];\nret;");
  // Two exits, and an access on one way.
  EXPECT_EQ(text("setp.ge.u32 %p1, %r1, %r0;\n@%p1 bra A;\nadd.u32 %r3, %r1, 1;\nret;\n"
                 "A: st.global.f32 [%c], %f1;\nexit;"),
            "setp.ge.u32 %p1, %r1, %r0;\nWAIT @%p1 bra A;\nadd.u32 %r3, %r1, 1;\nret;\n"
            "A: st.global.f32 [%c], %f1;\nexit;");
  // Threads that meet again wait there.
  EXPECT_EQ(text("setp.ge.u32 %p1, %r1, %r0;\n@%p1 bra A;\nld.global.f32 %f1, [%a];\n"
                 "A: ld.global.f32 %f2, [%b];\nret;"),
            "setp.ge.u32 %p1, %r1, %r0;\n@%p1 bra A;\nld.global.f32 %f1, [%a];\n"
            "A: WAIT ld.global.f32 %f2, [%b];\nret;");
  EXPECT_EQ(text("@%p1 bra A;\nld.global.f32 %f1, [%a];\nA: @%p2 bra B;\nld.global.f32 %f2, [%b];\n"
                 "B: ret;"),
            "@%p1 bra A;\nld.global.f32 %f1, [%a];\nA: WAIT @%p2 bra B;\nld.global.f32 %f2, [%b];\n"
            "B: ret;");
  EXPECT_EQ(text("@%p1 trap;\nld.global.f32 %f1, [%b]; ret;"),
            "WAIT @%p1 trap;\nld.global.f32 %f1, [%b]; ret;");
}

TEST(Rewrite, WaitsBeforeLoops) {
  EXPECT_EQ(text("mov.u32 %r3, 0;\nL: ld.global.f32 %f1, [%b];\nadd.u32 %r3, %r3, 1;\n"
                 "setp.lt.u32 %p1, %r3, %r0;\n@%p1 bra L;\nret;"),
            "WAIT mov.u32 %r3, 0;\nL: ld.global.f32 %f1, [%b];\nadd.u32 %r3, %r3, 1;\n"
            "setp.lt.u32 %p1, %r3, %r0;\n@%p1 bra L;\nret;");
  // A loop of weights runs early as a whole.
  EXPECT_EQ(text("L: ld.global.f32 %f1, [%a];\nsetp.lt.u32 %p1, %r3, %r0;\n@%p1 bra L;\n"
                 "st.global.f32 [%c], %f1;\nret;"),
            "L: ld.global.f32 %f1, [%a];\nsetp.lt.u32 %p1, %r3, %r0;\n@%p1 bra L;\n"
            "WAIT st.global.f32 [%c], %f1;\nret;");
  // Out of two.
  EXPECT_EQ(text("mov.u32 %r3, 0;\nL: mov.u32 %r4, 0;\nM: ld.global.f32 %f1, [%b];\n@%p1 bra M;\n"
                 "@%p2 bra L;\nret;"),
            "WAIT mov.u32 %r3, 0;\nL: mov.u32 %r4, 0;\nM: ld.global.f32 %f1, [%b];\n@%p1 bra M;\n"
            "@%p2 bra L;\nret;");
  // A guarded loop: before the branch around it.
  EXPECT_EQ(text("setp.eq.u32 %p2, %r0, 0;\n@%p2 bra DONE;\nL: ld.global.f32 %f1, [%b];\n"
                 "@%p1 bra L;\nDONE: ret;"),
            "setp.eq.u32 %p2, %r0, 0;\nWAIT @%p2 bra DONE;\nL: ld.global.f32 %f1, [%b];\n"
            "@%p1 bra L;\nDONE: ret;");
  const auto changes = rewritten("mov.u32 %r3, 0;\nL: ld.global.f32 %f1, [%b];\n@%p1 bra L;\nret;");
  EXPECT_EQ(changes.kernels[0].changes[0].because,
            "it is in front of the loop in which the kernel reads memory at k.ptx:15");
}

TEST(Rewrite, WaitsInFrontOfABodyThatIsALoop) {
  const auto module = ptx::ParsedModule::parse(R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p0) {
.reg .pred %p; .reg .b64 %d; .reg .f32 %f;
L: ld.param.u64 %d, [p0];
ld.global.f32 %f, [%d]; setp.eq.f32 %p, %f, 0f00000000; @%p bra L;
st.global.f32 [%d], %f;
ret; })",
                                               "loop.ptx");
  const RewriteRequest request{module->function("k"), {}, TriggerPlace::kAtTop};
  const Rewriting done = rewrite(module, std::span(&request, 1));
  ASSERT_NE(done.module, nullptr) << done.kernels[0].obstacle;
  EXPECT_THAT(done.module->text(),
              HasSubstr("p0) {griddepcontrol.launch_dependents; griddepcontrol.wait; \n.reg"));
}

TEST(Rewrite, BarriersMayComeFirst) {
  // Each thread waits itself, so what a barrier orders is behind its own wait.
  EXPECT_EQ(text("st.shared.f32 [%r2], %f1;\nbar.sync 0;\n@%p1 bra A;\nbar.sync 1, 64;\n"
                 "A: ld.shared.f32 %f1, [%r2];\nbar.sync 0;\nst.global.f32 [%c], %f1;\nret;"),
            "st.shared.f32 [%r2], %f1;\nbar.sync 0;\n@%p1 bra A;\nbar.sync 1, 64;\n"
            "A: ld.shared.f32 %f1, [%r2];\nbar.sync 0;\nWAIT st.global.f32 [%c], %f1;\nret;");
  // Roles: all of them before they part.
  EXPECT_EQ(
      text("setp.ge.u32 %p1, %r1, 32;\n@%p1 bra CONSUMER;\nld.global.f32 %f1, [%b];\n"
           "mbarrier.arrive.shared::cta.b64 %d1, [%r2];\nret;\n"
           "CONSUMER: mbarrier.try_wait.shared::cta.b64 %p2, [%r2], %d1;\n@!%p2 bra CONSUMER;\n"
           "st.global.f32 [%c], %f1;\nret;"),
      "setp.ge.u32 %p1, %r1, 32;\nWAIT @%p1 bra CONSUMER;\nld.global.f32 %f1, [%b];\n"
      "mbarrier.arrive.shared::cta.b64 %d1, [%r2];\nret;\n"
      "CONSUMER: mbarrier.try_wait.shared::cta.b64 %p2, [%r2], %d1;\n@!%p2 bra CONSUMER;\n"
      "st.global.f32 [%c], %f1;\nret;");
}

constexpr char kFunctions[] = R"(
.func (.param .b64 out) advance(.param .b64 from) {
  .reg .b64 %d<2>;
  ld.param.u64 %d1, [from]; add.s64 %d1, %d1, 4; st.param.b64 [out], %d1; ret;
}
.func loads(.param .b64 from) {
  .reg .b64 %d<2>; .reg .f32 %f<2>;
  ld.param.u64 %d1, [from]; ld.global.nc.f32 %f1, [%d1]; ret;
}
.func ends() { .reg .pred %p<2>; @%p1 exit; ret; }
.func back() { call back; ret; }
.extern .func elsewhere();
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.global .align 1 .b8 format[3] = {37, 100, 0};  // "%d"
)";

TEST(Rewrite, LooksIntoCalls) {
  const auto of = [](std::string_view body) {
    return text(body, TriggerPlace::kNowhere, kFunctions);
  };
  const std::string advance =
      "{ .param .b64 q; .param .b64 s;\nst.param.b64 [q], %a;\ncall.uni (s), advance, (q);\n"
      "ld.param.b64 %d9, [s]; }\n";
  EXPECT_EQ(of(advance + "ld.global.f32 %f1, [%d9]; st.global.f32 [%c], %f1; ret;"),
            advance + "ld.global.f32 %f1, [%d9]; WAIT st.global.f32 [%c], %f1; ret;");
  // What is passed stays together with its call.
  EXPECT_EQ(of("add.u32 %r3, %r1, 1;\n{ .param .b64 q;\nst.param.b64 [q], %b;\n"
               "call.uni loads, (q); }\nret;"),
            "add.u32 %r3, %r1, 1;\n{ .param .b64 q;\nWAIT st.param.b64 [q], %b;\n"
            "call.uni loads, (q); }\nret;");
  const Rewriting done =
      rewritten("{ .param .b64 q;\nst.param.b64 [q], %b;\ncall.uni loads, (q); }\nret;",
                TriggerPlace::kNowhere, kFunctions);
  EXPECT_THAT(done.module->text(), HasSubstr("ld.param.u64 %d1, [from]; ld.global.f32 %f1, [%d1]"));
  EXPECT_THAT(done.kernels[0].changes[0].because, HasSubstr("the kernel reads memory at k.ptx:11"));
  // Weights.
  EXPECT_EQ(of("{ .param .b64 q;\nst.param.b64 [q], %a;\ncall.uni loads, (q); }\n"
               "add.u32 %r3, %r1, 1;\nret;"),
            "{ .param .b64 q;\nst.param.b64 [q], %a;\ncall.uni loads, (q); }\n"
            "add.u32 %r3, %r1, 1;\nWAIT ret;");
  EXPECT_EQ(of("call ends;\nst.global.f32 [%c], %f1; ret;"),
            "WAIT call ends;\nst.global.f32 [%c], %f1; ret;");
  const std::string format = "mov.u64 %d1, format;\n";
  EXPECT_EQ(of(format + "call (%r3), vprintf, (%d1, %d2);\nst.global.f32 [%c], %f1; ret;"),
            format + "WAIT call (%r3), vprintf, (%d1, %d2);\nst.global.f32 [%c], %f1; ret;");
  EXPECT_THAT(of("call back; ret;"), HasSubstr("a recursive call"));
  EXPECT_THAT(of("call elsewhere; ret;"), HasSubstr("whose body is elsewhere"));
}

TEST(Rewrite, AFailedAssertionNeedNotWait) {
  const std::string declared = ".extern .func __assertfail(.param .b64 a);\n";
  const std::string body =
      "setp.eq.u32 %p1, %r0, 0;\n@!%p1 bra FINE;\n{ .param .b64 q;\nst.param.b64 [q], %d1;\n"
      "call.uni __assertfail, (q); }\nFINE: ld.global.f32 %f1, [%a];\n";
  EXPECT_EQ(text(body + "st.global.f32 [%c], %f1;\nret;", TriggerPlace::kNowhere, declared),
            body + "WAIT st.global.f32 [%c], %f1;\nret;");
  // A function of the module is no more than its name.
  const std::string own =
      ".func __assertfail(.param .b64 a) { .reg .b64 %d<2>; .reg .f32 %f<2>; "
      "ld.param.u64 %d1, [a]; st.global.f32 [%d1], %f1; ret; }\n";
  EXPECT_EQ(text(body + "ret;", TriggerPlace::kNowhere, own),
            "setp.eq.u32 %p1, %r0, 0;\nWAIT " + body.substr(body.find('@')) + "ret;");
  // What it is told about comes from memory that may be written.
  EXPECT_EQ(text("ld.global.u32 %r3, [%b];\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra FINE;\n"
                 "call.uni __assertfail, (%d1);\nFINE: ret;",
                 TriggerPlace::kNowhere, declared),
            "WAIT ld.global.u32 %r3, [%b];\nsetp.eq.u32 %p1, %r3, 0;\n@%p1 bra FINE;\n"
            "call.uni __assertfail, (%d1);\nFINE: ret;");
}

// The kernel's own wait stands on a line of its own, which no inserted one does.
constexpr char kOwnWait[] = "griddepcontrol.wait;\n";
constexpr char kOwnTrigger[] = "griddepcontrol.launch_dependents;\n";

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

TEST(Rewrite, TriggersBehindTheLastLoad) {
  const auto of = [](std::string_view body) { return text(body, TriggerPlace::kBehindLoads); };
  EXPECT_EQ(of("ld.global.f32 %f1, [%b];\nadd.f32 %f1, %f1, %f1;\nst.global.f32 [%c], %f1;\nret;"),
            "WAIT ld.global.f32 %f1, [%b];\nTRIGGER add.f32 %f1, %f1, %f1;\n"
            "st.global.f32 [%c], %f1;\nret;");
  // Behind the wait, also where all loads come before it.
  EXPECT_EQ(of("ld.global.f32 %f1, [%a];\nadd.f32 %f1, %f1, %f1;\nst.global.f32 [%c], %f1;\nret;"),
            "ld.global.f32 %f1, [%a];\nadd.f32 %f1, %f1, %f1;\nWAIT TRIGGER st.global.f32 [%c], "
            "%f1;\nret;");
  // Behind the loop, and on the way past it.
  EXPECT_EQ(of("setp.eq.u32 %p2, %r0, 0;\n@%p2 bra DONE;\nL: ld.global.f32 %f1, [%b];\n"
               "@%p1 bra L;\nDONE: st.global.f32 [%c], %f1;\nret;"),
            "setp.eq.u32 %p2, %r0, 0;\nWAIT @%p2 bra DONE;\nL: ld.global.f32 %f1, [%b];\n"
            "@%p1 bra L;\nDONE: TRIGGER st.global.f32 [%c], %f1;\nret;");
  // A thread that ends needs none.
  EXPECT_EQ(of("@%p1 bra DONE;\nld.global.f32 %f1, [%b];\nst.global.f32 [%c], %f1;\nDONE: ret;"),
            "WAIT @%p1 bra DONE;\nld.global.f32 %f1, [%b];\nTRIGGER st.global.f32 [%c], %f1;\n"
            "DONE: ret;");
  // Two branches, one without a load.
  EXPECT_EQ(of("@%p1 bra A;\nld.global.f32 %f1, [%b];\nst.global.f32 [%c], %f1;\nret;\n"
               "A: st.global.f32 [%c], %f2;\nret;"),
            "WAIT @%p1 bra A;\nld.global.f32 %f1, [%b];\nTRIGGER st.global.f32 [%c], %f1;\nret;\n"
            "A: TRIGGER st.global.f32 [%c], %f2;\nret;");
}

// A loop's turn loads, and then does what decides whether there is another one.
std::string loop(const std::string& rest, const std::string& inserted = "") {
  return "L: ld.global.f32 %f1, [%b];\n" + inserted + "st.global.f32 [%c], %f1;\n" + rest;
}

TEST(Rewrite, TriggersInTheLastTurnOfALoop) {
  const auto expect = [](const std::string& rest, const std::string& inserted) {
    EXPECT_EQ(text(loop(rest), TriggerPlace::kBehindLoads), loop(rest, inserted));
  };
  const std::string counts = "add.u32 %r1, %r1, %r2;\nsetp.lt.u32 %p1, %r1, %r0;\n";
  const std::string counted =
      "{ .reg .b32 %baton0; .reg .pred %baton1; add.u32 %baton0, %r1, %r2; "
      "setp.lt.u32 %baton1, %baton0, %r0; ";
  expect(counts + "@%p1 bra L;\nret;", counted + "@!%baton1 TRIGGER } ");
  expect(counts + "@!%p1 bra L;\nret;", counted + "@%baton1 TRIGGER } ");
  expect(counts + "@%p1 bra DONE;\nbra.uni L;\nDONE: ret;", counted + "@%baton1 TRIGGER } ");
  // What is behind the loop begins when its threads have triggered.
  expect(counts + "@%p1 bra L;\nst.global.f32 [%c], %f2;\nret;", counted + "@!%baton1 TRIGGER } ");
  // A register that is written twice, and an instruction that writes two.
  expect(
      "add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1|%p2, %r1, %r0;\n"
      "@%p2 bra L;\nret;",
      "{ .reg .b32 %baton0; .reg .b32 %baton1; .reg .pred %baton2; .reg .pred %baton3; "
      "add.u32 %baton0, %r1, %r2; add.u32 %baton1, %baton0, 1; "
      "setp.lt.u32 %baton2|%baton3, %baton1, %r0; @!%baton3 TRIGGER } ");
  // Registers side by side, which are read and written.
  expect(
      "add.u32 %r1, %r1, %r2;\nmov.b64 %d1, {%r1, %r3};\nmov.b64 {%r5, %r6}, %d1;\n"
      "setp.lt.u32 %p1, %r6, %r0;\n@%p1 bra L;\nret;",
      "{ .reg .b32 %baton0; .reg .b64 %baton1; .reg .b32 %baton2; .reg .b32 %baton3; "
      ".reg .pred %baton4; add.u32 %baton0, %r1, %r2; mov.b64 %baton1, {%baton0, %r3}; "
      "mov.b64 {%baton2, %baton3}, %baton1; setp.lt.u32 %baton4, %baton3, %r0; "
      "@!%baton4 TRIGGER } ");
}

// The text is of names, whatever they stand for at the time.
TEST(Rewrite, RepeatsWhatOneNameIsWrittenFor) {
  const std::string rest =
      "mov.u32 %r5, %r1;\nadd.u32 %r1, %r5, %r2;\nmov.u32 %r5, %r1;\n"
      "setp.lt.u32 %p1, %r5, %r0;\n@%p1 bra L;\nst.global.u32 [%c], %r5;\nret;";
  EXPECT_EQ(text(loop(rest), TriggerPlace::kBehindLoads),
            loop(rest,
                 "{ .reg .b32 %baton0; .reg .b32 %baton1; .reg .b32 %baton2; .reg .pred %baton3; "
                 "mov.u32 %baton0, %r1; add.u32 %baton1, %baton0, %r2; mov.u32 %baton2, %baton1; "
                 "setp.lt.u32 %baton3, %baton2, %r0; @!%baton3 TRIGGER } "));
}

TEST(Rewrite, TellsApartWhatOneRegisterPointsTo) {
  EXPECT_EQ(text("mov.b64 %d1, %a;\nld.global.nc.f32 %f1, [%d1];\nmov.b64 %d1, %b;\n"
                 "ld.global.nc.f32 %f2, [%d1];\nst.global.f32 [%c], %f2;\nret;"),
            "mov.b64 %d1, %a;\nld.global.nc.f32 %f1, [%d1];\nmov.b64 %d1, %b;\n"
            "WAIT ld.global.f32 %f2, [%d1];\nst.global.f32 [%c], %f2;\nret;");
}

TEST(Rewrite, TriggersBehindALoopThatWritesNothing) {
  EXPECT_EQ(text("L: ld.global.f32 %f1, [%b];\nadd.f32 %f2, %f2, %f1;\nadd.u32 %r1, %r1, %r2;\n"
                 "setp.lt.u32 %p1, %r1, %r0;\n@%p1 bra L;\nst.global.f32 [%c], %f2;\nret;",
                 TriggerPlace::kBehindLoads),
            "L: ld.global.f32 %f1, [%b];\nadd.f32 %f2, %f2, %f1;\nadd.u32 %r1, %r1, %r2;\n"
            "setp.lt.u32 %p1, %r1, %r0;\n@%p1 bra L;\nTRIGGER st.global.f32 [%c], %f2;\nret;");
}

// The first thread to trigger does so for its block.
TEST(Rewrite, TriggersInNoLoopAheadOfTheWait) {
  const std::string weights =
      "L: ld.global.f32 %f1, [%a];\nst.shared.f32 [%r2], %f1;\nadd.u32 %r1, %r1, %r2;\n"
      "setp.lt.u32 %p1, %r1, %r0;\n@%p1 bra L;\n";
  const std::string rest = "st.global.f32 [%c], %f1;\nret;";
  EXPECT_EQ(text(weights + kOwnWait + rest, TriggerPlace::kBehindLoads),
            weights + kOwnWait + "TRIGGER " + rest);
}

// An iteration goes on where a jump leads, also to what stands before it in the text.
TEST(Rewrite, TriggersInALoopWhoseIterationJumps) {
  const auto text_with = [](const std::string& wait, const std::string& inserted) {
    return wait +
           "bra L;\nFAR: st.global.f32 [%c], %f1;\nadd.u32 %r1, %r1, %r2;\n"
           "setp.lt.u32 %p1, %r1, %r0;\n@%p1 bra L;\nret;\n"
           "L: ld.global.f32 %f1, [%b];\n" +
           inserted + "bra FAR;";
  };
  EXPECT_EQ(text(text_with("", ""), TriggerPlace::kBehindLoads),
            text_with("WAIT ",
                      "{ .reg .b32 %baton0; .reg .pred %baton1; add.u32 %baton0, %r1, %r2; "
                      "setp.lt.u32 %baton1, %baton0, %r0; @!%baton1 TRIGGER } "));
}

// An index decides, and no predicate.
TEST(Rewrite, LeavesLoopsThatATableOfBranchesEnds) {
  const std::string body = loop(
      "add.u32 %r1, %r1, %r2;\nTABLE: .branchtargets L, DONE;\nbrx.idx %r1, TABLE;\nDONE: ret;");
  EXPECT_EQ(text(body, TriggerPlace::kBehindLoads), body);
}

TEST(Rewrite, TriggersInALoopWhoseEndIsKnownEarlier) {
  EXPECT_EQ(text("L: setp.lt.u32 %p1, %r1, %r0;\nadd.u32 %r1, %r1, %r2;\n"
                 "ld.global.f32 %f1, [%b];\nst.global.f32 [%c], %f1;\n@%p1 bra L;\nret;",
                 TriggerPlace::kBehindLoads),
            "L: setp.lt.u32 %p1, %r1, %r0;\nadd.u32 %r1, %r1, %r2;\n"
            "ld.global.f32 %f1, [%b];\n@!%p1 TRIGGER st.global.f32 [%c], %f1;\n@%p1 bra L;\nret;");
}

TEST(Rewrite, LeavesLoopsWhoseEndCannotBeToldTwice) {
  for (const std::string decides :
       {"shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;\nsetp.lt.u32 %p1, %r3, %r0;\n",
        "ld.shared.u32 %r3, [%r2];\nsetp.lt.u32 %p1, %r3, %r0;\n",
        "add.cc.u32 %r3, %r1, %r2;\naddc.u32 %r3, %r1, %r2;\nsetp.lt.u32 %p1, %r3, %r0;\n",
        "@%p2 add.u32 %r1, %r1, %r2;\nsetp.lt.u32 %p1, %r1, %r0;\n",
        "{ .reg .b32 %baton0; }\nsetp.lt.u32 %p1, %r1, %r0;\n"}) {
    const std::string body = loop(decides + "@%p1 bra L;\nret;");
    EXPECT_EQ(text(body, TriggerPlace::kBehindLoads), body);
  }
  // Eight instructions are repeated. More are more than a trigger is worth.
  std::string many;
  for (int count = 2; count < 11; ++count) {
    many += "add.u32 %r1, %r1, %r2;\n";
    const std::string body = loop(many + "setp.lt.u32 %p1, %r1, %r0;\n@%p1 bra L;\nret;");
    EXPECT_EQ(text(body, TriggerPlace::kBehindLoads) == body, count > 8) << count;
  }
}

// The repeated instructions are put where an inner scope declares one of their names again.
TEST(Rewrite, RepeatsNothingUnderANameThatMeansAnotherRegister) {
  const std::string counts = "add.u32 %r1, %r1, %r2;\nsetp.lt.u32 %p1, %r1, %r0;\n";
  for (const std::string hidden :
       {".reg .pred %r1;", ".reg .b32 %r2;", ".reg .b32 %r<3>;", ".reg .pred %p1;"}) {
    const std::string inner =
        "L: { " + hidden + "\nld.global.f32 %f1, [%b];\nst.global.f32 [%c], %f1;\n}\n";
    const std::string body = inner + counts + "@%p1 bra L;\nret;";
    const std::string triggered = text(body, TriggerPlace::kBehindLoads);
    // The own predicate has a name of its own, whatever hides the kernel's.
    EXPECT_EQ(triggered == body, hidden != ".reg .pred %p1;") << triggered;
  }
  // The same of registers side by side: another one than those is no matter.
  const std::string pair = "mov.b64 %d1, {%r1, %r3};\nsetp.lt.u64 %p1, %d1, %d2;\n";
  for (const std::string hidden : {"%r1", "%r3", "%r4"}) {
    const std::string body = "L: { .reg .b32 " + hidden +
                             ";\nld.global.f32 %f1, [%b];\nst.global.f32 [%c], %f1;\n}\n" + pair +
                             "@%p1 bra L;\nret;";
    EXPECT_EQ(text(body, TriggerPlace::kBehindLoads) == body, hidden != "%r4") << hidden;
  }
  // Nothing is repeated, and the guard itself is hidden.
  const std::string known =
      "L: setp.lt.u32 %p1, %r1, %r0;\nadd.u32 %r1, %r1, %r2;\n{ .reg .pred %p1;\n"
      "ld.global.f32 %f1, [%b];\nst.global.f32 [%c], %f1;\n}\n@%p1 bra L;\nret;";
  EXPECT_EQ(text(known, TriggerPlace::kBehindLoads), known);
}

// Blocks as deep as they are read: what repeats the end of the loop would be one deeper.
TEST(Rewrite, AnEditThatDoesNotParseIsAnObstacle) {
  const auto nested = [](std::size_t depth) {
    const std::string counts = "add.u32 %r1, %r1, %r2;\nsetp.lt.u32 %p1, %r1, %r0;\n";
    return std::string(depth, '{') + "\n" + loop(counts + "@%p1 bra L;\nret;\n") +
           std::string(depth, '}');
  };
  const auto parses = [&](std::size_t depth) {
    try {
      module_of(nested(depth), "")->function("k")->body();
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  std::size_t depth = 1;
  while (parses(depth + 1)) ++depth;
  EXPECT_TRUE(rewritten(nested(depth - 1), TriggerPlace::kBehindLoads).kernels[0].obstacle.empty());
  // A wait of its own is told only of a kernel that is rewritten.
  const std::string wait = "griddepcontrol.wait;\n";
  const RewrittenKernel fits =
      rewritten(wait + nested(depth - 1), TriggerPlace::kBehindLoads).kernels[0];
  EXPECT_THAT(fits.own, HasSubstr("its own wait"));
  EXPECT_FALSE(fits.changes.empty());
  const RewrittenKernel fails =
      rewritten(wait + nested(depth), TriggerPlace::kBehindLoads).kernels[0];
  EXPECT_THAT(fails.obstacle, HasSubstr("blocks"));
  EXPECT_EQ(fails.own, "");
  EXPECT_TRUE(fails.changes.empty());
  const Rewriting result = rewritten(nested(depth), TriggerPlace::kBehindLoads);
  EXPECT_EQ(result.module, nullptr);
  EXPECT_THAT(result.kernels[0].obstacle, HasSubstr("blocks"));
  EXPECT_TRUE(result.kernels[0].changes.empty());
}

TEST(Rewrite, TriggersWhereTheKernelEnds) {
  const auto of = [](std::string_view body) { return text(body, TriggerPlace::kAtExits); };
  EXPECT_EQ(of("ld.global.f32 %f1, [%b];\n@!%p1 ret;\nst.global.f32 [%c], %f1;\nexit;"),
            "WAIT ld.global.f32 %f1, [%b];\n@!%p1 TRIGGER @!%p1 ret;\n"
            "st.global.f32 [%c], %f1;\nTRIGGER exit;");
  EXPECT_EQ(of("add.u32 %r3, %r1, 1;\nret;"), "add.u32 %r3, %r1, 1;\nWAIT TRIGGER ret;");
}

TEST(Rewrite, TriggersAtTheTop) {
  EXPECT_EQ(text("ld.global.f32 %f1, [%b];\nret;", TriggerPlace::kAtTop),
            "TRIGGER WAIT ld.global.f32 %f1, [%b];\nret;");
}

// PTX of every kind that compilers make: every kernel is rewritten, with every placement, or there
// is a reason why it is not.
TEST(Rewrite, TakesWhatCompilersMake) {
  int done = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(BATON_SOURCE_DIR "/src/ptx/testdata/ptx")) {
    const auto module = ptx::ParsedModule::parse(read_file(entry.path()), entry.path().filename());
    for (const TriggerPlace trigger : {TriggerPlace::kNowhere, TriggerPlace::kBehindLoads,
                                       TriggerPlace::kAtExits, TriggerPlace::kAtTop}) {
      std::vector<RewriteRequest> requests;
      for (const ptx::Function* kernel : module->entries())
        requests.push_back({kernel, {}, trigger});
      const Rewriting result = rewrite(module, requests);
      for (const RewrittenKernel& kernel : result.kernels) {
        EXPECT_EQ(kernel.obstacle.empty(), !kernel.changes.empty() || !kernel.own.empty());
        const bool expected = kernel.obstacle.empty() ||
                              kernel.obstacle.find("for sm_") != std::string::npos ||
                              kernel.obstacle.find("its own wait") != std::string::npos ||
                              kernel.obstacle.find("call") != std::string::npos;
        EXPECT_TRUE(expected) << module->name() << " " << kernel.kernel << ": " << kernel.obstacle;
        done += kernel.obstacle.empty() ? 1 : 0;
      }
    }
  }
  EXPECT_GT(done, 100);
}

TEST(Rewrite, TheFirstInstructionCounts) {
  const auto module = ptx::ParsedModule::parse(
      ".version 8.7\n.target sm_90a\n.address_size 64\n.global .u32 counter;\n"
      ".visible .entry k() {\n.reg .b32 %r<2>;\nst.global.u32 [counter], 1;\n"
      "ld.global.u32 %r1, [counter];\nret;\n}\n",
      "k.ptx");
  RewriteRequest request;
  request.kernel = module->function("k");
  request.trigger = TriggerPlace::kNowhere;
  const Rewriting done = rewrite(module, std::span(&request, 1));
  ASSERT_NE(done.module, nullptr) << done.kernels[0].obstacle;
  EXPECT_THAT(done.module->text(), HasSubstr("griddepcontrol.wait; st.global.u32 [counter], 1;"));
}

// PTX ISA 7.8 has the wait, 7.7 does not.
TEST(Rewrite, TheOldestPtx) {
  const auto obstacle = [](const char* version, const char* target) {
    const auto module = ptx::ParsedModule::parse(
        fmt::format(".version {}\n.target {}\n.address_size 64\n.global .u32 counter;\n"
                    ".visible .entry k() {{\nst.global.u32 [counter], 1;\nret;\n}}\n",
                    version, target),
        "k.ptx");
    RewriteRequest request;
    request.kernel = module->function("k");
    return rewrite(module, std::span(&request, 1)).kernels[0].obstacle;
  };
  EXPECT_EQ(obstacle("7.8", "sm_90"), "");
  EXPECT_EQ(obstacle("8.0", "sm_90"), "");
  EXPECT_THAT(obstacle("7.7", "sm_90"), HasSubstr("its PTX 7.7 is for sm_90"));
  EXPECT_THAT(obstacle("7.8", "sm_89"), HasSubstr("its PTX 7.8 is for sm_89"));
}

}  // namespace
}  // namespace baton::overlap
