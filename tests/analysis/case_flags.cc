#include <fmt/format.h>

#include "analysis/case_programs.h"

namespace baton::record {
namespace {

using Texts = std::vector<std::string>;

// As in src/pdl/flags_test.cc: a thread stores the first value, and all meet. The first warp waits
// and sets the flag; the others poll it, and write.
constexpr char kFlag[] = R"($first $meet
setp.ge.u32 %p3, %r0, 32; @%p3 bra POLLS;
$wait $place $set ret;
POLLS: $before
AGAIN: $poll $test @%p2 bra AGAIN;
$after st.global.u32 [%d0], 1; ret;)";

const Texts kMeet = {"bar.sync 0;",
                     "barrier.cta.sync 0;",
                     "bar.sync 0, 64;",
                     "barrier.sync 0;",
                     "",
                     "bar.red.popc.u32 %r4, 0, %p1;",
                     "@%p1 bar.sync 0;",
                     "bar.sync 0; bar.sync 0;"};

Texts places() {
  Texts texts = {"mov.u32 %r8, shared;"};
  for (const char* const change :
       {"add.u32 %r8, %r8, 4;",
        "add.s32 %r8, 4, %r8;",
        "sub.u32 %r8, %r8, 4;",
        "sub.s32 %r8, 4, %r8;",
        "add.u32 %r8, %r8, %r0;",
        "sub.u32 %r8, %r8, %r0;",
        "and.b32 %r4, %r0, 0; add.u32 %r8, %r8, %r4;",
        "add.u32 %r8, %r8, %r1;",
        "add.s32 %r8, %r8, 0x7fffffff;",
        "add.s32 %r8, %r8, 0x80000000;",
        "add.s32 %r8, %r8, -16;",
        "add.s32 %r8, %r8, -16; add.s32 %r8, %r8, 16;",
        "cvt.u16.u32 %r8, %r8;",
        "cvt.u32.u16 %r8, %r8;",
        "cvt.s32.s16 %r8, %r8;",
        "cvt.u32.u8 %r8, %r8;",
        "cvt.rn.f32.u32 %r8, %r8;",
        "cvt.u64.u32 %d8, %r8; cvt.u32.u64 %r8, %d8;",
        "cvt.s64.s32 %d8, %r8; cvt.u32.u64 %r8, %d8;",
        "cvt.u64.u32 %d8, %r8; add.s64 %d8, %d8, 8; "
        "cvt.u32.u64 %r8, %d8;",
        "cvt.u64.u32 %d8, %r8; cvta.shared.u64 %d8, %d8; "
        "cvta.to.shared.u64 %d8, %d8; cvt.u32.u64 %r8, %d8;",
        "cvt.u64.u32 %d8, %r8; cvta.shared.u64 %d8, %d8; cvt.u32.u64 %r8, %d8;",
        "cvt.u64.u32 %d8, %r8; cvta.to.shared.u64 %d8, %d8; cvt.u32.u64 %r8, %d8;",
        "cvt.u64.u32 %d8, %r8; cvta.global.u64 %d8, %d8; cvt.u32.u64 %r8, %d8;",
        "mad.lo.u32 %r8, %r0, 0, %r8;",
        "mad.lo.u32 %r8, %r0, 4, %r8;",
        "mad.lo.u32 %r8, %r8, 1, 0;",
        "mad.wide.u32 %d8, %r0, 0, %d0; cvt.u32.u64 %r8, %d8;",
        "mapa.shared::cluster.u32 %r8, %r8, 0;",
        "mapa.shared::cluster.u32 %r8, %r8, %r1;",
        "selp.b32 %r8, %r8, %r8, %p1;",
        "mov.u32 %r9, other; selp.b32 %r8, %r8, %r9, %p1;",
        "add.u32 %r9, %r8, 4; "
        "selp.b32 %r8, %r8, %r9, %p1;",
        "shl.b32 %r8, %r8, 0;",
        "not.b32 %r8, %r8; not.b32 %r8, %r8;",
        "and.b32 %r8, %r8, -4;",
        "or.b32 %r8, %r8, 0;",
        "min.u32 %r8, %r8, %r8;",
        "add.sat.s32 %r8, %r8, 4;",
        "add.cc.u32 %r8, %r8, 4;",
        "mul.lo.u32 %r8, %r8, 1;",
        "shfl.sync.idx.b32 %r8, %r8, 0, 31, -1;",
        "ld.shared.u32 %r8, [shared+32];",
        "@%p1 add.u32 %r8, %r8, 4;",
        "mov.u32 %r8, other;",
        "mov.u32 %r8, shared+4;",
        "mov.u32 %r8, shared+124;",
        "mov.u32 %r8, shared+128;",
        "mov.u32 %r8, shared-4;"}) {
    texts.push_back(fmt::format("mov.u32 %r8, shared; {}", change));
  }
  return texts;
}

CaseForm flags() {
  return {
      .name = "flags",
      .body = kFlag,
      .holes =
          {{"place", places()},
           {"set",
            {"st.release.cta.shared.u32 [%r8], 1;", "st.release.cta.shared.u32 [%r8+4], 1;",
             "membar.cta; st.volatile.shared.u32 [%r8-4], 1;",
             "red.release.cta.shared.add.u32 [%r8], 1;", "st.release.cta.shared.u16 [%r8+2], 1;"}},
           {"first",
            {"setp.eq.u32 %p4, %r0, 0; @%p4 st.shared.u32 [shared], 0;", "",
             "st.shared.u32 [shared], 0;", "st.shared.u32 [other], 0;",
             "st.shared.u32 [shared], 0; st.shared.u32 [shared+4], 0;",
             "st.shared.v2.u32 [shared], {%r7, %r7};", "st.shared.u64 [shared], 0;",
             "mov.u32 %r5, 0; st.shared.u32 [shared], %r5;", "st.volatile.shared.u32 [shared], 0;",
             "atom.shared.exch.b32 %r5, [shared], 0;", "st.u32 [shared], 0;",
             "setp.eq.u32 %p4, %r0, 63; @%p4 st.shared.u32 [shared], 0;",
             "setp.eq.u32 %p4, %r0, 32; @%p4 st.shared.u32 [shared], 0;",
             "setp.eq.u32 %p4, %r0, 64; @%p4 st.shared.u32 [shared], 0;"}},
           {"top",
            {"", "st.shared.u32 [shared], 0;", "st.shared.u32 [shared], 1;",
             "st.volatile.shared.u32 [shared], 0;", "bar.sync 0;", "griddepcontrol.wait;",
             "st.shared.u32 [shared], %r59;"}},
           {"meet", kMeet},
           {"wait",
            {"griddepcontrol.wait;", "", "@%p1 griddepcontrol.wait;",
             "griddepcontrol.wait; griddepcontrol.wait;"}},
           {"before",
            {"",
             "st.shared.u32 [shared+4], 1;",
             "st.shared.u8 [shared+3], 1;",
             "cp.async.bulk.global.shared::cta.bulk_group [%d1], [shared], 16;",
             "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [shared], 16;",
             "mov.u64 %d4, m; cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group "
             "[%d4, {%r0}], [shared];",
             "mov.u64 %d4, m; cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile."
             "bulk_group [%d4, {%r0}], [shared];",
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [shared+32], "
             "[%d1], 16, [shared+16];",
             "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [shared+32], "
             "[shared], 16, [shared+16];",
             "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add."
             "u32 [shared+32], [shared], 16, [shared+16];",
             "cp.async.ca.shared.global [shared+16], [%d1], 4;",
             "cp.async.mbarrier.arrive.shared.b64 [shared+16];",
             "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [shared+8], 1, "
             "[shared+64];",
             "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
             "[shared+8], 1, [shared+64];",
             "st.bulk.weak.shared::cta [shared+64], 64, 0;",
             "mbarrier.init.shared.b64 [shared], 1;",
             "mbarrier.init.shared.b64 [shared+8], 1;",
             "mbarrier.init.shared.b64 [shared+16], 1;",
             "mbarrier.inval.shared.b64 [shared+16];",
             "stmatrix.sync.aligned.m8n8.x1.shared.b16 [shared+64], {%r4};",
             "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [shared];",
             "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [shared+64], 32;",
             "st.u32 [%d1], 1;",
             "st.local.u32 [%r4], 1;",
             "atom.shared.add.u32 %r4, [shared+4], 1;",
             "atom.global.add.u32 %r4, [%d1], 1;",
             "mystery.shared.u32 [shared+64], %r4;",
             "st.volatile.shared.u32 [shared], 0;",
             "st.volatile.shared.u32 [shared], 1;"}},
           {"poll",
            {"ld.acquire.cta.shared.u32 %r5, [shared];", "ld.acquire.cta.shared.s32 %r5, [shared];",
             "ld.volatile.shared.u32 %r5, [shared];", "ld.shared.u32 %r5, [shared];",
             "ld.acquire.cta.shared.u32 %r5, [shared+4];", "ld.acquire.cta.u32 %r5, [shared];",
             "ld.acquire.cta.shared.u16 %r5, [shared];",
             "@%p1 ld.acquire.cta.shared.u32 %r5, [shared];",
             "mov.u32 %r9, shared; add.u32 %r9, %r9, 4; ld.acquire.cta.shared.u32 %r5, [%r9-4];",
             "atom.shared.or.b32 %r5, [shared], 0;", "ld.acquire.cta.shared.f32 %r5, [shared];",
             "ld.acquire.cta.shared.v2.u32 {%r5, %r6}, [shared];"}},
           {"test",
            {"setp.eq.u32 %p2, %r5, 0;", "setp.ne.u32 %p2, %r5, 1;", "setp.eq.u32 %p2, %r5, 1;",
             "setp.lt.s32 %p2, %r5, 1;", "setp.gt.u32 %p2, 1, %r5;", "setp.eq.u32 %p2, %r5, %r1;"}},
           {"after",
            {"", "membar.cta;", "fence.acq_rel.cta;", "fence.sc.cta;", "membar.gl;",
             "fence.proxy.async;", "fence.acq_rel.cluster; ", "@%p1 membar.cta;",
             "nanosleep.u32 1; membar.cta;", "ld.global.u32 %r6, [%d1]; membar.cta;"}}},
      .each_with_each = true};
}

// First values of every width, with and without a sign.
CaseForm first_values() {
  Texts texts;
  for (const char* const type :
       {"u8", "s8", "b8", "u16", "s16", "b16", "u32", "s32", "u64", "s64"}) {
    const bool is_wide = type[1] == '6';
    for (const char* const value : {"200", "-56", "127", "0", "1", "0xfffffff8", "0x1c8", "-1"}) {
      for (const char* const test : {"eq.u", "ge.s"}) {
        texts.push_back(fmt::format(
            "st.shared.{0} [shared], {1}; bar.sync 0; setp.ge.u32 %p3, %r0, 32; @%p3 bra AGAIN; "
            "griddepcontrol.wait; membar.cta; st.volatile.shared.u8 [shared], 3; ret; "
            "AGAIN: ld.acquire.cta.shared.{0} {2}, [shared]; setp.{3}{4} %p2, {2}, {1};",
            type, value, is_wide ? "%d5" : "%r5", test, is_wide ? "64" : "32"));
      }
    }
  }
  return {.name = "first_values",
          .body = "$flag @%p2 bra AGAIN; st.global.u32 [%d0], 1; ret;",
          .holes = {{"flag", texts}}};
}

// One warp sets many flags early, each after the one before it, and then polls one that is right.
CaseForm chains() {
  Texts texts;
  for (unsigned count = 5; count <= 18; ++count) {
    std::string first, early;
    for (unsigned k = 0; k < count; ++k) {
      first += fmt::format("st.shared.u32 [shared+{}], 0; ", 4 * k + 8);
      early += fmt::format(
          "st.release.cta.shared.u32 [shared+{0}], 1; A{1}: ld.acquire.cta.shared.u32 %r5, "
          "[shared+{0}]; setp.eq.u32 %p2, %r5, 0; @%p2 bra A{1}; ",
          4 * k + 8, k);
    }
    texts.push_back(first +
                    "st.shared.u32 [shared], 0; bar.sync 0; setp.ge.u32 %p3, %r0, 32; "
                    "@%p3 bra POLLS; griddepcontrol.wait; st.release.cta.shared.u32 "
                    "[shared], 1; ret; POLLS: " +
                    early);
  }
  return {.name = "chains",
          .body =
              "$all A: ld.acquire.cta.shared.u32 %r5, [shared]; setp.eq.u32 %p2, %r5, 0; "
              "@%p2 bra A; st.global.u32 [%d0], 1; ret;",
          .holes = {{"all", texts}}};
}

// The first value comes from a thread of a later warp, in blocks of one, two and three extents.
CaseForm storers(const char* name, std::array<std::uint32_t, 3> block) {
  Texts who;
  for (const unsigned thread : {0, 1, 31, 32, 64, 192, 223, 224, 255, 256, 257, 288}) {
    who.push_back(fmt::format("setp.eq.u32 %p4, %r0, {};", thread));
  }
  for (const char* const axis : {"y", "z"}) {
    for (const unsigned at : {0, 1, 2, 3, 4, 7}) {
      who.push_back(fmt::format("mov.u32 %r4, %tid.{}; setp.eq.u32 %p4, %r4, {};", axis, at));
      who.push_back(
          fmt::format("mov.u32 %r4, %tid.{}; setp.eq.u32 %p4, %r4, {}; "
                      "setp.eq.u32 %p5, %r0, 0; and.pred %p4, %p4, %p5;",
                      axis, at));
    }
  }
  return {.name = name,
          .body =
              "$who @%p4 st.shared.u32 [shared], 0; bar.sync 0; mov.u32 %r6, %tid.x; "
              "setp.ge.u32 %p3, %r6, 8; @%p3 bra POLLS; griddepcontrol.wait; "
              "st.release.cta.shared.u32 [shared], 1; ret; POLLS: "
              "ld.acquire.cta.shared.u32 %r5, [shared]; setp.eq.u32 %p2, %r5, 0; "
              "@%p2 bra POLLS; st.global.u32 [%d0], 1; ret;",
          .holes = {{"who", who}},
          .block = block};
}

}  // namespace

std::vector<CaseForm> flag_cases() {
  return {flags(),
          first_values(),
          chains(),
          storers("storers", {320, 1, 1}),
          storers("storers_in_rows", {16, 8, 3}),
          storers("storers_in_columns", {8, 3, 16})};
}

}  // namespace baton::record
