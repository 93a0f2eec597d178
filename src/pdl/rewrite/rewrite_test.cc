#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/file/file.h"
#include "pdl/rewrite/rewritten_test.h"

namespace baton::overlap::rewrite_test {
namespace {

using testing::HasSubstr;

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
  // An index into weights that another launch writes is read after the wait, and so are they.
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
  // Each thread waits itself, so what a barrier orders is after its own wait.
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
}  // namespace baton::overlap::rewrite_test
