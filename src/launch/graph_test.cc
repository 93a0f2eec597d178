#include "baton/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "baton/module.h"

namespace baton::graph_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// x[0] = x[0] * factor + 1, after a wait and a trigger.
constexpr const char* kStep = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry step(.param .u64 step_param_0, .param .u32 step_param_1)
{
  .reg .u32 %r<4>;
  .reg .u64 %rd<3>;
  ld.param.u64 %rd1, [step_param_0];
  ld.param.u32 %r1, [step_param_1];
  cvta.to.global.u64 %rd2, %rd1;
  griddepcontrol.wait;
  ld.global.u32 %r2, [%rd2];
  mad.lo.u32 %r3, %r2, %r1, 1;
  st.global.u32 [%rd2], %r3;
  griddepcontrol.launch_dependents;
  ret;
}
)";

template <typename Call>
void expect_refusal(Call&& call, const char* text) {
  try {
    call();
    ADD_FAILURE() << "not refused: " << text;
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput) << failure.what();
    EXPECT_THAT(failure.message(), HasSubstr(text));
  }
}

class GraphTest : public testing::Test {
 protected:
  static Device open() {
    const char* spec = std::getenv("BATON_TEST_DEVICE");
    return Device::open(spec != nullptr && *spec != '\0' ? spec : "sim");
  }

  LaunchPlan plan(unsigned factor) const {
    return LaunchPlan::make(kernel_, {.block = 1, .stream = stream_}, x_, factor);
  }
  unsigned value() const {
    unsigned result = 0;
    x_.memory().download(&result, sizeof(result), 0, stream_);
    stream_.synchronize();
    return result;
  }

  const Device device_ = open();
  const Stream stream_{device_};
  const Buffer<unsigned> x_ = Buffer<unsigned>::of(device_, std::vector<unsigned>{1});
  const Kernel kernel_ = Module::load(device_, Image::from_bytes(kStep, "step.ptx")).kernel("step");
};

TEST_F(GraphTest, LaunchesMayBeginInOrder) {
  Graph graph(device_);
  const GraphEdge begun(graph.add(plan(10)), GraphEdgeKind::kLaunchOrder);
  graph.add(plan(2), {&begun, 1});
  EXPECT_EQ(graph.counts().edges, 1u);
  EXPECT_EQ(graph.counts().programmatic_edges, 1u);
}

TEST_F(GraphTest, RunsNodesInTheOrderOfTheirEdges) {
  Graph graph(device_);
  const NativeGraphNode first = graph.add(plan(10));
  const GraphEdge early(first, GraphEdgeKind::kProgrammatic);
  const NativeGraphNode second = graph.add(plan(2), {&early, 1});
  const GraphEdge after(second);
  std::atomic<int> calls = 0;
  const GraphEdge host(graph.add_host([&] { ++calls; }, {&after, 1}));
  graph.add_empty({&host, 1});
  const Graph::Counts counts = graph.counts();
  EXPECT_EQ(counts.nodes, 4u);
  EXPECT_EQ(counts.edges, 3u);
  EXPECT_EQ(counts.programmatic_edges, 1u);
  const GraphInstance instance(graph);
  instance.launch(stream_);
  EXPECT_EQ(value(), (1 * 10 + 1) * 2 + 1u);
  instance.launch(stream_);
  EXPECT_EQ(value(), (23 * 10 + 1) * 2 + 1u);
  EXPECT_EQ(calls, 2);
}

TEST_F(GraphTest, CopiesAndFills) {
  const Buffer<std::uint64_t> wide(device_, 3);
  const Buffer<std::uint64_t> copied(device_, 3);
  Graph graph(device_);
  const GraphEdge filled(graph.add_fill(wide.memory().address(), 0x0123456789ABCDEFull, 8, 3));
  graph.add_copy(copied.memory().address(), wide.memory().address(), 24, {&filled, 1});
  GraphInstance(graph).launch(stream_);
  stream_.synchronize();
  EXPECT_THAT(copied.download(), Each(0x0123456789ABCDEFull));
  try {
    graph.add_fill(wide.memory().address(), 0, 3, 1);
    FAIL();
  } catch (const Error& failure) {
    EXPECT_EQ(failure.code(), ErrorCode::kInvalidInput);
    EXPECT_THAT(failure.message(), HasSubstr("elements of 3 bytes"));
  }
}

TEST_F(GraphTest, NodesAndGraphsAreUpdated) {
  Graph graph(device_);
  const NativeGraphNode node = graph.add(plan(10));
  GraphInstance instance(graph);
  instance.update(node, plan(7));
  instance.launch(stream_);
  EXPECT_EQ(value(), 8u);
  Graph other(device_);
  other.add(plan(2));
  EXPECT_TRUE(instance.update(other));
  instance.launch(stream_);
  EXPECT_EQ(value(), 17u);
  Graph longer(device_);
  const GraphEdge first(longer.add(plan(2)));
  longer.add(plan(2), {&first, 1});
  EXPECT_FALSE(instance.update(longer));
  instance.launch(stream_);
  EXPECT_EQ(value(), 35u) << "nothing has changed";
}

TEST_F(GraphTest, CapturesAStream) {
  const Graph graph = Graph::capture(stream_, [&] {
    EXPECT_TRUE(stream_.is_capturing());
    plan(3).launch();
    plan(3).launch();
  });
  EXPECT_FALSE(stream_.is_capturing());
  EXPECT_EQ(graph.counts().nodes, 2u);
  EXPECT_EQ(value(), 1u) << "nothing was executed";
  GraphInstance(graph).launch(stream_);
  EXPECT_EQ(value(), 13u);
}

TEST_F(GraphTest, ACaptureThatFailsLeavesTheStreamUsable) {
  EXPECT_THROW(Graph::capture(stream_, [] { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_FALSE(stream_.is_capturing());
  plan(3).launch();
  EXPECT_EQ(value(), 4u);
}

TEST_F(GraphTest, ACaptureNeedsAFunctionThatDoesNotWait) {
  expect_refusal([&] { Graph::capture(stream_, {}); }, "is empty");
  try {
    Graph::capture(stream_, [&] { stream_.synchronize(); });
    FAIL();
  } catch (const Error& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("a stream that is captured executes nothing"));
  }
  EXPECT_FALSE(stream_.is_capturing());
}

// Host functions live as long as what may call them.
TEST_F(GraphTest, AnInstanceKeepsHostFunctions) {
  const auto calls = std::make_shared<std::atomic<int>>(0);
  std::optional<GraphInstance> instance;
  {
    Graph graph(device_);
    graph.add_host([calls] { ++*calls; });
    instance.emplace(graph);
  }
  instance->launch(stream_);
  stream_.synchronize();
  EXPECT_EQ(*calls, 1);
  EXPECT_EQ(calls.use_count(), 2);
  instance.reset();
  EXPECT_EQ(calls.use_count(), 1);
}

// x[1] -= 1, and the condition becomes x[1].
constexpr const char* kCountDown = R"(
.version 8.0
.target sm_90
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry count_down(.param .u64 p_x, .param .u64 p_condition)
{
  .reg .b64 %x, %condition;
  .reg .b32 %n;
  ld.param.u64 %x, [p_x];
  ld.param.u64 %condition, [p_condition];
  ld.global.u32 %n, [%x+4];
  add.s32 %n, %n, -1;
  st.global.u32 [%x+4], %n;
  {
    .param .b64 a;
    .param .b32 b;
    st.param.b64 [a], %condition;
    st.param.b32 [b], %n;
    call.uni cudaGraphSetConditional, (a, b);
  }
  ret;
}
)";

TEST_F(GraphTest, ConditionalNodesExecuteTheirBodies) {
  const Module module = Module::load(device_, Image::from_bytes(kCountDown, "count_down.ptx"));
  const Buffer<unsigned> x(device_, 2);
  const LaunchPlan step = LaunchPlan::make(kernel_, {.block = 1, .stream = stream_}, x, 2u);
  Graph graph(device_);
  const GraphCondition go = graph.make_condition(1), never = graph.make_condition(0);
  GraphConditional loop = graph.add_while(go);
  const GraphEdge first(loop.body.add(step));
  loop.body.add(
      LaunchPlan::make(module.kernel("count_down"), {.block = 1, .stream = stream_}, x, go),
      {&first, 1});
  const GraphEdge looped(loop.node);
  GraphConditional branch = graph.add_if(never, {&looped, 1});
  branch.body.add_fill(x.memory().address(), 77, 4, 1);
  EXPECT_EQ(graph.counts().nodes, 2u);
  EXPECT_EQ(loop.body.counts().nodes, 2u);
  EXPECT_EQ(branch.body.counts().nodes, 1u);
  const GraphInstance instance(graph);
  const auto run = [&](unsigned count) {
    x.upload(std::vector<unsigned>{0, count}, stream_);
    instance.launch(stream_);
    std::vector<unsigned> values(2);
    x.download(values, stream_);
    stream_.synchronize();
    return values[0];
  };
  EXPECT_EQ(run(3), 7u);  // ((0 * 2 + 1) * 2 + 1) * 2 + 1
  EXPECT_EQ(run(1), 1u);
  EXPECT_EQ(run(5), 31u);
  // A second node for one condition, and a second instance.
  expect_refusal([&] { graph.add_if(go); }, "no unused condition");
  expect_refusal([&] { GraphInstance second(graph); }, "and another instance");
  expect_refusal([&] { GraphInstance body(loop.body); }, "the body of a conditional node");
}

TEST_F(GraphTest, BadInputIsRefused) {
  Graph graph(device_);
  expect_refusal([&] { graph.add_host({}); }, "host function of a node is empty");
  Graph other(device_);
  const NativeGraphNode foreign = other.add_empty();
  const NativeGraphNode first = graph.add(plan(1)), host = graph.add_host([] {});
  for (const auto& [edge, text] : std::vector<std::pair<GraphEdge, const char*>>{
           {{nullptr}, "edge 1 comes from a null node"},
           {{foreign}, "edge 1 comes from a node that the graph does not have"},
           {{nullptr, GraphEdgeKind::kProgrammatic}, "comes from a null node"},
           {{foreign, GraphEdgeKind::kProgrammatic}, "a node that the graph does not have"},
           {{host, GraphEdgeKind::kProgrammatic}, "the earlier node is a host function"},
           {{host, GraphEdgeKind::kLaunchOrder}, "the earlier node is a host function"}}) {
    const GraphEdge edges[] = {first, edge};
    expect_refusal([&] { graph.add(plan(1), edges); }, text);
  }
  const GraphEdge early(first, GraphEdgeKind::kProgrammatic);
  expect_refusal(
      [&] {
        graph.add_fill(x_.memory().address(), 0, 4, 1, {&early, 1});
      },
      "the later node is a fill");
}

TEST_F(GraphTest, BodiesTakeNoHostFunctionsAndRecords) {
  Graph graph(device_);
  GraphConditional branch = graph.add_if(graph.make_condition(1));
  const Event event(device_);
  expect_refusal([&] { branch.body.add_host([] {}); }, "takes no host function");
  expect_refusal([&] { branch.body.add_record(event); }, "takes no record of an event");
  branch.body.add(plan(2));
  GraphInstance(graph).launch(stream_);
  EXPECT_EQ(value(), 3u);
}

TEST_F(GraphTest, TwoEdgesFromOneNodeAreRefused) {
  Graph graph(device_);
  const NativeGraphNode first = graph.add(plan(2));
  const GraphEdge early(first, GraphEdgeKind::kLaunchOrder);
  for (const GraphEdge& second : {GraphEdge(first), early}) {
    const std::vector<GraphEdge> edges = {first, graph.add_empty(), second};
    expect_refusal([&] { graph.add(plan(2), edges); }, "edges 0 and 2 come from one node");
  }
}

TEST_F(GraphTest, ACaptureInACaptureIsRefused) {
  expect_refusal([&] { Graph::capture(stream_, [&] { Graph::capture(stream_, [] {}); }); },
                 "captured from the stream already");
  EXPECT_FALSE(stream_.is_capturing());
}

TEST_F(GraphTest, GraphsThatWereMovedFromAreRefused) {
  Graph graph(device_);
  Graph moved = std::move(graph);
  expect_refusal([&] { graph.add(plan(2)); }, "moved from");
  expect_refusal([&] { graph.counts(); }, "moved from");
  expect_refusal([&] { GraphInstance{graph}; }, "moved from");
  GraphInstance instance(moved);
  const GraphInstance last = std::move(instance);
  expect_refusal([&] { instance.launch(stream_); }, "moved from");
  expect_refusal([&] { instance.update(moved); }, "moved from");
  last.launch(stream_);
  stream_.synchronize();
}

TEST_F(GraphTest, MemoryThatTheDeviceLacksIsRefused) {
  Graph graph(device_);
  const DeviceAddress address = x_.data().address;
  expect_refusal([&] { graph.add_copy(address, 0, 4); }, "a copy of 4 bytes from 0x0 to 0x");
  expect_refusal([&] { graph.add_fill(0x1000, 1, 4, 2); },
                 "a fill of 2 elements of 4 bytes at 0x1000");
}

TEST_F(GraphTest, AStreamOfAnotherDeviceIsRefused) {
  const Stream other(Device::open("sim:tiny"));
  Graph graph(device_);
  graph.add(plan(2));
  const GraphInstance instance(graph);
  expect_refusal([&] { instance.launch(other); }, "both must belong to one device");
}

TEST_F(GraphTest, EdgesThatDoNotFitAreRefused) {
  Graph graph(device_), other(device_);
  const NativeGraphNode first = graph.add(plan(1)), second = graph.add(plan(2));
  graph.connect(first, second);
  expect_refusal([&] { graph.connect(second, first); }, "would close a cycle");
  expect_refusal([&] { graph.connect(first, nullptr); }, "the edge leads to a null node");
  expect_refusal([&] { graph.connect(first, other.add_empty()); },
                 "the edge leads to a node that the graph does not have");
}

TEST_F(GraphTest, OnlyLaunchesOfTheGraphAreUpdated) {
  Graph graph(device_), other(device_);
  graph.add(plan(1));
  const NativeGraphNode host = graph.add_host([] {});
  const GraphInstance instance(graph);
  expect_refusal([&] { instance.update(nullptr, plan(2)); },
                 "the node that is to become a launch of kernel step is null");
  expect_refusal([&] { instance.update(host, plan(2)); }, "it is a host function");
  expect_refusal([&] { instance.update(other.add(plan(1)), plan(2)); },
                 "no launch of the graph that the instance was made of");
}

TEST_F(GraphTest, AKernelWithoutAWaitTakesNoProgrammaticEdge) {
  constexpr const char* kPlain =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry plain() { ret; }\n";
  const Kernel plain =
      Module::load(device_, Image::from_bytes(kPlain, "plain.ptx")).kernel("plain");
  LaunchConfig config{.block = 1, .stream = stream_};
  Graph graph(device_);
  const GraphEdge early(graph.add(plan(1)), GraphEdgeKind::kProgrammatic);
  expect_refusal(
      [&] {
        graph.add(LaunchPlan::make(plain, config), {&early, 1});
      },
      "kernel plain has a programmatic edge and never waits");
  graph.add(LaunchPlan::make(plain, config));
  config.force_pdl = true;
  graph.add(LaunchPlan::make(plain, config), {&early, 1});
  EXPECT_EQ(graph.counts().nodes, 3u);
}

}  // namespace
}  // namespace baton::graph_test
