// Graphs: building, asking, instantiating, launching.

#include <algorithm>
#include <cstring>

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/graph_nodes.h"
#include "sim/api/graph_works.h"
#include "sim/api/refusal.h"
#include "sim/device/context.h"
#include "sim/device/objects.h"
#include "sim/graph/graph.h"

namespace baton::sim::api {
namespace {

// What concerns streams alone is not an attribute of a node (as an H200's driver 580.159 answers).
bool is_kept(CUlaunchAttributeID id) {
  static constexpr CUlaunchAttributeID kKept[] = {
      CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
      CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
      CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
      CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
      CU_LAUNCH_ATTRIBUTE_PRIORITY,
      CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
      CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
      CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
      CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
  };
  return std::find(std::begin(kKept), std::end(kKept), id) != std::end(kKept);
}

}  // namespace

CUresult GraphCreate(CUgraph* graph, unsigned flags) {
  enter();
  require(graph != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
  *graph = Objects::instance().graphs.add(std::make_shared<SimGraph>());
  return CUDA_SUCCESS;
}

CUresult GraphDestroy(CUgraph handle) {
  enter();
  const std::shared_ptr<SimGraph> graph = Objects::instance().graphs.find(handle);
  require(graph != nullptr && !graph->is_body && !graph->is_child, CUDA_ERROR_INVALID_VALUE);
  const bool known = Objects::instance().graphs.remove(handle) != nullptr;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult GraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                            size_t count, const CUDA_KERNEL_NODE_PARAMS* params) {
  return add_node(node, graph, dependencies, count, kernel_work(params, {}));
}

CUresult GraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                            size_t count, const CUDA_MEMCPY3D* params, CUcontext) {
  return add_node(node, graph, dependencies, count, memcpy_work(params));
}

CUresult GraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                            size_t count, const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return add_node(node, graph, dependencies, count, memset_work(params));
}

CUresult GraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                           size_t count) {
  return add_node(node, graph, dependencies, count, std::monostate{});
}

CUresult GraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                          size_t count, const CUDA_HOST_NODE_PARAMS* params) {
  return add_node(node, graph, dependencies, count, host_work(params));
}

CUresult GraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t count, CUevent event) {
  return add_node(node, graph, dependencies, count, RecordWork{usable_event(event)});
}

CUresult GraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                               size_t count, CUevent event) {
  return add_node(node, graph, dependencies, count, WaitWork{usable_event(event)});
}

CUresult GraphAddDependencies(CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                              const CUgraphEdgeData* data, size_t count) {
  const std::shared_ptr<SimGraph> graph = graph_of(handle);
  require(count == 0 || (from != nullptr && to != nullptr), CUDA_ERROR_INVALID_VALUE);
  for (size_t k = 0; k < count; ++k) {
    const std::shared_ptr<GraphNode> first = node_of(from[k]);
    const std::shared_ptr<GraphNode> second = node_of(to[k]);
    const CUgraphEdgeData edge = data == nullptr ? CUgraphEdgeData{} : data[k];
    require(graph->holds(*first) && graph->holds(*second) && is_edge(*first, *second, edge),
            CUDA_ERROR_INVALID_VALUE);
    graph->connect(first, second, edge);
  }
  return CUDA_SUCCESS;
}

CUresult GraphGetNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  const std::shared_ptr<SimGraph> graph = graph_of(handle);
  require(count != nullptr, CUDA_ERROR_INVALID_VALUE);
  if (nodes == nullptr) {
    *count = graph->nodes().size();
    return CUDA_SUCCESS;
  }
  list(nodes, count, graph->nodes(), [](const auto& node) { return node->handle; });
  return CUDA_SUCCESS;
}

// Without an array for their data, edges that have any are not given: that would lose it.
CUresult GraphGetEdges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                       size_t* count) {
  const std::shared_ptr<SimGraph> graph = graph_of(handle);
  require(count != nullptr && (from == nullptr) == (to == nullptr), CUDA_ERROR_INVALID_VALUE);
  struct Edge {
    CUgraphNode from, to;
    CUgraphEdgeData data;
  };
  std::vector<Edge> edges;
  for (const auto& node : graph->nodes()) {
    for (const GraphDependency& edge : node->after) {
      edges.push_back({edge.from->handle, node->handle, edge.data});
    }
  }
  if (from == nullptr) {
    *count = edges.size();
    return CUDA_SUCCESS;
  }
  require(data != nullptr || std::all_of(edges.begin(), edges.end(),
                                         [](const Edge& edge) { return edge.data.type == 0; }),
          CUDA_ERROR_LOSSY_QUERY);
  size_t second = *count;
  list(to, &second, edges, [](const Edge& edge) { return edge.to; });
  list(from, count, edges, [](const Edge& edge) { return edge.from; });
  for (size_t k = 0; data != nullptr && k < *count; ++k) data[k] = edges[k].data;
  return CUDA_SUCCESS;
}

CUresult GraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  require(type != nullptr, CUDA_ERROR_INVALID_VALUE);
  *type = type_of(*node_of(node));
  return CUDA_SUCCESS;
}

// An attribute that the node was not given is all zero.
CUresult GraphKernelNodeGetAttribute(CUgraphNode handle, CUlaunchAttributeID id,
                                     CUlaunchAttributeValue* value) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  require(value != nullptr && is_kept(id), CUDA_ERROR_INVALID_VALUE);
  std::memset(value, 0, sizeof *value);
  for (const CUlaunchAttribute& each : work_as<KernelWork>(node->work).attributes) {
    if (each.id == id) *value = each.value;
  }
  return CUDA_SUCCESS;
}

CUresult GraphKernelNodeSetAttribute(CUgraphNode handle, CUlaunchAttributeID id,
                                     const CUlaunchAttributeValue* value) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  require(value != nullptr && is_kept(id), CUDA_ERROR_INVALID_VALUE);
  KernelWork& work = work_as<KernelWork>(node->work);
  std::vector<CUlaunchAttribute> attributes = work.attributes;
  std::erase_if(attributes, [id](const CUlaunchAttribute& each) { return each.id == id; });
  CUlaunchAttribute& added = attributes.emplace_back();
  std::memset(&added, 0, sizeof added);
  added.id = id;
  added.value = *value;
  work = with_attributes(work, std::move(attributes));
  return CUDA_SUCCESS;
}

CUresult GraphInstantiateWithFlags(CUgraphExec* exec, CUgraph handle, unsigned long long flags) {
  const std::shared_ptr<SimGraph> graph = graph_of(handle);
  constexpr unsigned long long kKnown = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                        CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY |
                                        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
  require(exec != nullptr, CUDA_ERROR_INVALID_VALUE);
  require((flags & ~kKnown) == 0, CUDA_ERROR_NOT_SUPPORTED);
  // A graph with conditional nodes or memory has one instance at a time.
  require(!graph->is_body && graph->instance.expired(), CUDA_ERROR_INVALID_VALUE);
  const auto instance = std::make_shared<GraphExec>(*graph);
  instance->flags = flags;
  if (instance->has_conditionals() || instance->has_memory()) graph->instance = instance;
  *exec = Objects::instance().graph_execs.add(instance);
  return CUDA_SUCCESS;
}

CUresult GraphExecDestroy(CUgraphExec handle) {
  enter();
  const bool known = Objects::instance().graph_execs.remove(handle) != nullptr;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult GraphExecUpdate(CUgraphExec handle, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  const std::shared_ptr<GraphExec> exec = exec_of(handle);
  GraphExec fresh(*graph_of(graph));
  require(info != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::optional<GraphExec::Mismatch> mismatch;
  {
    std::lock_guard lock(Scheduler::instance().mutex);
    mismatch = exec->update(std::move(fresh));
  }
  *info = {};
  info->result = mismatch ? mismatch->result : CU_GRAPH_EXEC_UPDATE_SUCCESS;
  info->errorNode = mismatch ? mismatch->node : nullptr;
  return mismatch ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE : CUDA_SUCCESS;
}

CUresult GraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  const std::shared_ptr<GraphExec> exec = exec_of(handle);
  const std::shared_ptr<SimStream> stream = usable_stream(stream_handle);
  stream->context->launch(*stream, *exec);
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
