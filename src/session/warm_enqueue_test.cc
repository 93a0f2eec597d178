// The cost of an enqueued program: no allocation, no lock, one driver call for each launch, and
// those that order streams. The driver's own share is left out by a table whose calls do nothing.

#include <gtest/gtest.h>

#include "base/counted_costs.h"
#include "runtime/context.h"
#include "runtime/device_state.h"
#include "runtime/provider.h"
#include "session/test_program.h"

namespace baton::session_test::warm_enqueue_test {
namespace {

struct Calls {
  int launches = 0, copies = 0, graphs = 0, records = 0, waits = 0;
};
Calls calls;
CUcontext context = nullptr;

CUresult count_launch(const CUlaunchConfig*, CUfunction, void**, void**) {
  ++calls.launches;
  return CUDA_SUCCESS;
}
CUresult count_copy(CUdeviceptr, CUdeviceptr, std::size_t, CUstream) {
  ++calls.copies;
  return CUDA_SUCCESS;
}
CUresult count_graph(CUgraphExec, CUstream) {
  ++calls.graphs;
  return CUDA_SUCCESS;
}
CUresult count_record(CUevent, CUstream) {
  ++calls.records;
  return CUDA_SUCCESS;
}
CUresult count_wait(CUstream, CUevent, unsigned) {
  ++calls.waits;
  return CUDA_SUCCESS;
}
CUresult no_capture(CUstream, CUstreamCaptureStatus* status) {
  *status = CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult get_current(CUcontext* current) {
  *current = context;
  return CUDA_SUCCESS;
}

// Launches in groups, both unrolled and patched, and a copy.
const std::string kText = "[symbols]\nA = 1\n" + buffer("x", "i32", "[64]", "inout", "zeros") +
                          buffer("y", "i32", "[64]", "scratch") + kernel("add") +
                          edge_kernel("late") + R"toml(
[[steps]]
launch = "late"
grid = [1]
block = [64]
args = ["x", "y"]

[[steps]]
repeat = 20
index = "i"
steps = [{ launch = "add", grid = [1], block = [64], args = ["x + i", "A", 8] }]

[[steps]]
copy = { from = "y", to = "x" }
)toml";

// Two branches, one of which runs on a part of the multiprocessors.
const std::string kOnParts = buffer("x", "i32", "[64]", "inout", "zeros") +
                             buffer("y", "i32", "[64]", "inout", "zeros") + kernel("add") +
                             R"toml(
[[steps]]
parallel = [
  [ { launch = "add", grid = [1], block = [64], args = ["x", 1, 8], sms = 8 } ],
  [ { launch = "add", grid = [1], block = [64], args = ["y", 1, 8] } ],
]
)toml";

// The calls of ten runs, which neither allocate nor lock.
Calls calls_of(const std::string& text, std::string_view name, ExecutorKind kind) {
  const DriverProvider& simulated = driver_providers().back();
  const driver::Driver& real = *simulated.driver(nullptr);
  // A table of its own for this test: no other test sees what it swaps in and out.
  static driver::Driver table = real;
  const Device device =
      DeviceState::handle(DeviceState::acquire(simulated, table, *simulated.ordinal(name)));
  context = device.native_context();
  const Stream stream(device);
  Executable executable(LoadedProgram::load(program(text), device), kind);
  executable.bind();
  executable.enqueue(stream);
  stream.synchronize();

  const driver::Driver full = table;
  static driver::Driver bare;
  bare.version = full.version;
  bare.cuLaunchKernelEx = count_launch;
  bare.cuMemcpyDtoDAsync = count_copy;
  bare.cuGraphLaunch = count_graph;
  bare.cuEventRecord = count_record;
  bare.cuStreamWaitEvent = count_wait;
  bare.cuStreamIsCapturing = no_capture;
  bare.cuCtxGetCurrent = get_current;
  table = bare;
  calls = {};
  counted_costs = {};
  for (int i = 0; i < 10; ++i) executable.enqueue(stream);
  const CountedCosts seen = counted_costs;
  table = full;
  EXPECT_EQ(seen.allocations, 0);
  EXPECT_EQ(seen.locks, 0);
  return calls;
}

TEST(WarmEnqueue, CostsTheDriverCallsAlone) {
  const Calls stream = calls_of(kText, "tiny", ExecutorKind::kStream);
  EXPECT_EQ(stream.launches, 210);
  EXPECT_EQ(stream.copies, 10);
  EXPECT_EQ(stream.graphs, 0);
  const Calls graph = calls_of(kText, "tiny", ExecutorKind::kGraph);
  EXPECT_EQ(graph.launches, 0);
  EXPECT_EQ(graph.copies, 0);
  EXPECT_EQ(graph.graphs, 10);
}

TEST(WarmEnqueue, CostsTheDriverCallsAloneOnPartsOfTheMultiprocessors) {
  const Calls stream = calls_of(kOnParts, "h200", ExecutorKind::kStream);
  EXPECT_EQ(stream.launches, 20);
  EXPECT_EQ(stream.records, stream.waits);
  EXPECT_GT(stream.records, 0);
  EXPECT_EQ(calls_of(kOnParts, "h200", ExecutorKind::kGraph).graphs, 10);
}

}  // namespace
}  // namespace baton::session_test::warm_enqueue_test
