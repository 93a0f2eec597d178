// Races of two warps in shared memory: which stores conflict, and which thread a finding names.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "sim/engine/run/test_device.h"

namespace baton::sim::shared_race_test {
namespace {

// 64 threads. %r1 is the thread, %r2 the lane, %r3 the warp; %r10 to %r13 and %rd10 to %rd13 are
// the same in all of them.
std::vector<driver::Finding> run(const std::string& body, std::uint32_t blocks = 1) {
  TestDevice device(1, true);
  const auto module = device.load(R"(.version 8.3
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .pred %p<8>;
  .reg .b16 %h<30>;
  .reg .b32 %r<30>;
  .reg .b64 %rd<30>;
  .reg .b128 %q<4>;
  .shared .align 16 .b8 s[1024];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 31;
  shr.u32 %r3, %r1, 5;
  setp.eq.u32 %p1, %r2, 3;
  setp.eq.u32 %p2, %r3, 1;
  mov.u32 %r4, s;
  mov.u64 %rd4, s;
  cvta.shared.u64 %rd5, %rd4;
  mov.b32 %r10, 10; mov.b32 %r11, 11; mov.b32 %r12, 12; mov.b32 %r13, 13;
  mov.b64 %rd10, 20; mov.b64 %rd11, 21;
  mov.b64 %rd12, {%r10, %r11};
  mov.b16 %h10, 30; mov.b16 %h11, 31; mov.b16 %h12, 32; mov.b16 %h13, 33;
)" + body + "\n  ret;\n}\n");
  device.run(module, "k", {blocks}, {64});
  return device.engine.findings();
}

class EqualStores : public testing::TestWithParam<std::string> {};

TEST_P(EqualStores, AreNoRace) {
  for (const driver::Finding& finding : run(GetParam())) ADD_FAILURE() << finding.message;
}

INSTANTIATE_TEST_SUITE_P(
    SharedRace, EqualStores,
    testing::Values("st.shared.u32 [%r4], %r10;", "st.shared.u64 [%r4], %rd10;",
                    "st.shared.u8 [%r4+3], %r10;", "st.shared.v2.u32 [%r4], {%r10, %r11};",
                    "st.shared.v4.u32 [%r4], {%r10, %r11, %r12, %r13};",
                    "st.shared.v2.u64 [%r4], {%rd10, %rd11};",
                    "st.shared.v4.u16 [%r4], {%h10, %h11, %h12, %h13};",
                    "st.shared.v2.u16 [%r4], {%h10, %h11};", "st.shared.v2.u8 [%r4], {%r10, %r11};",
                    "mov.b128 %q1, {%rd10, %rd11}; st.shared.b128 [%r4], %q1;",
                    // By a generic address, under a guard, by one lane of each warp.
                    "st.v4.u32 [%rd5], {%r10, %r11, %r12, %r13};",
                    "@%p1 st.shared.v2.u32 [%r4], {%r10, %r11};",
                    "@%p1 st.v2.u64 [%rd5], {%rd10, %rd11};",
                    // By one address register, which all lanes have alike.
                    "st.shared.v2.u32 [%r4], {%r10, %r11}; st.shared.v2.u32 [%r4+8], {%r12, %r13};",
                    // What both write of what one of them writes in two parts.
                    "@%p2 st.shared.v2.u32 [%r4], {%r10, %r11}; @!%p2 st.shared.u32 [%r4+4], %r11;",
                    "@%p2 st.shared.v2.u32 [%r4], {%r10, %r11}; @!%p2 st.shared.u64 [%r4], %rd12;",
                    "@%p2 st.shared.v4.u32 [%r4], {%r12, %r13, %r10, %r11};"
                    "@!%p2 st.shared.u64 [%r4+8], %rd12;"));

// %r5 is a place for each lane, as far from the next one as the store is wide or wider.
std::string to_row(int apart, const std::string& stores) {
  return fmt::format("mad.lo.u32 %r5, %r2, {}, %r4; cvt.u16.u32 %h1, %r2; {}", apart, stores);
}

// Four times, %r8 is the turn.
std::string in_turns(const std::string& body) {
  return "mov.u32 %r8, 0; TURN: " + body +
         "bar.sync 0; add.u32 %r8, %r8, 1; setp.lt.u32 %p6, %r8, 4; @%p6 bra TURN;";
}

INSTANTIATE_TEST_SUITE_P(
    Rows, EqualStores,
    testing::Values(
        to_row(4, "st.shared.u32 [%r5], %r2;"), to_row(2, "st.shared.u16 [%r5], %h1;"),
        to_row(1, "st.shared.u8 [%r5], %r2;"), to_row(8, "st.shared.u32 [%r5], %r2;"),
        to_row(8, "st.shared.v2.u32 [%r5], {%r2, %r10};"),
        to_row(16, "st.shared.v4.u32 [%r5], {%r2, %r10, %r2, %r11};"),
        to_row(8, "st.shared.v4.u16 [%r5], {%h10, %h1, %h1, %h11};"),
        // By a generic address, and by some of the lanes.
        "mad.wide.u32 %rd6, %r2, 4, %rd5; st.u32 [%rd6], %r2;",
        to_row(4, "setp.lt.u32 %p3, %r2, 9; @%p3 st.shared.u32 [%r5], %r2;"),
        // Two by one address register.
        to_row(8, "st.shared.u32 [%r5], %r2; st.shared.u32 [%r5+4], %r10;"),
        // Several lanes to one place: two half a warp apart, eight neighbours, half a warp.
        "and.b32 %r6, %r2, 15; mad.lo.u32 %r5, %r6, 4, %r4;"
        "st.shared.u32 [%r5], %r6; st.shared.u32 [%r5+64], %r10;",
        "shr.u32 %r6, %r2, 3; mad.lo.u32 %r5, %r6, 4, %r4;"
        "st.shared.u32 [%r5], %r6; st.shared.u32 [%r5+16], %r10;",
        "shr.u32 %r6, %r2, 4; mad.lo.u32 %r5, %r6, 4, %r4;"
        "st.shared.u32 [%r5], %r6; st.shared.u32 [%r5+8], %r10;",
        // What both write of it: by stores of other sizes, by other lanes, by one value.
        to_row(4, "@!%p2 st.shared.u32 [%r5], %r2;") +
            "shl.b32 %r6, %r2, 1; add.u32 %r7, %r6, 1; mad.lo.u32 %r5, %r2, 8, %r4;"
            "@%p2 st.shared.v2.u32 [%r5], {%r6, %r7};",
        "add.u32 %r6, %r2, %r3; mad.lo.u32 %r5, %r6, 4, %r4; st.shared.u32 [%r5], %r6;",
        to_row(4, "@!%p2 st.shared.u32 [%r5], %r2; @%p2 st.shared.u32 [%r4+12], 3;"),
        // Again and again, with no barrier.
        to_row(4,
               "mov.u32 %r8, 0; AGAIN: st.shared.u32 [%r5], %r2; add.u32 %r8, %r8, 1;"
               "setp.lt.u32 %p6, %r8, 400; @%p6 bra AGAIN;"),
        // Other values in each turn.
        in_turns(to_row(4, "add.u32 %r6, %r2, %r8; st.shared.u32 [%r5], %r6;")),
        in_turns(to_row(8,
                        "add.u32 %r6, %r2, %r8;"
                        "st.shared.u32 [%r5], %r6; st.shared.u32 [%r5+4], %r8;"))));

struct Stores {
  std::string body;
  int bytes;
};
void PrintTo(const Stores& one, std::ostream* stream) {
  *stream << one.body;
}
class DifferentStores : public testing::TestWithParam<Stores> {};

// %r20 and %rd20 differ between the two warps, %r2 between the lanes.
TEST_P(DifferentStores, AreARace) {
  const auto findings =
      run(std::string("add.u32 %r20, %r3, 77; cvt.u64.u32 %rd20, %r20; cvt.u16.u32 %h20, %r20;") +
          GetParam().body);
  ASSERT_FALSE(findings.empty());
  for (const driver::Finding& finding : findings)
    EXPECT_EQ(finding.kind, driver::FindingKind::kSharedRace);
  EXPECT_TRUE(findings[0].message.starts_with(
      fmt::format("writes {} bytes of shared memory", GetParam().bytes)))
      << findings[0].message;
}

INSTANTIATE_TEST_SUITE_P(
    SharedRace, DifferentStores,
    testing::Values(Stores{"st.shared.u32 [%r4], %r20;", 4},
                    Stores{"st.shared.v2.u32 [%r4], {%r20, %r11};", 8},
                    Stores{"st.shared.v2.u32 [%r4], {%r10, %r20};", 8},
                    Stores{"st.shared.v4.u32 [%r4], {%r20, %r11, %r12, %r13};", 16},
                    Stores{"st.shared.v4.u32 [%r4], {%r10, %r20, %r12, %r13};", 16},
                    Stores{"st.shared.v4.u32 [%r4], {%r10, %r11, %r20, %r13};", 16},
                    Stores{"st.shared.v4.u32 [%r4], {%r10, %r11, %r12, %r20};", 16},
                    Stores{"st.shared.v2.u64 [%r4], {%rd20, %rd11};", 16},
                    Stores{"st.shared.v2.u64 [%r4], {%rd10, %rd20};", 16},
                    Stores{"st.v2.u64 [%rd5], {%rd10, %rd20};", 16},
                    Stores{"@%p1 st.shared.v2.u32 [%r4], {%r10, %r20};", 8},
                    // Lanes of one warp differ: no warp stores one value.
                    Stores{"st.shared.v2.u32 [%r4], {%r10, %r2};", 8},
                    // They overlap in part, and differ there.
                    Stores{"@%p2 st.shared.v2.u32 [%r4], {%r10, %r11};"
                           "@!%p2 st.shared.u32 [%r4+4], %r10;",
                           4}));

// %r6 is the lane but in one lane of warp 1.
constexpr char kOneDiffers[] = "setp.eq.u32 %p3, %r1, 39; selp.u32 %r6, 99, %r2, %p3;";
// The same in the last turn only.
constexpr char kOneDiffersAtLast[] =
    "setp.eq.u32 %p3, %r1, 39; setp.eq.and.u32 %p3, %r8, 3, %p3; selp.u32 %r6, 99, %r2, %p3;";

INSTANTIATE_TEST_SUITE_P(
    Rows, DifferentStores,
    testing::Values(
        Stores{kOneDiffers + to_row(4, "st.shared.u32 [%r5], %r6;"), 4},
        Stores{kOneDiffers + to_row(2, "cvt.u16.u32 %h2, %r6; st.shared.u16 [%r5], %h2;"), 2},
        Stores{kOneDiffers + to_row(1, "st.shared.u8 [%r5], %r6;"), 1},
        Stores{kOneDiffers + to_row(8, "st.shared.u32 [%r5], %r6;"), 4},
        Stores{kOneDiffers + to_row(8, "st.shared.v2.u32 [%r5], {%r2, %r6};"), 8},
        Stores{kOneDiffers + to_row(16, "st.shared.v4.u32 [%r5], {%r2, %r2, %r2, %r6};"), 16},
        Stores{kOneDiffers + to_row(8, "st.shared.u32 [%r5], %r2; st.shared.u32 [%r5+4], %r6;"), 4},
        // The lanes of one place differ.
        Stores{"and.b32 %r6, %r2, 15; mad.lo.u32 %r5, %r6, 4, %r4;"
               "st.shared.u32 [%r5], %r2; st.shared.u32 [%r5+64], %r10;",
               4},
        Stores{"shr.u32 %r6, %r2, 3; mad.lo.u32 %r5, %r6, 4, %r4;"
               "st.shared.u32 [%r5], %r2; st.shared.u32 [%r5+16], %r10;",
               4},
        // Warp 1 stores what its neighbour should, a word too few, or one value that is another.
        Stores{"add.u32 %r6, %r2, %r3; mad.lo.u32 %r5, %r2, 4, %r4; st.shared.u32 [%r5], %r6;", 4},
        Stores{to_row(4, "@!%p2 st.shared.u32 [%r5], %r2; @%p2 st.shared.u32 [%r4+12], 4;"), 4},
        // Two stores of the one warp, of which one agrees.
        Stores{to_row(4, "@!%p2 st.shared.u32 [%r5], %r10; st.shared.u32 [%r5], %r2;"), 4},
        Stores{in_turns(kOneDiffersAtLast + to_row(4, "st.shared.u32 [%r5], %r6;")), 4},
        Stores{in_turns(kOneDiffersAtLast +
                        to_row(8, "st.shared.u32 [%r5], %r2; st.shared.u32 [%r5+4], %r6;")),
               4},
        // Equal rows again and again, of which the last one of warp 1 differs.
        Stores{to_row(4, "mov.u32 %r8, 0; AGAIN:" + std::string(kOneDiffersAtLast) +
                             "st.shared.u32 [%r5], %r6; add.u32 %r8, %r8, 1;"
                             "setp.lt.u32 %p6, %r8, 4; @%p6 bra AGAIN;"),
               4},
        // An update tells no value, and who reads is in a race with both.
        Stores{to_row(4, "@!%p2 st.shared.u32 [%r5], %r2; @%p2 red.shared.add.u32 [%r5], 0;"), 4}));

// In block 0 a barrier orders the two warps, which store the same. In block 1 they do what they did
// in block 0, but for the barrier and a value: values were not asked for until then.
TEST(SharedRace, ComparesNoValuesOfAnEarlierBlock) {
  const auto findings =
      run("mov.u32 %r20, %ctaid.x; setp.eq.u32 %p4, %r20, 0; mad.lo.u32 %r21, %r20, %r3, %r2;" +
              to_row(4,
                     "@!%p2 st.shared.u32 [%r5], %r21; @%p4 bar.sync 0; "
                     "@%p2 st.shared.u32 [%r5], %r21;"),
          2);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, driver::FindingKind::kSharedRace);
  EXPECT_EQ(findings[0].block, (std::array<std::uint32_t, 3>{1, 0, 0}));
}

// In block 0 one warp stores rows, in block 1 both do: the other one for the first time.
std::vector<driver::Finding> first_met_in_block_1(int first, const std::string& values) {
  return run("mov.u32 %r20, %ctaid.x; setp.eq.u32 %p4, %r20, 0;" +
                 fmt::format("setp.ne.and.u32 %p5, %r3, {}, %p4; @%p5 bra DONE;", first) + values +
                 to_row(4, "st.shared.u32 [%r5], %r6; DONE:"),
             2);
}

TEST(SharedRace, KnowsWhatAWarpStoredBeforeTheOtherOneDidFirst) {
  for (const int first : {0, 1}) {
    SCOPED_TRACE(first);
    for (const std::string& values : {std::string("mov.u32 %r6, %r2;"),
                                      // Those of block 1 are others than those of block 0.
                                      std::string("mad.lo.u32 %r6, %r20, 5, %r2;")}) {
      for (const driver::Finding& finding : first_met_in_block_1(first, values)) {
        ADD_FAILURE() << finding.message;
      }
    }
    EXPECT_FALSE(first_met_in_block_1(first, kOneDiffers).empty());
    EXPECT_FALSE(first_met_in_block_1(first, "mad.lo.u32 %r6, %r20, %r3, %r2;").empty());
  }
}

// In block 1 warp 0 stores two rows as it did in block 0. Warp 1 stores both in between, the first
// ones again.
TEST(SharedRace, KnowsWhatAWarpStoresOnceTheOtherOneDid) {
  const auto findings_with = [](const std::string& last_value) {
    return run("mov.u32 %r20, %ctaid.x; setp.eq.u32 %p4, %r20, 0; mov.u32 %r7, 0;" +
                   to_row(8, "@%p2 bra OTHER; st.shared.u32 [%r5], %r2;") +
                   // Hands over: the flag orders nothing.
                   "st.volatile.shared.u32 [%r4+512], 1; @%p4 bra LAST;"
                   "POLL: ld.volatile.shared.u32 %r7, [%r4+516]; setp.eq.u32 %p5, %r7, 0;"
                   "@%p5 bra POLL; LAST: st.shared.u32 [%r5+4], " +
                   last_value +
                   "; bra DONE; OTHER: @%p4 bra DONE;"
                   "WAIT: ld.volatile.shared.u32 %r7, [%r4+512]; setp.eq.u32 %p5, %r7, 0;"
                   "@%p5 bra WAIT; st.shared.u32 [%r5], %r2; st.shared.u32 [%r5+4], %r2;"
                   "st.volatile.shared.u32 [%r4+516], 1; DONE:",
               2);
  };
  for (const driver::Finding& finding : findings_with("%r2")) {
    if (finding.kind == driver::FindingKind::kSharedRace) ADD_FAILURE() << finding.message;
  }
  const auto findings = findings_with("%r20");
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const driver::Finding& finding) {
    return finding.kind == driver::FindingKind::kSharedRace;
  }));
}

// Warp 0 writes 32 words side by side; one lane of warp 1 reads one of them.
TEST(SharedRace, NamesTheLaneWhoseBytesAreMet) {
  for (const int lane : {0, 1, 5, 30, 31}) {
    SCOPED_TRACE(lane);
    const auto findings = run(fmt::format(R"(
  mad.lo.u32 %r5, %r2, 4, %r4;
  @!%p2 st.shared.u32 [%r5], %r2;
  setp.eq.u32 %p3, %r1, {};
  @%p3 ld.shared.u32 %r6, [%r4+{}];)",
                                          32 + 31 - lane, 4 * lane));
    const driver::Finding* race = nullptr;
    for (const driver::Finding& finding : findings) {
      if (finding.kind == driver::FindingKind::kSharedRace) race = &finding;
    }
    ASSERT_NE(race, nullptr);
    EXPECT_EQ(race->thread,
              (std::array<std::uint32_t, 3>{63u - static_cast<unsigned>(lane), 0, 0}));
    EXPECT_EQ(
        race->message,
        fmt::format("reads 4 bytes of shared memory at {:#x}, that thread ({}, 0, 0) of the "
                    "same block writes at test.ptx:25:3, and there is no barrier between the two",
                    4 * lane, lane));
  }
}

}  // namespace
}  // namespace baton::sim::shared_race_test
