#include "launch/graph_edges.h"

#include <algorithm>
#include <string>

#include "runtime/context.h"

namespace baton::launch {
namespace {

struct NamedNodeKind {
  CUgraphNodeType type;
  const char* name;
};
constexpr NamedNodeKind kKinds[] = {
    {CU_GRAPH_NODE_TYPE_KERNEL, "a launch"},
    {CU_GRAPH_NODE_TYPE_MEMCPY, "a copy"},
    {CU_GRAPH_NODE_TYPE_MEMSET, "a fill"},
    {CU_GRAPH_NODE_TYPE_HOST, "a host function"},
    {CU_GRAPH_NODE_TYPE_GRAPH, "a graph"},
    {CU_GRAPH_NODE_TYPE_EMPTY, "an empty node"},
    {CU_GRAPH_NODE_TYPE_WAIT_EVENT, "a wait for an event"},
    {CU_GRAPH_NODE_TYPE_EVENT_RECORD, "a record of an event"},
    {CU_GRAPH_NODE_TYPE_MEM_ALLOC, "an allocation"},
    {CU_GRAPH_NODE_TYPE_MEM_FREE, "a release of memory"},
    {CU_GRAPH_NODE_TYPE_CONDITIONAL, "a conditional node"},
};

std::vector<CUgraphNode> nodes_of(const driver::Driver& driver, CUgraph graph) {
  std::size_t count = 0;
  if (driver.cuGraphGetNodes(graph, nullptr, &count) != CUDA_SUCCESS) return {};
  std::vector<CUgraphNode> nodes(count);
  if (count != 0 && driver.cuGraphGetNodes(graph, nodes.data(), &count) != CUDA_SUCCESS) return {};
  return nodes;
}

}  // namespace

bool is_refused_argument(const Error& failure) {
  return failure.code() == ErrorCode::kDriver &&
         failure.driver_result() == CUDA_ERROR_INVALID_VALUE;
}

std::optional<std::string> other_than_launch(const driver::Driver& driver, CUgraphNode node) {
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL;
  if (driver.cuGraphNodeGetType(node, &type) != CUDA_SUCCESS || type == CU_GRAPH_NODE_TYPE_KERNEL) {
    return std::nullopt;
  }
  const auto* const found =
      std::ranges::find(kKinds, type, [](const NamedNodeKind& kind) { return kind.type; });
  return found == std::end(kKinds) ? "a node of another kind" : found->name;
}

CUgraphEdgeData data_of(GraphEdgeKind kind) {
  CUgraphEdgeData data{};
  switch (kind) {
    case GraphEdgeKind::kFull:
      break;
    case GraphEdgeKind::kProgrammatic:
      // The port of a captured launch with programmatic stream serialization.
      data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
      data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
      break;
    case GraphEdgeKind::kLaunchOrder:
      // That of a captured launch completion event.
      data.from_port = CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER;
      data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
      break;
  }
  return data;
}

std::vector<CUgraphNode> full_edges(Span<const GraphEdge> after) {
  std::vector<CUgraphNode> nodes;
  for (const GraphEdge& edge : after) {
    if (edge.kind == GraphEdgeKind::kFull) nodes.push_back(edge.from);
  }
  return nodes;
}

void require_distinct(Span<const GraphEdge> after) {
  for (std::size_t i = 1; i < after.size(); ++i) {
    for (std::size_t first = 0; first < i; ++first) {
      if (after[first].from != after[i].from || after[i].from == nullptr) continue;
      throw error(ErrorCode::kInvalidInput,
                  "edges {} and {} come from one node, and two nodes have one edge; leave out the "
                  "one that orders less",
                  first, i);
    }
  }
}

void require_wait(const LaunchPlan& launch, Span<const GraphEdge> after) {
  const bool is_early = std::any_of(after.begin(), after.end(), [](const GraphEdge& edge) {
    return edge.kind == GraphEdgeKind::kProgrammatic;
  });
  const KernelFacts& facts = launch.kernel().facts();
  if (!is_early || facts.waits != false || launch.config().force_pdl) return;
  const auto cause = missing_wait_cause(facts);
  throw error(ErrorCode::kInvalidInput,
              "kernel {} has a programmatic edge and never waits for the launch before it "
              "(griddepcontrol.wait){}{}; make the edge full, or force pdl if the kernel needs "
              "nothing of that launch",
              facts.name, cause ? ": " : "", cause.value_or(""));
}

Error explain_edges(const Device& device, CUgraph graph, Span<const GraphEdge> edges,
                    std::optional<CUgraphNode> to, const Error& failure) {
  if (!is_refused_argument(failure)) return failure;
  const driver::Driver& driver = device.driver();
  const ContextGuard guard(device);
  const std::vector<CUgraphNode> nodes = nodes_of(driver, graph);
  const auto is_here = [&](CUgraphNode node) {
    return std::ranges::find(nodes, node) != nodes.end();
  };
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const GraphEdge& edge = edges[i];
    if (edge.from == nullptr || !is_here(edge.from)) {
      return refused(failure,
                     "edge {} comes from {}; take a node that a call of this graph returned", i,
                     edge.from == nullptr ? "a null node" : "a node that the graph does not have");
    }
  }
  if (to && (*to == nullptr || !is_here(*to))) {
    return refused(failure, "the edge leads to {}; take a node that a call of this graph returned",
                   *to == nullptr ? "a null node" : "a node that the graph does not have");
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (edges[i].kind == GraphEdgeKind::kFull) continue;
    const auto from = other_than_launch(driver, edges[i].from);
    const auto later = to ? other_than_launch(driver, *to) : std::nullopt;
    if (!from && !later) continue;
    return refused(failure,
                   "edge {} is programmatic, and only edges between two launches can be: the {} "
                   "node is {}; make the edge full",
                   i, from ? "earlier" : "later", from ? *from : *later);
  }
  return failure;
}

}  // namespace baton::launch
