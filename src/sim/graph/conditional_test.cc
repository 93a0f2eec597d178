// Conditional nodes, and the function by which kernels set their conditions.

#include "sim/testing/driver_test.h"

namespace baton::sim::conditional_test {
namespace {

constexpr const char* kKernels = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

// *left -= 1, and the condition becomes *left
.visible .entry count_down(.param .u64 left, .param .u64 handle) {
  .reg .b64 %d<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %d1, [left];
  ld.param.u64 %d2, [handle];
  ld.global.u32 %r1, [%d1];
  add.s32 %r1, %r1, -1;
  st.global.u32 [%d1], %r1;
  {
    .param .b64 a;
    .param .b32 b;
    st.param.b64 [a], %d2;
    st.param.b32 [b], %r1;
    call.uni cudaGraphSetConditional, (a, b);
  }
  ret;
}

// The condition becomes *from.
.visible .entry set(.param .u64 from, .param .u64 handle) {
  .reg .b64 %d<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %d1, [from];
  ld.param.u64 %d2, [handle];
  ld.global.u32 %r1, [%d1];
  {
    .param .b64 a;
    .param .b32 b;
    st.param.b64 [a], %d2;
    st.param.b32 [b], %r1;
    call.uni cudaGraphSetConditional, (a, b);
  }
  ret;
}

// *to += amount
.visible .entry increase(.param .u64 to, .param .u64 amount) {
  .reg .b64 %d<4>;
  .reg .b32 %r<4>;
  ld.param.u64 %d1, [to];
  ld.param.u32 %r2, [amount];
  ld.global.u32 %r1, [%d1];
  add.s32 %r1, %r1, %r2;
  st.global.u32 [%d1], %r1;
  ret;
}
)";

class ConditionalTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    library = load(kKernels);
    stream = make_stream();
    ASSERT_RESULT(CUDA_SUCCESS, driver.cuGraphCreate(&graph, 0));
  }
  void TearDown() override {
    if (graph != nullptr) driver.cuGraphDestroy(graph);
    DriverTest::TearDown();
  }

  CUgraphConditionalHandle condition(CUgraph of, unsigned initial, unsigned flags = 0) {
    CUgraphConditionalHandle handle = 0;
    EXPECT_RESULT(CUDA_SUCCESS,
                  driver.cuGraphConditionalHandleCreate(&handle, of, context, initial, flags));
    return handle;
  }
  // One thread of the kernel with two arguments of 8 bytes, after a node or at the beginning.
  CUgraphNode launch(CUgraph to, const char* name, std::uint64_t a, std::uint64_t b,
                     CUgraphNode after = nullptr) {
    void* arguments[] = {&a, &b};
    CUDA_KERNEL_NODE_PARAMS params{};
    params.kern = kernel(library, name);
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
    CUgraphNode node = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS,
                  driver.cuGraphAddKernelNode(&node, to, &after, after != nullptr, &params));
    return node;
  }
  struct Conditional {
    CUgraphNode node = nullptr;
    std::vector<CUgraph> bodies;
  };
  Conditional add(CUgraph to, CUgraphConditionalHandle handle, CUgraphConditionalNodeType type,
                  unsigned size = 1, CUgraphNode after = nullptr) {
    CUgraphNodeParams params{};
    params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = size;
    params.conditional.ctx = context;
    Conditional added;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphAddNode(&added.node, to, &after, nullptr,
                                                      after != nullptr, &params));
    added.bodies.assign(params.conditional.phGraph_out, params.conditional.phGraph_out + size);
    return added;
  }
  CUgraphExec instantiate() {
    CUgraphExec exec = nullptr;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphInstantiateWithFlags(&exec, graph, 0));
    return exec;
  }
  void run(CUgraphExec exec) { EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphLaunch(exec, stream)); }
  int value(CUdeviceptr at) { return download<int>(at, 1, stream)[0]; }

  CUlibrary library = nullptr;
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
};

TEST_F(ConditionalTest, AWhileRunsItsBodyUntilAKernelSetsItsConditionToZero) {
  const CUdeviceptr left = upload(std::vector<int>{5}), sum = upload(std::vector<int>{0});
  const auto handle = condition(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  const Conditional loop = add(graph, handle, CU_GRAPH_COND_TYPE_WHILE);
  launch(graph, "increase", sum, 100, loop.node);
  const CUgraphNode first = launch(loop.bodies[0], "increase", sum, 1);
  launch(loop.bodies[0], "count_down", left, handle, first);
  const CUgraphExec exec = instantiate();
  run(exec);
  EXPECT_EQ(value(left), 0);
  EXPECT_EQ(value(sum), 105);
  // Its launches begin with the initial value again; -1 and so on are not 0 either.
  driver.cuMemsetD32Async(left, 3, 1, stream);
  run(exec);
  EXPECT_EQ(value(sum), 208);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
}

TEST_F(ConditionalTest, WithoutAnInitialValueTheLastOneCounts) {
  const CUdeviceptr left = upload(std::vector<int>{2}), go = upload(std::vector<int>{1});
  const auto handle = condition(graph, 1);
  const CUgraphNode test = launch(graph, "set", go, handle);
  const Conditional loop = add(graph, handle, CU_GRAPH_COND_TYPE_WHILE, 1, test);
  launch(loop.bodies[0], "count_down", left, handle);
  const CUgraphExec exec = instantiate();
  run(exec);
  EXPECT_EQ(value(left), 0);
  driver.cuMemsetD32Async(go, 0, 1, stream);
  run(exec);
  EXPECT_EQ(value(left), 0);
}

TEST_F(ConditionalTest, AnIfTakesOneOfItsBodies) {
  const CUdeviceptr choice = upload(std::vector<int>{1}), sum = upload(std::vector<int>{0});
  const auto handle = condition(graph, 0);
  const CUgraphNode test = launch(graph, "set", choice, handle);
  const Conditional branch = add(graph, handle, CU_GRAPH_COND_TYPE_IF, 2, test);
  launch(branch.bodies[0], "increase", sum, 1);
  launch(branch.bodies[1], "increase", sum, 10);
  const CUgraphExec exec = instantiate();
  run(exec);
  EXPECT_EQ(value(sum), 1);
  driver.cuMemsetD32Async(choice, 0, 1, stream);
  run(exec);
  EXPECT_EQ(value(sum), 11);
}

TEST_F(ConditionalTest, ASwitchTakesTheBodyOfItsNumberOrNone) {
  const CUdeviceptr choice = upload(std::vector<int>{0}), sum = upload(std::vector<int>{0});
  const auto handle = condition(graph, 0);
  const CUgraphNode test = launch(graph, "set", choice, handle);
  const Conditional branch = add(graph, handle, CU_GRAPH_COND_TYPE_SWITCH, 3, test);
  for (unsigned k = 0; k < 3; ++k) launch(branch.bodies[k], "increase", sum, 1u << (4 * k));
  const CUgraphExec exec = instantiate();
  for (const unsigned chosen : {0u, 2u, 7u, 1u}) {
    driver.cuMemsetD32Async(choice, chosen, 1, stream);
    run(exec);
  }
  EXPECT_EQ(value(sum), 0x111);
}

// A condition of the whole graph may be that of a node in a body.
TEST_F(ConditionalTest, ABodyMayUseTheConditionOfTheGraphAroundIt) {
  const CUdeviceptr left = upload(std::vector<int>{3}), sum = upload(std::vector<int>{0});
  const auto outer = condition(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  const auto inner = condition(graph, 0);
  const Conditional loop = add(graph, outer, CU_GRAPH_COND_TYPE_WHILE);
  const CUgraph body = loop.bodies[0];
  CUgraphNode node = launch(body, "set", left, inner);
  const Conditional branch = add(body, inner, CU_GRAPH_COND_TYPE_IF, 1, node);
  launch(branch.bodies[0], "increase", sum, 10);
  launch(body, "count_down", left, outer, branch.node);
  const CUgraphExec exec = instantiate();
  run(exec);
  EXPECT_EQ(value(sum), 30);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
}

TEST_F(ConditionalTest, ConditionalsNest) {
  const CUdeviceptr outer_left = upload(std::vector<int>{3}),
                    inner_left = upload(std::vector<int>{0});
  const CUdeviceptr sum = upload(std::vector<int>{0});
  const auto outer = condition(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  const Conditional loop = add(graph, outer, CU_GRAPH_COND_TYPE_WHILE);
  const CUgraph body = loop.bodies[0];
  const auto inner = condition(body, 0);
  CUgraphNode node = launch(body, "increase", inner_left, 4);
  node = launch(body, "set", inner_left, inner, node);
  const Conditional nested = add(body, inner, CU_GRAPH_COND_TYPE_WHILE, 1, node);
  node = launch(nested.bodies[0], "increase", sum, 1);
  launch(nested.bodies[0], "count_down", inner_left, inner, node);
  launch(body, "count_down", outer_left, outer, nested.node);
  for (const char* schedule : {"serial", "late", "early", "reverse", "random:3"}) {
    set_schedule(parse_schedule(schedule));
    const CUgraphExec exec = instantiate();
    driver.cuMemsetD32Async(outer_left, 3, 1, stream);
    driver.cuMemsetD32Async(sum, 0, 1, stream);
    run(exec);
    EXPECT_EQ(value(sum), 12) << schedule;
    EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(exec));
  }
}

// Work of the stream that is submitted while the loop is still to run comes after its turns.
TEST_F(ConditionalTest, WhatFollowsInTheStreamIsOrderedAfterEveryTurn) {
  SIMULATED_ONLY();
  driver::Simulator::Options options;
  options.watch = driver::Simulator::Watch::kOn;
  const auto session = driver.simulator->begin(context, options);
  const CUdeviceptr left = upload(std::vector<int>{4}), sum = upload(std::vector<int>{0});
  const auto handle = condition(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  const Conditional loop = add(graph, handle, CU_GRAPH_COND_TYPE_WHILE);
  const CUgraphNode first = launch(loop.bodies[0], "increase", sum, 1);
  launch(loop.bodies[0], "count_down", left, handle, first);
  const CUgraphExec exec = instantiate();
  Gate gate;
  ASSERT_RESULT(CUDA_SUCCESS, gate.close(driver, stream));
  run(exec);
  driver.cuMemsetD32Async(left, 2, 1, stream);
  run(exec);
  driver.cuMemsetD32Async(sum, 7, 1, stream);
  gate.open();
  EXPECT_EQ(value(sum), 7);
  for (const driver::Finding& finding : session->take_findings()) {
    ADD_FAILURE() << finding.message;
  }
}

TEST_F(ConditionalTest, ARaceWithAnotherStreamIsFound) {
  SIMULATED_ONLY();
  driver::Simulator::Options options;
  options.watch = driver::Simulator::Watch::kOn;
  const auto session = driver.simulator->begin(context, options);
  const CUdeviceptr left = upload(std::vector<int>{4}), sum = upload(std::vector<int>{0});
  const auto handle = condition(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  const Conditional loop = add(graph, handle, CU_GRAPH_COND_TYPE_WHILE);
  const CUgraphNode first = launch(loop.bodies[0], "increase", sum, 1);
  launch(loop.bodies[0], "count_down", left, handle, first);
  const CUstream other = make_stream();
  run(instantiate());
  driver.cuMemsetD32Async(sum, 7, 1, other);
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(stream));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuStreamSynchronize(other));
  EXPECT_FALSE(session->take_findings().empty());
}

TEST_F(ConditionalTest, ALoopThatNeverEndsCanBeStopped) {
  SIMULATED_ONLY();
  const CUdeviceptr sum = upload(std::vector<int>{0});
  const auto handle = condition(graph, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  launch(add(graph, handle, CU_GRAPH_COND_TYPE_WHILE).bodies[0], "increase", sum, 1);
  run(instantiate());
  driver.simulator->stop(context);
  EXPECT_RESULT(CUDA_ERROR_LAUNCH_TIMEOUT, driver.cuStreamSynchronize(stream));
}

TEST_F(ConditionalTest, RefusesWhatADriverRefuses) {
  const auto handle = condition(graph, 0);
  CUgraphExec exec = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuGraphInstantiateWithFlags(&exec, graph, 0));
  const Conditional branch = add(graph, handle, CU_GRAPH_COND_TYPE_IF);
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuGraphDestroy(branch.bodies[0]));
  const CUgraphExec first = instantiate();
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuGraphInstantiateWithFlags(&exec, graph, 0));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(first));
  EXPECT_RESULT(CUDA_SUCCESS, driver.cuGraphExecDestroy(instantiate()));
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = handle;
  params.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
  params.conditional.size = 1;
  params.conditional.ctx = context;
  CUgraphNode node = nullptr;
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE,
                driver.cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
}

TEST_F(ConditionalTest, AnUnknownHandleIsAFinding) {
  SIMULATED_ONLY();
  const CUdeviceptr go = upload(std::vector<int>{1});
  launch(graph, "set", go, 12345);
  run(instantiate());
  EXPECT_RESULT(CUDA_ERROR_INVALID_VALUE, driver.cuStreamSynchronize(stream));
  const auto fault = driver.simulator->fault(context);
  ASSERT_TRUE(fault);
  EXPECT_NE(fault->message.find("0x3039, which no conditional node has"), std::string::npos);
}

}  // namespace
}  // namespace baton::sim::conditional_test
