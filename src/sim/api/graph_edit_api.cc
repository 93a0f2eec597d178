// Graphs that change, are cloned, are put into others, and are written as text.

#include <fmt/core.h>

#include <cstdio>
#include <memory>

#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/graph_nodes.h"
#include "sim/api/refusal.h"
#include "sim/device/objects.h"

namespace baton::sim::api {
namespace {

// Nodes and edges of a graph with memory stay (cuda.h, cuGraphAddMemAllocNode).
void require_no_memory(const SimGraph& graph) {
  const auto is_memory = [](const auto& node) {
    return std::holds_alternative<AllocWork>(node->work) ||
           std::holds_alternative<FreeWork>(node->work);
  };
  require(std::none_of(graph.nodes().begin(), graph.nodes().end(), is_memory),
          CUDA_ERROR_NOT_SUPPORTED);
}

// An edge as one of its ends sees it.
struct Neighbour {
  CUgraphNode node;
  CUgraphEdgeData data;
};

// Without an array for their data, edges that have any are not given: that would lose it.
CUresult give(const std::vector<Neighbour>& found, CUgraphNode* nodes, CUgraphEdgeData* data,
              size_t* count) {
  require(count != nullptr, CUDA_ERROR_INVALID_VALUE);
  if (nodes == nullptr) {
    *count = found.size();
    return CUDA_SUCCESS;
  }
  require(data != nullptr || std::all_of(found.begin(), found.end(),
                                         [](const Neighbour& each) { return each.data.type == 0; }),
          CUDA_ERROR_LOSSY_QUERY);
  list(nodes, count, found, [](const Neighbour& each) { return each.node; });
  for (size_t k = 0; data != nullptr && k < *count; ++k) data[k] = found[k].data;
  return CUDA_SUCCESS;
}

const char* type_name(const GraphNode& node) {
  static constexpr const char* kNames[] = {"EMPTY",     "KERNEL",       "MEMCPY",     "MEMSET",
                                           "HOST",      "EVENT_RECORD", "WAIT_EVENT", "CONDITIONAL",
                                           "MEM_ALLOC", "MEM_FREE",     "GRAPH"};
  static_assert(std::size(kNames) == std::variant_size_v<NodeWork>);
  return kNames[node.work.index()];
}

std::string label_of(const GraphNode& node) {
  const auto* kernel = std::get_if<KernelWork>(&node.work);
  if (kernel == nullptr) return type_name(node);
  return fmt::format("KERNEL\\n{}", kernel->function->kernel()->name());
}

}  // namespace

CUresult GraphDestroyNode(CUgraphNode handle) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  require(node->graph != nullptr, CUDA_ERROR_INVALID_VALUE);
  require_no_memory(*node->graph);
  require(!node->graph->is_captured_into, CUDA_ERROR_NOT_SUPPORTED);
  node->graph->remove(*node);
  return CUDA_SUCCESS;
}

CUresult GraphRemoveDependencies(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                                 const CUgraphEdgeData* data, size_t count) {
  const std::shared_ptr<SimGraph> graph = graph_of(handle);
  require(count == 0 || (from != nullptr && to != nullptr), CUDA_ERROR_INVALID_VALUE);
  require_no_memory(*graph);
  for (size_t k = 0; k < count; ++k) {
    const std::shared_ptr<GraphNode> first = node_of(from[k]);
    const std::shared_ptr<GraphNode> second = node_of(to[k]);
    require(graph->holds(*first) && graph->holds(*second), CUDA_ERROR_INVALID_VALUE);
    graph->disconnect(*first, *second, data == nullptr ? CUgraphEdgeData{} : data[k]);
  }
  return CUDA_SUCCESS;
}

CUresult GraphRemovePlainDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      size_t count) {
  return GraphRemoveDependencies(graph, from, to, nullptr, count);
}

CUresult GraphNodeGetDependencies(CUgraphNode handle, CUgraphNode* nodes, CUgraphEdgeData* data,
                                  size_t* count) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  std::vector<Neighbour> found;
  for (const GraphDependency& edge : node->after) found.push_back({edge.from->handle, edge.data});
  return give(found, nodes, data, count);
}

CUresult GraphNodeGetPlainDependencies(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return GraphNodeGetDependencies(node, nodes, nullptr, count);
}

CUresult GraphNodeGetDependentNodes(CUgraphNode handle, CUgraphNode* nodes, CUgraphEdgeData* data,
                                    size_t* count) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  require(node->graph != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::vector<Neighbour> found;
  for (const auto& other : node->graph->nodes()) {
    for (const GraphDependency& edge : other->after) {
      if (edge.from == node) found.push_back({other->handle, edge.data});
    }
  }
  return give(found, nodes, data, count);
}

CUresult GraphNodeGetPlainDependentNodes(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return GraphNodeGetDependentNodes(node, nodes, nullptr, count);
}

CUresult GraphClone(CUgraph* result, CUgraph original) {
  const std::shared_ptr<SimGraph> graph = graph_of(original);
  require(result != nullptr, CUDA_ERROR_INVALID_VALUE);
  *result = Objects::instance().graphs.add(graph->clone());
  return CUDA_SUCCESS;
}

CUresult GraphNodeFindInClone(CUgraphNode* result, CUgraphNode original, CUgraph clone) {
  const std::shared_ptr<SimGraph> graph = graph_of(clone);
  require(result != nullptr && original != nullptr, CUDA_ERROR_INVALID_VALUE);
  for (const auto& node : graph->nodes()) {
    if (node->original != original) continue;
    *result = node->handle;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult GraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                size_t count, CUgraph child) {
  const std::shared_ptr<SimGraph> inner = graph_of(child);
  require(graph_of(graph) != inner, CUDA_ERROR_INVALID_VALUE);
  return add_node(node, graph, dependencies, count,
                  ChildWork{std::make_shared<ChildGraph>(inner->clone())});
}

CUresult GraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* graph) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  const auto* work = std::get_if<ChildWork>(&node->work);
  require(graph != nullptr && work != nullptr, CUDA_ERROR_INVALID_VALUE);
  *graph = work->child->handle;
  return CUDA_SUCCESS;
}

// In the DOT language; the flags ask for details that are not written.
CUresult GraphDebugDotPrint(CUgraph handle, const char* path, unsigned) {
  const std::shared_ptr<SimGraph> graph = graph_of(handle);
  require(path != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::string text = "digraph dot {\n";
  for (const auto& node : graph->nodes()) {
    text += fmt::format("\"{}\" [label=\"{}\"];\n", static_cast<const void*>(node->handle),
                        label_of(*node));
  }
  for (const auto& node : graph->nodes()) {
    for (const GraphDependency& edge : node->after) {
      text += fmt::format("\"{}\" -> \"{}\";\n", static_cast<const void*>(edge.from->handle),
                          static_cast<const void*>(node->handle));
    }
  }
  text += "}\n";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "w"), &std::fclose);
  require(file != nullptr, CUDA_ERROR_OPERATING_SYSTEM);
  const bool whole = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                     std::fflush(file.get()) == 0;
  return whole ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}

}  // namespace baton::sim::api
