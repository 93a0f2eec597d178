// The cost of an enqueued program: no allocation, no lock, one driver call for each launch. The
// driver's own share is left out by a table whose calls do nothing.

#include <gtest/gtest.h>

#include "base/counted_costs.h"
#include "runtime/context.h"
#include "runtime/device_state.h"
#include "runtime/provider.h"
#include "session/test_program.h"

namespace baton::session_test {
namespace {

struct Calls {
  int launches = 0, copies = 0, graphs = 0;
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

TEST(WarmEnqueue, CostsTheDriverCallsAlone) {
  const DriverProvider& simulated = driver_providers().back();
  const driver::Driver& real = *simulated.driver(nullptr);
  // A table of its own for this test: what it swaps in and out, nobody else sees.
  static driver::Driver table = real;
  const Device device =
      DeviceState::handle(DeviceState::acquire(simulated, table, *simulated.ordinal("tiny")));
  context = device.native_context();
  const LoadedProgram loaded = LoadedProgram::load(program(kText), device);
  const Stream stream(device);
  for (const ExecutorKind kind : {ExecutorKind::kStream, ExecutorKind::kGraph}) {
    Executable executable(loaded, kind);
    executable.bind();
    executable.enqueue(stream);
    stream.synchronize();

    const driver::Driver full = table;
    static driver::Driver bare;
    bare.version = full.version;
    bare.cuLaunchKernelEx = count_launch;
    bare.cuMemcpyDtoDAsync = count_copy;
    bare.cuGraphLaunch = count_graph;
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
    const bool is_graph = kind == ExecutorKind::kGraph;
    EXPECT_EQ(calls.launches, is_graph ? 0 : 210);
    EXPECT_EQ(calls.copies, is_graph ? 0 : 10);
    EXPECT_EQ(calls.graphs, is_graph ? 10 : 0);
  }
}

}  // namespace
}  // namespace baton::session_test
