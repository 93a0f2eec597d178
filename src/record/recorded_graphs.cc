#include "record/recorded_graphs.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace baton::record {
namespace {

// CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC.
constexpr std::uint8_t kProgrammaticEdge = 1;

}  // namespace

std::vector<std::size_t> GraphOfRecord::order() const {
  std::vector<std::size_t> waits(nodes.size());
  std::vector<std::vector<std::size_t>> later(nodes.size());
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    waits[k] = nodes[k].after.size();
    for (const auto& edge : nodes[k].after) later[edge.from].push_back(k);
  }
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (waits[k] == 0) order.push_back(k);
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (const std::size_t next : later[order[at]]) {
      if (--waits[next] == 0) order.push_back(next);
    }
  }
  return order;
}

const GraphOfRecord* RecordedGraphs::find(std::uint64_t graph) const {
  const auto found = graphs_.find(graph);
  return found == graphs_.end() ? nullptr : &found->second;
}

void RecordedGraphs::follow(const RecordedEvent& event) {
  if (event.kind == EventKind::kNode) {
    pending_[event.thread] = node_of(event);
    return;
  }
  if (event.kind != EventKind::kCall || !event.function.starts_with("cuGraph")) return;
  std::optional<RecordedNode> node;
  if (const auto found = pending_.find(event.thread); found != pending_.end()) {
    node = std::move(found->second);
    pending_.erase(found);
  }
  if (!event.succeeded()) return;
  if (event.function == "cuGraphDestroy") {
    // Its handles may be given again.
    std::erase_if(nodes_, [&](const auto& each) { return each.second.graph == event.word(0); });
    graphs_.erase(event.word(0));
  } else if (node) {
    call(event, std::move(*node));
  }
}

void RecordedGraphs::call(const RecordedEvent& event, RecordedNode node) {
  if (event.function.starts_with("cuGraphExec")) return;
  if (node.kind == NodeKind::kAttribute) {
    const auto place = nodes_.find(event.word(0));
    if (place == nodes_.end()) return;
    auto& attributes = graphs_[place->second.graph].nodes[place->second.node].launch.attributes;
    const RecordedAttribute& given = node.launch.attributes.front();
    std::erase_if(attributes, [&](const auto& each) { return each.id == given.id; });
    attributes.push_back(given);
    return;
  }
  if (event.function.starts_with("cuGraphAddDependencies")) {
    for (const EdgeNote& edge : node.edges) connect(edge);
    return;
  }
  const std::uint64_t handle = event.word(0), graph = event.word(1);
  GraphOfRecord& owner = graphs_[graph];
  nodes_[handle] = {graph, owner.nodes.size()};
  GraphNodeOfRecord& added = owner.nodes.emplace_back();
  added.handle = handle;
  added.kind = node.kind;
  added.launch = std::move(node.launch);
  added.body = node.body;
  for (EdgeNote edge : node.edges) {
    edge.to = handle;
    connect(edge);
  }
}

void RecordedGraphs::connect(const EdgeNote& edge) {
  const auto to = nodes_.find(edge.to);
  if (to == nodes_.end()) return;
  GraphNodeOfRecord& later = graphs_[to->second.graph].nodes[to->second.node];
  const auto from = nodes_.find(edge.from);
  if (from == nodes_.end() || from->second.graph != to->second.graph) {
    later.lacks_edges = true;
    return;
  }
  later.after.push_back({from->second.node, edge, edge.data[2] == kProgrammaticEdge});
}

}  // namespace baton::record
