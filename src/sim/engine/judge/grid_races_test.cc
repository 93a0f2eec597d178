// Races inside one grid: which parts of global memory conflict, and which threads a finding names.

#include "sim/engine/judge/grid_races.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>

#include "sim/engine/memory/memory_impl.h"
#include "sim/engine/run/test_device.h"

namespace baton::sim::grid_races_test {
namespace {

// Four blocks of 64 threads. %r1 is the thread, %r2 the block, %rd1 a buffer of 4096 bytes, %rd2
// the thread's word of it, by its number in the grid. %p1: the first thread of a block.
std::vector<driver::Finding> findings_of(const std::string& body) {
  TestDevice device(2, true);
  device.memory.impl().watch();
  const auto module = device.load(R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .pred %p<8>;
  .reg .b32 %r<30>;
  .reg .b64 %rd<30>;
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 64, %r1;
  setp.eq.u32 %p1, %r1, 0;
  setp.eq.u32 %p2, %r2, 0;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r3, 4;
  add.u64 %rd2, %rd1, %rd2;
)" + body + "\n  ret;\n}\n");
  return device.findings_of(module, {4}, 1024, true);
}

class NoGridRace : public testing::TestWithParam<const char*> {};

TEST_P(NoGridRace, IsFound) {
  for (const driver::Finding& finding : findings_of(GetParam())) ADD_FAILURE() << finding.message;
}

INSTANTIATE_TEST_SUITE_P(
    GridRaces, NoGridRace,
    testing::Values("st.global.u32 [%rd2], %r3; ld.global.u32 %r4, [%rd2];",
                    "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1+16];",
                    "st.global.u32 [%rd1], 7; st.global.v2.u32 [%rd1+8], {7, 8};",
                    "st.global.u32 [%rd1], 7; ld.global.u32 %r4, [%rd1];",
                    "cvt.u64.u32 %rd3, %r3; add.u64 %rd3, %rd1, %rd3; st.global.u8 [%rd3], %r3;",
                    "red.global.add.u32 [%rd1], 1; ld.volatile.global.u32 %r4, [%rd1];",
                    "st.volatile.global.u32 [%rd1], %r3; ld.relaxed.gpu.global.u32 %r4, [%rd1];",
                    "ld.global.u32 %r4, [%rd1]; atom.global.cas.b32 %r5, [%rd1], %r4, %r3;",
                    // A thread's own words, as a vector and one by one.
                    "mad.wide.u32 %rd3, %r3, 8, %rd1; st.global.v2.u32 [%rd3], {%r3, 7};"
                    "ld.global.u32 %r4, [%rd3]; ld.global.u32 %r5, [%rd3+4];",
                    "mad.wide.u32 %rd3, %r3, 8, %rd1; st.global.u32 [%rd3], %r3;"
                    "st.global.u32 [%rd3+4], 7; ld.global.v2.u32 {%r4, %r5}, [%rd3];"
                    "st.global.v2.u32 [%rd3], {%r4, %r4}; ld.global.u16 %r5, [%rd3+2];",
                    // Words that a row was written to first, one by one.
                    "st.global.u32 [%rd2], %r3; bar.sync 0; xor.b32 %r5, %r3, 33;"
                    "mul.wide.u32 %rd3, %r5, 4; add.u64 %rd3, %rd1, %rd3;"
                    "ld.global.u32 %r4, [%rd3]; ld.global.u8 %r6, [%rd3+3];"));

struct GridRace {
  const char* body;
  const char* message;  // of the first finding, after the verb
};
void PrintTo(const GridRace& one, std::ostream* stream) {
  *stream << one.body;
}
class AGridRace : public testing::TestWithParam<GridRace> {};

TEST_P(AGridRace, IsNamed) {
  const auto findings = findings_of(GetParam().body);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, driver::FindingKind::kGlobalRace);
  EXPECT_EQ(findings[0].kernel, "k");
  EXPECT_EQ(findings[0].where.substr(0, 8), "test.ptx");
  EXPECT_NE(findings[0].message.find(GetParam().message), std::string::npos) << findings[0].message;
}

INSTANTIATE_TEST_SUITE_P(
    GridRaces, AGridRace,
    testing::Values(
        GridRace{"@%p1 st.global.u32 [%rd1], %r2;",
                 "thread (0, 0, 0) of block (0, 0, 0) writes at test.ptx:16:1"},
        GridRace{"@%p1 red.global.add.u32 [%rd1], 1; bar.sync 0; ld.global.u32 %r4, [%rd1];",
                 "updates at test.ptx:16:1"},
        GridRace{"@%p1 red.cta.global.add.u32 [%rd1], 1;",
                 "the scope of one of them does not reach the other's block"},
        GridRace{"xor.b32 %r5, %r3, 32; mul.wide.u32 %rd3, %r5, 4; add.u64 %rd3, %rd1, %rd3;"
                 "st.global.u32 [%rd2], %r3; ld.global.u32 %r4, [%rd3];",
                 "thread (32, 0, 0) of the same block writes at test.ptx:16:75, and there is no "
                 "barrier between the two"},
        // After its own update, the first store still races with those of others.
        GridRace{"@%p1 st.global.u32 [%rd1], %r3; @%p1 red.global.add.u32 [%rd1], 1;",
                 "of block (0, 0, 0) "},
        GridRace{"@%p2 st.global.u16 [%rd1+6], 5; @!%p2 st.global.u32 [%rd1+4], 9;",
                 "writes 4 bytes at "}));

// Blocks 0 to 3 differ in the third byte alone: two equal bytes are not a race.
TEST(AGridRaceOfSomeBytes, HasTheAddressOfTheAccess) {
  const auto findings = findings_of("shl.b32 %r5, %r2, 16; @%p1 st.global.u32 [%rd1+8], %r5;");
  ASSERT_EQ(findings.size(), 1u);
  const std::string& message = findings[0].message;
  const std::size_t at = message.find("writes 4 bytes at 0x");
  ASSERT_NE(at, std::string::npos) << message;
  const std::string_view kBefore = "writes 4 bytes at 0x";
  EXPECT_EQ(std::stoull(message.substr(at + kBefore.size()), nullptr, 16) % 16, 8u) << message;
}

}  // namespace
}  // namespace baton::sim::grid_races_test
