// Lanes of one warp that exchange through shared memory: which of them a finding names, and what
// orders them.

#include <gtest/gtest.h>

#include <string>

#include "sim/engine/run/test_device.h"

namespace baton::sim::shared_lanes_test {
namespace {

// One warp. %r1 is the lane, %r2 the address of its own word, %r3 of its neighbour's. %p3, %p5:
// lane 3, lane 5.
std::vector<driver::Finding> findings_of(const std::string& body) {
  TestDevice device(1, true);
  const auto module = device.load(R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .pred %p<8>;
  .reg .b32 %r<20>;
  .shared .align 16 .b8 words[256];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r4, words;
  add.u32 %r2, %r2, %r4;
  xor.b32 %r3, %r2, 4;
  setp.eq.u32 %p3, %r1, 3;
  setp.eq.u32 %p5, %r1, 5;
  st.shared.u32 [%r2], 0;
  st.shared.u32 [%r2+128], 0;
  bar.sync 0;
)" + body + "\n  ret;\n}\n");
  device.run(module, "k", {1}, {32});
  return device.engine.findings();
}

TEST(SharedLanes, NamesBothLanes) {
  const auto findings =
      findings_of("@%p3 st.shared.u32 [%r4+64], 7; @%p5 ld.shared.u32 %r5, [%r4+64];");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, driver::FindingKind::kSharedRace);
  EXPECT_EQ(findings[0].thread, (std::array<std::uint32_t, 3>{5, 0, 0}));
  EXPECT_NE(findings[0].message.find(
                "reads 4 bytes of shared memory at 0x40, that thread (3, 0, 0) of the same warp "
                "writes at test.ptx:"),
            std::string::npos)
      << findings[0].message;
  EXPECT_NE(findings[0].message.find("there is no __syncwarp() of the two lanes between them"),
            std::string::npos)
      << findings[0].message;
}

class OrderedLanesOfWarp : public testing::TestWithParam<const char*> {};
TEST_P(OrderedLanesOfWarp, AreNoRace) {
  for (const driver::Finding& finding : findings_of(GetParam())) ADD_FAILURE() << finding.message;
}
INSTANTIATE_TEST_SUITE_P(
    SharedLanes, OrderedLanesOfWarp,
    testing::Values(
        "st.shared.u32 [%r2], %r1; ld.shared.u32 %r5, [%r2];",  // their own words
        "st.shared.u32 [%r2], %r1; bar.warp.sync -1; ld.shared.u32 %r5, [%r3];",
        "ld.shared.u32 %r5, [%r3]; bar.warp.sync -1; st.shared.u32 [%r2], %r1;",
        "st.shared.u32 [%r4], 7; ld.shared.u32 %r5, [%r4];",  // each wrote the one value
        "st.shared.u32 [%r4], %r1;",                          // one instruction: one of them wins
        "st.shared.u32 [%r2], %r1; fence.acq_rel.cta; ld.shared.u32 %r5, [%r2];",
        "st.shared.u32 [%r4], 7; fence.acq_rel.cta; ld.shared.u32 %r5, [%r4];",
        "st.shared.u32 [%r2], %r1; fence.acq_rel.cta; bar.warp.sync -1; ld.shared.u32 %r5, [%r3];",
        "st.shared.u32 [%r2], %r1; bar.warp.sync -1; fence.acq_rel.cta; ld.shared.u32 %r5, [%r3];",
        "st.shared.u32 [%r2], %r1; fence.acq_rel.cta; bar.sync 0; ld.shared.u32 %r5, [%r3];",
        "st.volatile.shared.u32 [%r2], %r1; ld.volatile.shared.u32 %r5, [%r3];",
        "atom.shared.add.u32 %r5, [%r4], 1; atom.shared.add.u32 %r5, [%r4], 1;",
        "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4]; ld.shared.u32 %r5, [%r4];"));

class UnorderedLanesOfWarp : public testing::TestWithParam<const char*> {};
TEST_P(UnorderedLanesOfWarp, AreARace) {
  EXPECT_EQ(findings_of(GetParam()).size(), 1u);
}
INSTANTIATE_TEST_SUITE_P(
    SharedLanes, UnorderedLanesOfWarp,
    testing::Values(
        "st.shared.u32 [%r2], %r1; ld.shared.u32 %r5, [%r3];",
        "ld.shared.u32 %r5, [%r3]; st.shared.u32 [%r2], %r1;",
        "st.shared.u32 [%r2], %r1; st.shared.u32 [%r3], %r1;",
        "st.shared.u32 [%r4], %r1; ld.shared.u32 %r5, [%r4];",
        "@%p3 st.shared.u8 [%r4+67], 7; ld.shared.u32 %r5, [%r4+64];",
        "@%p3 st.shared.u32 [%r4+76], 7; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4+64];",
        "@%p3 st.shared.u32 [%r4+64], 7; @%p5 atom.shared.add.u32 %r5, [%r4+64], 1;",
        "bar.warp.sync -1; st.shared.u32 [%r2], %r1; ld.shared.u32 %r5, [%r3];",
        // Fences of all lanes order each lane alone.
        "st.shared.u32 [%r2], %r1; fence.acq_rel.cta; ld.shared.u32 %r5, [%r3];",
        "ld.shared.u32 %r5, [%r3]; fence.acq_rel.cta; st.shared.u32 [%r2], %r1;",
        "st.shared.u32 [%r2], %r1; fence.acq_rel.cta; fence.acq_rel.cta; ld.shared.u32 %r5, [%r3];",
        "bar.warp.sync -1; st.shared.u32 [%r2], %r1; fence.acq_rel.cta; ld.shared.u32 %r5, "
        "[%r3];"));

}  // namespace
}  // namespace baton::sim::shared_lanes_test
