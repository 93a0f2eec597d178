#include "analysis/case_programs.h"

namespace baton::record {
namespace {

// A loop without a wait. What its last iteration repeats, and what is around it.
CaseForm last_iterations() {
  return {
      .name = "last_iterations",
      .body = R"($before
L: ld.global.u32 %r3, [%d0]; $work
add.u32 %r2, %r2, 1; $decides @$sense%p0 bra $where; $after st.global.u32 [%d1], %r3; $end)",
      .holes = {{"decides",
                 {"setp.lt.u32 %p0, %r2, 9;",
                  "setp.ge.u32 %p0, %r2, 9;",
                  "mov.u32 %r4, %tid.x; setp.lt.u32 %p0, %r2, %r4;",
                  "mov.u32 %r4, shared; setp.lt.u32 %p0, %r2, %r4;",
                  "mov.u32 %r4, shared; add.u32 %r4, %r4, %r2; setp.lt.u32 %p0, %r4, 9;",
                  "ld.param.u32 %r4, [n]; setp.lt.u32 %p0, %r2, %r4;",
                  "ld.param.u64 %d4, [p1]; setp.lt.u64 %p0, %d1, %d4;",
                  "mov.u32 %r4, %clock; setp.lt.u32 %p0, %r2, %r4;",
                  "mov.u32 %r4, %laneid; mov.u32 %r5, %ntid.x; add.u32 %r4, %r4, %r5; "
                  "setp.lt.u32 %p0, %r2, %r4;",
                  "setp.lt.u32 %p0|%p2, %r2, 9;",
                  "setp.lt.u32 %p2|%p0, %r2, 9;",
                  "setp.lt.and.u32 %p0, %r2, 9, %p1;",
                  "setp.lt.u32 %p0, %r3, 9;",
                  "mov.b64 {%r4, %r5}, %d1; setp.lt.u32 %p0, %r5, %r2;",
                  "mov.b64 {_, %r5}, %d1; setp.lt.u32 %p0, %r5, %r2;",
                  "mov.b64 {%r5, _}, %d1; setp.lt.u32 %p0, %r5, %r2;",
                  "@%p1 add.u32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 9;",
                  "@%p1 setp.lt.u32 %p0, %r2, 9;",
                  "setp.lt.u32 %p0, %r2, 9; not.pred %p0, %p0;",
                  "add.cc.u32 %r4, %r2, 1; addc.u32 %r5, %r2, 0; setp.lt.u32 %p0, %r5, 9;",
                  "{ .reg .u32 %r2; setp.lt.u32 %p0, %r2, 9; }",
                  "{ .reg .u32 %inner; mov.u32 %inner, %r2; setp.lt.u32 %p0, %inner, 9; }",
                  "vote.sync.any.pred %p0, %p1, -1;",
                  "mov.pred %p0, %p1;",
                  ""}},
                {"work",
                 {"", "mbarrier.arrive.shared.b64 _, [shared];", "st.shared.u32 [shared], %r3;",
                  "atom.global.add.u32 %r3, [%d1], 1;", "red.global.add.u32 [%d1], 1;",
                  "bar.sync 0;", "add.u32 %r2, %r2, 1;", "@%p1 add.u32 %r2, %r2, 1;",
                  "@%p1 bra M; M:", "@%p1 bra L;",
                  "@%p1 bra E; bra F; E: ld.global.u32 %r3, [%d1]; F:", "@%p1 exit;",
                  "@%p1 ld.global.u32 %r3, [%d1];", "call f, ();",
                  "bra M; M:", "brx.idx %r2, T; T: .branchtargets M, N; M: N:",
                  "griddepcontrol.launch_dependents;", "mov.u32 %baton0, 1;"}},
                {"before",
                 {"mov.u32 %r2, 0;", "", "mov.u32 %r2, 0; ld.global.u32 %r3, [%d1];",
                  "mov.u32 %r2, 0; @%p1 ret;", "mov.u32 %r2, 0; @%p1 bra X;",
                  "mov.u32 %r2, 0; bra Y; Y:", "mov.u32 %r2, 0; st.global.u32 [%d1], 0;",
                  "griddepcontrol.wait; mov.u32 %r2, 0;"}},
                {"where",
                 {"L", "K; bra J; K: bra L; J: nanosleep.u32 1", "J; bra L; J: nanosleep.u32 1",
                  "K; bra J; K: nanosleep.u32 1; bra L; J: nanosleep.u32 1"}},
                {"sense", {"", "!"}},
                {"after",
                 {"X:", "X: ld.global.u32 %r3, [%d1];", "X: @%p1 bra L;", "X: griddepcontrol.wait;",
                  "X: @%p1 ld.global.u32 %r4, [%d0];", "X: @%p1 ret;"}},
                {"end",
                 {"ret;", "exit;", "", "@%p1 ret; ld.global.u32 %r3, [%d0]; ret;",
                  "ld.global.u32 %r3, [%d0]; ret;"}}},
      .functions = ".func f() { ret; }",
      .each_with_each = true};
}

// Kernels without a wait, which begin in every way.
CaseForm beginnings() {
  return {
      .name = "beginnings",
      .body = "$first $second ret;",
      .holes =
          {{"first",
            {"ld.global.u32 %r3, [%d0];", "L: ld.global.u32 %r3, [%d0]; @%p1 bra L;",
             "@%p1 ld.global.u32 %r3, [%d0];", "@%p1 bra M; ld.global.u32 %r3, [%d0]; M:",
             "@%p1 ret; ld.global.u32 %r3, [%d0];", "@%p1 exit;", "", "bar.sync 0;",
             "{ .param .b64 q; st.param.b64 [q], %d0; call f, (q); }",
             "{ .param .b64 q; st.param.b64 [q], %d0; mov.u32 %r4, 1; st.param.b64 [q], %d0; "
             "call f, (q); }",
             "@%p1 bra M; bra N; M: ld.global.u32 %r3, [%d0]; N:", "ld.global.nc.u32 %r3, [%d0];",
             "L: @%p1 bra M; ld.global.u32 %r3, [%d0]; bra L; M:", "trap;",
             "ld.const.u32 %r3, [table];", "ld.param.u32 %r4, [n]; st.shared.u32 [shared], %r4;",
             "griddepcontrol.launch_dependents;",
             "griddepcontrol.launch_dependents; "
             "griddepcontrol.wait;",
             "prefetch.global.L2 [%d0];"}},
           {"second",
            {"st.global.u32 [%d1], %r3;", "", "L2: st.global.u32 [%d1], %r3; @%p1 bra L2;",
             "@%p1 st.global.u32 [%d1], %r3;", "@%p1 bra X; st.global.u32 [%d1], %r3; X:",
             "@%p1 ret; st.global.u32 [%d1], %r3;", "ld.global.u32 %r4, [%d1];",
             "@%p1 bra X; st.global.u32 [%d1], %r3; ret; X: ld.global.u32 %r4, [%d1];",
             "st.global.u32 [%d1], %r3; ld.global.u32 %r4, [%d1];"}},
           {"top",
            {"", "L0:",
             "L0: ld.param.u64 %d9, [p0]; ld.global.u32 %r9, [%d9]; "
             "setp.eq.u32 %p9, %r9, 0; @%p9 bra L0;",
             "L0: mov.u32 %r9, %clock; setp.eq.u32 %p9, %r9, 0; @%p9 bra L0;"}}},
      .functions =
          ".const .u32 table; .func f(.param .b64 q) { .reg .b64 %d; .reg .b32 %r; "
          "ld.param.b64 %d, [q]; ld.global.u32 %r, [%d]; ret; }",
      .each_with_each = true};
}

// Triggers that extents decide: every launch is after one that may let it in.
CaseForm triggers() {
  return {.name = "triggers",
          .body = R"(mov.u32 %r4, $what; setp.$test %p2, %r4, $bound;
$guard griddepcontrol.launch_dependents; ld.volatile.global.u32 %r3, [%d0]; $wait
st.global.u32 [%d1], %r3; ret;)",
          .holes = {{"what",
                     {"%ntid.x", "%nctaid.x", "%tid.x", "%ctaid.x", "%ntid.y", "%nctaid.y",
                      "%tid.y", "%ctaid.z", "%laneid", "%warpid", "%r1"}},
                    {"bound", {"64", "4", "0", "1", "3", "5", "63", "65"}},
                    {"test", {"eq.u32", "lt.u32", "ge.u32"}},
                    {"guard", {"@%p2", "@!%p2", "@%p2 bra X; ret; X:", "@%p2 ret;", "@%p2 exit;"}},
                    {"wait", {"", "griddepcontrol.wait;", "@%p2 griddepcontrol.wait;"}}},
          .each_with_each = true};
}

}  // namespace

std::vector<CaseForm> rewriting_cases() {
  return {last_iterations(), beginnings(), triggers()};
}

}  // namespace baton::record
