// Conditional nodes, and the call that adds nodes of any type.

#include <algorithm>
#include <iterator>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/graph_nodes.h"
#include "sim/api/graph_works.h"
#include "sim/api/refusal.h"
#include "sim/device/context.h"

namespace baton::sim::api {
namespace {

std::shared_ptr<Context> context_of(CUcontext handle) {
  const std::shared_ptr<Context> context = usable_context();
  const bool is_current = handle == nullptr || handle == ContextStack::of_thread().top()->handle();
  require(is_current, CUDA_ERROR_INVALID_CONTEXT);
  return context;
}

// A condition of the graph, or of one that it is in a body of; null: of none.
std::shared_ptr<SimCondition> condition_of(std::shared_ptr<SimGraph> graph,
                                           CUgraphConditionalHandle handle) {
  for (; graph != nullptr; graph = graph->outer.lock()) {
    for (const auto& each : graph->conditions) {
      if (each->handle == handle) return each;
    }
  }
  return nullptr;
}

CUresult add_conditional(CUgraphNode* node, CUgraph graph_handle, const CUgraphNode* dependencies,
                         size_t count, CUDA_CONDITIONAL_NODE_PARAMS& params) {
  const std::shared_ptr<SimGraph> graph = graph_of(graph_handle);
  const std::shared_ptr<SimCondition> condition = condition_of(graph, params.handle);
  require(condition != nullptr && !condition->has_node, CUDA_ERROR_INVALID_VALUE);
  const bool fits =
      (params.type == CU_GRAPH_COND_TYPE_WHILE && params.size == 1) ||
      (params.type == CU_GRAPH_COND_TYPE_IF && params.size >= 1 && params.size <= 2) ||
      (params.type == CU_GRAPH_COND_TYPE_SWITCH && params.size >= 1);
  require(fits, CUDA_ERROR_INVALID_VALUE);
  const auto bodies = std::make_shared<ConditionalBodies>(params.size);
  const CUresult result = add_node(node, graph_handle, dependencies, count,
                                   ConditionalWork{condition, params.type, bodies});
  for (const auto& body : bodies->graphs) body->outer = graph;
  condition->has_node = true;
  params.phGraph_out = bodies->handles.data();
  return result;
}

CUresult add_alloc(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                   CUDA_MEM_ALLOC_NODE_PARAMS_v2& params) {
  CUDA_MEM_ALLOC_NODE_PARAMS plain{};
  plain.poolProps = params.poolProps;
  plain.accessDescs = params.accessDescs;
  plain.accessDescCount = params.accessDescCount;
  plain.bytesize = params.bytesize;
  const CUresult result = GraphAddMemAllocNode(node, graph, dependencies, count, &plain);
  params.dptr = plain.dptr;
  return result;
}

CUresult add_any(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                 CUgraphNodeParams& params) {
  if (std::optional<NodeWork> work = any_work(params, {})) {
    return add_node(node, graph, dependencies, count, *std::move(work));
  }
  switch (params.type) {
    case CU_GRAPH_NODE_TYPE_GRAPH:
      require(params.graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE,
              CUDA_ERROR_NOT_SUPPORTED);
      return GraphAddChildGraphNode(node, graph, dependencies, count, params.graph.graph);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return add_alloc(node, graph, dependencies, count, params.alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return GraphAddMemFreeNode(node, graph, dependencies, count, params.free.dptr);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return add_conditional(node, graph, dependencies, count, params.conditional);
    default:
      throw Refusal(CUDA_ERROR_NOT_SUPPORTED);
  }
}

}  // namespace

CUresult GraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph_handle,
                                      CUcontext context, unsigned initial, unsigned flags) {
  const std::shared_ptr<SimGraph> graph = graph_of(graph_handle);
  require(handle != nullptr && (flags & ~CU_GRAPH_COND_ASSIGN_DEFAULT) == 0,
          CUDA_ERROR_INVALID_VALUE);
  const bool is_assigned = (flags & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0;
  graph->conditions.push_back(
      std::make_shared<SimCondition>(context_of(context)->ordinal(), initial, is_assigned));
  *handle = graph->conditions.back()->handle;
  return CUDA_SUCCESS;
}

// An edge with data is added after the node, which is there even if the edge is refused.
CUresult GraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                      const CUgraphEdgeData* data, size_t count, CUgraphNodeParams* params) {
  enter();
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  const auto is_default = [](const CUgraphEdgeData& edge) {
    return edge.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT && edge.from_port == 0;
  };
  if (data == nullptr || std::all_of(data, data + count, is_default)) {
    return add_any(node, graph, dependencies, count, *params);
  }
  add_any(node, graph, nullptr, 0, *params);
  const std::vector<CUgraphNode> to(count, *node);
  return GraphAddDependencies(graph, dependencies, to.data(), data, count);
}

}  // namespace baton::sim::api
