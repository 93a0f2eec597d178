#include "pdl/order/flags.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "pdl/test_support.h"

namespace baton::overlap::flags_test {
namespace {

// Thread 0 stores 0 in a flag, and all meet. The first warp waits and sets the flag; the others
// poll it, and write to c.
struct Program {
  std::string begin = "@%p1 st.shared.u32 [shared], 0;";
  std::string meet = "bar.sync 0;";
  std::string wait = "griddepcontrol.wait;";
  std::string set = "st.release.cta.shared.u32 [shared], 1;";
  std::string before = "";  // in the warps that poll
  std::string poll = "ld.acquire.cta.shared.u32 %r5, [shared];";
  std::string test = "setp.eq.u32 %p2, %r5, 0;";
  std::string after = "";

  std::string text() const {
    return fmt::format(R"(setp.eq.u32 %p1, %r1, 0;
{} {}
setp.ge.u32 %p3, %r1, 32; @%p3 bra POLLS;
{} {} ret;
POLLS: {}
AGAIN: {} {} @%p2 bra AGAIN;
{}
st.global.u32 [%c], 1;
)",
                       begin, meet, wait, set, before, poll, test, after);
  }
};

bool is_late(const Program& program, std::uint32_t threads = 96) {
  return text_of(footprint_of(program.text(), "", {threads, 1, 1})) == "write p2";
}

TEST(Flags, AFlagPassesTheOrderOn) {
  EXPECT_TRUE(is_late({}));
  EXPECT_TRUE(is_late({}, 64));
  EXPECT_TRUE(is_late({.poll = "ld.acquire.gpu.shared::cta.b32 %r5, [shared];"}));
  EXPECT_TRUE(is_late({.test = "setp.ne.u32 %p2, %r5, 1;"}));
  EXPECT_FALSE(is_late({.wait = ""})) << "no thread waits";
  EXPECT_FALSE(is_late({.test = "setp.eq.u32 %p2, %r5, 1;"})) << "0 ends the loop";
  EXPECT_FALSE(is_late({.test = "setp.eq.u32 %p2, %r5, %r0;"})) << "a number that is not known";
}

TEST(Flags, TheFirstValueIsKnown) {
  EXPECT_FALSE(is_late({.begin = ""})) << "shared memory holds anything at first";
  EXPECT_FALSE(is_late({.begin = "@%p1 st.shared.u32 [shared], 1;"}));
  EXPECT_TRUE(
      is_late({.begin = "@%p1 st.shared.u32 [shared], 7;", .test = "setp.eq.u32 %p2, %r5, 7;"}));
  EXPECT_FALSE(is_late({.begin = "@%p1 st.shared.u32 [shared], %r0;"}));
  EXPECT_FALSE(is_late({.begin = "@%p1 st.shared.u16 [shared], 0;"})) << "half of it";
  EXPECT_FALSE(is_late({.begin = "@%p1 st.shared.u64 [shared], 0;"})) << "of another width";
  EXPECT_FALSE(is_late({.begin = "@%p1 st.shared.u32 [shared+4], 0;"}));
  EXPECT_FALSE(is_late({.begin = ".shared .u32 other; @%p1 st.shared.u32 [other], 0;"}))
      << "another variable";
  EXPECT_FALSE(is_late({.begin = "setp.eq.u32 %p4, %r0, 0; @%p4 st.shared.u32 [shared], 0;"}))
      << "no thread certainly makes the store";
  EXPECT_TRUE(is_late({.begin = "st.shared.u32 [shared], 0;"})) << "all threads";
  EXPECT_TRUE(is_late({.begin = "setp.eq.u32 %p4, %r1, 64; @%p4 st.shared.u32 [shared], 0;"}));
  EXPECT_FALSE(is_late({.begin = "setp.eq.u32 %p4, %r1, 64; @%p4 st.shared.u32 [shared], 0;"}, 64))
      << "there is no such thread";
  const std::string layer = "mov.u32 %r6, %tid.z; setp.eq.u32 %p4, %r6, 1; @%p4 ";
  EXPECT_FALSE(is_late({.begin = layer + "st.shared.u32 [shared], 0;"}, 64)) << "nor such a layer";
}

TEST(Flags, EachBlockHasAThread0) {
  const auto of = [](const std::string& begin) {
    return text_of(footprint_of(Program{.begin = begin}.text()));
  };
  EXPECT_EQ(of("@%p1 st.shared.u32 [shared], 0;"), "write p2");
  EXPECT_EQ(of("setp.eq.u32 %p4, %r1, 1; @%p4 st.shared.u32 [shared], 0;"), "unclear write p2");
  EXPECT_EQ(of("setp.eq.u32 %p4, %r1, 32; @%p4 st.shared.u32 [shared], 0;"), "unclear write p2");
  for (const std::string axis : {"y", "z"}) {
    const std::string one = "mov.u32 %r6, %tid." + axis + "; setp.eq.u32 %p4, %r6, 1; @%p4 ";
    EXPECT_EQ(of(one + "st.shared.u32 [shared], 0;"), "unclear write p2") << axis;
  }
}

TEST(Flags, SignedFlags) {
  EXPECT_TRUE(is_late({.begin = "@%p1 st.shared.s32 [shared], -1;",
                       .poll = "ld.acquire.cta.shared.s32 %r5, [shared];",
                       .test = "setp.lt.s32 %p2, %r5, 0;"}));
  EXPECT_FALSE(is_late({.begin = "@%p1 st.shared.s32 [shared], -1;",
                        .poll = "ld.acquire.cta.shared.s32 %r5, [shared];",
                        .test = "setp.gt.s32 %p2, %r5, 0;"}));
}

TEST(Flags, TheFirstValueComesBeforeThePoll) {
  EXPECT_FALSE(is_late({.meet = ""}));
  EXPECT_FALSE(is_late({.begin = "bar.sync 0; @%p1 st.shared.u32 [shared], 0;", .meet = ""}));
  EXPECT_TRUE(is_late({.begin = "bar.sync 0; @%p1 st.shared.u32 [shared], 0;"}));
  EXPECT_FALSE(is_late({.meet = "bar.sync 0; bar.arrive 0, 96;"})) << "barrier 0 is disturbed";
  EXPECT_FALSE(is_late({.meet = "bar.sync 1, 96;"}));
  EXPECT_FALSE(
      is_late({.begin = "@%p1 bra FIRST; bar.sync 0; bra ON; FIRST: st.shared.u32 [shared], 0; ON:",
               .meet = ""}))
      << "the thread that stores does not meet the others";
}

TEST(Flags, OnlyThreadsBehindTheWaitSetIt) {
  EXPECT_FALSE(is_late({.wait = "",
                        .set = "st.release.cta.shared.u32 [shared], 1;"
                               "griddepcontrol.wait;"}));
  EXPECT_FALSE(is_late({.wait = "@%p1 griddepcontrol.wait;"}));
  EXPECT_FALSE(is_late({.before = "st.release.cta.shared.u32 [shared], 1;"}));
  EXPECT_FALSE(is_late({.before = "atom.shared.add.u32 %r6, [shared], 1;"}));
  EXPECT_FALSE(is_late({.before = "red.release.cta.shared.add.u32 [shared], 1;"}));
  EXPECT_FALSE(is_late({.before = "st.shared.v2.u32 [shared], {%r0, %r0};"}));
  EXPECT_FALSE(is_late({.before = "st.shared.u8 [shared+3], 1;"}));
  EXPECT_TRUE(is_late({.before = "st.shared.u32 [shared+4], 1;"}));
  EXPECT_FALSE(is_late({.before = "ld.shared.u32 %r6, [shared+8]; st.shared.u32 [%r6], 1;"}))
      << "a store to a place that is not known";
  EXPECT_FALSE(is_late({.before = "st.u32 [%d0], 1;"})) << "a generic address";
  EXPECT_TRUE(is_late({.before = "st.global.u32 [%b], 1;"}) == false) << "an early write to b";
  EXPECT_FALSE(is_late({.before = "mbarrier.init.shared.b64 [shared], 1;"}));
  EXPECT_TRUE(is_late({.before = "mbarrier.init.shared.b64 [shared+16], 1;"}));
  EXPECT_FALSE(is_late(
      {.before = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [shared+32], "
                 "[%a], 16, [shared+16];"}));
}

// A vector is a store of all its elements.
TEST(Flags, AVectorMayEndInTheFlag) {
  Program last = {.begin = "@%p1 st.shared.u32 [shared+12], 0;",
                  .set = "st.release.cta.shared.u32 [shared+12], 1;",
                  .poll = "ld.acquire.cta.shared.u32 %r5, [shared+12];"};
  EXPECT_TRUE(is_late(last));
  last.before = "st.shared.v2.u32 [shared], {%r0, %r0};";
  EXPECT_TRUE(is_late(last));
  last.before = "st.shared.v4.u32 [shared], {%r0, %r0, %r0, %r0};";
  EXPECT_FALSE(is_late(last));
}

// Thread 0 writes one place of two.
TEST(Flags, EachPlaceOfAnArrayHasAValueOfItsOwn) {
  const std::string place = "and.b32 %r6, %r1, 4; mov.u32 %r7, shared; add.u32 %r6, %r6, %r7;";
  EXPECT_FALSE(is_late({.begin = place + "@%p1 st.shared.u32 [%r6], 0;",
                        .poll = place + "ld.acquire.cta.shared.u32 %r5, [%r6];"}));
}

// Each layer of the block has its own number, and so has the next one, which does not exist. The
// numbers of a warp, which has threads of two layers, are a range that holds it.
TEST(Flags, OnlyThreadsOfTheBlockStore) {
  const auto is_late_by = [](unsigned layer) {
    const Program program = {
        .begin = fmt::format("mov.u32 %r6, %tid.z; mul.lo.u32 %r6, %r6, 5; rem.u32 %r6, %r6, 7;"
                             "setp.eq.u32 %p4, %r6, {}; @%p4 st.shared.u32 [shared], 0;",
                             layer * 5 % 7)};
    return text_of(footprint_of(program.text(), "", {40, 1, 5})) == "write p2";
  };
  for (unsigned layer = 0; layer < 5; ++layer) EXPECT_TRUE(is_late_by(layer)) << layer;
  EXPECT_FALSE(is_late_by(5));
}

// The store of another block's flag tells nothing of the own one.
TEST(Flags, TheFirstValueIsOfTheOwnBlock) {
  EXPECT_FALSE(is_late({.begin = "mov.u32 %r7, shared; mapa.shared::cluster.u32 %r6, %r7, 1;"
                                 "@%p1 st.shared::cluster.u32 [%r6], 0;"}));
}

// The last conditions of a flag, one after the other.
TEST(Flags, ThePlaceAndTheMeetingAreCertain) {
  EXPECT_FALSE(is_late({.poll = "and.b32 %r6, %r1, 4; mov.u32 %r7, shared; add.u32 %r6, %r6, %r7;"
                                "ld.acquire.cta.shared.u32 %r5, [%r6];"}))
      << "one of two places";
  EXPECT_FALSE(is_late({.poll = "mov.u32 %r7, shared; mapa.shared::cluster.u32 %r6, %r7, 1;"
                                "ld.acquire.cluster.shared::cluster.u32 %r5, [%r6];"}))
      << "the flag of another block";
  EXPECT_FALSE(is_late({.poll = "ld.acquire.gpu.global.u32 %r5, [%b];"})) << "global memory";
  EXPECT_FALSE(
      is_late({.begin = "bar.sync 0; @%p1 st.shared.u32 [shared], 0;", .meet = "", .before = ""}))
      << "the threads that poll met before the store alone";
  const Program meets_later = {.begin = "bar.sync 0; @%p1 st.shared.u32 [shared], 0;",
                               .meet = "",
                               .set = "st.release.cta.shared.u32 [shared], 1; bar.sync 0;",
                               .after = "st.global.u32 [%b], 1; bar.sync 0;"};
  EXPECT_THAT(text_of(footprint_of(meets_later.text(), "", {96, 1, 1})),
              testing::HasSubstr("unclear write p1"))
      << "they meet again, but after the poll";
  EXPECT_FALSE(is_late({.before = "mov.u32 %r6, %r0; st.volatile.shared.u32 [%r6], 1;"}))
      << "a store to any place";
}

TEST(Flags, StoresOfTheFirstValueChangeNothing) {
  EXPECT_TRUE(is_late({.before = "st.volatile.shared.u32 [shared], 0;"}));
  EXPECT_FALSE(is_late({.before = "st.shared.u32 [shared], 0;"})) << "it races with the polls";
  EXPECT_FALSE(is_late({.before = "st.volatile.shared.u32 [shared], 1;"}));
}

TEST(Flags, TheWriterReleases) {
  EXPECT_FALSE(is_late({.set = "st.shared.u32 [shared], 1;"})) << "a weak store";
  EXPECT_FALSE(is_late({.set = "membar.cta; st.shared.u32 [shared], 1;"}));
  EXPECT_FALSE(is_late({.set = "st.volatile.shared.u32 [shared], 1;"}));
  EXPECT_TRUE(is_late({.set = "membar.cta; st.volatile.shared.u32 [shared], 1;"}));
  EXPECT_TRUE(
      is_late({.set = "membar.cta; add.u32 %r6, %r1, 1; st.volatile.shared.u32 [shared], 1;"}));
  EXPECT_TRUE(is_late({.set = "fence.acq_rel.cta; atom.shared.exch.b32 %r6, [shared], 1;"}));
  EXPECT_TRUE(is_late({.set = "atom.release.cta.shared.exch.b32 %r6, [shared], 1;"}));
  EXPECT_FALSE(is_late({.set = "atom.acquire.cta.shared.exch.b32 %r6, [shared], 1;"}));
  EXPECT_FALSE(is_late({.set = "fence.proxy.async; st.volatile.shared.u32 [shared], 1;"}));
  EXPECT_FALSE(is_late({.set = "@%p1 membar.cta; st.volatile.shared.u32 [shared], 1;"}));
  EXPECT_FALSE(is_late({.wait = "",
                        .set = "membar.cta; griddepcontrol.wait; "
                               "st.volatile.shared.u32 [shared], 1;"}))
      << "the fence is before the wait";
  EXPECT_FALSE(is_late(
      {.set = "mapa.shared::cluster.u32 %r6, shared, 1; st.release.cluster.shared::cluster.u32 "
              "[%r6], 1;"}))
      << "of another block";
}

TEST(Flags, TheReaderAcquires) {
  const std::string poll = "ld.volatile.shared.u32 %r5, [shared];";
  EXPECT_FALSE(is_late({.poll = "ld.shared.u32 %r5, [shared];"}));
  EXPECT_FALSE(is_late({.poll = poll}));
  EXPECT_TRUE(is_late({.poll = poll, .after = "membar.cta;"}));
  EXPECT_TRUE(
      is_late({.poll = "ld.relaxed.cta.shared.u32 %r5, [shared];", .after = "fence.acq_rel.cta;"}));
  EXPECT_TRUE(is_late({.poll = poll, .after = "add.u32 %r6, %r5, 1; fence.sc.cta;"}));
  EXPECT_TRUE(is_late({.poll = poll, .after = "add.cc.u32 %r6, %r5, 1; fence.sc.cta;"}));
  EXPECT_TRUE(is_late({.poll = poll, .after = "nanosleep.u32 32; membar.cta;"}));
  EXPECT_TRUE(is_late({.poll = poll, .after = "@%p1 trap; membar.cta;"}))
      << "nothing comes after it";
  EXPECT_FALSE(is_late({.poll = poll, .after = "@%p1 membar.cta;"}));
  EXPECT_FALSE(is_late({.poll = poll, .after = "ld.global.u32 %r6, [%a]; membar.cta;"}));
  EXPECT_FALSE(is_late({.poll = poll, .after = "bar.sync 1, 64; membar.cta;"}));
  EXPECT_FALSE(is_late({.poll = poll, .after = "fence.proxy.async;"}));
}

TEST(Flags, ThePlaceIsOne) {
  EXPECT_TRUE(is_late({.poll = "mov.u32 %r6, shared; ld.acquire.cta.shared.u32 %r5, [%r6];"}));
  EXPECT_FALSE(is_late({.poll = "mov.u32 %r6, shared; and.b32 %r7, %r1, 4; add.u32 %r6, %r6, %r7;"
                                "ld.acquire.cta.shared.u32 %r5, [%r6];"}));
  EXPECT_FALSE(is_late({.poll = "ld.acquire.gpu.global.u32 %r5, [%b];"}))
      << "what global memory holds at first is not known";
  const Program generic = {.poll =
                               "mov.u64 %d3, shared; cvta.shared.u64 %d3, %d3;"
                               "ld.acquire.cta.u32 %r5, [%d3];"};
  EXPECT_EQ(text_of(footprint_of(generic.text(), "", {96, 1, 1})), "write p2; early read shared");
}

}  // namespace
}  // namespace baton::overlap::flags_test
