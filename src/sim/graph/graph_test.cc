// Graphs, built by hand and captured, in answers that an H200 gives too.

#include <cstring>

#include "sim/testing/driver_test.h"
#include "sim/testing/test_kernels.h"

namespace baton::sim::graph_test {
namespace {

class GraphTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    library = load(kTestKernels);
    stream = make_stream();
    values = upload(std::vector<int>(256, 5));
  }

  // y[i] += amount for the first `count` values.
  CUDA_KERNEL_NODE_PARAMS add_params(int* amount, int* count) {
    CUDA_KERNEL_NODE_PARAMS params{};
    params.kern = kernel(library, "add");
    params.gridDimX = 2;
    params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = 128;
    params.blockDimY = params.blockDimZ = 1;
    arguments = {&values, amount, count};
    params.kernelParams = arguments.data();
    return params;
  }
  CUresult add(CUstream on, int amount, std::vector<CUlaunchAttribute> attributes = {}) {
    int count = 256;
    void* params[] = {&values, &amount, &count};
    CUlaunchConfig config{};
    config.gridDimX = 2;
    config.blockDimX = 128;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.hStream = on;
    config.attrs = attributes.data();
    config.numAttrs = static_cast<unsigned>(attributes.size());
    return driver.cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(kernel(library, "add")),
                                   params, nullptr);
  }
  void begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) {
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuStreamBeginCapture(stream, mode));
  }
  CUgraph end() {
    CUgraph graph = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamEndCapture(stream, &graph));
    return graph;
  }
  CUgraphExec instantiate(CUgraph graph) {
    CUgraphExec exec = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
  }
  std::vector<CUgraphNode> nodes_of(CUgraph graph) {
    size_t count = 0;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphGetNodes(graph, nullptr, &count));
    std::vector<CUgraphNode> nodes(count);
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphGetNodes(graph, nodes.data(), &count));
    return nodes;
  }
  std::vector<CUgraphEdgeData> edges_of(CUgraph graph) {
    size_t count = 0;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
    std::vector<CUgraphNode> from(count), to(count);
    std::vector<CUgraphEdgeData> data(count);
    EXPECT_RESULT(CUDA_SUCCESS,
                  driver.cuGraphGetEdges(graph, from.data(), to.data(), data.data(), &count));
    return data;
  }
  int first_value() { return download<int>(values, 1, stream)[0]; }

  CUlibrary library = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr values = 0;
  std::vector<void*> arguments;
};

CUlaunchAttribute dependent() {
  CUlaunchAttribute attribute;
  std::memset(&attribute, 0, sizeof attribute);
  attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  attribute.value.programmaticStreamSerializationAllowed = 1;
  return attribute;
}

TEST_F(GraphTest, CapturedWorkRunsWhenItsGraphDoes) {
  begin();
  EXPECT_RESULT(CUDA_SUCCESS, add(stream, 1));
  EXPECT_RESULT(CUDA_SUCCESS, add(stream, 2));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(values + 4, 9, 1, stream));
  const CUgraph graph = end();
  EXPECT_EQ(first_value(), 5);
  const CUgraphExec exec = instantiate(graph);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
  for (int k = 0; k < 3; ++k) EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream));
  EXPECT_EQ(download<int>(values, 3, stream), (std::vector<int>{14, 9, 14}));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuGraphLaunch(exec, stream));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuGraphDestroy(graph));
}

TEST_F(GraphTest, ParametersOfANodeCanBeChanged) {
  CUgraph graph = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphCreate(&graph, 0));
  int amount = 10;
  int count = 256;
  CUDA_KERNEL_NODE_PARAMS params = add_params(&amount, &count);
  CUgraphNode first = nullptr;
  CUgraphNode empty = nullptr;
  CUgraphNode second = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphAddKernelNode(&first, graph, nullptr, 0, &params));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphAddEmptyNode(&empty, graph, &first, 1));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphAddKernelNode(&second, graph, &empty, 1, &params));
  const CUgraphExec exec = instantiate(graph);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream));
  EXPECT_EQ(first_value(), 25);
  amount = 100;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecKernelNodeSetParams(exec, second, &params));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuGraphExecKernelNodeSetParams(exec, empty, &params));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream));
  EXPECT_EQ(first_value(), 135);
  params.blockDimX = 1025;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuGraphExecKernelNodeSetParams(exec, second, &params));
  CUgraphNodeType type{};
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphNodeGetType(empty, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_EMPTY);
  EXPECT_EQ(nodes_of(graph), (std::vector<CUgraphNode>{first, empty, second}));
  // No edge twice, no cycle, no foreign node.
  const CUgraphEdgeData full{};
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuGraphAddDependencies(graph, &first, &empty, &full, 1));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuGraphAddDependencies(graph, &second, &first, &full, 1));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphAddDependencies(graph, &first, &second, &full, 1));
  EXPECT_EQ(edges_of(graph).size(), 3u);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
}

TEST_F(GraphTest, DependentLaunchesGiveProgrammaticEdges) {
  begin();
  EXPECT_RESULT(CUDA_SUCCESS, add(stream, 1));
  EXPECT_RESULT(CUDA_SUCCESS, add(stream, 2, {dependent()}));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(values, 0, 1, stream));
  EXPECT_RESULT(CUDA_SUCCESS, add(stream, 3, {dependent()}));
  const CUgraph graph = end();
  const std::vector<CUgraphEdgeData> edges = edges_of(graph);
  ASSERT_EQ(edges.size(), 3u);
  EXPECT_EQ(edges[0].type, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
  EXPECT_EQ(edges[0].from_port, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
  EXPECT_EQ(edges[1].type, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
  EXPECT_EQ(edges[2].type, CU_GRAPH_DEPENDENCY_TYPE_DEFAULT);
  size_t count = 3;
  std::vector<CUgraphNode> from(3), to(3);
  EXPECT_RESULT(CUDA_ERROR_LOSSY_QUERY,
                driver.cuGraphGetEdges(graph, from.data(), to.data(), nullptr, &count));
  // Only kernels are connected so.
  const std::vector<CUgraphNode> nodes = nodes_of(graph);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuGraphAddDependencies(graph, &nodes[0], &nodes[2], &edges[0], 1));
  EXPECT_RESULT(CUDA_SUCCESS,
                driver.cuGraphAddDependencies(graph, &nodes[0], &nodes[3], &edges[0], 1));
  const CUgraphExec exec = instantiate(graph);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream));
  EXPECT_EQ(download<int>(values, 2, stream), (std::vector<int>{3, 11}));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
}

TEST_F(GraphTest, NodesKeepAttributes) {
  CUlaunchAttribute cluster;
  std::memset(&cluster, 0, sizeof cluster);
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {2, 1, 1};
  CUlaunchAttribute updatable;
  std::memset(&updatable, 0, sizeof updatable);
  updatable.id = CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE;
  updatable.value.deviceUpdatableKernelNode.deviceUpdatable = 1;
  begin();
  EXPECT_RESULT(CUDA_SUCCESS, add(stream, 1, {cluster, updatable, dependent()}));
  const CUgraph graph = end();
  const std::vector<CUgraphNode> nodes = nodes_of(graph);
  ASSERT_EQ(nodes.size(), 1u);
  CUlaunchAttributeValue value;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphKernelNodeGetAttribute(
                                  nodes[0], CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
  EXPECT_EQ(value.clusterDim.x, 2u);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuGraphKernelNodeGetAttribute(
                    nodes[0], CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, &value));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
}

TEST_F(GraphTest, NodesTakeAttributes) {
  CUgraph graph = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphCreate(&graph, 0));
  int amount = 1;
  int count = 256;
  const CUDA_KERNEL_NODE_PARAMS params = add_params(&amount, &count);
  CUgraphNode node = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  CUlaunchAttributeValue value;
  std::memset(&value, 0, sizeof value);
  value.clusterDim = {2, 1, 1};
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphKernelNodeSetAttribute(
                                  node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
  CUlaunchAttributeValue kept;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphKernelNodeGetAttribute(
                                  node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &kept));
  EXPECT_EQ(kept.clusterDim.x, 2u);
  // Checked against the launch: two blocks are not a multiple of three.
  value.clusterDim = {3, 1, 1};
  EXPECT_NE(CUDA_SUCCESS, driver.cuGraphKernelNodeSetAttribute(
                              node, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value));
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuGraphKernelNodeSetAttribute(
                    node, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, &value));
  const CUgraphExec exec = instantiate(graph);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream));
  EXPECT_EQ(first_value(), 6);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
}

TEST_F(GraphTest, CopiesAndFills) {
  CUgraph graph = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = values;
  fill.value = 7;
  fill.elementSize = 4;
  fill.width = 4;
  fill.height = 1;
  CUgraphNode first = nullptr, second = nullptr, copied = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS,
                driver.cuGraphAddMemsetNode(&first, graph, nullptr, 0, &fill, context));
  // Every other element of the four.
  fill.dst = values + 4;
  fill.value = 9;
  fill.width = 1;
  fill.height = 2;
  fill.pitch = 8;
  ASSERT_RESULT(CUDA_SUCCESS,
                driver.cuGraphAddMemsetNode(&second, graph, &first, 1, &fill, context));
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = values;
  copy.dstDevice = values;
  copy.dstXInBytes = 16;
  copy.WidthInBytes = 12;
  copy.Height = copy.Depth = 1;
  ASSERT_RESULT(CUDA_SUCCESS,
                driver.cuGraphAddMemcpyNode(&copied, graph, &second, 1, &copy, context));
  const CUgraphExec exec = instantiate(graph);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream));
  EXPECT_EQ(download<int>(values, 8, stream), (std::vector<int>{7, 9, 7, 9, 7, 9, 7, 5}));
  CUgraphNodeType type{};
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphNodeGetType(copied, &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEMCPY);
  // Nothing to do, overlapping rows, memory that is not there.
  fill.pitch = 2;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuGraphAddMemsetNode(&second, graph, &first, 1, &fill, context));
  fill.pitch = 8;
  fill.height = 1000000;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuGraphAddMemsetNode(&second, graph, &first, 1, &fill, context));
  copy.WidthInBytes = 0;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuGraphAddMemcpyNode(&copied, graph, &second, 1, &copy, context));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
}

TEST_F(GraphTest, AnInstantiatedGraphTakesTheValuesOfAnother) {
  int count = 256;
  // Adds the amount, then sets the first element, unless that is the only node.
  const auto build = [&](int amount, unsigned blocks, bool fills) {
    CUgraph graph = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphCreate(&graph, 0));
    CUDA_KERNEL_NODE_PARAMS params = add_params(&amount, &count);
    params.gridDimX = blocks;
    CUgraphNode node = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphAddKernelNode(&node, graph, nullptr, 0, &params));
    CUDA_MEMSET_NODE_PARAMS fill{};
    fill.dst = values;
    fill.value = static_cast<unsigned>(amount);
    fill.elementSize = 4;
    fill.width = fill.height = 1;
    if (fills) {
      EXPECT_RESULT(CUDA_SUCCESS,
                    driver.cuGraphAddMemsetNode(&node, graph, &node, 1, &fill, context));
    }
    return graph;
  };
  const CUgraph graph = build(10, 2, true);
  const CUgraphExec exec = instantiate(graph);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream));
  CUgraphExecUpdateResultInfo info{};
  const CUgraph other = build(100, 1, true);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecUpdate(exec, other, &info));
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(other));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream));
  const std::vector<int> got = download<int>(values, 256, stream);
  EXPECT_EQ(got[0], 100);
  EXPECT_EQ(got[1], 115);
  EXPECT_EQ(got[255], 15);  // of the second block
  const CUgraph short_one = build(1, 1, false);
  EXPECT_RESULT(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
                driver.cuGraphExecUpdate(exec, short_one, &info));
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(short_one));

  // What the kernel did in the last launch, by the node of the first graph.
  const auto counters = driver.simulator->counters_of(exec);
  ASSERT_EQ(counters.size(), 1u);
  EXPECT_EQ(counters[0].first, nodes_of(graph)[0]);
  EXPECT_EQ(counters[0].second.bytes_written, 128u * 4);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
}

TEST_F(GraphTest, StreamsForkAndJoin) {
  const CUstream other = make_stream();
  const CUevent fork = make_event(CU_EVENT_DISABLE_TIMING);
  const CUevent join = make_event(CU_EVENT_DISABLE_TIMING);
  begin();
  EXPECT_RESULT(CUDA_SUCCESS, add(stream, 1));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(fork, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamWaitEvent(other, fork, 0));
  CUstreamCaptureStatus status{};
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamIsCapturing(other, &status));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(values + 8, 1, 1, other));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD32Async(values + 4, 2, 1, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(join, other));
  EXPECT_RESULT(CUDA_ERROR_CAPTURED_EVENT, driver.cuEventQuery(join));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamWaitEvent(stream, join, 0));
  cuuint64_t id = 0;
  CUgraph under_way = nullptr;
  const CUgraphNode* before = nullptr;
  size_t count = 0;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamGetCaptureInfo(stream, &status, &id, &under_way,
                                                            &before, nullptr, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_RESULT(CUDA_SUCCESS, add(stream, 10));
  const CUgraph graph = end();
  EXPECT_EQ(graph, under_way);
  EXPECT_EQ(edges_of(graph).size(), 4u);
  const CUgraphExec exec = instantiate(graph);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream));
  EXPECT_EQ(download<int>(values, 4, stream), (std::vector<int>{16, 12, 11, 16}));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamIsCapturing(other, &status));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
}

TEST_F(GraphTest, WhatIsLeftBehindIsRefused) {
  const CUstream other = make_stream();
  const CUevent fork = make_event(CU_EVENT_DISABLE_TIMING);
  begin();
  EXPECT_RESULT(CUDA_SUCCESS, add(stream, 1));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventRecord(fork, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamWaitEvent(other, fork, 0));
  EXPECT_RESULT(CUDA_SUCCESS, add(other, 1));
  CUgraph graph = nullptr;
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, driver.cuStreamEndCapture(other, &graph));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, driver.cuStreamEndCapture(stream, &graph));
  EXPECT_EQ(graph, nullptr);
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_STATE, driver.cuStreamEndCapture(stream, &graph));
}

TEST_F(GraphTest, ForbiddenCallsEndTheCapture) {
  CUgraph graph = nullptr;
  begin();
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_STATE,
                driver.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, driver.cuStreamSynchronize(stream));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, add(stream, 1));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, driver.cuStreamEndCapture(stream, &graph));
  EXPECT_EQ(first_value(), 5);
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                driver.cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
  // Work of the legacy stream cannot be ordered against a blocking stream's that is only captured.
  const CUstream blocking = make_stream(CU_STREAM_DEFAULT);
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, add(nullptr, 1));
  EXPECT_RESULT(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, driver.cuStreamEndCapture(blocking, &graph));
}

TEST_F(GraphTest, EventsInGraphs) {
  CUgraph graph = nullptr;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphCreate(&graph, 0));
  const CUevent recorded = make_event(CU_EVENT_DISABLE_TIMING);
  CUgraphNode host = nullptr;
  CUgraphNode record = nullptr;
  int called = 0;
  CUDA_HOST_NODE_PARAMS call{};
  call.fn = [](void* argument) { ++*static_cast<int*>(argument); };
  call.userData = &called;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphAddHostNode(&host, graph, nullptr, 0, &call));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphAddEventRecordNode(&record, graph, &host, 1, recorded));
  const CUgraphExec exec = instantiate(graph);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuEventSynchronize(recorded));
  EXPECT_EQ(called, 1);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
}

TEST_F(GraphTest, TenThousandNodes) {
  begin();
  for (int k = 0; k < 10000; ++k) ASSERT_RESULT(CUDA_SUCCESS, add(stream, 1));
  const CUgraph graph = end();
  const CUgraphExec exec = instantiate(graph);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream));
  EXPECT_EQ(first_value(), 10005);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
}

// What a capture allocates has its address from then on, and its memory in each launch anew.
TEST_F(GraphTest, ACaptureAllocatesAndFrees) {
  begin();
  CUdeviceptr nothing = 1, own = 0;
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemAllocAsync(&nothing, 0, stream));
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuMemAllocAsync(&own, 256 * sizeof(int), stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyDtoDAsync(own, values, 256 * sizeof(int), stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemcpyDtoDAsync(values, own, 256 * sizeof(int), stream));
  EXPECT_RESULT(CUDA_SUCCESS, add(stream, 1));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeAsync(own, stream));
  const CUgraph graph = end();
  const CUgraphExec exec = instantiate(graph);
  for (int k = 0; k < 3; ++k) EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream));
  EXPECT_EQ(first_value(), 8);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuMemFreeAsync(own, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphDestroy(graph));
}

TEST_F(GraphTest, MemoryIsGoneBehindTheNodeThatFreesIt) {
  SIMULATED_ONLY();
  begin();
  CUdeviceptr own = 0;
  ASSERT_RESULT(CUDA_SUCCESS, driver.cuMemAllocAsync(&own, 1024, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemFreeAsync(own, stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuMemsetD8Async(own, 0, 1024, stream));
  const CUgraphExec exec = instantiate(end());
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream));
  EXPECT_RESULT(CUDA_ERROR_ILLEGAL_ADDRESS, driver.cuStreamSynchronize(stream));
  const auto findings = take_findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, driver::FindingKind::kUseAfterFree);
}

}  // namespace
}  // namespace baton::sim::graph_test
