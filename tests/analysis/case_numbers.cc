#include <fmt/format.h>

#include "analysis/case_programs.h"

namespace baton::record {
namespace {

constexpr char kStore[] =
    "mul.wide.u32 %d3, %r0, 4; add.s64 %d3, %d0, %d3; st.global.u32 [%d3], 1; "
    "griddepcontrol.wait; ret;";

// Comparisons that bound an index, and what is between them and the access.
CaseForm comparisons() {
  return {.name = "comparisons",
          .body = std::string("$first $then @$sense%p0 ret; ") + kStore,
          .holes = {{"first",
                     {"setp.ge.u32 %p0, %r0, 16;",
                      "setp.lt.u32 %p0, %r0, 16;",
                      "setp.gt.u32 %p0, 16, %r0;",
                      "setp.le.u32 %p0, 16, %r0;",
                      "setp.ge.s32 %p0, %r0, 16;",
                      "setp.ne.u32 %p0, %r0, 16;",
                      "setp.eq.u32 %p0, %r0, 16;",
                      "setp.ge.u32 %p0|%p3, %r0, 16;",
                      "setp.ge.and.u32 %p0, %r0, 16, %p1;",
                      "setp.ge.or.u32 %p0, %r0, 16, !%p1;",
                      "setp.ge.u32 %p0, -%r0, 16;",
                      "setp.ge.u64 %p0, %d2, 64;",
                      "setp.ge.u16 %p0, %r0, 16;",
                      "setp.ge.f32 %p0, %r0, 16;",
                      "setp.ge.u32 %p0, %r0, %r1;",
                      "setp.ge.u32 %p0, %r1, %r0;",
                      "setp.ge.u32 %p0, %r0, %r0;",
                      "set.ge.u32.u32 %r4, %r0, 16; setp.ne.u32 %p0, %r4, 0;",
                      "add.u32 %r4, %r0, 16; setp.ge.u32 %p0, %r4, 32;",
                      "setp.ge.u32 %p0, %r0, 16; setp.ge.u32 %p2, %r0, 4;",
                      "mov.u32 %r4, %r0; setp.ge.u32 %p0, %r4, 16;",
                      "mov.pred %p0, %p1;"}},
                    {"then",
                     {"",
                      "@%p1 setp.ge.u32 %p0, %r0, 4;",
                      "@!%p1 setp.ge.u32 %p0, %r0, 4;",
                      "setp.ge.u32 %p2, %r0, 8; or.pred %p0, %p0, %p2;",
                      "setp.ge.u32 %p2, %r0, 8; and.pred %p0, %p2, %p0;",
                      "setp.ge.u32 %p2, %r0, 8; @%p1 or.pred %p0, %p0, %p2;",
                      "setp.ge.u32 %p2, %r0, 8; xor.pred %p0, %p0, %p2;",
                      "not.pred %p0, %p0;",
                      "@%p1 not.pred %p0, %p0;",
                      "or.pred %p0, %p0, %p1;",
                      "and.pred %p0, %p0, !%p1;",
                      "mov.pred %p0, %p0;",
                      "@%p1 bra M; setp.ge.u32 %p0, %r0, 4; M:",
                      "@%p1 ret;",
                      "@%p1 bra M; add.u32 %r0, %r0, 1; M:",
                      "add.u32 %r0, %r0, 1;",
                      "@%p1 add.u32 %r0, %r0, 1;",
                      "@%p1 ld.param.u32 %r0, [n];",
                      "@%p1 mov.u32 %r0, 40;",
                      "@%p0 trap;",
                      "@%p0 exit;",
                      "@%p0 bra M; M:"}},
                    {"sense", {"", "!"}}},
          .each_with_each = true};
}

// Registers that a guard leaves as they were.
CaseForm guarded() {
  return {"guarded",
          std::string("mov.u32 %r4, $before; $guard $change; mov.u32 %r0, %r4; ") + kStore,
          {{"before", {"7", "%tid.x", "%r1", "%r7"}},
           {"guard", {"@%p1", "@!%p1", ""}},
           {"change",
            {"mov.u32 %r4, 20", "add.u32 %r4, %r4, 3", "ld.param.u32 %r4, [n]",
             "ld.param.v2.u32 {%r4, %r5}, [s+8]", "mov.b64 {%r4, %r5}, %d2",
             "mov.b64 {%r5, %r4}, %d2", "ld.global.u32 %r4, [%d1]", "mul.lo.u32 %r4, %r4, %r4",
             "setp.lt.u32 %p2, %r4, 2", "bra N; N: nanosleep.u32 1"}}}};
}

// An address in halves.
CaseForm halves() {
  std::vector<std::string> changes = {
      "",
      "and.b32 %r4, -16, %r4;",
      "or.b32 %r4, %r4, 12;",
      "or.b32 %r4, %r4, 4096;",
      "xor.b32 %r4, %r4, 4095;",
      "add.u32 %r4, %r4, 4;",
      "sub.u32 %r4, %r4, 4;",
      "add.cc.u32 %r4, %r4, 64; addc.u32 %r5, %r5, 0;",
      "sub.cc.u32 %r4, %r4, 64; subc.u32 %r5, %r5, 0;",
      "add.cc.u32 %r4, %r4, %r0; addc.u32 %r5, %r5, %r0;",
      "mov.b32 %r6, %r4; mov.b32 %r4, %r6;",
      "mov.b64 %d4, {%r5, %r4}; mov.b64 {%r5, %r4}, %d4;",
      "mov.b32 %r5, %r4;",
      "ld.param.u32 %r5, [p0+4];",
      "ld.param.u32 %r5, [p1+4];",
      "ld.param.u32 %r4, [p0];",
      "shl.b32 %r4, %r4, 0;",
      "shl.b64 %d4, %d0, 32; shr.u64 %d4, %d4, 32; cvt.u32.u64 %r4, %d4;",
      "cvt.u32.u64 %r4, %d0; shr.u64 %d4, %d0, 32; cvt.u32.u64 %r5, %d4;",
      "and.b16 %h1, %h1, 15;",
      "and.b32 %r5, %r5, -1;",
      "and.b32 %r5, %r5, 15;",
      "min.u32 %r5, %r5, %r5;",
      "selp.b32 %r5, %r5, %r4, %p1;",
      "prmt.b32 %r4, %r4, %r4, 0x3210;"};
  for (const char* const mask : {"-1", "-2", "-16", "-4096", "-4097", "-8192", "0xfff", "0x1000",
                                 "0xffff", "15", "0", "0xf0000000"}) {
    changes.push_back(fmt::format("and.b32 %r4, %r4, {};", mask));
  }
  return {"halves",
          "mov.b64 {%r4, %r5}, %d0; $change mov.b64 %d3, {%r4, %r5}; st.global.u32 [%d3], 1; "
          "griddepcontrol.wait; ret;",
          {{"change", changes}}};
}

CaseForm whole_masks() {
  std::vector<std::string> changes;
  for (const char* const mask :
       {"-1", "-2", "-4096", "-4097", "-8192", "0xfff", "0x1000", "0xffff", "0", "0xffffffff"}) {
    changes.push_back(fmt::format("and.b64 %d3, %d0, {};", mask));
    changes.push_back(fmt::format("and.b64 %d3, {}, %d0;", mask));
    changes.push_back(fmt::format("or.b64 %d3, %d0, {};", mask));
    changes.push_back(fmt::format("xor.b64 %d3, {}, %d0;", mask));
    changes.push_back(fmt::format("and.b64 %d3, %d0, {}; add.s64 %d3, %d3, %d1;", mask));
    changes.push_back(fmt::format("and.b64 %d3, %d0, {}; sub.s64 %d3, %d0, %d3;", mask));
  }
  return {
      "masks", "$change st.global.u32 [%d3], 1; griddepcontrol.wait; ret;", {{"change", changes}}};
}

// An index or an address that goes on, and begins again at its bound.
CaseForm turning() {
  return {.name = "turning",
          .body =
              "mov.u32 %r4, $begin; mov.u32 %r9, $begin; mov.u32 %r6, 0;\n"
              "L: add.u32 %r5, %r4, $step; setp.$test.$type %p2, %r5, $bound; "
              "selp.b32 %r4, $chosen, %p2; mul.wide.u32 %d4, %r4, 4; add.s64 %d4, %d4, %d0; "
              "st.global.u32 [%d4], 1; add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, 40; @%p3 bra L; "
              "griddepcontrol.wait; ret;",
          .holes = {{"begin", {"0", "shared", "1", "%tid.x", "other", "%r1"}},
                    {"bound", {"4", "0", "1", "3", "8", "16", "32", "%r1", "-1", "shared"}},
                    {"step", {"1", "0", "4", "-1", "%r1"}},
                    {"test", {"eq", "ne", "lt", "ge"}},
                    {"type", {"u32", "s32", "b32", "u16", "u64"}},
                    {"chosen",
                     {"%r9, %r5", "%r5, %r9", "%r5, %r5", "0, %r5", "%r5, 0", "%r9, %r4", "%r5, 16",
                      "%r7, %r5"}}},
          .each_with_each = true};
}

}  // namespace

std::vector<CaseForm> number_cases() {
  return {comparisons(), guarded(), halves(), whole_masks(), turning()};
}

}  // namespace baton::record
