#include "analysis/case_programs.h"

namespace baton::record {
namespace {

// What a call passes, written and read in elements of any size.
CaseForm elements() {
  return {
      .name = "elements",
      .body = R"({ .param .align 8 .b8 q[16]; .param .b64 place; .param .b32 back;
$store st.param.b64 [place], %d0; $call
$result }
mul.wide.u32 %d3, %r4, 4; add.s64 %d3, %d1, %d3; st.global.u32 [%d3], 1;
griddepcontrol.wait; ret;)",
      .holes = {{"store",
                 {"st.param.b32 [q], %r0;", "st.param.v2.b32 [q], {%r0, 4};",
                  "st.param.v2.b32 [q], {%r0, %r0};", "st.param.v2.b32 [q+8], {%r0, 4};",
                  "st.param.b32 [q], 4;", "st.param.b32 [q+4], %r0;", "st.param.b64 [q], %d2;",
                  "st.param.b16 [q], %h1;", "st.param.b8 [q], 200;", "st.param.b16 [q], -3;",
                  "st.param.b32 [q], %r0; st.param.b32 [q], 7;", "@%p1 st.param.b32 [q], 7;",
                  "st.param.b32 [q], 9; @%p1 st.param.b32 [q], 7;",
                  "st.param.b32 [q], %r0; st.param.b32 [q+4], 7;", "st.param.b64 [q], %d0;", ""}},
                {"load",
                 {"ld.param.b32 %r1, [a];", "ld.param.v2.b32 {%r1, %r2}, [a];",
                  "ld.param.v2.b32 {%r2, %r1}, [a];", "ld.param.b32 %r1, [a+4];",
                  "ld.param.b32 %r1, [a+8];", "ld.param.u16 %h1, [a]; cvt.u32.u16 %r1, %h1;",
                  "ld.param.s8 %r1, [a];", "ld.param.u8 %r1, [a];", "ld.param.s16 %r1, [a];",
                  "ld.param.b64 %d1, [a]; cvt.u32.u64 %r1, %d1;", "@%p1 ld.param.b32 %r1, [a];",
                  "mov.u32 %r1, 3; @%p1 ld.param.b32 %r1, [a];",
                  "mov.b64 %d1, a; ld.b32 %r1, [%d1];", "mov.u32 %r1, a;"}},
                {"call",
                 {"call (back), f, (q, place);", "@%p1 call (back), f, (q, place);",
                  "call (back), f, (q);", "call f, (q, place);", "call (back), g, (q, place);",
                  "call (back), h, (q, place);", "call (back), f, (place, q);",
                  "mov.b64 %d4, q; call (back), f, (q, place);",
                  "mov.b64 %d4, p0; call (back), f, (q, place);",
                  "mov.b64 %d4, q+4; call (back), f, (q, place);",
                  "cvta.param.u64 %d4, q; call (back), f, (q, place);",
                  "ld.global.u64 %d4, [%d0]; call (back), %d4, (q, place);",
                  "call (back), vprintf, (q, place);"}},
                {"result",
                 {"ld.param.b32 %r4, [back];", "ld.param.u16 %r4, [back];",
                  "ld.param.b64 %d5, [back]; cvt.u32.u64 %r4, %d5;", "mov.u32 %r4, 1;",
                  "ld.param.b32 %r4, [q];", "ld.param.b32 %r4, [back+4];"}}},
      .functions = R"(.extern .func (.param .b32 r) h (.param .align 8 .b8 a[16], .param .b64 b);
.extern .func (.param .b32 r) vprintf (.param .align 8 .b8 a[16], .param .b64 b);
.func (.param .b32 r) g (.param .align 8 .b8 a[16], .param .b64 b);
.func (.param .b32 r) f (.param .align 8 .b8 a[16], .param .b64 b) {
.reg .b64 %d<9>; .reg .b32 %r<9>; .reg .b16 %h<3>; .reg .pred %p<3>;
ld.param.u64 %d0, [b]; mov.u32 %r3, %tid.y; setp.eq.u32 %p1, %r3, 7;
$load
mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %d0, %d2; st.global.u32 [%d2], 1;
st.param.b32 [r], %r1; ret; }
.func (.param .b32 r) g (.param .align 8 .b8 a[16], .param .b64 b) {
.reg .b32 %r<9>;
{ .param .b32 inner; call (inner), g, (a, b); ld.param.b32 %r1, [inner]; }
st.param.b32 [r], %r1; ret; })",
      .each_with_each = true};
}

// Addresses that are passed by value, and arguments in registers.
CaseForm addresses() {
  return {
      .name = "addresses",
      .body = R"(griddepcontrol.launch_dependents; $change
st.global.u32 [%d4], 1; griddepcontrol.wait; ret;)",
      .holes = {{"change",
                 {"call (%d4), f, (%d0, %d1);", "call (%d4), f, (%d1, %d0);",
                  "call (%d4), f, (%d0, 64);", "call (_), f, (%d0, %d1); mov.b64 %d4, %d1;",
                  "mov.b64 %d4, %d0; @%p1 call (%d4), f, (%d1, %d1);", "call (%d4), g, (%d0, %d1);",
                  "call (%d4), f, (%d0);", "mov.b64 %d4, p0; ld.param.u64 %d4, [%d4];",
                  "mov.b64 %d4, p0+8; ld.param.u64 %d4, [%d4];",
                  "mov.b64 %d4, s; ld.param.u64 %d4, [%d4+12];",
                  "mov.b64 %d4, s; cvta.param.u64 %d4, %d4; ld.u64 %d4, [%d4];",
                  "mov.b64 %d4, seen;", "mov.b64 %d4, seen+4;",
                  "mov.b64 %d4, seen; add.s64 %d4, %d4, %d2;", "mov.b64 %d4, undeclared;",
                  "mov.b64 %d4, -%d0;", "mov.b64 %d4, %d0; cvta.global.u64 %d4, %d4;",
                  "mov.b64 %d4, %d0; cvta.to.global.u64 %d4, %d4;"}},
                {"body",
                 {"mov.b64 %o, %a;", "mov.b64 %o, %b;", "add.s64 %o, %a, 64;",
                  "sub.s64 %o, %a, %b; add.s64 %o, %o, %b;", "add.s64 %a, %a, 4; mov.b64 %o, %a;",
                  "@%q mov.b64 %o, %a;", "st.global.u32 [%a], 1; mov.b64 %o, %b;"}}},
      .functions = R"(.func (.reg .b64 %o) f (.reg .b64 %a, .reg .b64 %b) {
.reg .pred %q; setp.eq.u64 %q, %a, 0; $body ret; }
.func (.reg .b64 %o) g (.reg .b64 %a, .reg .b64 %b) {
call (%o), f, (%b, %a); ret; })",
      .each_with_each = true};
}

// Branches to one of several places.
CaseForm branches() {
  return {.name = "branches",
          .body = R"(mov.u32 %r4, 1; $branch
M: st.global.u32 [%d0], %r4; bra E; N: st.global.u32 [%d1], %r4; bra E; O: mov.u32 %r4, 2;
E: griddepcontrol.wait; ret;
T1: .branchtargets M; T2: .branchtargets M, M; T3: .branchtargets M, N; T4: .branchtargets N, M, N;
T5: .branchtargets E, O, N, M;)",
          .holes = {{"branch",
                     {"brx.idx %r1, T1;",
                      "brx.idx %r1, T2;",
                      "brx.idx %r1, T3;",
                      "brx.idx %r1, T4;",
                      "brx.idx %r1, T5;",
                      "@%p1 brx.idx %r1, T2;",
                      "@%p1 brx.idx %r1, T3;",
                      "@!%p1 brx.idx %r4, T1;",
                      "brx.idx %r4, T3;",
                      "@%p1 bra M;",
                      "@!%p1 bra N;",
                      "@%p1 bra F; F:",
                      "@%p1 ret;",
                      "@%p1 exit;",
                      "@%p1 trap;",
                      "bra.uni N;",
                      "ld.global.u32 %r4, [%d0]; brx.idx %r4, T2;",
                      "ld.global.u32 %r4, [%d0]; brx.idx %r4, T3;",
                      "mov.b64 {%r5, %r6}, %d0; brx.idx %r5, T2;",
                      "mov.b64 {%r5, %r6}, %d0; brx.idx %r5, T3;"}}}};
}

}  // namespace

std::vector<CaseForm> passing_cases() {
  return {elements(), addresses(), branches()};
}

}  // namespace baton::record
