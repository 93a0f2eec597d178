#include "analysis/case_programs.h"

namespace baton::record {
namespace {

// A named barrier that only the warp after the wait completes.
CaseForm barriers() {
  return {
      .name = "barriers",
      .body = R"(setp.ge.u32 %p3, %r0, 32; @%p3 bra TAKES;
$wait $gives $id, $count; ret;
TAKES: $early $takes $id, $count; st.global.u32 [%d0], 1; ret;)",
      .holes = {{"count",
                 {"96", "0", "1", "31", "32", "33", "63", "64", "65", "66", "95", "97", "98", "128",
                  "%r1", "%r0", "-96"}},
                {"id", {"1", "0", "15", "16", "%r1", "%r0", "-1"}},
                {"gives",
                 {"bar.arrive", "bar.sync", "barrier.cta.arrive", "barrier.cta.arrive.aligned",
                  "barrier.cta.sync.aligned", "@%p1 bar.arrive", "nanosleep.u32 1; bar.arrive"}},
                {"takes",
                 {"bar.sync", "barrier.cta.sync", "barrier.cta.sync.aligned", "@%p1 bar.sync",
                  "bar.arrive"}},
                {"wait", {"griddepcontrol.wait;", "", "@%p1 griddepcontrol.wait;"}},
                {"early",
                 {"", "bar.arrive 1, 96;", "bar.arrive 2, 96;", "bar.sync 2, 64;",
                  "bar.red.popc.u32 %r4, 2, 64, %p1;",
                  "setp.ge.u32 %p4, %r0, 64; "
                  "@%p4 bar.arrive 1, 96;",
                  "bar.warp.sync -1;", "bar.arrive 1, 64;",
                  "and.b32 %r4, %r0, 3; bar.arrive %r4, 96;", "mystery.u32 %r4;"}}},
      .block = {96, 1, 1},
      .each_with_each = true};
}

// An mbarrier whose phase only threads after the wait complete.
CaseForm mbarriers() {
  return {
      .name = "mbarriers",
      .body = R"(setp.eq.u32 %p4, %r0, 0; @%p4 mbarrier.init.shared.b64 [shared], 32;
bar.sync 0; setp.ge.u32 %p3, %r0, 32; @%p3 bra TAKES;
$wait $gives ret;
TAKES: $early $phase
AGAIN: $tests @!%p2 bra AGAIN; st.global.u32 [%d0], 1; ret;)",
      .holes =
          {{"tests",
            {"mbarrier.test_wait.parity.shared.b64 %p2, [shared], %r6;",
             "mbarrier.try_wait.parity.shared.b64 %p2, [shared], %r6;",
             "mbarrier.try_wait.parity.shared.b64 %p2, [shared], %r6, 100;",
             "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [shared], %r6;",
             "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p2, [shared], %r6;",
             "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [shared], %r6;",
             "mbarrier.try_wait.parity.b64 %p2, [shared], %r6;",
             "mbarrier.test_wait.shared.b64 %p2, [shared], %d6;",
             "mbarrier.test_wait.parity.shared.b64 %p2, [shared+8], %r6;",
             "mbarrier.test_wait.parity.shared.b64 %p2, %r6;",
             "mbarrier.test_wait.parity.shared.b64 %p2, [shared];",
             "@%p1 mbarrier.test_wait.parity.shared.b64 %p2, [shared], %r6;"}},
           {"gives",
            {"mbarrier.arrive.shared.b64 _, [shared];", "mbarrier.arrive.shared.b64 %d6, [shared];",
             "mbarrier.arrive.shared.b64 %d6, [shared], 2;",
             "mbarrier.arrive.release.cta.shared::cta.b64 _, [shared];",
             "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [shared];",
             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [shared];",
             "mbarrier.arrive.expect_tx.shared.b64 _, [shared], 16;",
             "mbarrier.arrive.noComplete.shared.b64 %d6, [shared], 1;",
             "mbarrier.arrive_drop.shared.b64 _, [shared];", "mbarrier.arrive.b64 _, [shared];",
             "mbarrier.arrive.shared.b64 _, [shared+8];", "mbarrier.arrive.shared.b64 _, %r4;",
             "mbarrier.arrive.shared.b64 _;", "cp.async.mbarrier.arrive.noinc.shared.b64 [shared];",
             "cp.async.mbarrier.arrive.shared.b64 [shared];",
             "mbarrier.pending_count.b64 %r4, %d6;", "mbarrier.inval.shared.b64 [shared];",
             "mapa.shared::cluster.u32 %r4, %r4, 0; "
             "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];",
             "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
             "[shared];"}},
           {"phase",
            {"mov.u32 %r6, 0;", "mov.u32 %r6, 1;", "mov.u32 %r6, %r1;", "mov.u32 %r6, 2;"}},
           {"early",
            {"", "mbarrier.arrive.shared.b64 _, [shared];",
             "mbarrier.arrive.shared.b64 _, [shared+8];",
             "mbarrier.arrive.shared.b64 _, [shared+7];", "mbarrier.arrive.shared.b64 _, [other];",
             "mbarrier.complete_tx.shared.b64 [shared], 16;",
             "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [shared], 16;",
             "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
             "[shared+32], [%d1], 16, [shared];",
             "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [shared+32], "
             "1, [shared];",
             "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::"
             "bytes.b128 [shared+32], [shared];",
             "@%p1 mbarrier.arrive.shared.b64 _, [shared];"}},
           {"wait", {"griddepcontrol.wait;", "", "@%p1 griddepcontrol.wait;"}}},
      .each_with_each = true};
}

}  // namespace

std::vector<CaseForm> signal_cases() {
  return {barriers(), mbarriers()};
}

}  // namespace baton::record
