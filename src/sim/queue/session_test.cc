// Sessions of the simulator: whose findings, timeline and schedule are whose.

#include <functional>
#include <future>
#include <set>
#include <thread>

#include "baton/error.h"
#include "sim/testing/driver_test.h"
#include "sim/testing/test_kernels.h"

namespace baton::sim::session_test {
namespace {

using Options = driver::Simulator::Options;
using Session = driver::Simulator::Session;

class SessionTest : public DriverTest {
 protected:
  void SetUp() override {
    SIMULATED_ONLY();
    DriverTest::SetUp();
    library = load(kTestKernels);
    memory = upload(std::vector<int>(kCount));
  }
  void TearDown() override {
    if (context != nullptr) DriverTest::TearDown();
  }

  static constexpr int kCount = 64;

  // Two grids of two streams, without an event.
  void race() {
    CUdeviceptr address = memory;
    int one = 1;
    int count = kCount;
    for (const CUstream stream : {make_stream(), make_stream()}) {
      EXPECT_RESULT(CUDA_SUCCESS,
                    launch(kernel(library, "add"), stream, {&address, &one, &count}, 1, kCount));
    }
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSynchronize());
  }
  void on_another_thread(const std::function<void()>& work) {
    std::thread([&] {
      ASSERT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(context));
      work();
    }).join();
  }
  std::unique_ptr<Session> begin(const Options& options) {
    return driver.simulator->begin(context, options);
  }
  // Each kind once.
  static std::string kinds(const std::vector<driver::Finding>& findings) {
    std::set<std::string> distinct;
    for (const driver::Finding& finding : findings)
      distinct.insert(std::string(to_string(finding.kind)) + " ");
    std::string text;
    for (const std::string& kind : distinct) text += kind;
    return text;
  }
  std::string context_kinds() { return kinds(driver.simulator->take_findings(context)); }

  CUlibrary library = nullptr;
  CUdeviceptr memory = 0;
};

TEST_F(SessionTest, FindingsBelongToWhoeverSubmittedTheWork) {
  const auto session = begin({.watch = driver::Simulator::Watch::kOn});
  EXPECT_TRUE(driver.simulator->in_session(context));
  race();
  on_another_thread([&] {
    EXPECT_FALSE(driver.simulator->in_session(context));
    const auto other = begin({.watch = driver::Simulator::Watch::kOn});
    EXPECT_EQ(kinds(other->take_findings()), "");
    memory = upload(std::vector<int>(kCount));
    race();
    EXPECT_EQ(kinds(other->take_findings()), "unordered_grids ");
    EXPECT_EQ(kinds(other->take_findings()), "");
  });
  EXPECT_EQ(context_kinds(), "");
  EXPECT_EQ(kinds(session->take_findings()), "unordered_grids ");
}

TEST_F(SessionTest, WhatIsLeftIsTheContexts) {
  auto session = begin({.watch = driver::Simulator::Watch::kOn});
  race();
  session.reset();
  EXPECT_FALSE(driver.simulator->in_session(context));
  EXPECT_EQ(context_kinds(), "unordered_grids ");
}

// The grids wait after the gate until their session is gone.
TEST_F(SessionTest, WhatIsFoundLaterIsTheContexts) {
  auto session = begin({.watch = driver::Simulator::Watch::kOn});
  Gate gate;
  CUdeviceptr address = memory;
  int one = 1;
  int count = kCount;
  const CUstream streams[] = {make_stream(), make_stream()};
  for (const CUstream stream : streams) {
    if (stream == streams[0]) {
      ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, stream));
    }
    EXPECT_RESULT(CUDA_SUCCESS,
                  launch(kernel(library, "add"), stream, {&address, &one, &count}, 1, kCount));
  }
  session.reset();
  gate.open();
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSynchronize());
  EXPECT_EQ(context_kinds(), "unordered_grids ");
}

TEST_F(SessionTest, TheInnermostSessionHasTheWork) {
  const auto outer = begin({.watch = driver::Simulator::Watch::kOn});
  auto inner = begin({.watch = driver::Simulator::Watch::kOff});
  race();
  EXPECT_EQ(kinds(inner->take_findings()), "");
  inner.reset();
  race();
  EXPECT_EQ(kinds(outer->take_findings()), "unordered_grids ");
}

TEST_F(SessionTest, ASecondScheduleIsRefused) {
  const auto session = begin({.schedule = Schedule{ScheduleKind::kEarly}});
  on_another_thread([&] {
    try {
      begin({.schedule = Schedule{ScheduleKind::kSerial}});
      FAIL() << "two schedules at once";
    } catch (const Error& refusal) {
      EXPECT_EQ(refusal.code(), ErrorCode::kInvalidInput);
      EXPECT_EQ(refusal.message(),
                "the simulated GPU executes another run by the schedule early, so it cannot "
                "execute this one by the schedule serial: wait until the other run has ended, or "
                "use its schedule");
    }
    begin({.schedule = Schedule{ScheduleKind::kEarly}});
    begin({});
  });
}

// A refused session leaves nothing, and one that ended gives its schedule back.
TEST_F(SessionTest, TheScheduleIsFreeAgain) {
  begin({.schedule = Schedule{ScheduleKind::kEarly}});
  const auto reverse = begin({.schedule = Schedule{ScheduleKind::kReverse}});
  EXPECT_THROW(begin({.schedule = Schedule{ScheduleKind::kRandom, 1}}), Error);
  on_another_thread([&] { begin({.schedule = Schedule{ScheduleKind::kReverse}}); });
  EXPECT_THROW(begin({.schedule = Schedule{ScheduleKind::kRandom, 1}}), Error);
}

TEST_F(SessionTest, AnExceptionEndsTheSession) {
  try {
    const auto session = begin({.schedule = Schedule{ScheduleKind::kReverse}, .alone = true});
    throw std::runtime_error("of a callback");
  } catch (const std::runtime_error&) {
  }
  EXPECT_FALSE(driver.simulator->in_session(context));
  begin({.schedule = Schedule{ScheduleKind::kLate}});
}

TEST_F(SessionTest, TimelinesShowTheSessionsOwnWork) {
  const auto session = begin({.trace = true});
  const auto run = [&](const char* name) {
    EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, name), nullptr));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSynchronize());
  };
  run("empty");
  on_another_thread([&] {
    const auto other = begin({});
    run("bounded");
    EXPECT_EQ(other->trace({}), "");
  });
  EXPECT_NE(session->trace({}).find("\"empty\""), std::string::npos);
  EXPECT_EQ(session->trace({}).find("bounded"), std::string::npos);
}

// The flag is set by a host outside of the session: only grids of a session that expects
// no help are stuck when they poll. By the serial schedule the session's own grid begins after the
// poller has had many times the turns that make a livelock.
TEST_F(SessionTest, AFaultEndsItsKernelAlone) {
  const auto session = begin({.keep_going = true});
  CUdeviceptr nowhere = 0;
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "fault"), nullptr, {&nowhere}));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSynchronize());
  int one = 1;
  int count = kCount;
  EXPECT_RESULT(CUDA_SUCCESS,
                launch(kernel(library, "add"), nullptr, {&memory, &one, &count}, 1, kCount));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSynchronize());
  EXPECT_EQ(session->take_findings().size(), 1U);
  EXPECT_EQ(download<int>(memory, 1), std::vector<int>{1});
}

TEST_F(SessionTest, FindingsOfTwoLaunchesNameBoth) {
  const auto session = begin({.watch = driver::Simulator::Watch::kOn});
  int one = 1;
  int count = kCount;
  for (const std::uint64_t tag : {3, 4}) {
    driver.simulator->note_next_launch({tag, {}});
    EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "add"), make_stream(),
                                       {&memory, &one, &count}, 1, kCount));
  }
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSynchronize());
  const auto findings = session->take_findings();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].tag, 4U);
  EXPECT_EQ(findings[0].other_tag, 3U);
}

TEST_F(SessionTest, PollersOfOthersAreNoLivelock) {
  CUdeviceptr poll[] = {upload(std::vector<int>{0}), upload(std::vector<int>{0})};
  const CUstream theirs = make_stream();
  on_another_thread([&] {
    EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "await"), theirs, {&poll[0], &poll[1]}));
  });
  // Unwatched, since nothing orders the session's fill and the poller.
  const auto session = begin({.watch = driver::Simulator::Watch::kOff, .alone = true});
  const CUstream own = make_stream();
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "empty"), own));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(own));
  EXPECT_RESULT(CUDA_ERROR_NOT_READY, driver.cuStreamQuery(theirs));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(poll[0], 1, 1, own));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(theirs));
  EXPECT_EQ(download<int>(poll[1], 1)[0], 1);
  EXPECT_EQ(kinds(session->take_findings()), "");
}

TEST_F(SessionTest, PollersOfASessionAloneAreALivelock) {
  const auto session = begin({.alone = true});
  CUdeviceptr poll[] = {upload(std::vector<int>{0}), upload(std::vector<int>{0})};
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "await"), nullptr, {&poll[0], &poll[1]}));
  EXPECT_RESULT(CUDA_ERROR_LAUNCH_TIMEOUT, driver.cuCtxSynchronize());
  EXPECT_EQ(kinds(session->take_findings()), "livelock ");
  const auto fault = driver.simulator->fault(context);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, driver::FindingKind::kLivelock);
}

// Findings of two sessions at once, thread by thread, with all the device's work interleaved.
TEST_F(SessionTest, TwoThreadsShareADevice) {
  constexpr int kRounds = 20;
  const auto use = [&](bool is_wrong) {
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(context));
    const CUdeviceptr own = upload(std::vector<int>(kCount));
    int wrong = 0;
    for (int round = 0; round < kRounds; ++round) {
      const auto session = begin({.schedule = Schedule{ScheduleKind::kReverse},
                                  .watch = driver::Simulator::Watch::kOn,
                                  .trace = true,
                                  .alone = true});
      CUdeviceptr address = own;
      int one = 1;
      int count = kCount;
      const CUstream first = make_stream();
      const CUstream second = is_wrong ? make_stream() : first;
      for (const CUstream stream : {first, second}) {
        EXPECT_RESULT(CUDA_SUCCESS,
                      launch(kernel(library, "add"), stream, {&address, &one, &count}, 1, kCount));
      }
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(first));
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(second));
      wrong += kinds(session->take_findings()) != (is_wrong ? "unordered_grids " : "");
    }
    return wrong;
  };
  auto other = std::async(std::launch::async, use, true);
  EXPECT_EQ(use(false), 0);
  EXPECT_EQ(other.get(), 0);
  EXPECT_EQ(context_kinds(), "");
}

}  // namespace
}  // namespace baton::sim::session_test
