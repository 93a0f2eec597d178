#include <fmt/format.h>

#include "analysis/case_programs.h"

namespace baton::record {
namespace {

// Parts of a struct, some of which overlap an address.
CaseForm fields() {
  std::vector<std::string> loads;
  for (unsigned at = 0; at < 24; ++at) {
    loads.push_back(fmt::format("ld.param.u8 %r4, [s+{}]; cvt.u64.u32 %d3, %r4;", at));
    loads.push_back(fmt::format("ld.param.u64 %d3, [s+{}];", at));
    if (at % 2 == 0) {
      loads.push_back(fmt::format("ld.param.u16 %h1, [s+{}]; cvt.u64.u16 %d3, %h1;", at));
    }
    if (at % 4 != 0) continue;
    loads.push_back(fmt::format("ld.param.u32 %r4, [s+{}]; cvt.u64.u32 %d3, %r4;", at));
    loads.push_back(
        fmt::format("ld.param.v2.u32 {{%r4, %r5}}, [s+{}]; mov.b64 %d3, {{%r4, %r5}};", at));
    loads.push_back(fmt::format("ld.param.v2.u64 {{%d4, %d3}}, [s+{}];", at));
  }
  return {.name = "fields",
          .body = "$load $use griddepcontrol.wait; ret;",
          .holes = {{"load", loads},
                    {"use",
                     {"st.global.u32 [%d3], 1;", "add.s64 %d3, %d3, %d0; st.global.u32 [%d3], 1;",
                      "st.global.u64 [%d0], %d3;"}}},
          .each_with_each = true};
}

// How many bytes an access has.
CaseForm accesses() {
  std::vector<std::string> accesses = {
      "st.async.mmio.release.sys.global.u32 [%d3], 1;",
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [shared], 1, [shared+64];",
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [shared], 1, "
      "[shared+64];",
      "red.async.mmio.release.sys.global.add.u32 [%d3], 1;",
      "st.bulk.weak.shared::cta [shared], 64, 0;",
      "st.bulk.weak [%d3], 64, 0;",
      "multimem.st.relaxed.sys.global.u32 [%d3], %r0;",
      "multimem.red.relaxed.sys.global.add.u32 [%d3], %r0;",
      "multimem.ld_reduce.relaxed.sys.global.add.u32 %r4, [%d3];",
      "cp.async.ca.shared.global [shared], [%d3], 16;",
      "cp.async.bulk.global.shared::cta.bulk_group [%d3], [shared], 64;",
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d3], [shared], 64;",
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [shared], [%d3], 64, "
      "[shared+64];",
      "prefetch.global.L2 [%d3];",
      "prefetchu.L1 [%d3];",
      "discard.global.L2 [%d3], 128;",
      "applypriority.global.L2::evict_normal [%d3], 128;",
      "ldu.global.u32 %r4, [%d3];",
      "cp.async.bulk.prefetch.L2.global [%d3], 64;",
      "cp.async.bulk.prefetch.tensor.1d.L2.global.tile [m, {%r0}];",
      "mov.u64 %d4, m; cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group "
      "[%d4, {%r0}], [shared];",
      "mov.u64 %d4, m; add.s64 %d4, %d4, 64; cp.async.bulk.tensor.1d.global.shared::cta.tile."
      "bulk_group [%d4, {%r0}], [shared];",
      "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%d3, {%r0}], [shared];",
      "mov.u64 %d4, s; cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group "
      "[%d4, {%r0}], [shared];",
      "mov.u64 %d4, m; selp.b64 %d4, %d4, %d3, %p1; cp.async.bulk.tensor.1d.global.shared::cta."
      "tile.bulk_group [%d4, {%r0}], [shared];"};
  for (const char* const type : {"u8", "s16", "b32", "f32", "u64"}) {
    const char* const value = type[1] == '6' ? "%d4" : "%r4";
    accesses.push_back(fmt::format("ld.global.{} {}, [%d3];", type, value));
    accesses.push_back(fmt::format("st.global.{} [%d3+4], {};", type, value));
    accesses.push_back(fmt::format("st.global.v2.{0} [%d3], {{{1}, {1}}};", type, value));
    accesses.push_back(
        fmt::format("ld.volatile.global.v4.{} {{%r4, %r5, %r6, %r7}}, [%d3-4];", type));
  }
  for (const char* const atom :
       {"atom.global.add.u32 %r4, [%d3], 1;", "red.global.add.u64 [%d3], %d4;",
        "atom.global.cas.b16 %h1, [%d3], %h2, %h3;", "red.global.add.noftz.f16x2 [%d3], %r4;",
        "red.global.v4.f32.add [%d3], {%r4, %r5, %r6, %r7};",
        "ld.global.v8.b32 {%r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11}, [%d3];",
        "atom.global.exch.b128 %d4, [%d3], %d5;", "ld.global.nc.u32 %r4, [%d3];",
        "ld.weak.global.L1::evict_last.u32 %r4, [%d3];",
        "wmma.load.a.sync.aligned.row.m16n16k16."
        "global.f16 {%r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11}, [%d3];"}) {
    accesses.emplace_back(atom);
  }
  return {"accesses",
          "add.s64 %d3, %d0, %d2; $early griddepcontrol.wait; add.s64 %d3, %d1, %d2; $late ret;",
          {{"early", accesses}, {"late", accesses}}};
}

CaseForm missing_arguments(std::size_t given) {
  static const char* const kNames[] = {"missing0", "missing1", "missing2",
                                       "missing3", "missing4", "missing5"};
  return {
      .name = kNames[given],
      .body = "$use griddepcontrol.wait; ret;",
      .holes = {{"use",
                 {"mov.u64 %d4, m; cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group "
                  "[%d4, {%r0}], [shared];",
                  "st.global.u32 [%d0], 1;", "st.global.u32 [%d1], 1;",
                  "mul.wide.u32 %d3, %r1, 4; add.s64 %d3, %d0, %d3; st.global.u32 [%d3], 1;",
                  "ld.param.u64 %d3, [s]; st.global.u32 [%d3], 1;",
                  "ld.param.u32 %r4, [s+8]; mul.wide.u32 %d3, %r4, 4; add.s64 %d3, %d0, %d3; "
                  "st.global.u32 [%d3], 1;",
                  "ld.param.u64 %d3, [p5]; st.global.u32 [%d3], 1;",
                  "ld.param.u64 %d3, [p5]; setp.ne.u64 %p2, %d3, 0; @%p2 st.global.u32 [%d3], 1;",
                  "@%p1 st.global.u32 [%d0], 1;"}}},
      .given = given};
}

}  // namespace

std::vector<CaseForm> memory_cases() {
  std::vector<CaseForm> forms = {fields(), accesses()};
  for (std::size_t given = 0; given < 6; ++given) forms.push_back(missing_arguments(given));
  return forms;
}

}  // namespace baton::record
