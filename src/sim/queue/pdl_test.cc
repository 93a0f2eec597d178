// Programmatic dependent launch on the simulated GPU: what overlaps, what waits, and what is found
// where a kernel does not wait as it should.

#include "sim/testing/pdl_test.h"

namespace baton::sim::pdl_test {
namespace {

TEST_F(PdlTest, AKernelThatWaitsReadsWhatItsPrimaryWrote) {
  std::uint32_t value = 0;
  expect_findings({}, [&] {
    primary("produce", a, ++value);
    secondary("consume", a, b);
    EXPECT_EQ(values(b), all(value + 1));
  });
}

TEST_F(PdlTest, EarlyShowsStaleValuesAndLateDoesNot) {
  for (const ScheduleKind kind : {ScheduleKind::kEarly, ScheduleKind::kLate}) {
    set_schedule({kind, 0});
    primary("produce_plainly", a, std::uint32_t{5});
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
    primary("produce", a, std::uint32_t{9});
    secondary("hasty", a, b);
    EXPECT_EQ(values(b), all(kind == ScheduleKind::kEarly ? 6u : 10u));
  }
}

TEST_F(PdlTest, ReadsBeforeTheWait) {
  expect_findings({{"read_before_wait", "hasty"}}, [&] {
    primary("produce", a, std::uint32_t{9});
    secondary("hasty", a, b);
  });
  const driver::Finding& finding = last.at(driver::FindingKind::kReadBeforeWait);
  EXPECT_NE(finding.message.find("kernel produce, block (0, 0, 0), thread ("), std::string::npos)
      << finding.message;
  EXPECT_FALSE(finding.where.empty());
}

TEST_F(PdlTest, ImplicitTriggersAreNoPromiseEither) {
  expect_findings({{"read_before_wait", "hasty"}}, [&] {
    primary("produce_plainly", a, std::uint32_t{9});
    secondary("hasty", a, b);
  });
}

TEST_F(PdlTest, KernelsWithoutAWait) {
  expect_findings({{"missing_wait", "never"}, {"no_wait", "never"}}, [&] {
    primary("produce", a, std::uint32_t{9});
    secondary("never", a, b);
  });
  expect_findings({}, [&] {
    primary("produce", a, std::uint32_t{9});
    primary("never", a, b);  // launched without the attribute
  });
}

TEST_F(PdlTest, OneWarpWaitsForAll) {
  expect_findings({}, [&] {
    primary("produce", a, std::uint32_t{9});
    secondary("one_warp", a, b, std::uint32_t{1});
    EXPECT_EQ(values(b), all(10));
  });
  expect_findings({{"missing_wait", "one_warp"}}, [&] {
    primary("produce", a, std::uint32_t{9});
    secondary("one_warp", a, b, std::uint32_t{0});
  });
  EXPECT_GE(last.at(driver::FindingKind::kMissingWait).thread[0], 32u);
}

// The access of a thread that waited is the last one of the place, and orders no other thread.
TEST_F(PdlTest, AThreadThatWaitedHidesNothingFromOthers) {
  for (const std::uint32_t first_reads : {0u, 1u}) {
    for (const std::uint32_t reads : {0u, 1u}) {
      SCOPED_TRACE(first_reads * 2 + reads);
      expect_findings({{"missing_wait", "two_warps"}}, [&] {
        primary("produce", a, std::uint32_t{9});
        secondary("two_warps", a, reads, first_reads);
      });
    }
  }
  expect_findings({{"missing_wait", "two_warps"}}, [&] {
    primary("never", a, b);  // reads it
    secondary("two_warps", a, std::uint32_t{0}, std::uint32_t{0});
  });
  expect_findings({}, [&] {
    primary("produce", a, std::uint32_t{9});
    primary("two_warps", a, std::uint32_t{0}, std::uint32_t{0});
  });
}

TEST_F(PdlTest, WritesBeforeTheWait) {
  expect_findings({{"write_before_wait", "overwrite"}}, [&] {
    primary("produce", a, std::uint32_t{9});
    secondary("overwrite", a);
  });
}

TEST_F(PdlTest, WritesAfterReads) {
  expect_findings({{"write_after_read", "overwrite"}}, [&] {
    primary("never", a, b);
    secondary("overwrite", a);
  });
}

TEST_F(PdlTest, TheMiddleOfAChainMustWait) {
  expect_findings({{"transitive_wait", "consume"}, {"no_wait", "idle"}}, [&] {
    primary("produce", a, std::uint32_t{9});
    secondary("idle");
    secondary("consume", a, b);
  });
  EXPECT_NE(last.at(driver::FindingKind::kTransitiveWait).message.find("kernel idle between"),
            std::string::npos)
      << last.at(driver::FindingKind::kTransitiveWait).message;
  expect_findings({}, [&] {
    primary("produce", a, std::uint32_t{9});
    secondary("idle_waiting");
    secondary("consume", a, b);
    EXPECT_EQ(values(b), all(10));
  });
}

TEST_F(PdlTest, AWaitMayReachOverSeveralGrids) {
  // idle_waiting triggers before it waits: what comes before the next kernel's wait is unordered.
  expect_findings({{"read_before_wait", "hasty"}}, [&] {
    primary("produce", a, std::uint32_t{9});
    secondary("idle_waiting");
    secondary("hasty", a, b);
  });
  // consume never triggers, and ends after its wait.
  expect_findings({}, [&] {
    primary("produce", a, std::uint32_t{9});
    secondary("consume", b, c);
    secondary("hasty", a, b);
  });
}

TEST_F(PdlTest, LaunchesWithoutTheAttributeWaitForTheWholeStream) {
  expect_findings({{"no_wait", "idle"}}, [&] {
    primary("produce", a, std::uint32_t{9});
    secondary("idle");
    primary("never", a, b);
    EXPECT_EQ(values(b), all(10));
  });
}

TEST_F(PdlTest, TimedEventsBetweenTwoLaunchesChangeNothing) {
  const CUevent event = make_event();
  expect_findings({{"read_before_wait", "hasty"}}, [&] {
    primary("produce", a, std::uint32_t{9});
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, stream));
    secondary("hasty", a, b);
  });
  // A copy in between breaks the chain.
  expect_findings({}, [&] {
    primary("produce", a, std::uint32_t{9});
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyDtoDAsync(c, a, 4, stream));
    secondary("hasty", a, b);
    EXPECT_EQ(values(b), all(10));
  });
}

// The primary ends only if the secondary runs beside it.
TEST_F(PdlTest, GridsRunBesideEachOther) {
  for (const ScheduleKind kind : {ScheduleKind::kSerial, ScheduleKind::kEarly,
                                  ScheduleKind::kReverse, ScheduleKind::kRandom}) {
    set_schedule({kind, 4});
    const CUdeviceptr flag = upload(std::vector<std::uint32_t>{0});
    primary("await_flag", flag);
    secondary("set_flag", flag);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream)) << static_cast<int>(kind);
  }
  EXPECT_TRUE(take_findings().empty());
}

}  // namespace
}  // namespace baton::sim::pdl_test
