#include "play/tape_graph.h"

#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "driver/driver.h"

namespace baton::play {
namespace {

// More would take minutes to instantiate, and gigabytes.
constexpr std::uint64_t kMostNodes = std::uint64_t{1} << 20;

}  // namespace

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

void TapeGraph::end_node(NativeGraphNode node, bool programmatic, bool waits) {
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
  NativeGraphNode node = nullptr;
  if (programmatic) {
    const GraphEdge early(open_.back().from, GraphEdgeKind::kProgrammatic);
    node = graph_.add(launch, arguments, {&early, 1});
  } else {
    node = graph_.add(launch, arguments, open_);
  }
  launches_.push_back(node);
  end_node(node, programmatic, waits);
}

void TapeGraph::add_copy(DeviceAddress to, DeviceAddress from, std::uint64_t bytes) {
  begin_node('m', false);
  end_node(graph_.add_copy(to, from, bytes, open_), false, false);
}

void TapeGraph::add_fill(DeviceAddress to, std::uint64_t value, unsigned width,
                         std::uint64_t count) {
  // A fill of 8-byte elements may be two nodes.
  begin_node(width == 8 ? 'F' : 'f', false);
  end_node(graph_.add_fill(to, value, width, count, open_), false, false);
}

void TapeGraph::add_mark(const Event& event) {
  shape_ += 'e';
  graph_.add_record(event, {&open_.back(), 1});
}

TapeInstance::TapeInstance(TapeGraph graph)
    : graph_(std::move(graph)), instance_(graph_.graph(), graph_.has_priorities()) {}

bool TapeInstance::update(const TapeGraph& graph) {
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
    result[places.at(node)] = counters;
  }
  return result;
}

}  // namespace baton::play
