// What a caller tells of a launch: its tag is in the launch's findings.

#include <gtest/gtest.h>

#include <optional>
#include <thread>
#include <vector>

#include "sim/testing/driver_test.h"
#include "sim/testing/test_kernels.h"

namespace baton::sim::launch_note_test {
namespace {

using Tags = std::vector<std::optional<std::uint64_t>>;

// `add` reads the buffer `unwritten`, which nothing wrote. That is a warning, not a fault.
class LaunchNoteTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    if (tests_cuda()) GTEST_SKIP() << "holds for the simulated driver only";
    library = load(kTestKernels);
  }

  // Reads fresh memory each time.
  CUresult launch_add(CUstream stream = nullptr, unsigned block = 1) {
    unwritten = allocate(64);
    return launch(kernel(library, "add"), stream, {&unwritten, &one, &one}, 1, block);
  }

  Tags tags() {
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSynchronize());
    Tags tags;
    for (const driver::Finding& finding : simulator().take_findings(context)) {
      tags.push_back(finding.tag);
    }
    return tags;
  }

  driver::Simulator& simulator() { return *driver.simulator; }

  CUlibrary library = nullptr;
  CUdeviceptr unwritten = 0;
  int one = 1;
};

TEST_F(LaunchNoteTest, IsForTheNextLaunchOfTheThread) {
  simulator().note_next_launch({7, {}});
  std::thread([&] {
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuCtxSetCurrent(context));
    EXPECT_RESULT(CUDA_SUCCESS, launch_add());
    EXPECT_EQ(tags(), Tags{std::nullopt});
  }).join();
  EXPECT_RESULT(CUDA_SUCCESS, launch_add());
  EXPECT_EQ(tags(), Tags{7});
  EXPECT_RESULT(CUDA_SUCCESS, launch_add());
  EXPECT_EQ(tags(), Tags{std::nullopt});
}

TEST_F(LaunchNoteTest, IsUsedUpByALaunchThatIsRefused) {
  simulator().note_next_launch({7, {}});
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, launch_add(nullptr, 4096));
  EXPECT_RESULT(CUDA_SUCCESS, launch_add());
  EXPECT_EQ(tags(), Tags{std::nullopt});
}

TEST_F(LaunchNoteTest, IsReplacedAndForgotten) {
  simulator().note_next_launch({7, {}});
  simulator().note_next_launch({8, {}});
  EXPECT_RESULT(CUDA_SUCCESS, launch_add());
  EXPECT_EQ(tags(), Tags{8});
  simulator().note_next_launch({9, {}});
  simulator().forget_note();
  EXPECT_RESULT(CUDA_SUCCESS, launch_add());
  EXPECT_EQ(tags(), Tags{std::nullopt});
}

TEST_F(LaunchNoteTest, IsOfTheFirstOfEqualFindings) {
  for (const std::uint64_t tag : {3, 4}) {
    simulator().note_next_launch({tag, {}});
    EXPECT_RESULT(CUDA_SUCCESS, launch_add());
  }
  EXPECT_EQ(tags(), Tags{3});
}

TEST_F(LaunchNoteTest, IsKeptByCapturedLaunches) {
  const CUstream stream = make_stream();
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  simulator().note_next_launch({7, {}});
  EXPECT_RESULT(CUDA_SUCCESS, launch_add(stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamEndCapture(stream, &graph));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphInstantiateWithFlags(&exec, graph, 0));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream));
  EXPECT_EQ(tags(), Tags{7});
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
}

TEST_F(LaunchNoteTest, OfANodeIsThatOfTheUpdatedGraph) {
  CUgraphExec exec = nullptr;
  void* params[] = {&unwritten, &one, &one};
  CUDA_KERNEL_NODE_PARAMS node_params{};
  node_params.func = reinterpret_cast<CUfunction>(kernel(library, "add"));
  node_params.gridDimX = node_params.gridDimY = node_params.gridDimZ = 1;
  node_params.blockDimX = node_params.blockDimY = node_params.blockDimZ = 1;
  node_params.kernelParams = params;
  for (const std::uint64_t tag : {5, 6}) {
    unwritten = allocate(64);
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphCreate(&graph, 0));
    EXPECT_RESULT(CUDA_SUCCESS,
                  driver.cuGraphAddKernelNode(&node, graph, nullptr, 0, &node_params));
    simulator().note_node(node, {tag, {}});
    CUlaunchAttributeValue priority{};
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphKernelNodeSetAttribute(
                                    node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &priority));
    CUgraphExecUpdateResultInfo info{};
    if (exec == nullptr) {
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphInstantiateWithFlags(&exec, graph, 0));
    } else {
      EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecUpdate(exec, graph, &info));
    }
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, nullptr));
    EXPECT_EQ(tags(), Tags{tag});
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
  }
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
}

TEST_F(LaunchNoteTest, AStopTellsWhichLaunchesRan) {
  CUdeviceptr flag = upload(std::vector<int>{0});
  CUdeviceptr out = upload(std::vector<int>{0});
  simulator().note_next_launch({7, {}});
  EXPECT_RESULT(CUDA_SUCCESS, launch(kernel(library, "await"), nullptr, {&flag, &out}));
  simulator().note_next_launch({8, {}});
  EXPECT_RESULT(CUDA_SUCCESS, launch_add());  // after the first one
  EXPECT_EQ(simulator().stop(context).tags, std::vector<std::uint64_t>{7});
  EXPECT_TRUE(simulator().stop(context).tags.empty());
  EXPECT_RESULT(CUDA_ERROR_LAUNCH_TIMEOUT, driver.cuCtxSynchronize());
}

}  // namespace
}  // namespace baton::sim::launch_note_test
