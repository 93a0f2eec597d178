#include "sim/graph/graph.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "sim/api/refusal.h"
#include "sim/device/objects.h"

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
    for (const GraphDependency& edge : at->after) {
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

SimGraph::~SimGraph() {
  // A long chain of nodes must not be destroyed by recursion.
  for (const auto& node : nodes_) {
    Objects::instance().graph_nodes.remove(node->handle);
    node->after.clear();
    node->graph = nullptr;
  }
}

std::shared_ptr<GraphNode> SimGraph::add(NodeWork work, std::vector<GraphDependency> after) {
  auto node = std::make_shared<GraphNode>(std::move(work));
  node->after = std::move(after);
  node->graph = this;
  for (const GraphDependency& edge : node->after) edge.from->has_next = true;
  node->handle = Objects::instance().graph_nodes.add(node);
  nodes_.push_back(node);
  return node;
}

void SimGraph::connect(const std::shared_ptr<GraphNode>& from, const std::shared_ptr<GraphNode>& to,
                       const CUgraphEdgeData& data) {
  const bool known = std::any_of(to->after.begin(), to->after.end(),
                                 [&](const GraphDependency& edge) { return edge.from == from; });
  // What nothing comes after yet closes no cycle.
  const bool cycle = from == to || (to->has_next && reaches(*from, *to));
  require(!known && !cycle, CUDA_ERROR_INVALID_VALUE);
  to->after.push_back({from, data});
  from->has_next = true;
}

GraphExec::GraphExec(const SimGraph& graph) {
  std::unordered_map<const GraphNode*, std::vector<const GraphNode*>> next;
  std::unordered_map<const GraphNode*, std::size_t> blockers;
  std::vector<const GraphNode*> ready;
  for (const auto& node : graph.nodes()) {
    blockers[node.get()] = node->after.size();
    for (const GraphDependency& edge : node->after) next[edge.from.get()].push_back(node.get());
    if (node->after.empty()) ready.push_back(node.get());
  }
  std::unordered_map<const GraphNode*, std::size_t> places;
  for (std::size_t k = 0; k < ready.size(); ++k) {
    const GraphNode* node = ready[k];
    places[node] = k;
    Step& step = steps.emplace_back();
    step.node = node->handle;
    places_[step.node] = k;
    step.work = node->work;
    for (const GraphDependency& edge : node->after) {
      step.after.push_back({places.at(edge.from.get()), milestone_of(edge.data)});
      if (step.after.back().at == Milestone::kDone) steps[step.after.back().step].has_next = true;
    }
    for (const GraphNode* later : next[node]) {
      if (--blockers[later] == 0) ready.push_back(later);
    }
  }
}

namespace {

// What an update may not change, as cuda.h lists it for cuGraphExecUpdate.
CUgraphExecUpdateResult compare(const GraphExec::Step& old, const GraphExec::Step& fresh) {
  if (old.work.index() != fresh.work.index()) return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
  const auto same = [](const GraphExec::Edge& a, const GraphExec::Edge& b) {
    return a.step == b.step && a.at == b.at;
  };
  if (!std::equal(old.after.begin(), old.after.end(), fresh.after.begin(), fresh.after.end(),
                  same)) {
    return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  }
  if (const auto* kernel = std::get_if<KernelWork>(&old.work)) {
    const auto& other = std::get<KernelWork>(fresh.work);
    if (kernel->launch.cooperative != other.launch.cooperative) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED;
    }
  } else if (const auto* fill = std::get_if<Fill>(&old.work)) {
    const auto& other = std::get<Fill>(fresh.work);
    const bool flat = fill->rows == 1 && other.rows == 1;
    if (!flat && (fill->rows != other.rows || fill->count != other.count ||
                  fill->pitch != other.pitch || fill->width != other.width)) {
      return CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
    }
  }
  return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

}  // namespace

std::optional<GraphExec::Mismatch> GraphExec::update(GraphExec&& fresh) {
  if (steps.size() != fresh.steps.size()) {
    return Mismatch{CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr};
  }
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const CUgraphExecUpdateResult result = compare(steps[k], fresh.steps[k]);
    if (result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return Mismatch{result, fresh.steps[k].node};
  }
  for (std::size_t k = 0; k < steps.size(); ++k) std::swap(steps[k].work, fresh.steps[k].work);
  return std::nullopt;
}

GraphExec::Step* GraphExec::step_of(CUgraphNode node) {
  const auto found = places_.find(node);
  return found == places_.end() ? nullptr : &steps[found->second];
}

}  // namespace baton::sim
