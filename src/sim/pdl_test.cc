// Programmatic dependent launch on the simulated GPU: what overlaps, what waits, and what is found
// where a kernel does not wait as it should. Findings are asked for under every schedule.

#include <algorithm>
#include <map>
#include <string>

#include "sim/driver_test.h"

namespace baton::sim {
namespace {

constexpr char kKernels[] = R"(
.version 8.0
.target sm_90
.address_size 64

// Stores `value` to out[tid] once the dependents may start.
.visible .entry produce(.param .u64 out, .param .u32 value) {
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  griddepcontrol.launch_dependents;
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
}

// The same without a trigger.
.visible .entry produce_plainly(.param .u64 out, .param .u32 value) {
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
}

// out[tid] = in[tid] + 1, in four manners. Reads after the wait:
.visible .entry consume(.param .u64 in, .param .u64 out) {
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  griddepcontrol.wait;
  ld.global.u32 %r1, [%rd1];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}

// Reads before the wait.
.visible .entry hasty(.param .u64 in, .param .u64 out) {
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.u32 %r1, [%rd1];
  griddepcontrol.wait;
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}

// Never waits.
.visible .entry never(.param .u64 in, .param .u64 out) {
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  ld.global.u32 %r1, [%rd1];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}

// Only the first warp waits. `ordered` is not zero: a barrier orders the others after it.
.visible .entry one_warp(.param .u64 in, .param .u64 out, .param .u32 ordered) {
  .reg .pred %p<3>;
  .reg .u32 %r<5>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  ld.param.u32 %r3, [ordered];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd1, %rd1, %rd3;
  add.s64 %rd2, %rd2, %rd3;
  setp.ge.u32 %p1, %r2, 32;
  @%p1 bra joined;
  griddepcontrol.wait;
joined:
  setp.eq.u32 %p2, %r3, 0;
  @%p2 bra compute;
  bar.sync 0;
compute:
  ld.global.u32 %r1, [%rd1];
  add.u32 %r1, %r1, 1;
  st.global.u32 [%rd2], %r1;
  ret;
}

// Sets out[tid] before the wait.
.visible .entry overwrite(.param .u64 out) {
  .reg .u32 %r<4>;
  .reg .u64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.s64 %rd1, %rd1, %rd3;
  st.global.u32 [%rd1], 7;
  griddepcontrol.wait;
  ret;
}

.visible .entry idle() { griddepcontrol.launch_dependents; ret; }
.visible .entry idle_waiting() {
  griddepcontrol.launch_dependents;
  griddepcontrol.wait;
  ret;
}

// Spins until *flag is set, having triggered.
.visible .entry await_flag(.param .u64 flag) {
  .reg .pred %p;
  .reg .u32 %r<2>;
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [flag];
  griddepcontrol.launch_dependents;
again:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.eq.u32 %p, %r1, 0;
  @%p bra again;
  ret;
}
.visible .entry set_flag(.param .u64 flag) {
  .reg .u64 %rd<2>;
  ld.param.u64 %rd1, [flag];
  st.volatile.global.u32 [%rd1], 1;
  griddepcontrol.wait;
  ret;
}
)";

constexpr Schedule kSchedules[] = {
    {ScheduleKind::kSerial, 0},  {ScheduleKind::kLate, 0},   {ScheduleKind::kEarly, 0},
    {ScheduleKind::kReverse, 0}, {ScheduleKind::kRandom, 1}, {ScheduleKind::kRandom, 2},
    {ScheduleKind::kRandom, 3},
};

driver::Simulator* find_simulator(const driver::Driver& driver) {
  const void* table = nullptr;
  driver.cuGetExportTable(&table, &driver::kSimulatorUuid);
  return static_cast<driver::Simulator*>(const_cast<void*>(table));
}

class PdlTest : public DriverTest {
 protected:
  static constexpr unsigned kThreads = 64;

  void SetUp() override {
    SIMULATED_ONLY();
    DriverTest::SetUp();
    simulator = find_simulator(driver);
    library = load(kKernels);
    stream = make_stream();
    a = upload(std::vector<std::uint32_t>(kThreads, 5));
    b = upload(std::vector<std::uint32_t>(kThreads, 0));
    c = upload(std::vector<std::uint32_t>(kThreads, 0));
  }
  void TearDown() override {
    if (simulator == nullptr) return;
    simulator->set_schedule(context, Schedule{});
    DriverTest::TearDown();
  }

  static CUlaunchAttribute dependent() {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    return attribute;
  }

  void launch_with(const char* name, std::vector<CUlaunchAttribute> attributes,
                   std::vector<void*> params, CUstream on, unsigned grid = 1) {
    CUlaunchConfig config{};
    config.gridDimX = grid;
    config.blockDimX = kThreads;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.hStream = on;
    config.attrs = attributes.data();
    config.numAttrs = static_cast<unsigned>(attributes.size());
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuLaunchKernelEx(
                                    &config, reinterpret_cast<CUfunction>(kernel(library, name)),
                                    params.data(), nullptr));
  }
  template <class... Args>
  void primary(const char* name, Args... args) {
    launch_with(name, {}, {static_cast<void*>(&args)...}, stream);
  }
  template <class... Args>
  void secondary(const char* name, Args... args) {
    launch_with(name, {dependent()}, {static_cast<void*>(&args)...}, stream);
  }

  // The findings of one run of `program` under each schedule, by kind, with their kernels.
  using Kinds = std::map<std::string, std::string>;
  template <class Program>
  void expect_findings(const Kinds& want, Program program) {
    for (const Schedule& schedule : kSchedules) {
      simulator->set_schedule(context, schedule);
      simulator->take_findings(context);
      program();
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
      Kinds found;
      for (const driver::Finding& finding : simulator->take_findings(context)) {
        found[finding.kind] = finding.kernel;
        last[finding.kind] = finding;
      }
      EXPECT_EQ(found, want) << to_string(schedule);
    }
  }
  std::vector<std::uint32_t> values(CUdeviceptr address) {
    return download<std::uint32_t>(address, kThreads, stream);
  }
  static std::vector<std::uint32_t> all(std::uint32_t value) {
    return std::vector<std::uint32_t>(kThreads, value);
  }

  driver::Simulator* simulator = nullptr;
  CUlibrary library = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr a = 0, b = 0, c = 0;
  std::map<std::string, driver::Finding> last;
};

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
    simulator->set_schedule(context, {kind, 0});
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
  const driver::Finding& finding = last["read_before_wait"];
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
  EXPECT_GE(last["missing_wait"].thread[0], 32u);
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
  EXPECT_NE(last["transitive_wait"].message.find("kernel idle between"), std::string::npos)
      << last["transitive_wait"].message;
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
    simulator->set_schedule(context, {kind, 4});
    const CUdeviceptr flag = upload(std::vector<std::uint32_t>{0});
    primary("await_flag", flag);
    secondary("set_flag", flag);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream)) << static_cast<int>(kind);
  }
  EXPECT_TRUE(simulator->take_findings(context).empty());
}

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
    simulator->set_schedule(context, {kind, 0});
    simulator->take_findings(context);
    const CUdeviceptr mine = allocate(kThreads * 4);
    primary("produce", mine, std::uint32_t{9});
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeAsync(mine, other));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(other));
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
    const auto found = simulator->take_findings(context);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, "free_race");
  }
}

TEST_F(PdlTest, ARunCanBeHadAgain) {
  const auto run = [&](std::uint64_t seed) {
    simulator->set_schedule(context, {ScheduleKind::kRandom, seed});
    simulator->take_findings(context);
    std::string trace;
    for (std::uint32_t k = 0; k < 8; ++k) {
      primary("produce", a, k);
      secondary("hasty", a, b);
      for (const std::uint32_t value : values(b)) trace += std::to_string(value) + " ";
    }
    for (const driver::Finding& finding : simulator->take_findings(context)) {
      trace += finding.message + std::to_string(finding.count);
    }
    // Allocations stay where they are; only the numbers of operations go on.
    return trace;
  };
  for (std::uint64_t seed = 0; seed < 4; ++seed) EXPECT_EQ(run(seed), run(seed)) << seed;
}

}  // namespace
}  // namespace baton::sim
