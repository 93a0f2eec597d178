#include "pdl/verdict/chain_test.h"

namespace baton::overlap::chain_test {
namespace {

TEST_F(ChainTest, AWaitBeforeEverythingIsProven) {
  first(launch(kGood, kX, kWeight, kY));
  expect(next(launch(kGood, kY, kWeight, kX)), Kind::kProven, Cause::kHolds);
  expect(next(launch(kPrefetches, kX, kWeight, kY)), Kind::kProven, Cause::kHolds);
}

// The fence of a copy by the map that comes after the wait.
TEST_F(ChainTest, AMapThatIsAcquiredBeforeTheWaitMayBeAsItWas) {
  first(launch(kGood, kX, kWeight, kY));
  expect(next(launch(kAcquiresEarly, kZ, kX, kX)), Kind::kProven, Cause::kHolds);
  chain_.cut();
  first(launch(kGood, kX, kWeight, kY));
  expect(next(launch(kAcquiresEarly, kY, kX, kX)), Kind::kUnknown, Cause::kStale);
  chain_.cut();
  // The next launch may change it while this one acquires it.
  const std::string writes_early = "st.global.f32 [%c], %f1; griddepcontrol.wait;";
  first(launch(std::string("griddepcontrol.launch_dependents; ") + kAcquiresEarly, kY, kX, kX));
  expect(next(launch(writes_early, kX, kWeight, kY)), Kind::kUnknown, Cause::kStale);
}

// Other devices write it, whatever this device has launched.
TEST_F(ChainTest, AnEarlyAccessOfSharedMemoryIsNeverProven) {
  expect(next(launch(kGood, kSlots, kWeight, kSlots)), Kind::kProven, Cause::kHolds);
  chain_.cut();
  expect(next(launch(kHasty, kSlots, kWeight, kY)), Kind::kUnknown, Cause::kOtherDevice);
  chain_.cut();
  // Nothing before it touches it.
  first(launch(kGood, kX, kWeight, kY));
  expect(next(launch(kHasty, kSlots, kWeight, kZ)), Kind::kUnknown, Cause::kOtherDevice);
  chain_.cut();
  first(launch(kGood, kX, kWeight, kY));
  const std::string early_store = "st.global.f32 [%c], %f1; griddepcontrol.wait;";
  expect(next(launch(early_store, kX, kWeight, kSlots)), Kind::kUnknown, Cause::kOtherDevice);
  chain_.cut();
  first(launch(kGood, kX, kWeight, kY));
  EXPECT_EQ(next(launch(early_store, kX, kWeight, kSlots)).memory, kSlots);
  chain_.cut();
  // An access without a known buffer may be of it.
  const std::string indirect =
      "ld.global.u64 %d1, [%b]; st.global.f32 [%d1], %f1; griddepcontrol.wait;";
  first(launch(kIdle, kX, kWeight, kY));
  expect(next(launch(indirect, kX, kWeight, kY)), Kind::kProven, Cause::kHolds);
  chain_.expect_shared();
  chain_.cut();
  first(launch(kIdle, kX, kWeight, kY));
  expect(next(launch(indirect, kX, kWeight, kY)), Kind::kUnknown, Cause::kOtherDevice);
  chain_.cut();
  // The wait orders the non-coherent load neither with other launches nor with other devices.
  first(launch(kGood, kX, kWeight, kY));
  const std::string non_coherent =
      "griddepcontrol.wait; ld.global.nc.f32 %f1, [%a]; st.global.f32 [%c], %f1;";
  expect(next(launch(non_coherent, kSlots, kWeight, kZ)), Kind::kUnknown, Cause::kOtherDevice);
}

TEST_F(ChainTest, ALaterLaunchOfAKernelHidesNoOtherViewOfTheFirst) {
  const auto view = [](std::uint64_t offset) { return GivenArgument::pointer(kX, offset, 256); };
  const BoundLaunch one = launch(kGood, at(kWeight), at(kWeight), view(0));
  first(one);
  next(again(one, at(kWeight), at(kWeight), view(256)));
  EXPECT_EQ(next(launch(kHasty, view(512), at(kWeight), at(kY))).kind, Kind::kProven);
  EXPECT_NE(next(launch(kHasty, view(256), at(kWeight), at(kY))).kind, Kind::kProven);
  EXPECT_NE(next(launch(kHasty, view(0), at(kWeight), at(kY))).kind, Kind::kProven);
}

TEST_F(ChainTest, WhatIsReadThroughALoadedPointerMayBeWrittenEarly) {
  const std::string reads =
      "griddepcontrol.wait; ld.global.u64 %d1, [%a]; ld.global.f32 %f1, [%d1];";
  const std::string writes_early = "st.global.f32 [%c], %f1; griddepcontrol.wait;";
  first(launch(reads, kX, kWeight, kZ));
  expect(next(launch(kHasty, kY, kWeight, kX)), Kind::kProven, Cause::kHolds);
  chain_.cut();
  first(launch(reads, kX, kWeight, kZ));
  expect(next(launch(writes_early, kX, kWeight, kY)), Kind::kUnknown, Cause::kUnknownOther);
}

// Of one launch, the write is named, and the first one.
TEST_F(ChainTest, NamesTheWorstAccessOfALaunch) {
  const std::string pointer = "ld.global.u64 %d1, [%b];\n";
  first(launch(kGood, kX, kWeight, kX));
  const Verdict early =
      next(launch(pointer + "st.global.f32 [%d1], %f1;\ngriddepcontrol.wait;", kY, kWeight, kY));
  expect(early, Kind::kUnknown, Cause::kUnknownEarly);
  EXPECT_EQ(early.other->where, "k.ptx:16");
  chain_.cut();
  first(
      launch("griddepcontrol.wait;\nst.global.f32 [%c], %f1;\nst.relaxed.gpu.global.f32 [%c], "
             "%f1;",
             kX, kWeight, kY));
  const Verdict late =
      next(launch("griddepcontrol.wait;\nld.global.nc.f32 %f1, [%a];", kY, kWeight, kZ));
  expect(late, Kind::kUnknown, Cause::kNonCoherent);
  EXPECT_EQ(late.other->where, "k.ptx:15");
}

TEST_F(ChainTest, AnEarlyReadOfWhatIsWrittenIsUnsafe) {
  first(launch(kGood, kX, kWeight, kY));
  const Verdict verdict = next(launch(kHasty, kY, kWeight, kX));
  expect(verdict, Kind::kUnsafe, Cause::kConflict);
  EXPECT_EQ(verdict.memory, kY);
  EXPECT_EQ(verdict.own->where, "k.ptx:14");
  EXPECT_TRUE(verdict.own->reads);
  EXPECT_EQ(verdict.other->where, "k.ptx:16");
  EXPECT_TRUE(verdict.other->writes);
  EXPECT_EQ(verdict.other_number, 0u);
}

TEST_F(ChainTest, AnEarlyReadOfWhatNobodyWritesIsNot) {
  first(launch(kGood, kX, kWeight, kY));
  expect(next(launch(kHasty, kX, kWeight, kZ)), Kind::kProven, Cause::kHolds);
}

TEST_F(ChainTest, AnEarlyWriteOfWhatIsReadIsUnsafe) {
  first(launch(kGood, kX, kWeight, kY));
  const char* body = "st.global.f32 [%c], %f1;\ngriddepcontrol.wait;";
  const Verdict verdict = next(launch(body, kY, kWeight, kX));
  expect(verdict, Kind::kUnsafe, Cause::kConflict);
  EXPECT_EQ(verdict.memory, kX);
  EXPECT_TRUE(verdict.own->writes);
  EXPECT_TRUE(verdict.other->reads);
}

TEST_F(ChainTest, AKernelWithoutAWaitIsNeverProven) {
  first(launch(kGood, kX, kWeight, kY));
  expect(next(launch(kIdle, kZ, kWeight, kZ)), Kind::kUnknown, Cause::kNoWait);
  first(launch(kGood, kX, kWeight, kY));
  expect(next(launch(kNever, kY, kWeight, kZ)), Kind::kUnsafe, Cause::kConflict);
}

TEST_F(ChainTest, AMiddleKernelThatDoesNotWaitLeaksTheOneBefore) {
  first(launch(kGood, kX, kWeight, kY));
  next(launch(kIdle, kZ, kWeight, kZ));
  const Verdict verdict = next(launch(kGood, kY, kWeight, kZ));
  expect(verdict, Kind::kUnsafe, Cause::kTransitiveGap);
  EXPECT_EQ(verdict.between->waits, Footprint::Waits::kNever);
  // A full edge in between ends it.
  first(launch(kGood, kX, kWeight, kY));
  next(launch(kIdle, kZ, kWeight, kZ), false);
  expect(next(launch(kGood, kY, kWeight, kZ)), Kind::kProven, Cause::kHolds);
}

TEST_F(ChainTest, ATriggerBeforeTheWaitExposesTheOneBefore) {
  first(launch(kGood, kX, kWeight, kY));
  expect(next(launch(kEager, kX, kWeight, kZ)), Kind::kProven, Cause::kHolds);
  // Launch 0 may still write y while this one reads it.
  const Verdict verdict = next(launch(kPrefetches, kZ, kY, kX));
  expect(verdict, Kind::kUnsafe, Cause::kConflict);
  EXPECT_EQ(verdict.other_number, 0u);
}

TEST_F(ChainTest, WhatIsCompleteButNeverWaitedForIsUnknown) {
  first(launch(kGood, kX, kWeight, kY));
  next(launch(kGood, kX, kWeight, kZ));
  expect(next(launch(kPrefetches, kZ, kY, kX)), Kind::kUnknown, Cause::kNotVisible);
}

TEST_F(ChainTest, OffsetsInOneBufferAreNotToldApart) {
  first(launch(kGood, at(kX), at(kWeight), at(kY)));
  expect(next(launch(kHasty, at(kY, 4096), at(kWeight), at(kX))), Kind::kUnknown, Cause::kOffsets);
}

// More offsets than are kept still count.
TEST_F(ChainTest, ManyOffsetsAreNotForgotten) {
  first(launch(kGood, at(kX), at(kWeight), at(kY)));
  for (std::uint64_t k = 1; k < 80; ++k) {
    next(launch(kEager, at(kX), at(kWeight), at(kY, k * 64)));
  }
  EXPECT_NE(next(launch(kHasty, at(kY), at(kWeight), at(kZ))).kind, Kind::kProven);
}

// The kernel's accesses stay in the view that it is given.
TEST_F(ChainTest, ViewsOfOneBufferAreToldApart) {
  const auto view = [](std::uint64_t offset, std::uint64_t bytes) {
    return GivenArgument::pointer(kY, offset, bytes);
  };
  const auto verdict = [&](GivenArgument written, GivenArgument read) {
    first(launch(kGood, at(kX), at(kWeight), written));
    return next(launch(kHasty, read, at(kWeight), at(kZ))).kind;
  };
  EXPECT_EQ(verdict(view(512, 512), view(1024, 512)), Kind::kProven);
  EXPECT_EQ(verdict(view(512, 512), view(0, 512)), Kind::kProven);
  EXPECT_NE(verdict(view(512, 513), view(1024, 512)), Kind::kProven);
  EXPECT_NE(verdict(view(512, 512), view(0, 513)), Kind::kProven);
  EXPECT_NE(verdict(view(512, 512), at(kY, 1024)), Kind::kProven) << "it may look back";
  EXPECT_NE(verdict(at(kY, 512), view(0, 512)), Kind::kProven);
}

// An address that two views have gone into leads to either.
TEST_F(ChainTest, ViewsThatAreMixedAreBothMeant) {
  const char* mixes =
      "sub.s64 %d1, %b, %a;\nadd.s64 %d2, %a, %d1;\nld.global.f32 %f1, [%d2];\n"
      "griddepcontrol.wait;\nst.global.f32 [%c], %f1;";
  const auto verdict = [&](std::uint64_t written) {
    first(launch(kGood, at(kX), at(kWeight), GivenArgument::pointer(kY, written, 64)));
    return next(launch(mixes, GivenArgument::pointer(kY, 0, 64), GivenArgument::pointer(kY, 64, 64),
                       at(kZ)))
        .kind;
  };
  EXPECT_NE(verdict(0), Kind::kProven);
  EXPECT_NE(verdict(64), Kind::kProven);
  EXPECT_EQ(verdict(128), Kind::kProven);
}

// Views that the list has no room for count together, with what lies between them.
TEST_F(ChainTest, ManyViewsAreNotForgotten) {
  constexpr std::uint64_t kFirst = 100;
  const auto verdict = [&](std::uint64_t number) {
    const auto view = [](std::uint64_t k) {
      return GivenArgument::pointer(kY, (kFirst + k) * 64, 64);
    };
    first(launch(kGood, at(kX), at(kWeight), view(0)));
    for (std::uint64_t k = 1; k < 80; ++k) next(launch(kEager, at(kX), at(kWeight), view(k)));
    return next(launch(kHasty, view(number), at(kWeight), at(kZ))).kind;
  };
  for (const std::uint64_t k : {0, 1, 30, 47, 48, 60, 79}) {
    EXPECT_NE(verdict(k), Kind::kProven) << k;
  }
  EXPECT_EQ(verdict(80), Kind::kProven);
  EXPECT_EQ(verdict(0 - std::uint64_t{1}), Kind::kProven);
}

// The same where the views that there is no room for come from the end of the buffer on.
TEST_F(ChainTest, ViewsThatWereDroppedKeepTheirEnds) {
  const auto verdict = [&](std::uint64_t number) {
    const auto view = [](std::uint64_t k) { return GivenArgument::pointer(kY, k * 64, 64); };
    first(launch(kGood, at(kX), at(kWeight), view(180)));
    for (std::uint64_t k = 1; k < 80; ++k) {
      next(launch(kEager, at(kX), at(kWeight), view(180 - k)));
    }
    return next(launch(kHasty, view(number), at(kWeight), at(kZ))).kind;
  };
  for (const std::uint64_t k : {180, 179, 178, 140, 120, 116, 101}) {
    EXPECT_NE(verdict(k), Kind::kProven) << k;
  }
  EXPECT_EQ(verdict(181), Kind::kProven);
  EXPECT_EQ(verdict(100), Kind::kProven);
}

TEST_F(ChainTest, NonCoherentLoadsOfOtherViewsAreProven) {
  const char* body = "griddepcontrol.wait;\nld.global.nc.f32 %f1, [%a];\nst.global.f32 [%c], %f1;";
  const auto verdict = [&](std::uint64_t read) {
    first(launch(kGood, at(kX), at(kWeight), GivenArgument::pointer(kY, 64, 64)));
    return next(launch(body, GivenArgument::pointer(kY, read, 64), at(kWeight), at(kZ))).kind;
  };
  EXPECT_EQ(verdict(0), Kind::kProven);
  EXPECT_NE(verdict(64), Kind::kProven);
}

TEST_F(ChainTest, OneBufferForTwoParametersIsOne) {
  first(launch(kGood, kX, kWeight, kX));
  expect(next(launch(kPrefetches, kY, kX, kZ)), Kind::kUnsafe, Cause::kConflict);
}

TEST_F(ChainTest, NonCoherentLoadsAreNotOrdered) {
  const char* body = "griddepcontrol.wait;\nld.global.nc.f32 %f1, [%a];\nst.global.f32 [%c], %f1;";
  first(launch(kGood, kX, kWeight, kY));
  expect(next(launch(body, kY, kWeight, kZ)), Kind::kUnknown, Cause::kNonCoherent);
  expect(next(launch(body, kWeight, kWeight, kZ)), Kind::kProven, Cause::kHolds);
}

TEST_F(ChainTest, NonCoherentLoadsOfUnknownMemoryAreNotOrderedEither) {
  const char* from_pointer =
      "griddepcontrol.wait;\nld.global.u64 %d1, [%b];\nld.global.nc.f32 %f1, [%d1];\n"
      "st.global.f32 [%c], %f1;";
  first(launch(kGood, kX, kWeight, kY));
  expect(next(launch(from_pointer, kX, kWeight, kZ)), Kind::kUnknown, Cause::kNonCoherent);
  const char* to_pointer =
      "griddepcontrol.wait;\nld.global.u64 %d1, [%b];\nst.global.f32 [%d1], %f1;";
  const char* body = "griddepcontrol.wait;\nld.global.nc.f32 %f1, [%a];\nst.global.f32 [%c], %f1;";
  first(launch(to_pointer, kX, kWeight, kZ));
  expect(next(launch(body, kX, kWeight, kY)), Kind::kUnknown, Cause::kNonCoherent);
  first(launch(to_pointer, kX, kWeight, kZ));
  expect(next(launch(body, kWeight, kWeight, kY)), Kind::kProven, Cause::kHolds);
}

TEST_F(ChainTest, AMiddleKernelThatMayNotWaitLeaksForAllThatIsKnown) {
  const char* may_return = "setp.ge.u32 %p1, %r1, %r0;\n@%p1 ret;\ngriddepcontrol.wait;";
  first(launch(kGood, kX, kWeight, kY));
  BoundLaunch middle = launch(may_return, kZ, kWeight, kZ);
  middle.waits = false;
  expect(next(middle), Kind::kUnknown, Cause::kMayNotWait);
  const Verdict verdict = next(launch(kGood, kY, kWeight, kZ));
  expect(verdict, Kind::kUnknown, Cause::kTransitiveGap);
  EXPECT_NE(verdict.between->waits, Footprint::Waits::kNever);
}

TEST_F(ChainTest, MemoryWithoutANameIsAny) {
  const char* loads_pointer =
      "ld.global.u64 %d1, [%b];\nld.global.f32 %f1, [%d1];\ngriddepcontrol.wait;\n"
      "st.global.f32 [%c], %f1;";
  first(launch(kGood, kX, kWeight, kY));
  expect(next(launch(loads_pointer, kX, kWeight, kZ)), Kind::kUnknown, Cause::kUnknownEarly);
  const char* writes_anywhere =
      "griddepcontrol.wait;\nld.global.u64 %d1, [%b];\nst.global.f32 [%d1], %f1;";
  first(launch(writes_anywhere, kX, kWeight, kY));
  expect(next(launch(kHasty, kX, kWeight, kZ)), Kind::kUnknown, Cause::kUnknownOther);
  first(launch(writes_anywhere, kX, kWeight, kY));
  expect(next(launch(kPrefetches, kX, kWeight, kZ)), Kind::kProven,
         Cause::kHolds);  // no launch writes a weight
}

TEST_F(ChainTest, MachineCodeAloneIsUnknown) {
  first(launch(kGood, kX, kWeight, kY));
  const Footprint cubin = unknown_footprint("c", true, false, {UnseenCause::kMachineCode});
  const BoundLaunch bound = bind(cubin, {}, {}, {}, [](std::string_view, bool) { return 0u; });
  expect(next(bound), Kind::kUnknown, Cause::kUnseen);
  EXPECT_NE(next(launch(kHasty, kX, kWeight, kZ)).kind, Kind::kProven);
}

TEST(UnknownFootprint, KeepsWhatTheImageTells) {
  const auto waits = [](std::optional<bool> told) {
    return unknown_footprint("c", told, false, {UnseenCause::kMachineCode}).waits;
  };
  EXPECT_EQ(waits(false), Footprint::Waits::kNever);
  EXPECT_NE(waits(true), Footprint::Waits::kNever);
  EXPECT_NE(waits(std::nullopt), Footprint::Waits::kNever);
  const Footprint cubin = unknown_footprint("c", true, true, {UnseenCause::kMachineCode});
  EXPECT_FALSE(triggers_early(cubin, {}, {1, 1, 1}, {1, 1, 1})) << "its code is not known";
  const auto triggers = [](std::optional<bool> told) {
    const Footprint image = unknown_footprint("c", true, told, {UnseenCause::kMachineCode});
    EXPECT_EQ(image.triggers_before_wait, image.triggers);
    return image.triggers;
  };
  EXPECT_TRUE(triggers(true));
  EXPECT_FALSE(triggers(false));
  EXPECT_TRUE(triggers(std::nullopt)) << "it may";
}

// After a gap, an access without a known buffer may be of what is read; others are not.
TEST_F(ChainTest, AGapLeavesUnnamedWritesToBeSeen) {
  const char writes_anything[] =
      "griddepcontrol.wait;\nld.global.u64 %d1, [%a];\nst.global.u32 [%d1], 1;\n";
  for (const bool unnamed : {true, false}) {
    chain_.cut();
    chain_.follow(launch(unnamed ? writes_anything : kGood, kZ, kY, kZ), false);
    chain_.follow(launch(kIdle, kZ, kZ, kZ), true);
    const char reads[] = "griddepcontrol.wait;\nld.global.f32 %f1, [%a];\n";
    for (const char* body : {static_cast<const char*>(kGood), static_cast<const char*>(reads)}) {
      const BoundLaunch last = launch(body, kX, kY, kX);
      EXPECT_EQ(chain_.judge(last).cause == Cause::kTransitiveGap, unnamed) << body;
    }
    const BoundLaunch constant = launch(reads, kWeight, kY, kX);
    EXPECT_NE(chain_.judge(constant).cause, Cause::kTransitiveGap);
  }
}

}  // namespace
}  // namespace baton::overlap::chain_test
