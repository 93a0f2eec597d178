#include "play/graph.h"

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/log.h"
#include "driver/driver.h"
#include "runtime/context.h"
#include "runtime/release.h"

namespace baton::play {
namespace {

// More would take minutes to instantiate, and gigabytes.
constexpr std::uint64_t kMostNodes = std::uint64_t{1} << 20;

// What a launch may start on once all blocks before it have triggered or ended: the port of a
// captured launch with programmatic stream serialization.
constexpr CUgraphEdgeData programmatic_edge() {
  CUgraphEdgeData data{};
  data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  return data;
}

}  // namespace

TapeGraph::TapeGraph(const Device& device) : device_(device) {
  const ContextGuard guard(device_);
  BATON_DRIVER_CALL(device_.driver(), cuGraphCreate, &graph_, 0);
}

TapeGraph::TapeGraph(TapeGraph&& other) noexcept
    : device_(other.device_),
      graph_(std::exchange(other.graph_, nullptr)),
      open_(std::move(other.open_)),
      launches_(std::move(other.launches_)),
      shape_(std::move(other.shape_)),
      nodes_(other.nodes_),
      has_priorities_(other.has_priorities_) {}

TapeGraph::~TapeGraph() {
  if (graph_ == nullptr) return;
  release_in_context(device_, [this](const driver::Driver& driver) {
    BATON_RELEASE(driver, cuGraphDestroy, graph_);
  });
}

void TapeGraph::begin_node(char kind, bool programmatic) {
  if (++nodes_ > kMostNodes) {
    throw error(ErrorCode::kLimit,
                "the run is a graph of more than {} nodes; make its repeats smaller, or take the "
                "stream executor",
                kMostNodes);
  }
  shape_ += kind;
  shape_ += programmatic ? "p" : std::to_string(open_.size());
}

void TapeGraph::end_node(CUgraphNode node, bool programmatic, bool waits) {
  if (programmatic && waits) {
    open_.back() = node;
  } else if (programmatic) {
    open_.push_back(node);
  } else {
    open_.assign(1, node);
  }
}

void TapeGraph::add(const LaunchPlan& launch, void* const* arguments, bool programmatic,
                    bool waits) {
  const LaunchAttributes& attributes = launch.config().attributes;
  // A cooperative node stays one.
  begin_node(attributes.cooperative() ? 'c' : 'k', programmatic);
  // A graph that was instantiated without priorities takes none by an update, and reports success.
  if (attributes.has(AttributeId::kPriority)) {
    has_priorities_ = true;
    shape_ += 'P';
  }
  const std::span<const CUgraphNode> after =
      programmatic ? std::span<const CUgraphNode>() : std::span<const CUgraphNode>(open_);
  const CUgraphNode node = launch.add_to(graph_, after, arguments);
  if (programmatic) {
    const CUgraphEdgeData edge = programmatic_edge();
    const ContextGuard guard(device_);
    BATON_DRIVER_CALL(device_.driver(), cuGraphAddDependencies, graph_, &open_.back(), &node, &edge,
                      1);
  }
  launches_.push_back(node);
  end_node(node, programmatic, waits);
}

void TapeGraph::add_copy(DeviceAddress to, DeviceAddress from, std::uint64_t bytes) {
  begin_node('m', false);
  CUDA_MEMCPY3D params{};
  params.srcMemoryType = params.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  params.srcDevice = from;
  params.dstDevice = to;
  params.WidthInBytes = bytes;
  params.Height = params.Depth = 1;
  const ContextGuard guard(device_);
  CUgraphNode node = nullptr;
  BATON_DRIVER_CALL(device_.driver(), cuGraphAddMemcpyNode, &node, graph_, open_.data(),
                    open_.size(), &params, device_.native_context());
  end_node(node, false, false);
}

void TapeGraph::add_memset(const CUDA_MEMSET_NODE_PARAMS& params) {
  begin_node(params.height == 1 ? 'f' : 'F', false);
  const ContextGuard guard(device_);
  CUgraphNode node = nullptr;
  BATON_DRIVER_CALL(device_.driver(), cuGraphAddMemsetNode, &node, graph_, open_.data(),
                    open_.size(), &params, device_.native_context());
  end_node(node, false, false);
}

void TapeGraph::add_fill(DeviceAddress to, std::uint64_t value, unsigned width,
                         std::uint64_t count) {
  CUDA_MEMSET_NODE_PARAMS params{};
  params.dst = to;
  params.value = static_cast<unsigned>(value);
  params.elementSize = std::min(width, 4u);
  params.width = count * width / params.elementSize;
  params.height = 1;
  const auto high = static_cast<unsigned>(value >> 32);
  if (width < 8 || high == params.value) return add_memset(params);
  // The driver sets no 8-byte pattern: the low words of all elements, then the high ones.
  params.width = 1;
  params.height = count;
  params.pitch = width;
  add_memset(params);
  params.dst += 4;
  params.value = high;
  add_memset(params);
}

void TapeGraph::add_mark(const Event& event) {
  shape_ += 'e';
  const ContextGuard guard(device_);
  CUgraphNode node = nullptr;
  BATON_DRIVER_CALL(device_.driver(), cuGraphAddEventRecordNode, &node, graph_, &open_.back(), 1,
                    event.native());
}

TapeGraph::Counts TapeGraph::counts() const {
  const driver::Driver& driver = device_.driver();
  const ContextGuard guard(device_);
  std::size_t nodes = 0, edges = 0;
  BATON_DRIVER_CALL(driver, cuGraphGetNodes, graph_, nullptr, &nodes);
  BATON_DRIVER_CALL(driver, cuGraphGetEdges, graph_, nullptr, nullptr, nullptr, &edges);
  std::vector<CUgraphNode> from(edges), to(edges);
  std::vector<CUgraphEdgeData> data(edges);
  if (edges != 0) {
    BATON_DRIVER_CALL(driver, cuGraphGetEdges, graph_, from.data(), to.data(), data.data(), &edges);
  }
  const auto programmatic =
      std::count_if(data.begin(), data.end(), [](const CUgraphEdgeData& edge) {
        return edge.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
      });
  return {nodes, edges, static_cast<std::uint64_t>(programmatic)};
}

GraphInstance::GraphInstance(const Device& device, TapeGraph graph)
    : device_(device), graph_(std::move(graph)) {
  const ContextGuard guard(device_);
  // Without the flag all nodes have the stream's priority; with it an update cannot change any.
  const unsigned long long flags =
      graph_.has_priorities() ? CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY : 0;
  BATON_DRIVER_CALL(device_.driver(), cuGraphInstantiateWithFlags, &exec_, graph_.native(), flags);
}

GraphInstance::~GraphInstance() {
  release_in_context(device_, [this](const driver::Driver& driver) {
    BATON_RELEASE(driver, cuGraphExecDestroy, exec_);
  });
}

bool GraphInstance::update(const TapeGraph& graph) {
  if (graph.shape() != graph_.shape()) return false;
  const driver::Driver& driver = device_.driver();
  const ContextGuard guard(device_);
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = driver.cuGraphExecUpdate(exec_, graph.native(), &info);
  if (result == CUDA_SUCCESS) return true;
  if (result != CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
    driver::check(driver, result, "cuGraphExecUpdate");
  }
  log(LogLevel::kInfo, "the driver does not update the graph (reason {}): it is rebuilt",
      static_cast<int>(info.result));
  return false;
}

void GraphInstance::update(CUgraphNode node, const LaunchPlan& launch,
                           void* const* arguments) const {
  launch.update_node(exec_, node, arguments);
}

void GraphInstance::launch(const Stream& stream) const {
  const ContextGuard guard(device_);
  BATON_DRIVER_CALL(device_.driver(), cuGraphLaunch, exec_, stream.native());
}

std::vector<driver::Counters> GraphInstance::counters() const {
  std::unordered_map<CUgraphNode, std::size_t> places;
  for (std::size_t i = 0; i < graph_.launches().size(); ++i) places[graph_.launches()[i]] = i;
  std::vector<driver::Counters> result(places.size());
  for (const auto& [node, counters] : device_.driver().simulator->counters_of(exec_)) {
    result[places.at(node)] = counters;
  }
  return result;
}

}  // namespace baton::play
