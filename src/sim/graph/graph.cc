#include "sim/graph/graph.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <unordered_set>

#include "sim/api/refusal.h"
#include "sim/device/host_memory.h"
#include "sim/device/objects.h"
#include "sim/graph/condition.h"
#include "sim/graph/user_object.h"

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

void release_conditions(const GraphNode& node) {
  const auto* conditional = std::get_if<ConditionalWork>(&node.work);
  if (conditional == nullptr) return;
  conditional->condition->has_node = false;
  for (const auto& body : conditional->bodies->graphs) {
    for (const auto& inner : body->nodes()) release_conditions(*inner);
  }
}

}  // namespace

bool is_host(const CopySide& side) {
  const auto found = HostMemory::instance().find(side.address);
  return side.heap == nullptr || (found && !found->is_managed());
}

CUgraphNodeType type_of(const GraphNode& node) {
  static constexpr CUgraphNodeType kTypes[] = {
      CU_GRAPH_NODE_TYPE_EMPTY,      CU_GRAPH_NODE_TYPE_KERNEL,
      CU_GRAPH_NODE_TYPE_MEMCPY,     CU_GRAPH_NODE_TYPE_MEMSET,
      CU_GRAPH_NODE_TYPE_HOST,       CU_GRAPH_NODE_TYPE_EVENT_RECORD,
      CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_CONDITIONAL,
      CU_GRAPH_NODE_TYPE_MEM_ALLOC,  CU_GRAPH_NODE_TYPE_MEM_FREE,
      CU_GRAPH_NODE_TYPE_GRAPH,
  };
  static_assert(std::size(kTypes) == std::variant_size_v<NodeWork>);
  return kTypes[node.work.index()];
}

bool may_begin_edge(const GraphNode& from, const CUgraphEdgeData& data) {
  const bool clean = std::all_of(std::begin(data.reserved), std::end(data.reserved),
                                 [](unsigned char byte) { return byte == 0; });
  if (!clean || data.to_port != 0) return false;
  if (data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT) {
    return data.from_port == CU_GRAPH_KERNEL_NODE_PORT_DEFAULT;
  }
  // Only kernels trigger others early.
  return data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC &&
         (data.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
          data.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER) &&
         std::holds_alternative<KernelWork>(from.work);
}

bool is_edge(const GraphNode& from, const GraphNode& to, const CUgraphEdgeData& data) {
  // Only kernels can wait for the rest.
  return may_begin_edge(from, data) && (data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT ||
                                        std::holds_alternative<KernelWork>(to.work));
}

SimCondition::SimCondition(int ordinal, unsigned initial_value, bool assigned)
    : value(std::make_shared<ConditionValue>(ordinal)),
      initial(initial_value),
      is_assigned(assigned),
      handle(reinterpret_cast<std::uintptr_t>(Objects::instance().conditions.add(value))) {}

SimCondition::~SimCondition() {
  Objects::instance().conditions.remove(to_handle(handle));
}

ConditionalBodies::ConditionalBodies(std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) {
    graphs.push_back(std::make_shared<SimGraph>());
    graphs.back()->is_body = true;
    handles.push_back(Objects::instance().graphs.add(graphs.back()));
  }
}

ConditionalBodies::~ConditionalBodies() {
  for (const CUgraph handle : handles) Objects::instance().graphs.remove(handle);
}

ChildGraph::ChildGraph(std::shared_ptr<SimGraph> inner)
    : graph(std::move(inner)), handle(Objects::instance().graphs.add(graph)) {
  graph->is_child = true;
}

ChildGraph::~ChildGraph() {
  Objects::instance().graphs.remove(handle);
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

void SimGraph::disconnect(GraphNode& from, GraphNode& to, const CUgraphEdgeData& data) {
  const auto found = std::find_if(to.after.begin(), to.after.end(), [&](const auto& edge) {
    return edge.from.get() == &from && std::memcmp(&edge.data, &data, sizeof data) == 0;
  });
  require(found != to.after.end(), CUDA_ERROR_INVALID_VALUE);
  to.after.erase(found);
}

void SimGraph::remove(GraphNode& node) {
  release_conditions(node);
  Objects::instance().graph_nodes.remove(node.handle);
  node.graph = nullptr;
  for (const auto& other : nodes_) {
    std::erase_if(other->after, [&](const auto& edge) { return edge.from.get() == &node; });
  }
  node.after.clear();
  std::erase_if(nodes_, [&](const auto& each) { return each.get() == &node; });
}

std::shared_ptr<SimGraph> SimGraph::clone() const {
  auto result = std::make_shared<SimGraph>();
  std::unordered_map<const GraphNode*, std::shared_ptr<GraphNode>> clones;
  for (const auto& node : nodes_) {
    NodeWork work = node->work;
    const bool fits = !std::holds_alternative<ConditionalWork>(work) &&
                      !std::holds_alternative<AllocWork>(work) &&
                      !std::holds_alternative<FreeWork>(work);
    require(fits, CUDA_ERROR_NOT_SUPPORTED);
    if (auto* inner = std::get_if<ChildWork>(&work)) {
      inner->child = std::make_shared<ChildGraph>(inner->child->graph->clone());
    }
    const auto& made = clones[node.get()] = result->add(std::move(work), {});
    made->original = node->handle;
  }
  // An edge may come from a node that was added later.
  for (const auto& node : nodes_) {
    for (const GraphDependency& edge : node->after) {
      const auto& from = clones.at(edge.from.get());
      from->has_next = true;
      clones.at(node.get())->after.push_back({from, edge.data});
    }
  }
  if (references != nullptr) result->references = std::make_shared<UserReferences>(*references);
  return result;
}

}  // namespace baton::sim
