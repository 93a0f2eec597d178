// Which instructions order the warps of a block by a flag or an mbarrier, and which do not.

#include <gtest/gtest.h>

#include <string>

#include "sim/engine/run/test_device.h"

namespace baton::sim::shared_flags_test {
namespace {

// Warp 0 writes a word and tells; warp 1 is told and reads the word. `flag` is 0 at first, `bar` an
// mbarrier of 32 arrivals. %p1: warp 1.
std::vector<driver::Finding> findings_of(const std::string& tells, const std::string& is_told) {
  TestDevice device(1, true);
  const auto module = device.load(R"(.version 8.8
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .pred %p<8>;
  .reg .b32 %r<30>;
  .reg .b64 %rd<10>;
  .shared .align 8 .b64 bar;
  .shared .align 4 .b32 flag;
  .shared .align 4 .b32 word;
  mov.u32 %r1, %tid.x;
  setp.ge.u32 %p1, %r1, 32;
  setp.eq.u32 %p2, %r1, 0;
  mov.u32 %r9, 1;
  @%p2 mbarrier.init.shared.b64 [bar], 32;
  @%p2 st.shared.u32 [flag], 0;
  @%p2 st.shared.u32 [word], 0;
  bar.sync 0;
  @%p1 bra TOLD;
  st.shared.u32 [word], %r9;
)" + tells + R"(
  bra DONE;
TOLD:
)" + is_told + R"(
  ld.shared.u32 %r4, [word];
DONE:
  ret;
}
)");
  device.run(module, "k", {1}, {64});
  return device.engine.findings();
}

std::string polls(const std::string& load, const std::string& behind = "") {
  return "AGAIN: " + load + " %r5, [flag]; setp.eq.u32 %p3, %r5, 0; @%p3 bra AGAIN; " + behind;
}
std::string waits(const std::string& order, const std::string& behind = "") {
  return "AGAIN: mbarrier.try_wait.parity" + order +
         ".shared::cta.b64 %p3, [bar], 0; @!%p3 bra AGAIN; " + behind;
}

struct Pair {
  std::string tells, is_told;
};
void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.tells << " | " << pair.is_told;
}

const std::string kFence = "fence.acq_rel.cta; ";
const std::string kStore = "st.relaxed.cta.shared.u32 [flag], %r9;";
const std::string kArrive = "mbarrier.arrive.shared::cta.b64 %rd1, [bar];";
const std::string kArriveRelaxed = "mbarrier.arrive.relaxed.cta.shared::cta.b64 %rd1, [bar];";
const std::string kAcquire = "ld.acquire.cta.shared.u32";
const std::string kRelaxed = "ld.relaxed.cta.shared.u32";

class Ordered : public testing::TestWithParam<Pair> {};

TEST_P(Ordered, IsNoRace) {
  for (const driver::Finding& finding : findings_of(GetParam().tells, GetParam().is_told)) {
    ADD_FAILURE() << finding.message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    SharedFlags, Ordered,
    testing::Values(
        Pair{"st.release.cta.shared.u32 [flag], %r9;", polls(kAcquire)},
        Pair{"st.release.cta.shared.u32 [flag], %r9;", polls(kRelaxed, kFence)},
        Pair{"membar.cta; st.volatile.shared.u32 [flag], %r9;",
             polls("ld.volatile.shared.u32", "membar.cta;")},
        Pair{"fence.sc.gpu; red.shared.add.u32 [flag], 1;", polls(kAcquire)},
        Pair{"atom.acq_rel.cta.shared.exch.b32 %r6, [flag], 1;", polls(kAcquire)},
        Pair{"red.release.gpu.shared.add.u32 [flag], 1;", polls(kRelaxed, "fence.sc.cta;")},
        // A release and then another strong write of the same thread; an update as an acquire.
        Pair{"st.release.cta.shared.u32 [flag], %r9; " + kStore, polls(kAcquire)},
        Pair{"st.release.cta.shared.u32 [flag], %r9;",
             "AGAIN: atom.relaxed.cta.shared.add.u32 %r5, [flag], 0;"
             "setp.eq.u32 %p3, %r5, 0; @%p3 bra AGAIN;"},
        Pair{kFence + kStore, polls(kAcquire)}, Pair{kArrive, waits("")},
        Pair{kArrive, waits(".acquire.cta")}, Pair{kFence + kArriveRelaxed, waits("")},
        Pair{kArrive, waits(".relaxed.cta", kFence)},
        Pair{kFence + kArriveRelaxed, waits(".relaxed.cta", kFence)}));

class Unordered : public testing::TestWithParam<Pair> {};

TEST_P(Unordered, IsARace) {
  const auto findings = findings_of(GetParam().tells, GetParam().is_told);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, driver::FindingKind::kSharedRace);
}

INSTANTIATE_TEST_SUITE_P(
    SharedFlags, Unordered,
    testing::Values(Pair{kStore, polls(kAcquire)}, Pair{kStore, polls(kRelaxed, kFence)},
                    Pair{kStore + kFence, polls(kAcquire)},
                    Pair{"st.release.cta.shared.u32 [flag], %r9;", polls(kRelaxed)},
                    Pair{"st.release.cta.shared.u32 [flag], %r9;", kFence + polls(kRelaxed)},
                    Pair{"st.volatile.shared.u32 [flag], %r9;", polls("ld.volatile.shared.u32")},
                    Pair{"red.shared.add.u32 [flag], 1;", polls(kAcquire)},
                    Pair{"atom.acquire.cta.shared.exch.b32 %r6, [flag], 1;", polls(kAcquire)},
                    // What is released comes before the write; a proxy fence orders no threads.
                    Pair{"fence.acq_rel.cta; st.shared.u32 [word], %r9; " + kStore,
                         polls(kAcquire)},
                    Pair{"fence.proxy.async.shared::cta; " + kStore, polls(kAcquire)},
                    Pair{kArriveRelaxed, waits("")}, Pair{kArrive, waits(".relaxed.cta")}));

}  // namespace
}  // namespace baton::sim::shared_flags_test
