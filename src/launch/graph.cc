#include "baton/graph.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "driver/driver.h"
#include "launch/graph_edges.h"
#include "runtime/context.h"
#include "runtime/crossing.h"
#include "runtime/release.h"

namespace baton {
namespace {

using HostFunction = std::function<void()>;
// Lists share their functions: an instance keeps those of its graph.
using HostFunctions = std::vector<std::shared_ptr<const HostFunction>>;

// What the object has, unless it was moved from.
template <typename State>
State& live(const std::unique_ptr<State>& state) {
  if (state == nullptr) {
    throw error(ErrorCode::kInvalidInput,
                "the graph was moved from; use the object that it was moved into");
  }
  return *state;
}

// Adds a copy or a fill, which the text describes. What the driver refuses without a reason is
// memory that the device does not have.
template <typename Add, typename... Args>
NativeGraphNode add_move(Add&& add, fmt::format_string<const Args&...> what, const Args&... args) {
  try {
    return add();
  } catch (const Error& failure) {
    if (!launch::is_refused_argument(failure)) throw;
    throw launch::refused(failure,
                          "the driver does not take a {}; every byte must lie in memory of the "
                          "device",
                          fmt::format(what, args...));
  }
}

}  // namespace

struct Graph::State {
  explicit State(const Device& on) : device(on) {}
  State(const Device& on, CUgraph given, bool body = false)
      : device(on), graph(given), is_foreign(true), is_body(body) {}
  State(const State&) = delete;
  ~State() {
    if (graph == nullptr || is_foreign) return;
    release_in_context(device, [this](const driver::Driver& driver) {
      BATON_RELEASE(driver, cuGraphDestroy, graph);
    });
  }

  // The driver refuses such nodes in a body when the graph is instantiated, without a reason.
  void require_no_body(const char* what) const {
    if (!is_body) return;
    throw error(ErrorCode::kInvalidInput,
                "the body of a conditional node takes no {}; it takes launches, copies, fills, "
                "empty nodes and conditional nodes",
                what);
  }

  // Adds the node that `call` adds after these nodes, then its programmatic edges.
  template <typename Call>
  NativeGraphNode add(Span<const GraphEdge> after, Call&& call) {
    launch::require_distinct(after);
    const std::vector<CUgraphNode> full = launch::full_edges(after);
    const ContextGuard guard(device);
    CUgraphNode node = nullptr;
    try {
      node = call(full);
    } catch (const Error& failure) {
      throw launch::explain_edges(device, graph, after, std::nullopt, failure);
    }
    for (const GraphEdge& edge : after) {
      if (edge.kind != GraphEdgeKind::kFull) connect(edge, node);
    }
    return node;
  }

  void connect(const GraphEdge& edge, CUgraphNode to) const {
    const CUgraphEdgeData data = launch::data_of(edge.kind);
    try {
      BATON_DRIVER_CALL(device.driver(), cuGraphAddDependencies, graph, &edge.from, &to, &data, 1);
    } catch (const Error& failure) {
      throw launch::explain_edges(device, graph, {&edge, 1}, to, failure);
    }
  }

  NativeGraphNode add_memset(const CUDA_MEMSET_NODE_PARAMS& params, Span<const GraphEdge> after) {
    return add(after, [&](const std::vector<CUgraphNode>& full) {
      CUgraphNode node = nullptr;
      BATON_DRIVER_CALL(device.driver(), cuGraphAddMemsetNode, &node, graph, full.data(),
                        full.size(), &params, device.native_context());
      return node;
    });
  }

  Device device;
  CUgraph graph = nullptr;
  const bool is_foreign = false;  // a conditional node or the caller owns it
  const bool is_body = false;     // of a conditional node
  HostFunctions functions;
};

Graph::Graph(std::unique_ptr<State> state) : state_(std::move(state)) {}

Graph::Graph(const Device& device) : state_(std::make_unique<State>(device)) {
  const ContextGuard guard(device);
  BATON_DRIVER_CALL(device.driver(), cuGraphCreate, &state_->graph, 0);
}

Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

Graph Graph::capture(const Stream& stream, const std::function<void()>& work) {
  if (!work) throw error(ErrorCode::kInvalidInput, "the function whose work is captured is empty");
  if (stream.is_capturing()) {
    throw error(ErrorCode::kInvalidInput,
                "a graph is being captured from the stream already; end that capture first");
  }
  const driver::Driver& driver = stream.device().driver();
  const ContextGuard guard(stream.device());
  BATON_DRIVER_CALL(driver, cuStreamBeginCapture, stream.native(),
                    CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  // The capture ends in any case, else the stream is of no use to its owner.
  CUgraph captured = nullptr;
  const CUresult result = driver.cuStreamEndCapture(stream.native(), &captured);
  Graph graph(stream.device());
  std::swap(graph.state_->graph, captured);
  if (captured != nullptr) BATON_RELEASE(driver, cuGraphDestroy, captured);
  if (failure) std::rethrow_exception(failure);
  driver::check(driver, result, "cuStreamEndCapture");
  return graph;
}

Graph Graph::adopt(const Device& device, NativeGraph graph) {
  if (graph == nullptr) throw error(ErrorCode::kInvalidInput, "the graph to adopt is null");
  return Graph(std::make_unique<State>(device, graph));
}

const Device& Graph::device() const {
  return live(state_).device;
}

NativeGraph Graph::native() const {
  return live(state_).graph;
}

NativeGraphNode Graph::add(const LaunchPlan& launch, Span<const GraphEdge> after) {
  require_one_device("launch", launch.kernel().device(), "graph", live(state_).device);
  launch::require_wait(launch, after);
  return live(state_).add(after, [&](const std::vector<CUgraphNode>& full) {
    return launch.add_to(live(state_).graph, full);
  });
}

NativeGraphNode Graph::add(const LaunchPlan& launch, void* const* arguments,
                           Span<const GraphEdge> after) {
  launch::require_wait(launch, after);
  return live(state_).add(after, [&](const std::vector<CUgraphNode>& full) {
    return launch.add_to(live(state_).graph, full, arguments);
  });
}

NativeGraphNode Graph::add_copy(DeviceAddress to, DeviceAddress from, std::uint64_t bytes,
                                Span<const GraphEdge> after) {
  CUDA_MEMCPY3D params{};
  params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  params.srcDevice = from;
  params.dstDevice = to;
  params.WidthInBytes = bytes;
  params.Height = params.Depth = 1;
  State& state = live(state_);
  return add_move(
      [&] {
        return state.add(after, [&](const std::vector<CUgraphNode>& full) {
          CUgraphNode node = nullptr;
          BATON_DRIVER_CALL(state.device.driver(), cuGraphAddMemcpyNode, &node, state.graph,
                            full.data(), full.size(), &params, state.device.native_context());
          return node;
        });
      },
      "copy of {} bytes from {:#x} to {:#x}", bytes, from, to);
}

NativeGraphNode Graph::add_fill(DeviceAddress to, std::uint64_t value, unsigned width,
                                std::uint64_t count, Span<const GraphEdge> after) {
  if (width != 1 && width != 2 && width != 4 && width != 8) {
    throw error(ErrorCode::kInvalidInput,
                "a fill of elements of {} bytes; elements have 1, 2, 4 or 8", width);
  }
  CUDA_MEMSET_NODE_PARAMS params{};
  params.dst = to;
  params.value = static_cast<unsigned>(value);
  params.elementSize = std::min(width, 4u);
  params.width = count * width / params.elementSize;
  params.height = 1;
  const auto high = static_cast<unsigned>(value >> 32);
  const auto fill = [&](Span<const GraphEdge> edges) {
    return add_move([&] { return live(state_).add_memset(params, edges); },
                    "fill of {} elements of {} bytes at {:#x}", count, width, to);
  };
  if (width < 8 || high == params.value) return fill(after);
  // The driver sets no 8-byte pattern: the low words of all elements, then the high ones.
  params.width = 1;
  params.height = count;
  params.pitch = width;
  const GraphEdge low(fill(after));
  params.dst += 4;
  params.value = high;
  return fill({&low, 1});
}

NativeGraphNode Graph::add_host(std::function<void()> function, Span<const GraphEdge> after) {
  if (!function) throw error(ErrorCode::kInvalidInput, "the host function of a node is empty");
  live(state_).require_no_body("host function");
  const auto kept = std::make_shared<const HostFunction>(std::move(function));
  CUDA_HOST_NODE_PARAMS params{};
  params.fn = [](void* data) { (*static_cast<const HostFunction*>(data))(); };
  params.userData = const_cast<HostFunction*>(kept.get());
  const NativeGraphNode added = live(state_).add(after, [&](const std::vector<CUgraphNode>& full) {
    CUgraphNode node = nullptr;
    BATON_DRIVER_CALL(live(state_).device.driver(), cuGraphAddHostNode, &node, live(state_).graph,
                      full.data(), full.size(), &params);
    return node;
  });
  live(state_).functions.push_back(kept);
  return added;
}

NativeGraphNode Graph::add_empty(Span<const GraphEdge> after) {
  return live(state_).add(after, [&](const std::vector<CUgraphNode>& full) {
    CUgraphNode node = nullptr;
    BATON_DRIVER_CALL(live(state_).device.driver(), cuGraphAddEmptyNode, &node, live(state_).graph,
                      full.data(), full.size());
    return node;
  });
}

NativeGraphNode Graph::add_record(const Event& event, Span<const GraphEdge> after) {
  live(state_).require_no_body("record of an event");
  return live(state_).add(after, [&](const std::vector<CUgraphNode>& full) {
    CUgraphNode node = nullptr;
    BATON_DRIVER_CALL(live(state_).device.driver(), cuGraphAddEventRecordNode, &node,
                      live(state_).graph, full.data(), full.size(), event.native());
    return node;
  });
}

GraphCondition Graph::make_condition(std::optional<std::uint32_t> initial) {
  const driver::Driver& driver = live(state_).device.driver();
  if (driver.cuGraphConditionalHandleCreate == nullptr || driver.cuGraphAddNode == nullptr) {
    throw error(ErrorCode::kUnsupported,
                "{} has no conditional nodes in graphs, which came with CUDA 12.4", driver.name);
  }
  const ContextGuard guard(live(state_).device);
  CUgraphConditionalHandle handle = 0;
  BATON_DRIVER_CALL(driver, cuGraphConditionalHandleCreate, &handle, live(state_).graph,
                    live(state_).device.native_context(), initial.value_or(0),
                    initial ? CU_GRAPH_COND_ASSIGN_DEFAULT : 0);
  return handle;
}

GraphConditional Graph::add_conditional(GraphCondition condition, int type,
                                        Span<const GraphEdge> after) {
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = condition;
  params.conditional.type = static_cast<CUgraphConditionalNodeType>(type);
  params.conditional.size = 1;
  params.conditional.ctx = live(state_).device.native_context();
  NativeGraphNode added = nullptr;
  try {
    added = live(state_).add(after, [&](const std::vector<CUgraphNode>& full) {
      CUgraphNode node = nullptr;
      BATON_DRIVER_CALL(live(state_).device.driver(), cuGraphAddNode, &node, live(state_).graph,
                        full.data(), nullptr, full.size(), &params);
      return node;
    });
  } catch (const Error& failure) {
    if (!launch::is_refused_argument(failure)) throw;
    throw launch::refused(failure,
                          "the graph has no unused condition {:#x}; each conditional node takes "
                          "one of its own, made for its graph",
                          condition);
  }
  const CUgraph body = params.conditional.phGraph_out[0];
  return {added, Graph(std::make_unique<State>(live(state_).device, body, true))};
}

GraphConditional Graph::add_if(GraphCondition condition, Span<const GraphEdge> after) {
  return add_conditional(condition, CU_GRAPH_COND_TYPE_IF, after);
}

GraphConditional Graph::add_while(GraphCondition condition, Span<const GraphEdge> after) {
  return add_conditional(condition, CU_GRAPH_COND_TYPE_WHILE, after);
}

void Graph::connect(const GraphEdge& edge, NativeGraphNode to) {
  const ContextGuard guard(live(state_).device);
  try {
    live(state_).connect(edge, to);
  } catch (const Error& failure) {
    if (!launch::is_refused_argument(failure)) throw;
    throw launch::refused(failure,
                          "the driver does not take the edge: it would close a cycle, or the "
                          "graph has it already");
  }
}

Graph::Counts Graph::counts() const {
  const driver::Driver& driver = live(state_).device.driver();
  const ContextGuard guard(live(state_).device);
  std::size_t nodes = 0, edges = 0;
  BATON_DRIVER_CALL(driver, cuGraphGetNodes, live(state_).graph, nullptr, &nodes);
  BATON_DRIVER_CALL(driver, cuGraphGetEdges, live(state_).graph, nullptr, nullptr, nullptr, &edges);
  std::vector<CUgraphNode> from(edges), to(edges);
  std::vector<CUgraphEdgeData> data(edges);
  if (edges != 0) {
    BATON_DRIVER_CALL(driver, cuGraphGetEdges, live(state_).graph, from.data(), to.data(),
                      data.data(), &edges);
  }
  const auto programmatic = std::ranges::count_if(data, [](const CUgraphEdgeData& edge) {
    return edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  });
  return {nodes, edges, static_cast<std::uint64_t>(programmatic)};
}

struct GraphInstance::State {
  explicit State(const Device& on) : device(on) {}
  State(const State&) = delete;
  ~State() {
    if (exec == nullptr) return;
    release_in_context(device, [this](const driver::Driver& driver) {
      BATON_RELEASE(driver, cuGraphExecDestroy, exec);
    });
  }

  // Calls `call`, which gives the node another launch, and explains what the driver refuses.
  template <typename Call>
  void update(NativeGraphNode node, const LaunchPlan& launch, Call&& call) const {
    try {
      if (node != nullptr) return call();
    } catch (const Error& failure) {
      if (!launch::is_refused_argument(failure)) throw;
      const auto kind = launch::other_than_launch(device.driver(), node);
      throw launch::refused(failure, "the node cannot become a launch of kernel {}: it is {}",
                            launch.kernel().name(),
                            kind ? *kind : "no launch of the graph that the instance was made of");
    }
    throw error(ErrorCode::kInvalidInput,
                "the node that is to become a launch of kernel {} is null", launch.kernel().name());
  }

  Device device;
  CUgraphExec exec = nullptr;
  HostFunctions functions;
};

GraphInstance::GraphInstance(const Graph& graph, bool node_priorities)
    : state_(std::make_unique<State>(graph.device())) {
  live(state_).functions = live(graph.state_).functions;
  const ContextGuard guard(live(state_).device);
  // Without the flag all nodes have the stream's priority; with it an update cannot change any.
  const unsigned long long flags =
      node_priorities ? CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY : 0;
  try {
    BATON_DRIVER_CALL(live(state_).device.driver(), cuGraphInstantiateWithFlags, &live(state_).exec,
                      graph.native(), flags);
  } catch (const Error& failure) {
    if (!launch::is_refused_argument(failure)) throw;
    throw launch::refused(
        failure,
        "the driver does not instantiate the graph: its edges close a cycle, it "
        "is the body of a conditional node, or it has such nodes and another instance");
  }
}

GraphInstance::GraphInstance(GraphInstance&&) noexcept = default;
GraphInstance& GraphInstance::operator=(GraphInstance&&) noexcept = default;
GraphInstance::~GraphInstance() = default;

NativeGraphExec GraphInstance::native() const {
  return live(state_).exec;
}

void GraphInstance::launch(const Stream& stream) const {
  const State& state = live(state_);
  require_one_device("graph", state.device, "stream", stream.device());
  const ContextGuard guard(state.device);
  BATON_DRIVER_CALL(state.device.driver(), cuGraphLaunch, state.exec, stream.native());
}

void GraphInstance::update(NativeGraphNode node, const LaunchPlan& launch) const {
  live(state_).update(node, launch, [&] { launch.update_node(live(state_).exec, node); });
}

void GraphInstance::update(NativeGraphNode node, const LaunchPlan& launch,
                           void* const* arguments) const {
  live(state_).update(node, launch,
                      [&] { launch.update_node(live(state_).exec, node, arguments); });
}

bool GraphInstance::update(const Graph& graph) {
  const driver::Driver& driver = live(state_).device.driver();
  const ContextGuard guard(live(state_).device);
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = driver.cuGraphExecUpdate(live(state_).exec, graph.native(), &info);
  if (result == CUDA_SUCCESS) {
    // Launches that are under way may still call the old ones.
    const HostFunctions& added = live(graph.state_).functions;
    live(state_).functions.insert(live(state_).functions.end(), added.begin(), added.end());
    return true;
  }
  if (result != CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
    driver::check(driver, result, "cuGraphExecUpdate");
  }
  log(LogLevel::kInfo, "the driver does not update the graph (reason {}): it needs a new instance",
      static_cast<int>(info.result));
  return false;
}

}  // namespace baton
