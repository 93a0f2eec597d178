#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pdl/rewrite/rewritten_test.h"

namespace baton::overlap::rewrite_trigger_test {
namespace {

using testing::HasSubstr;

TEST(Rewrite, TriggersBehindTheLastLoad) {
  const auto of = [](std::string_view body) { return text(body, TriggerPlace::kBehindLoads); };
  EXPECT_EQ(of("ld.global.f32 %f1, [%b];\nadd.f32 %f1, %f1, %f1;\nst.global.f32 [%c], %f1;\nret;"),
            "WAIT ld.global.f32 %f1, [%b];\nTRIGGER add.f32 %f1, %f1, %f1;\n"
            "st.global.f32 [%c], %f1;\nret;");
  // After the wait, also where all loads come before it.
  EXPECT_EQ(of("ld.global.f32 %f1, [%a];\nadd.f32 %f1, %f1, %f1;\nst.global.f32 [%c], %f1;\nret;"),
            "ld.global.f32 %f1, [%a];\nadd.f32 %f1, %f1, %f1;\nWAIT TRIGGER st.global.f32 [%c], "
            "%f1;\nret;");
  // After the loop, and on the way past it.
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
  // What is after the loop begins when its threads have triggered.
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

// One of the ways through a turn says nothing of the others.
TEST(Rewrite, LeavesLoopsWhoseTurnsPart) {
  const std::string body = loop(
      "TABLE: .branchtargets A, B, C;\nbrx.idx %r2, TABLE;\n"
      "A: add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, %r0;\n@%p1 bra L;\nret;\n"
      "B: add.u32 %r1, %r1, 2;\nbra L;\nC: add.u32 %r1, %r1, 3;\nbra L;");
  EXPECT_EQ(text(body, TriggerPlace::kBehindLoads).find("@"), body.find("@"));
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
        "mov.u32 %r3, %clock;\nsetp.lt.u32 %p1, %r3, %r0;\n",
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
  // The same of registers side by side: another one does not matter.
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

}  // namespace
}  // namespace baton::overlap::rewrite_trigger_test
