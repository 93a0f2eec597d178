#include "play/tape_graph.h"

#include <exception>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "driver/driver.h"
#include "runtime/context.h"
#include "runtime/release.h"

namespace baton::play {
namespace {

// More would take minutes to instantiate, and gigabytes.
constexpr std::uint64_t kMostNodes = std::uint64_t{1} << 20;

// What `work` enqueues on the stream, as a graph of the caller's. Unlike in Graph::capture, the
// thread may call what has nothing to do with the stream: at its first calls NCCL connects ranks of
// one process, for which it lets their devices access each other.
CUgraph captured_of(const Stream& stream, const std::function<void(const Stream&)>& work) {
  const driver::Driver& driver = stream.device().driver();
  BATON_DRIVER_CALL(driver, cuStreamBeginCapture, stream.native(), CU_STREAM_CAPTURE_MODE_RELAXED);
  std::exception_ptr failure;
  try {
    work(stream);
  } catch (...) {
    failure = std::current_exception();
  }
  CUgraph captured = nullptr;
  const CUresult result = driver.cuStreamEndCapture(stream.native(), &captured);
  const bool is_whole = !failure && result == CUDA_SUCCESS;
  if (!is_whole && captured != nullptr) BATON_RELEASE(driver, cuGraphDestroy, captured);
  if (failure) std::rethrow_exception(failure);
  driver::check(driver, result, "cuStreamEndCapture");
  return captured;
}

}  // namespace

void TapeGraph::begin_node(char kind, bool programmatic) {
  if (++nodes_ > kMostNodes) {
    throw error(ErrorCode::kLimit,
                "the run is a graph of more than {} nodes; make its repeats and unroll smaller, or "
                "take the stream executor",
                kMostNodes);
  }
  shape_ += kind;
  shape_ += programmatic ? "p" : std::to_string(open_.size());
}

void TapeGraph::end_node(NativeGraphNode node, bool programmatic, bool waits) {
  if (programmatic && waits) {
    open_.back() = node;
  } else if (programmatic) {
    open_.push_back(node);
  } else {
    open_.assign(1, node);
  }
  last_ = 1;
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
  NativeGraphNode node = nullptr;
  if (programmatic) {
    const GraphEdge early(open_.back().from, GraphEdgeKind::kProgrammatic);
    node = current().add(launch, arguments, {&early, 1});
  } else {
    come_after(open_);
    node = current().add(launch, arguments, after_);
    after_.clear();
  }
  launches_.push_back(node);
  end_node(node, programmatic, waits);
}

void TapeGraph::add_copy(DeviceAddress to, DeviceAddress from, std::uint64_t bytes) {
  begin_node('m', false);
  end_node(current().add_copy(to, from, bytes, open_), false, false);
}

void TapeGraph::add_fill(DeviceAddress to, std::uint64_t value, unsigned width,
                         std::uint64_t count) {
  // A fill of 8-byte elements may be two nodes.
  begin_node(width == 8 ? 'F' : 'f', false);
  end_node(current().add_fill(to, value, width, count, open_), false, false);
}

void TapeGraph::add_host(std::function<void()> function) {
  begin_node('h', false);
  end_node(current().add_host(std::move(function), open_), false, false);
}

void TapeGraph::add_own(const LaunchPlan& launch, void* const* arguments, bool programmatic,
                        std::shared_ptr<const void> owner) {
  begin_node('o', programmatic);
  if (programmatic) {
    const GraphEdge early(open_.back().from, GraphEdgeKind::kProgrammatic);
    end_node(current().add(launch, arguments, {&early, 1}), true, true);
  } else {
    end_node(current().add(launch, arguments, open_), false, false);
  }
  owners_.push_back(std::move(owner));
}

void TapeGraph::add_captured(const std::function<void(const Stream&)>& work,
                             std::shared_ptr<const void> owner) {
  const Device& device = graph_.device();
  const driver::Driver& driver = device.driver();
  if (driver.cuGraphAddNode == nullptr) {
    throw error(ErrorCode::kUnsupported,
                "{} has no cuGraphAddNode, which adds what was captured; it came with CUDA 12.3",
                driver.name);
  }
  begin_node('n', false);
  if (!captured_) captured_.emplace(device);
  const ContextGuard guard(device);
  const CUgraph inner = captured_of(*captured_, work);
  std::vector<CUgraphNode> after;
  for (const GraphEdge& edge : open_) after.push_back(edge.from);
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_GRAPH;
  params.graph.graph = inner;
  CUgraphNode node = nullptr;
  const CUresult result = driver.cuGraphAddNode(&node, current().native(), after.data(), nullptr,
                                                after.size(), &params);
  BATON_RELEASE(driver, cuGraphDestroy, inner);  // the node has a copy
  driver::check(driver, result, "cuGraphAddNode");
  owners_.push_back(std::move(owner));
  end_node(node, false, false);
}

void TapeGraph::add_mark(const Event& event) {
  shape_ += 'e';
  graph_.add_record(event, std::span(open_).last(last_));
}

void TapeGraph::begin_branches() {
  shape_ += '[';
  forks_.push_back({open_, {}, nodes_});
}

void TapeGraph::begin_branch() {
  shape_ += '|';
  end_branch();
}

void TapeGraph::end_branch() {
  Fork& fork = forks_.back();
  if (nodes_ != fork.nodes) fork.ends.insert(fork.ends.end(), open_.begin(), open_.end());
  fork.nodes = nodes_;
  open_ = fork.begin;
}

void TapeGraph::end_branches() {
  shape_ += ']';
  end_branch();
  std::vector<GraphEdge>& ends = forks_.back().ends;
  if (!ends.empty()) {
    open_ = std::move(ends);
    last_ = open_.size();
  }
  forks_.pop_back();
}

// Two nodes have one edge, the strictest.
void TapeGraph::come_after(const std::vector<GraphEdge>& edges) {
  for (const GraphEdge& edge : edges) {
    const auto known = std::ranges::find(after_, edge.from, &GraphEdge::from);
    if (known == after_.end()) {
      after_.push_back(edge);
    } else {
      known->kind = std::min(known->kind, edge.kind);
    }
  }
}

void TapeGraph::begin_after(const bind::TapeAfter& after) {
  shape_ += 'a';
  after_.clear();
  for (const bind::PlannedEvent& event : after.launch->after) {
    const std::vector<GraphEdge>& edges = events_[event.number];
    come_after(edges);
    shape_ += std::to_string(event.number) + '.' + std::to_string(edges.size());
  }
}

void TapeGraph::record(const bind::TapeRecorded& recorded) {
  for (const bind::PlannedEvent& event : recorded.launch.events) {
    if (events_.size() <= event.number) events_.resize(event.number + 1);
    if (recorded.sent) {
      const GraphEdgeKind kind = event.kind == bind::PlannedEvent::Kind::kProgrammatic
                                     ? GraphEdgeKind::kProgrammatic
                                     : GraphEdgeKind::kLaunchOrder;
      events_[event.number] = {GraphEdge(launches_.back(), kind)};
    } else {
      events_[event.number] = open_;
    }
    shape_ += 's' + std::to_string(event.number) + (recorded.sent ? 'l' : 'e');
  }
}

void TapeGraph::add_reset(const DeviceTests& tests) {
  begin_node('r', false);
  end_node(tests.add_reset(graph_, open_), false, false);
}

NativeGraphNode TapeGraph::add_test(const DeviceTests& tests, std::size_t number, bool is_first,
                                    GraphCondition condition, const bind::BufferTable& buffers) {
  begin_node('t', false);
  return tests.add_test(current(), open_, number, is_first, condition, buffers);
}

void TapeGraph::begin_condition(DeviceTests& tests, std::size_t number, bool is_loop,
                                const bind::BufferTable& buffers) {
  const GraphCondition condition = current().make_condition();
  const GraphEdge test(add_test(tests, number, true, condition, buffers));
  begin_node(is_loop ? 'w' : 'i', false);
  GraphConditional added = is_loop ? current().add_while(condition, {&test, 1})
                                   : current().add_if(condition, {&test, 1});
  levels_.push_back({std::move(added.body), added.node, condition, number, is_loop, false});
  open_.clear();
}

void TapeGraph::next_iteration(DeviceTests& tests, const bind::BufferTable& buffers) {
  if (levels_.back().is_copy) end_level();
  const std::size_t number = levels_.back().number;
  const GraphCondition condition = current().make_condition();
  const GraphEdge test(add_test(tests, number, false, condition, buffers));
  begin_node('i', false);
  GraphConditional added = current().add_if(condition, {&test, 1});
  levels_.push_back({std::move(added.body), added.node, condition, number, false, true});
  open_.clear();
}

void TapeGraph::end_condition(DeviceTests& tests, const bind::BufferTable& buffers) {
  if (levels_.back().is_copy) end_level();
  const Level& level = levels_.back();
  if (level.is_loop) add_test(tests, level.number, false, level.condition, buffers);
  end_level();
}

void TapeGraph::end_level() {
  open_.assign(1, levels_.back().node);
  last_ = 1;
  bodies_.push_back(std::move(levels_.back().body));
  levels_.pop_back();
}

Graph::Counts TapeGraph::counts() const {
  Graph::Counts all = graph_.counts();
  for (const Graph& body : bodies_) {
    const Graph::Counts inside = body.counts();
    all.nodes += inside.nodes;
    all.edges += inside.edges;
    all.programmatic_edges += inside.programmatic_edges;
  }
  return all;
}

TapeInstance::TapeInstance(TapeGraph graph)
    : graph_(std::move(graph)),
      instance_(graph_.graph(), graph_.has_priorities()),
      native_(instance_.native()) {}

// An updated graph would keep its conditions, and its tests would set those of the other one.
// What was captured owns resources that belong to its nodes.
bool TapeInstance::update(const TapeGraph& graph) {
  if (graph.has_conditions() || graph.has_captured()) return false;
  return graph.shape() == graph_.shape() && instance_.update(graph.graph());
}

void TapeInstance::update(std::size_t launch, const LaunchPlan& plan,
                          void* const* arguments) const {
  instance_.update(graph_.launches()[launch], plan, arguments);
}

std::vector<driver::Counters> TapeInstance::counters() const {
  std::unordered_map<CUgraphNode, std::size_t> places;
  for (std::size_t i = 0; i < graph_.launches().size(); ++i) places[graph_.launches()[i]] = i;
  std::vector<driver::Counters> result(places.size());
  driver::Simulator& simulator = *graph_.graph().device().driver().simulator;
  for (const auto& [node, counters] : simulator.counters_of(instance_.native())) {
    // Tests of conditions are not launches of the program.
    if (const auto place = places.find(node); place != places.end())
      result[place->second] = counters;
  }
  return result;
}

}  // namespace baton::play
