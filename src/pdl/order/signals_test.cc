#include "pdl/order/signals.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "pdl/footprint/bound.h"
#include "pdl/test_support.h"

namespace baton::overlap::signals_test {
namespace {

constexpr char kInit[] = R"(
setp.eq.u32 %p1, %r1, 0;
@%p1 mbarrier.init.shared::cta.b64 [shared], 1;
@%p1 mbarrier.init.shared::cta.b64 [shared+8], 1;
bar.sync 0;
)";

// The first warp is the producer. The other warps go to CONSUMER with `before`, look at the
// mbarrier until `test` holds, and write to c.
struct Roles {
  std::string before = "";
  std::string wait = "griddepcontrol.wait;";
  std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [shared];";
  std::string test = "mbarrier.try_wait.parity.shared::cta.b64 %p2, [shared], 0;";
  std::string init = kInit;

  std::string text() const {
    return fmt::format(R"({}
setp.ge.u32 %p3, %r1, 32; @%p3 bra CONSUMER;
{} {} ret;
CONSUMER: {}
AGAIN: {} @!%p2 bra AGAIN;
st.global.u32 [%c], 1;
)",
                       init, wait, arrive, before, test);
  }
};

std::string text(const std::string& body, std::uint32_t threads = 96) {
  return text_of(footprint_of(body, "", {threads, 1, 1}));
}

bool is_late(const Roles& roles) {
  return text(roles.text()) == "write p2";
}

TEST(Signals, AnMbarrierPassesTheOrderOn) {
  EXPECT_TRUE(is_late({}));
  EXPECT_TRUE(
      is_late({.test = "mbarrier.test_wait.parity.acquire.cta.shared.b64 %p2, [shared], 0;"}));
  EXPECT_TRUE(is_late({.arrive = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [shared], 64;"}));
  EXPECT_TRUE(is_late({.arrive = "mbarrier.arrive_drop.shared.b64 %d1, [shared];"}));
  EXPECT_FALSE(is_late({.wait = ""})) << "no thread waits";
}

TEST(Signals, ThePhaseIsTheFirstOne) {
  const auto with = [](const std::string& parity, const std::string& before = "") {
    return Roles{.before = before,
                 .test = "mbarrier.try_wait.parity.shared.b64 %p2, [shared], " + parity + ";"};
  };
  EXPECT_FALSE(is_late(with("1"))) << "it holds before the first phase is over";
  EXPECT_TRUE(is_late(with("%r3", "mov.u32 %r3, 0;")));
  EXPECT_FALSE(is_late(with("%r3", "mov.u32 %r3, 1;")));
  EXPECT_FALSE(is_late(with("%r3", "and.b32 %r3, %r0, 1;")));
  EXPECT_FALSE(is_late(with("%r3"))) << "not set";
  EXPECT_FALSE(is_late({.test = "mbarrier.try_wait.shared::cta.b64 %p2, [shared], %d1;"}))
      << "a phase that a token tells";
  EXPECT_FALSE(
      is_late({.test = "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %p2, [shared], 0;"}));
}

TEST(Signals, ArrivalsAreBehindTheWait) {
  const std::string arrive = "mbarrier.arrive.shared::cta.b64 _, [shared];";
  EXPECT_FALSE(is_late({.wait = "", .arrive = arrive + "griddepcontrol.wait;"}));
  EXPECT_FALSE(is_late({.wait = "@%p1 griddepcontrol.wait;"}));
  EXPECT_TRUE(is_late({.wait = "@%p1 griddepcontrol.wait;", .arrive = "@%p1 " + arrive}) == false)
      << "what guards are the same is not followed";
  EXPECT_TRUE(is_late({.wait = "@!%p1 bra ON; griddepcontrol.wait;", .arrive = arrive + "ON:"}));
  EXPECT_FALSE(is_late({.before = arrive})) << "a consumer arrives too";
  EXPECT_FALSE(is_late({.before = "setp.eq.u32 %p4, %r1, 40; @%p4 " + arrive}));
  EXPECT_TRUE(is_late({.before = "@%p1 " + arrive})) << "of the first thread alone";
  EXPECT_FALSE(is_late({.init = std::string(kInit) + arrive}));
  EXPECT_FALSE(is_late({.arrive = "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [shared];"}));
  EXPECT_FALSE(is_late({.arrive = arrive + "cp.async.mbarrier.arrive.noinc.shared.b64 [shared];"}))
      << "what an asynchronous arrival releases is not known";
}

TEST(Signals, OtherMbarriersAreOthers) {
  const auto arrive_at = [](const std::string& place, const std::string& space = ".shared::cta") {
    return "mbarrier.arrive" + space + ".b64 _, [" + place + "];";
  };
  EXPECT_TRUE(is_late({.before = arrive_at("shared+8")}));
  EXPECT_FALSE(is_late({.before = arrive_at("shared+4")})) << "they overlap";
  EXPECT_TRUE(is_late({.before = "mov.u32 %r3, shared; add.u32 %r3, %r3, 16;" + arrive_at("%r3")}));
  EXPECT_TRUE(
      is_late({.before = "mov.u32 %r3, shared; add.u32 %r3, %r3, 16;" + arrive_at("%r3+-8")}));
  EXPECT_FALSE(
      is_late({.before = "mov.u32 %r3, shared; add.u32 %r3, %r3, 16;" + arrive_at("%r3+-16")}));
  EXPECT_FALSE(
      is_late({.before = "mov.u32 %r3, shared+8; add.u32 %r3, %r3, -8;" + arrive_at("%r3")}));
  EXPECT_TRUE(is_late(
      {.before = "mov.u64 %d3, shared; cvta.shared.u64 %d3, %d3;" + arrive_at("%d3+8", "")}));
  EXPECT_FALSE(
      is_late({.before = "mov.u64 %d3, shared; cvta.shared.u64 %d3, %d3;" + arrive_at("%d3", "")}));
  EXPECT_FALSE(is_late({.before = "mul.lo.u32 %r3, %r1, 8; mov.u32 %r4, shared;"
                                  "sub.u32 %r4, %r3, 256; add.u32 %r3, %r3, %r4;" +
                                  arrive_at("%r3")}));
  // Of the warps after the first one.
  EXPECT_TRUE(is_late({.before = "mov.u32 %r4, shared; mad.lo.u32 %r3, %r1, 8, %r4;"
                                 "add.u32 %r3, %r3, 8;" +
                                 arrive_at("%r3")}));
  EXPECT_FALSE(is_late({.before = "ld.shared.u32 %r3, [shared+32];" + arrive_at("%r3")}));
  const auto chosen = [&](const std::string& number) {
    return is_late({.before = "mov.u32 %r3, shared; add.u32 %r4, %r3, 8; mov.u32 %r5, " + number +
                              "; setp.eq.u32 %p5, %r5, 1; selp.b32 %r3, %r4, %r3, %p5;" +
                              arrive_at("%r3")});
  };
  EXPECT_TRUE(chosen("1"));
  EXPECT_FALSE(chosen("2"));
  EXPECT_FALSE(chosen("%r0")) << "either";
  EXPECT_TRUE(is_late({.before = ".shared .b64 other; " + arrive_at("other")}));
  EXPECT_FALSE(is_late({.before = ".shared .b64 other; " + arrive_at("other+8")}));
}

// All variables without an extent begin at one place.
TEST(Signals, DynamicSharedMemoryIsOneVariable) {
  const auto of = [](const std::string& arrives_at) {
    const Roles roles = {.before = "mbarrier.arrive.shared::cta.b64 _, [" + arrives_at + "];",
                         .arrive = "mbarrier.arrive.shared::cta.b64 _, [one];",
                         .test = "mbarrier.try_wait.parity.shared::cta.b64 %p2, [one], 0;"};
    return text_of(footprint_of(roles.text(),
                                ".extern .shared .align 8 .b8 one[];\n"
                                ".extern .shared .align 8 .b8 two[];",
                                {96, 1, 1}));
  };
  EXPECT_EQ(of("one+8"), "write p2");
  EXPECT_EQ(of("two+8"), "write p2");
  EXPECT_EQ(of("shared"), "write p2");
  EXPECT_EQ(of("two"), "unclear write p2");
  EXPECT_EQ(of("shared+64"), "unclear write p2") << "behind the variable dynamic memory may begin";
}

TEST(Signals, EveryPathPassesTheTest) {
  const std::string guarded =
      "setp.eq.u32 %p4, %r0, 0; @%p4 mbarrier.try_wait.parity.shared::cta.b64 %p2, [shared], 0;";
  EXPECT_FALSE(is_late({.before = "setp.eq.u32 %p2, 0, 0;", .test = guarded}))
      << "what the predicate was before";
  EXPECT_TRUE(is_late({.before = "setp.ne.u32 %p2, 0, 0;", .test = guarded}));
  EXPECT_FALSE(is_late({.before = "setp.eq.u32 %p4, %r0, 0; @%p4 bra DONE;",
                        .test = "mbarrier.try_wait.parity.shared::cta.b64 %p2, [shared], 0;"
                                "@%p2 bra DONE; bra AGAIN; DONE: setp.eq.u32 %p2, 0, 0;"}));
  EXPECT_TRUE(is_late({.test = "mbarrier.try_wait.parity.shared::cta.b64 %p2, [shared], 0;"
                               "@%p2 bra DONE; bra AGAIN; DONE: setp.eq.u32 %p2, 0, 0;"}));
  EXPECT_TRUE(is_late({.test = "mbarrier.try_wait.parity.shared::cta.b64 %p4, [shared], 0;"
                               "selp.u32 %r3, 1, 0, %p4; setp.ne.u32 %p2, %r3, 0;"}));
  EXPECT_FALSE(is_late({.test = "mbarrier.try_wait.parity.shared::cta.b64 %p4, [shared], 0;"
                                "selp.u32 %r3, 1, 0, %p4; setp.ne.u32 %p2, %r3, 1;"}));
  EXPECT_FALSE(is_late({.test = "mbarrier.try_wait.parity.shared::cta.b64 %p4, [shared], 0;"
                                "setp.ge.or.u32 %p2, %r3, 5, %p4;"}));
  EXPECT_FALSE(is_late({.test = "mbarrier.try_wait.parity.shared::cta.b64 %p2, [shared], 0;"
                                "add.u32 %r3, %r3, 1; setp.gt.u32 %p5, %r3, 9; @%p5 bra OUT;"
                                "bra ON; OUT: st.global.u32 [%c], 1; ON:"}))
      << "it gives up";
}

// CUTLASS looks once, and waits in a loop if that failed.
TEST(Signals, ATokenTellsThatThePhaseIsOver) {
  const auto with = [](const std::string& compare) {
    return Roles{.before =
                     "mbarrier.try_wait.parity.shared::cta.b64 %p4, [shared], 0;"
                     "selp.b32 %r3, 1, 0, %p4; " +
                     compare + " @%p5 bra DONE;",
                 .test =
                     "mbarrier.try_wait.parity.shared::cta.b64 %p2, [shared], 0;"
                     "@!%p2 bra AGAIN; DONE: setp.eq.u32 %p2, 0, 0;"};
  };
  EXPECT_TRUE(is_late(with("setp.ne.s32 %p5, %r3, 0;")));
  EXPECT_FALSE(is_late(with("setp.eq.s32 %p5, %r3, 0;")));
}

// Stages and phases go on in a loop; what comes after the first test is after the wait.
TEST(Signals, PhasesGoOnBehindTheFirstOne) {
  const auto loop = [](const std::string& phase) {
    return text(std::string(kInit) + R"(
setp.ge.u32 %p3, %r1, 32; @%p3 bra CONSUMER;
griddepcontrol.wait; mbarrier.arrive.shared::cta.b64 _, [shared]; ret;
CONSUMER: mov.u32 %r4, 0; mov.u32 %r5, )" +
                phase + R"(; mov.u32 %r6, 0; mov.u32 %r7, shared;
TILE: mad.lo.u32 %r8, %r4, 8, %r7;
AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r8], %r5; @!%p2 bra AGAIN;
mbarrier.arrive.shared::cta.b64 _, [%r8+8];
st.global.u32 [%c], 1;
add.u32 %r4, %r4, 1; setp.eq.u32 %p4, %r4, 4; selp.u32 %r4, 0, %r4, %p4;
xor.b32 %r9, %r5, 1; selp.u32 %r5, %r9, %r5, %p4;
add.u32 %r6, %r6, 1; setp.lt.u32 %p5, %r6, %r0; @%p5 bra TILE;
)");
  };
  EXPECT_EQ(loop("0"), "write p2");
  EXPECT_EQ(loop("1"), "unclear write p2");
}

// CUTLASS gives the stage back by an arrival at a block of the cluster, which may be its own. Its
// place stays after the mbarriers that tell of full stages.
TEST(Signals, StagesBeginAgain) {
  const auto of = [](const std::string& bound, const std::string& between = "") {
    return text(std::string(kInit) + R"(
setp.ge.u32 %p3, %r1, 32; @%p3 bra CONSUMER;
griddepcontrol.wait; mbarrier.arrive.shared::cta.b64 _, [shared]; ret;
CONSUMER: mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, shared;
TILE: shl.b32 %r8, %r4, 3; add.u32 %r8, %r7, %r8;
AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r8], %r5; @!%p2 bra AGAIN;
add.u32 %r9, %r8, 32; mapa.shared::cluster.u32 %r9, %r9, 0;
mbarrier.arrive.shared::cluster.b64 _, [%r9];
st.global.u32 [%c], 1;
add.u32 %r10, %r4, 1; )" +
                between + "setp.eq.u32 %p4, %r10, " + bound + R"(; selp.u32 %r4, 0, %r10, %p4;
selp.u32 %r11, 1, 0, %p4; xor.b32 %r5, %r5, %r11;
add.u32 %r6, %r6, 1; setp.lt.u32 %p5, %r6, %r0; @%p5 bra TILE;
)");
  };
  EXPECT_EQ(of("4"), "write p2");
  EXPECT_EQ(of("%r0"), "unclear write p2") << "arrivals in other blocks may reach any mbarrier";
  EXPECT_EQ(of("4", "setp.eq.u32 %p6, %r0, 3; @%p6 bra TILE;"), "unclear write p2");
  EXPECT_EQ(of("4", "selp.u32 %r4, 0, %r10, %p4;"), "unclear write p2")
      << "what the predicate told of the stage before";
}

// All threads of a warp have the same role, which they shuffle to each other.
TEST(Signals, RolesMayBeShuffled) {
  const auto of = [](const std::string& role) {
    return text(std::string(kInit) + role + R"(
setp.ne.u32 %p3, %r3, 0; @%p3 bra OTHERS;
griddepcontrol.wait; mbarrier.arrive.shared::cta.b64 _, [shared]; ret;
OTHERS: setp.eq.u32 %p5, %r3, 9; @%p5 mbarrier.arrive.shared::cta.b64 _, [shared];
setp.eq.u32 %p4, %r3, 1; selp.u32 %r4, 0, 1, %p4; mad.lo.u32 %r5, %r4, 8, 0;
mov.u32 %r6, shared; add.u32 %r6, %r6, %r5;
FIRST: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r6], 0; @!%p2 bra FIRST;
@%p4 mbarrier.arrive.shared::cta.b64 _, [shared+8]; st.global.u32 [%c], 1;
)");
  };
  EXPECT_EQ(of("shr.u32 %r4, %r1, 5; shfl.sync.idx.b32 %r3|%p8, %r4, 0, 31, -1;"), "write p2");
  EXPECT_EQ(of("shfl.sync.idx.b32 %r3|%p8, %r1, 0, 31, -1;"), "unclear write p2");
}

// One lane of the first warp is elected, waits and copies.
TEST(Signals, TheElectedLaneWaits) {
  const auto of = [](const std::string& elect) {
    return footprint_of(elect + R"(
setp.ge.u32 %p3, %r1, 32; or.pred %p4, %p3, %p2; @%p4 bra ON; griddepcontrol.wait; ON: bar.sync 0;
st.global.u32 [%c], 1;
)",
                        "", {96, 1, 1});
  };
  const std::string cutlass =
      "mov.u32 %r4, -1; mov.u32 %r5, 0; elect.sync %r6|%p1, %r4; @%p1 mov.s32 %r5, 1;\n";
  const Footprint found = of(cutlass + "setp.eq.u32 %p2, %r5, 0;");
  EXPECT_EQ(found.waits, Footprint::Waits::kOne);
  EXPECT_EQ(text_of(found), "write p2");
  EXPECT_EQ(of(cutlass + "setp.ne.u32 %p2, %r5, 0;").waits, Footprint::Waits::kSometimes)
      << "all but the elected one; no thread is known to be another";
  EXPECT_EQ(
      of(cutlass + "shfl.sync.idx.b32 %r7|%p5, %r5, 3, 31, -1; setp.eq.u32 %p2, %r7, 0;").waits,
      Footprint::Waits::kSometimes)
      << "what a lane has that is not elected";
  EXPECT_EQ(of(cutlass + "shr.u32 %r8, %r1, 5; shfl.sync.idx.b32 %r7|%p5, %r8, 0, 31, -1;"
                         "setp.ne.u32 %p6, %r7, 1; setp.eq.u32 %p2, %r5, 0; and.pred %p6, %p6, %p2;"
                         "selp.u32 %r9, 1, 0, %p6; setp.ne.u32 %p2, %r9, 0;")
                .waits,
            Footprint::Waits::kOne);
  EXPECT_EQ(of("elect.sync %r6|%p1, 15; not.pred %p2, %p1;").waits, Footprint::Waits::kSometimes)
      << "of some lanes";
  EXPECT_EQ(of("elect.sync %r6|%p1, -1; setp.ne.u32 %p2, %r6, 5;").waits,
            Footprint::Waits::kSometimes)
      << "which lane it is, is not known";
}

TEST(Signals, MbarriersOfOtherBlocks) {
  const std::string remote = "mov.u32 %r3, shared; mapa.shared::cluster.u32 %r3, %r3, 1;";
  const auto arrive = [&](const std::string& scope, const std::string& at) {
    return remote + "mbarrier.arrive" + scope + ".shared::cluster.b64 _, [" + at + "];";
  };
  const std::string test =
      "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [shared], 0;";
  EXPECT_TRUE(is_late({.arrive = arrive(".release.cluster", "%r3"), .test = test}));
  EXPECT_FALSE(is_late({.arrive = arrive(".release.cluster", "%r3")})) << "the test's scope";
  EXPECT_FALSE(is_late({.arrive = arrive("", "%r3"), .test = test})) << "the arrival's scope";
  EXPECT_TRUE(
      is_late({.arrive = "mbarrier.arrive.shared::cta.b64 _, [shared];" + arrive("", "%r3+8")}));
  EXPECT_FALSE(is_late({.before = arrive(".release.cluster", "%r3"), .test = test}));
  EXPECT_TRUE(is_late({.before = arrive(".release.cluster", "%r3+8"), .test = test}));
}

TEST(Signals, WhatIsNotFollowedMayArrive) {
  EXPECT_FALSE(is_late({.before = ".reg .b64 %f; call (), %f, (), P; P: .callprototype _ ();"}));
  EXPECT_FALSE(is_late({.before = "frobnicate.b64 %d3, %d4;"}));
  EXPECT_NE(text(Roles().text() + "frobnicate.b64 %d3, %d4;"), "write p2")
      << "also where it comes after all other signals";
}

// The consumers wait for the producer's arrival at a barrier with a number of threads.
TEST(Signals, ANamedBarrierPassesTheOrderOn) {
  const auto of = [](const std::string& producer, const std::string& consumer,
                     const std::string& begin = "", std::uint32_t threads = 96) {
    return text(begin + "setp.ge.u32 %p3, %r1, 32; @%p3 bra CONSUMER;\n" + producer +
                    "ret;\nCONSUMER: " + consumer + "st.global.u32 [%c], 1;\n",
                threads);
  };
  const std::string wait = "griddepcontrol.wait;", late = "write p2", unclear = "unclear write p2";
  EXPECT_EQ(of(wait + "bar.arrive 1, 96;", "bar.sync 1, 96;"), late);
  EXPECT_EQ(of(wait + "bar.sync 1, 96;", "bar.sync 1, 96;"), late);
  EXPECT_EQ(of(wait + "barrier.cta.arrive.aligned 1, 96;", "barrier.cta.sync.aligned 1, 96;"),
            late);
  EXPECT_EQ(of(wait + "bar.arrive 1, 96;", "bar.red.popc.u32 %r3, 1, 96, %p3;"), late);
  EXPECT_EQ(
      of(wait + "bar.arrive %r5, %r6;", "bar.sync %r5, %r6;", "mov.u32 %r5, 3; mov.u32 %r6, 96;"),
      late);
  EXPECT_EQ(of("bar.arrive 1, 96;" + wait, "bar.sync 1, 96;"), unclear);
  EXPECT_EQ(of(wait + "bar.arrive 1, 64;", "bar.sync 1, 64;"), unclear)
      << "the consumers need no other thread";
  EXPECT_EQ(of(wait + "bar.arrive 1, 96;", "bar.sync 1, 64;"), unclear);
  EXPECT_EQ(of(wait + "bar.arrive 1, 64;", "bar.sync 1, 96;"), unclear) << "they disagree";
  EXPECT_EQ(of(wait + "bar.arrive 2, 96;", "bar.sync 1, 96;", "", 128), unclear)
      << "a fourth warp is a consumer, and there are enough of them";
  EXPECT_EQ(of(wait + "bar.arrive 1, 96;", "bar.sync 1, 96;", "", 128), unclear);
  EXPECT_EQ(of(wait + "bar.arrive 1, 96;", "bar.arrive 1, 96; bar.sync 1, 96;"), unclear);
  EXPECT_EQ(of(wait + "bar.arrive 1, 96;", "bar.arrive 2, 96; bar.sync 1, 96;"), late);
  EXPECT_EQ(of(wait + "bar.arrive 1, 96;",
               "and.b32 %r5, %r0, 3; bar.arrive %r5, 96;"
               "bar.sync 1, 96;"),
            unclear);
  EXPECT_EQ(of(wait + "barrier.arrive 1, 96;", "barrier.sync 1, 96;"), unclear)
      << "threads of a warp may come one by one";
  EXPECT_EQ(of("@%p1 " + wait + "bar.arrive 1, 96;", "bar.sync 1, 96;"), unclear);
  EXPECT_EQ(of(wait + "bar.arrive 1, 96;",
               "setp.eq.u32 %p4, %r0, 1; @%p4 bra ON;"
               "bar.sync 1, 96; ON:"),
            "early write p2");
  EXPECT_EQ(of(wait + "bar.sync 0, 96;", "bar.sync 0, 96;"), late);
  EXPECT_EQ(of(wait + "bar.sync 0, 96;", "bar.sync 0, 96;", "bar.sync 0;"), unclear);
  // A barrier whose number of threads is not given is not followed.
  EXPECT_EQ(of(wait + "bar.sync 1;", "bar.sync 1;"), unclear);
  // The last warp of the block is not a whole one.
  EXPECT_EQ(of(wait + "bar.arrive 1, 96;", "bar.sync 1, 96;", "", 70), late);
}

// Another signal hands on what the first one gave.
TEST(Signals, OrderGoesFromSignalToSignal) {
  const auto of = [](const std::string& first) {
    return text(std::string(kInit) + R"(
setp.ge.u32 %p3, %r1, 32; @%p3 bra OTHERS;
griddepcontrol.wait; mbarrier.arrive.shared::cta.b64 _, [shared]; ret;
OTHERS: setp.ge.u32 %p4, %r1, 64; @%p4 bra LAST;
FIRST: mbarrier.try_wait.parity.shared::cta.b64 %p2, [shared], )" +
                first + R"(; @!%p2 bra FIRST;
bar.arrive 1, 64; ret;
LAST: bar.sync 1, 64; st.global.u32 [%c], 1;
)");
  };
  EXPECT_EQ(of("0"), "write p2");
  EXPECT_EQ(of("1"), "unclear write p2");
}

// The order of the first access in a launch of 96 threads that is given the number.
Order order_in_launch(const Footprint& found, std::uint64_t number) {
  const std::vector<GivenArgument> given = {GivenArgument::pointer(1), GivenArgument::pointer(2),
                                            GivenArgument::pointer(3),
                                            GivenArgument::scalar(number)};
  BoundLaunch bound =
      bind(found, given, {96, 1, 1}, {1, 1, 1}, [](std::string_view, bool) { return MemoryId{9}; });
  refine(bound, given, {96, 1, 1}, {1, 1, 1});
  return bound.accesses.at(0).order;
}

// A launch's numbers may tell that a loop has at least one turn.
TEST(Signals, ALaunchHasNumbersOfItsOwn) {
  const Footprint found = footprint_of(std::string(kInit) + R"(
setp.ge.u32 %p3, %r1, 32; @%p3 bra CONSUMER;
griddepcontrol.wait; mbarrier.arrive.shared::cta.b64 _, [shared]; ret;
CONSUMER: setp.eq.u32 %p4, %r0, 0; @%p4 bra DONE;
AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %p2, [shared], 0; @!%p2 bra AGAIN;
DONE: st.global.u32 [%c], 1;
)",
                                       "", {96, 1, 1});
  EXPECT_EQ(text_of(found), "early write p2");
  EXPECT_EQ(order_in_launch(found, 0), Order::kBefore);
  EXPECT_EQ(order_in_launch(found, 2), Order::kAfter);
}

// What is after barrier 0 stays so: the numbers tell that no thread goes round it.
TEST(Signals, ALaunchsNumbersTellThatABarrierIsPassed) {
  const Footprint found = footprint_of(R"(
setp.ne.u32 %p3, %r1, 0; @%p3 bra OTHERS;
griddepcontrol.wait; bar.sync 0; bra STORE;
OTHERS: setp.eq.u32 %p4, %r0, 0; @%p4 bra STORE;
bar.sync 0; mov.u32 %r3, 1;
STORE: st.global.u32 [%c], 1; bar.sync 1, 96;
)",
                                       "", {96, 1, 1});
  EXPECT_NE(order_in_launch(found, 0), Order::kAfter);
  EXPECT_EQ(order_in_launch(found, 2), Order::kAfter);
}

// A kernel's first instruction counts as the others do.
TEST(Signals, TheFirstInstructionMayGiveASignal) {
  const auto of = [](const std::string& first) {
    const auto module = ptx::ParsedModule::parse(fmt::format(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p) {{
.reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
{} mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32; @%p1 bra CONSUMER;
griddepcontrol.wait; bar.arrive 1, 96; ret;
CONSUMER: bar.sync 1, 96; ld.param.u64 %d1, [p]; st.global.u32 [%d1], 1; ret; }}
)",
                                                             first),
                                                 "k.ptx");
    return text_of(read_footprint(module, *module->function("k"), {96, 1, 1}));
  };
  EXPECT_EQ(of(""), "write p0");
  EXPECT_EQ(of("nanosleep.u32 1;"), "write p0");
  EXPECT_EQ(of("bar.arrive 1, 96;"), "unclear write p0");
  EXPECT_EQ(of("bar.sync 1, 64;"), "unclear write p0");
  EXPECT_EQ(of("frobnicate.b64 %d3, %d4;"), "unclear write p0");
}

// So may a number in a struct, wherever the program has computed the field's address.
TEST(Signals, ALaunchHasNumbersInStructs) {
  const auto module = ptx::ParsedModule::parse(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .align 8 .b8 p[64]) {
.reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<3>;
mov.b64 %d1, p; add.s64 %d2, %d1, 32; ld.param.u64 %d3, [%d2+-8]; ld.param.s32 %r1, [%d2+4];
setp.eq.s64 %p1, %d3, 0; setp.lt.s32 %p2, %r1, 0;
@%p1 bra NULL;
cvta.to.global.u64 %d4, %d3; ld.global.u32 %r2, [%d4];
NULL: @%p2 bra DONE;
ld.param.u64 %d5, [p]; cvta.to.global.u64 %d5, %d5; st.global.u32 [%d5], %r1;
DONE: griddepcontrol.wait; ret; }
)",
                                               "k.ptx");
  const Footprint found = read_footprint(module, *module->function("k"), {32, 1, 1});
  const auto early = [&](std::uint64_t pointer, std::uint64_t number, std::uint32_t bytes) {
    GivenArgument given{.kind = GivenArgument::Kind::kStruct};
    given.fields = {{0, MemoryId{1}, 0}};
    given.numbers = {{24, 8, pointer}, {36, bytes, number}};
    BoundLaunch bound = bind(found, std::span(&given, 1), {32, 1, 1}, {1, 1, 1},
                             [](std::string_view, bool) { return MemoryId{9}; });
    refine(bound, std::span(&given, 1), {32, 1, 1}, {1, 1, 1});
    std::string kinds;
    for (const BoundAccess& access : bound.accesses) {
      if (access.order != Order::kAfter) kinds += access.group->reads ? "read " : "write ";
    }
    return kinds;
  };
  EXPECT_EQ(early(0, 5, 4), "write ");
  EXPECT_EQ(early(0, 0xffffffff, 4), "") << "a negative number";
  EXPECT_EQ(early(0, 0xffff, 2), "write ") << "the load reads beyond the number";
  EXPECT_EQ(early(4096, 0xffffffff, 4), "read ");
}

}  // namespace
}  // namespace baton::overlap::signals_test
