// What orders launches that may overlap beside the wait: graphs' edges, events, streams and the
// host; and what is found where nothing does.

#include "sim/testing/pdl_test.h"

namespace baton::sim::pdl_order_test {
namespace {

TEST_F(PdlTest, GraphsKeepProgrammaticEdges) {
  ASSERT_RESULT(CUDA_SUCCESS,
                driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  primary("produce", a, std::uint32_t{9});
  secondary("hasty", a, b);
  CUgraph graph = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuStreamEndCapture(stream, &graph));
  CUgraphExec exec = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphInstantiateWithFlags(&exec, graph, 0));
  expect_findings({{"read_before_wait", "hasty"}},
                  [&] { EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream)); });
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
}

// In a graph a full edge from the middle says nothing of the first kernel.
TEST_F(PdlTest, FullEdgesOfGraphsDoNotReachOverAMissingWait) {
  const auto capture = [&](bool first_too) {
    EXPECT_RESULT(CUDA_SUCCESS,
                  driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    primary("produce", a, std::uint32_t{9});
    secondary("idle");
    primary("never", a, b);
    CUgraph graph = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamEndCapture(stream, &graph));
    if (first_too) {
      CUgraphNode nodes[3] = {};
      size_t count = 3;
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphGetNodes(graph, nodes, &count));
      EXPECT_RESULT(CUDA_SUCCESS,
                    driver.cuGraphAddDependencies(graph, &nodes[0], &nodes[2], nullptr, 1));
    }
    CUgraphExec exec = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
  };
  const CUgraphExec without = capture(false);
  expect_findings({{"no_wait", "idle"}, {"transitive_wait", "never"}},
                  [&] { EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(without, stream)); });
  const CUgraphExec with = capture(true);
  expect_findings({{"no_wait", "idle"}},
                  [&] { EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(with, stream)); });
}

TEST_F(PdlTest, ProgrammaticEventsLetOtherStreamsStart) {
  const CUstream other = make_stream();
  const CUevent event = make_event(CU_EVENT_DISABLE_TIMING);
  const auto run = [&](const char* name) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
    attribute.value.programmaticEvent.event = event;
    std::uint32_t value = 9;
    launch_with("produce", {attribute}, {&a, &value}, stream);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamWaitEvent(other, event, 0));
    launch_with(name, {}, {&a, &b}, other);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(other));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
  };
  expect_findings({}, [&] { run("consume"); });
  expect_findings({{"read_before_wait", "hasty"}}, [&] { run("hasty"); });
  // A copy that waits for the event waits for the whole grid: it cannot wait inside.
  expect_findings({}, [&] {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
    attribute.value.programmaticEvent.event = event;
    std::uint32_t value = 11;
    launch_with("produce", {attribute}, {&a, &value}, stream);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamWaitEvent(other, event, 0));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyDtoDAsync(b, a, kThreads * 4, other));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(other));
    EXPECT_EQ(values(b), all(11));
  });
}

TEST_F(PdlTest, LaunchCompletionIsNoOrder) {
  const CUstream other = make_stream();
  const CUevent event = make_event(CU_EVENT_DISABLE_TIMING);
  expect_findings({{"unordered_grids", "consume"}}, [&] {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
    attribute.value.launchCompletionEvent.event = event;
    std::uint32_t value = 9;
    launch_with("produce", {attribute}, {&a, &value}, stream);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamWaitEvent(other, event, 0));
    launch_with("consume", {}, {&a, &b}, other);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(other));
  });
}

TEST_F(PdlTest, StreamsThatNothingOrders) {
  const CUstream other = make_stream();
  const CUevent event = make_event();
  const auto run = [&](bool ordered) {
    std::uint32_t value = 9;
    launch_with("produce", {}, {&a, &value}, stream);
    if (ordered) {
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(event, stream));
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamWaitEvent(other, event, 0));
    }
    launch_with("never", {}, {&a, &b}, other);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(other));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
  };
  expect_findings({}, [&] { run(true); });
  expect_findings({{"unordered_grids", "never"}}, [&] { run(false); });
  // What the host waited for is ordered before all that it does later.
  expect_findings({}, [&] {
    std::uint32_t value = 9;
    launch_with("produce", {}, {&a, &value}, stream);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
    launch_with("never", {}, {&a, &b}, other);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(other));
  });
}

TEST_F(PdlTest, TheHostMustNotRaceGrids) {
  const CUstream other = make_stream();
  expect_findings({{"host_race", "produce"}}, [&] {
    primary("produce", a, std::uint32_t{9});
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyDtoDAsync(c, a, 16, other));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(other));
  });
  expect_findings({{"host_race", "never"}}, [&] {
    primary("never", a, b);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(a, 1, kThreads, other));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(other));
  });
  expect_findings({{"host_race", ""}}, [&] {
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(a, 1, kThreads, stream));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(a, 2, kThreads, other));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(other));
  });
}

TEST_F(PdlTest, FreesMustNotRaceGrids) {
  const CUstream other = make_stream();
  // With an order that frees first, the grid meets freed memory, which is a fault; here it is done.
  for (const ScheduleKind kind : {ScheduleKind::kSerial, ScheduleKind::kLate}) {
    set_schedule({kind, 0});
    take_findings();
    const CUdeviceptr mine = allocate(kThreads * 4);
    primary("produce", mine, std::uint32_t{9});
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeAsync(mine, other));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(other));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
    const auto found = take_findings();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, driver::FindingKind::kFreeRace);
  }
}

TEST_F(PdlTest, ARunCanBeHadAgain) {
  const auto run = [&](std::uint64_t seed) {
    set_schedule({ScheduleKind::kRandom, seed});
    take_findings();
    std::string trace;
    for (std::uint32_t k = 0; k < 8; ++k) {
      primary("produce", a, k);
      secondary("hasty", a, b);
      for (const std::uint32_t value : values(b)) trace += std::to_string(value) + " ";
    }
    for (const driver::Finding& finding : take_findings()) {
      trace += finding.message + std::to_string(finding.count);
    }
    // Allocations stay where they are; only the numbers of operations go on.
    return trace;
  };
  for (std::uint64_t seed = 0; seed < 4; ++seed) EXPECT_EQ(run(seed), run(seed)) << seed;
}

}  // namespace
}  // namespace baton::sim::pdl_order_test
