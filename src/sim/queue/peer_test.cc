// Several devices that access each other's memory: what works, and what the judge finds where
// flags, events or copies do not order their accesses.

#include <set>

#include "sim/testing/peer_programs.h"

namespace baton::sim::peer_test {
namespace {

TEST_F(PeerTest, AccessIsGivenOneWay) {
  int can = -1;
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuDeviceCanAccessPeer(&can, ranks_[0].device, ranks_[1].device));
  EXPECT_EQ(can, 1);
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuDeviceCanAccessPeer(&can, ranks_[0].device, ranks_[0].device));
  EXPECT_EQ(can, 0);
  // Of another kind.
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuDeviceCanAccessPeer(&can, ranks_[0].device,
                                                           ranks_[0].device == 0 ? 1 : 0));
  EXPECT_EQ(can, 0);
  make_current(ranks_[0]);
  EXPECT_RESULT(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,
                driver.cuCtxEnablePeerAccess(ranks_[0].context, 0));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuCtxEnablePeerAccess(ranks_[1].context, 1));
  EXPECT_RESULT(CUDA_ERROR_INVALID_CONTEXT, driver.cuCtxEnablePeerAccess(nullptr, 0));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxEnablePeerAccess(ranks_[1].context, 0));
  EXPECT_RESULT(CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,
                driver.cuCtxEnablePeerAccess(ranks_[1].context, 0));

  load({});
  fill(ranks_[1], ranks_[1].x, 5);
  synchronize();
  launch(ranks_[0], "take", ranks_[1].x, ranks_[0].out);
  synchronize();
  EXPECT_EQ(values(ranks_[0], ranks_[0].out), std::vector<std::uint32_t>(kThreads, 5));
  // The other way it is a fault that says so.
  make_current(ranks_[1]);
  driver.simulator->take_findings(ranks_[1].context);
  launch(ranks_[1], "take", ranks_[0].out, ranks_[1].out);
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuCtxSynchronize());
  const auto findings = driver.simulator->take_findings(ranks_[1].context);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_NE(findings[0].message.find("to which this device has no access: call "
                                     "cuCtxEnablePeerAccess"),
            std::string::npos)
      << findings[0].message;
}

TEST_F(PeerTest, FreedMemoryOfAPeerIsNamed) {
  connect();
  load({});
  make_current(ranks_[1]);
  driver.simulator->take_findings(ranks_[0].context);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFree(ranks_[1].x));
  launch(ranks_[0], "take", ranks_[1].x, ranks_[0].out);
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuCtxSynchronize());
  const auto findings = driver.simulator->take_findings(ranks_[0].context);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, driver::FindingKind::kUseAfterFree);
}

TEST_F(PeerTest, EventsAndCopiesOrderDevices) {
  connect();
  load({});
  CUevent event = nullptr;
  make_current(ranks_[1]);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  const auto run = [&](bool waits) {
    launch(ranks_[1], "take", ranks_[1].x, ranks_[1].out);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, ranks_[1].stream));
    make_current(ranks_[0]);
    if (waits) {
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamWaitEvent(ranks_[0].stream, event, 0));
    }
  };
  expect({}, [&] {
    run(true);
    launch(ranks_[0], "take", ranks_[1].out, ranks_[0].out);
    EXPECT_EQ(values(ranks_[0], ranks_[0].out), std::vector<std::uint32_t>(kThreads, 2));
  });
  expect({"peer_read", "peer_overwrite"}, [&] {
    run(false);
    launch(ranks_[0], "take", ranks_[1].out, ranks_[0].out);
  });
  expect({}, [&] {
    run(true);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyDtoDAsync(ranks_[0].out, ranks_[1].out, 4 * kThreads,
                                                         ranks_[0].stream));
    EXPECT_EQ(values(ranks_[0], ranks_[0].out), std::vector<std::uint32_t>(kThreads, 2));
  });
  expect({"host_race"}, [&] {
    run(false);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyDtoDAsync(ranks_[0].out, ranks_[1].out, 4 * kThreads,
                                                         ranks_[0].stream));
  });
}

TEST_F(PeerTest, ReleaseAndAcquireForTheSystemOrderDevices) {
  connect();
  const PeerFlag right[] = {
      {},
      {.release = "fence.acq_rel.sys; st.relaxed.sys.global.u32 [%flag], %epoch;"},
      {.release = "membar.sys; st.volatile.global.u32 [%flag], %epoch;",
       .acquire = "ld.volatile.global.u32 %seen, [%flag];",
       .behind = "membar.sys;"},
      {.release = "red.release.sys.global.add.u32 [%flag], 1;",
       .acquire = "ld.relaxed.sys.global.u32 %seen, [%flag];",
       .behind = "fence.acq_rel.sys;"},
      {.release = "st.relaxed.sys.global.u32 [%flag], %epoch;",
       .joins = "fence.sc.sys; bar.sync 0;"},
  };
  for (const PeerFlag& flag : right) {
    SCOPED_TRACE(std::string(flag.release) + " " + flag.acquire + " " + flag.joins);
    load(flag);
    expect({}, [&] {
      pass_once();
      std::vector<std::uint32_t> want(kThreads);
      for (std::uint32_t k = 0; k < kThreads; ++k) want[k] = 7 + k;
      EXPECT_EQ(values(ranks_[0], ranks_[0].out), want);
    });
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryUnload(std::exchange(library_, nullptr)));
  }
}

TEST_F(PeerTest, WrongFlagsAreFound) {
  connect();
  const std::pair<PeerFlag, Kinds> wrong[] = {
      // Without a release; without an acquire.
      {{.release = "st.relaxed.sys.global.u32 [%flag], %epoch;"}, {"peer_read"}},
      {{.acquire = "ld.relaxed.sys.global.u32 %seen, [%flag];"}, {"peer_read"}},
      // With the scope of the device on either side, also of a fence.
      {{.release = "st.release.gpu.global.u32 [%flag], %epoch;"}, {"peer_scope"}},
      {{.acquire = "ld.acquire.gpu.global.u32 %seen, [%flag];"}, {"peer_scope"}},
      {{.release = "fence.acq_rel.gpu; st.relaxed.sys.global.u32 [%flag], %epoch;"},
       {"peer_scope"}},
      {{.acquire = "ld.relaxed.sys.global.u32 %seen, [%flag];", .behind = "fence.acq_rel.gpu;"},
       {"peer_scope"}},
      // The flag comes before the data, or is of one warp alone.
      {{.release = "", .before = "st.release.sys.global.u32 [%flag], %epoch;"},
       {"peer_read", "peer_overwrite"}},
      {{.joins = ""}, {"peer_read", "peer_overwrite"}},
      {{.leaves = ""}, {"peer_read", "peer_overwrite"}},
  };
  for (const auto& [flag, kinds] : wrong) {
    SCOPED_TRACE(std::string(flag.before) + flag.release + " " + flag.acquire + flag.behind);
    load(flag);
    expect(kinds, [&] { pass_once(); });
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuLibraryUnload(std::exchange(library_, nullptr)));
  }
}

// Two updates are in order, or none is needed, if each one's scope has the other device.
TEST_F(PeerTest, UpdatesForOneDeviceRaceWithAnother) {
  connect();
  load({});
  const auto add = [&](const char* first, const char* second) {
    launch(ranks_[0], first, ranks_[0].slots);
    launch(ranks_[1], second, ranks_[0].slots);
  };
  expect({}, [&] { add("adds_for_system", "adds_for_system"); });
  for (const char* narrow : {"adds_for_device", "adds_for_either", "adds_by_copy"}) {
    SCOPED_TRACE(narrow);
    expect({"peer_scope"}, [&] { add(narrow, "adds_for_system"); });
    expect({"peer_scope"}, [&] { add("adds_for_system", narrow); });
    expect({"peer_scope"}, [&] { add(narrow, narrow); });
    // One after the other on one device.
    expect({}, [&] {
      launch(ranks_[0], narrow, ranks_[0].slots);
      launch_on(ranks_[0], ranks_[0].other, "adds_for_system", ranks_[0].slots);
    });
  }
}

TEST_F(PeerTest, TheFindingNamesBothSides) {
  connect();
  load({.release = "st.relaxed.sys.global.u32 [%flag], %epoch;"});
  expect({"peer_read"}, [&] { pass_once(); });
  EXPECT_EQ(last_.kernel, "get");
  EXPECT_NE(last_.message.find("inside an allocation of 1024 bytes"), std::string::npos)
      << last_.message;
  EXPECT_NE(last_.message.find("kernel put"), std::string::npos) << last_.message;
}

TEST_F(PeerTest, DoubleBufferedAllReducesAreRight) {
  connect();
  load({});
  expect({}, [&] {
    reduce(5, 1, [](unsigned k) { return k + 1; });
    for (const Rank& rank : ranks_) {
      EXPECT_EQ(values(rank, rank.x), std::vector<std::uint32_t>(kThreads, 3 << 4));
    }
  });
}

// Each device is at most one all-reduce ahead of the other one, which may still read the slot.
TEST_F(PeerTest, ASlotThatIsUsedAgainTooSoonIsFound) {
  connect();
  load({});
  expect({"peer_overwrite", "peer_read"}, [&] { reduce(3, 0, [](unsigned k) { return k + 1; }); });
}

TEST_F(PeerTest, OneEpochForAllIsFound) {
  connect();
  load({});
  expect({"peer_overwrite", "peer_read"}, [&] { reduce(3, 1, [](unsigned) { return 1u; }); });
}

// What a kernel learned holds for what follows it in its stream, and for nothing in another one.
TEST_F(PeerTest, LaterWorkInheritsWhatWasLearned) {
  connect();
  load({});
  expect({}, [&] {
    pass_once();
    launch(ranks_[0], "take", ranks_[0].slots, ranks_[0].out);
    values(ranks_[0], ranks_[0].slots);
    fill(ranks_[0], ranks_[0].slots, 0);
  });
  expect({"peer_read", "peer_overwrite"}, [&] {
    pass_once();
    launch_on(ranks_[0], ranks_[0].other, "take", ranks_[0].slots, ranks_[0].x);
  });
  expect({"host_race"}, [&] {
    pass_once();
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyDtoDAsync(ranks_[0].x, ranks_[0].slots, 4 * kThreads,
                                                         ranks_[0].other));
  });
}

// Devices that wait for each other's flags, which neither sets.
TEST_F(PeerTest, DevicesThatWaitForEachOtherAreStuck) {
  connect();
  load({});
  for (Rank& rank : ranks_) {
    rank.session.reset();
    rank.session = driver.simulator->begin(rank.context, {.alone = true});
    fill(rank, rank.flag, 0);
    fill(rank, rank.slots, 0);
  }
  synchronize();
  for (int r : {0, 1}) {
    launch(ranks_[r], "get", ranks_[r].slots, ranks_[1 - r].flag, ranks_[r].out, 1u);
  }
  std::future<CUresult> second = std::async(std::launch::async, [&] {
    driver.cuCtxSetCurrent(ranks_[1].context);
    return driver.cuCtxSynchronize();
  });
  make_current(ranks_[0]);
  EXPECT_RESULT(CUDA_ERROR_LAUNCH_TIMEOUT, driver.cuCtxSynchronize());
  EXPECT_EQ(second.get(), CUDA_ERROR_LAUNCH_TIMEOUT);
  for (Rank& rank : ranks_) {
    const auto findings = rank.session->take_findings();
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].kind, driver::FindingKind::kLivelock);
  }
}

}  // namespace
}  // namespace baton::sim::peer_test
