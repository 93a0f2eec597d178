#include "sim/graph.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "sim/objects.h"
#include "sim/refusal.h"

namespace baton::sim {
namespace {

// Whether `node` is `wanted` or comes after it.
bool reaches(const GraphNode& node, const GraphNode& wanted) {
  std::vector<const GraphNode*> open = {&node};
  std::unordered_set<const GraphNode*> seen = {&node};
  while (!open.empty()) {
    const GraphNode* at = open.back();
    open.pop_back();
    if (at == &wanted) return true;
    for (const GraphEdge& edge : at->after) {
      if (seen.insert(edge.from.get()).second) open.push_back(edge.from.get());
    }
  }
  return false;
}

Milestone milestone_of(const CUgraphEdgeData& data) {
  if (data.type != CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) return Milestone::kDone;
  return data.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER ? Milestone::kBegun
                                                                  : Milestone::kTriggered;
}

}  // namespace

CUgraphNodeType type_of(const GraphNode& node) {
  static constexpr CUgraphNodeType kTypes[] = {
      CU_GRAPH_NODE_TYPE_EMPTY,      CU_GRAPH_NODE_TYPE_KERNEL, CU_GRAPH_NODE_TYPE_MEMCPY,
      CU_GRAPH_NODE_TYPE_MEMSET,     CU_GRAPH_NODE_TYPE_HOST,   CU_GRAPH_NODE_TYPE_EVENT_RECORD,
      CU_GRAPH_NODE_TYPE_WAIT_EVENT,
  };
  static_assert(std::size(kTypes) == std::variant_size_v<NodeWork>);
  return kTypes[node.work.index()];
}

bool is_edge(const GraphNode& from, const GraphNode& to, const CUgraphEdgeData& data) {
  const bool clean = std::all_of(std::begin(data.reserved), std::end(data.reserved),
                                 [](unsigned char byte) { return byte == 0; });
  if (!clean || data.to_port != 0) return false;
  if (data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT) {
    return data.from_port == CU_GRAPH_KERNEL_NODE_PORT_DEFAULT;
  }
  // Only kernels trigger others early, and only kernels can wait for the rest.
  return data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC &&
         (data.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
          data.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER) &&
         std::holds_alternative<KernelWork>(from.work) &&
         std::holds_alternative<KernelWork>(to.work);
}

Graph::~Graph() {
  // A long chain of nodes must not be destroyed by recursion.
  for (const auto& node : nodes_) {
    Objects::instance().graph_nodes.remove(node->handle);
    node->after.clear();
  }
}

std::shared_ptr<GraphNode> Graph::add(NodeWork work, std::vector<GraphEdge> after) {
  auto node = std::make_shared<GraphNode>(std::move(work));
  node->after = std::move(after);
  node->handle = Objects::instance().graph_nodes.add(node);
  nodes_.push_back(node);
  return node;
}

void Graph::connect(const std::shared_ptr<GraphNode>& from, const std::shared_ptr<GraphNode>& to,
                    const CUgraphEdgeData& data) {
  const bool known = std::any_of(to->after.begin(), to->after.end(),
                                 [&](const GraphEdge& edge) { return edge.from == from; });
  require(!known && !reaches(*from, *to), CUDA_ERROR_INVALID_VALUE);
  to->after.push_back({from, data});
}

bool Graph::holds(const GraphNode& node) const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [&](const auto& each) { return each.get() == &node; });
}

GraphExec::GraphExec(const Graph& graph) {
  std::unordered_map<const GraphNode*, std::vector<const GraphNode*>> next;
  std::unordered_map<const GraphNode*, std::size_t> blockers;
  std::vector<const GraphNode*> ready;
  for (const auto& node : graph.nodes()) {
    blockers[node.get()] = node->after.size();
    for (const GraphEdge& edge : node->after) next[edge.from.get()].push_back(node.get());
    if (node->after.empty()) ready.push_back(node.get());
  }
  std::unordered_map<const GraphNode*, std::size_t> places;
  for (std::size_t k = 0; k < ready.size(); ++k) {
    const GraphNode* node = ready[k];
    places[node] = k;
    Step& step = steps.emplace_back();
    step.node = node->handle;
    step.work = node->work;
    for (const GraphEdge& edge : node->after) {
      step.after.push_back({places.at(edge.from.get()), milestone_of(edge.data)});
      if (step.after.back().at == Milestone::kDone) steps[step.after.back().step].has_next = true;
    }
    for (const GraphNode* later : next[node]) {
      if (--blockers[later] == 0) ready.push_back(later);
    }
  }
}

GraphExec::Step* GraphExec::step_of(CUgraphNode node) {
  const auto found =
      std::find_if(steps.begin(), steps.end(), [&](const Step& step) { return step.node == node; });
  return found == steps.end() ? nullptr : &*found;
}

}  // namespace baton::sim
