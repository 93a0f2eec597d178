// Graphs: building, asking, instantiating, launching.

#include <algorithm>
#include <cstring>

#include "sim/api.h"
#include "sim/context.h"
#include "sim/current.h"
#include "sim/graph.h"
#include "sim/launch.h"
#include "sim/objects.h"
#include "sim/refusal.h"

namespace baton::sim::api {
namespace {

std::shared_ptr<Graph> graph_of(CUgraph handle) {
  enter();
  std::shared_ptr<Graph> graph = Objects::instance().graphs.find(handle);
  require(graph != nullptr, CUDA_ERROR_INVALID_VALUE);
  return graph;
}

std::shared_ptr<GraphNode> node_of(CUgraphNode handle) {
  enter();
  std::shared_ptr<GraphNode> node = Objects::instance().graph_nodes.find(handle);
  require(node != nullptr, CUDA_ERROR_INVALID_VALUE);
  return node;
}

std::shared_ptr<GraphExec> exec_of(CUgraphExec handle) {
  enter();
  std::shared_ptr<GraphExec> exec = Objects::instance().graph_execs.find(handle);
  require(exec != nullptr, CUDA_ERROR_INVALID_VALUE);
  return exec;
}

KernelWork& kernel_work(NodeWork& work) {
  auto* kernel = std::get_if<KernelWork>(&work);
  require(kernel != nullptr, CUDA_ERROR_INVALID_VALUE);
  return *kernel;
}

CUresult add_node(CUgraphNode* result, CUgraph handle, const CUgraphNode* dependencies,
                  size_t count, NodeWork work) {
  const std::shared_ptr<Graph> graph = graph_of(handle);
  require(result != nullptr && (count == 0 || dependencies != nullptr), CUDA_ERROR_INVALID_VALUE);
  std::vector<GraphEdge> after;
  for (size_t k = 0; k < count; ++k) {
    after.push_back({node_of(dependencies[k]), {}});
    require(graph->holds(*after.back().from), CUDA_ERROR_INVALID_VALUE);
    const auto same = [&](const GraphEdge& edge) { return edge.from == after.back().from; };
    require(std::count_if(after.begin(), after.end(), same) == 1, CUDA_ERROR_INVALID_VALUE);
  }
  *result = graph->add(std::move(work), std::move(after))->handle;
  return CUDA_SUCCESS;
}

// What a kernel node's parameters ask for, with the attributes of the node.
KernelWork kernel_of(const CUDA_KERNEL_NODE_PARAMS* params,
                     std::vector<CUlaunchAttribute> attributes) {
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  const std::shared_ptr<Context> context = usable_context();
  const CUfunction handle =
      params->func != nullptr ? params->func : reinterpret_cast<CUfunction>(params->kern);
  require(handle != nullptr, CUDA_ERROR_INVALID_VALUE);
  LaunchRequest request;
  request.grid = {params->gridDimX, params->gridDimY, params->gridDimZ};
  request.block = {params->blockDimX, params->blockDimY, params->blockDimZ};
  request.dynamic_shared = params->sharedMemBytes;
  request.params = params->kernelParams;
  request.extra = params->extra;
  apply_attributes(attributes, *context, request);
  KernelWork work;
  work.function = place_function(*context, handle);
  work.launch = make_grid(request, *work.function);
  work.attributes = std::move(attributes);
  return work;
}

// Fills an array of `*count` places with what there is; without an array, only counts.
template <typename T, typename Item, typename F>
void list(T* to, size_t* count, const std::vector<Item>& items, F value) {
  const size_t given = std::min(*count, items.size());
  for (size_t k = 0; k < given; ++k) to[k] = value(items[k]);
  for (size_t k = given; k < *count; ++k) to[k] = nullptr;
  *count = given;
}

}  // namespace

CUresult GraphCreate(CUgraph* graph, unsigned flags) {
  enter();
  require(graph != nullptr && flags == 0, CUDA_ERROR_INVALID_VALUE);
  *graph = Objects::instance().graphs.add(std::make_shared<Graph>());
  return CUDA_SUCCESS;
}

CUresult GraphDestroy(CUgraph handle) {
  enter();
  const bool known = Objects::instance().graphs.remove(handle) != nullptr;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult GraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                            size_t count, const CUDA_KERNEL_NODE_PARAMS* params) {
  return add_node(node, graph, dependencies, count, kernel_of(params, {}));
}

CUresult GraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                           size_t count) {
  return add_node(node, graph, dependencies, count, std::monostate{});
}

CUresult GraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                          size_t count, const CUDA_HOST_NODE_PARAMS* params) {
  require(params != nullptr && params->fn != nullptr, CUDA_ERROR_INVALID_VALUE);
  return add_node(node, graph, dependencies, count, HostCall{params->fn, params->userData});
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
  const std::shared_ptr<Graph> graph = graph_of(handle);
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
  const std::shared_ptr<Graph> graph = graph_of(handle);
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
  const std::shared_ptr<Graph> graph = graph_of(handle);
  require(count != nullptr && (from == nullptr) == (to == nullptr), CUDA_ERROR_INVALID_VALUE);
  struct Edge {
    CUgraphNode from, to;
    CUgraphEdgeData data;
  };
  std::vector<Edge> edges;
  for (const auto& node : graph->nodes()) {
    for (const GraphEdge& edge : node->after) {
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

// An attribute that the node was not given is all zero. What concerns streams alone is no attribute
// of a node (as an H200's driver 580.159 answers).
CUresult GraphKernelNodeGetAttribute(CUgraphNode handle, CUlaunchAttributeID id,
                                     CUlaunchAttributeValue* value) {
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
  const std::shared_ptr<GraphNode> node = node_of(handle);
  require(value != nullptr, CUDA_ERROR_INVALID_VALUE);
  require(std::find(std::begin(kKept), std::end(kKept), id) != std::end(kKept),
          CUDA_ERROR_INVALID_VALUE);
  std::memset(value, 0, sizeof *value);
  for (const CUlaunchAttribute& each : kernel_work(node->work).attributes) {
    if (each.id == id) *value = each.value;
  }
  return CUDA_SUCCESS;
}

CUresult GraphInstantiateWithFlags(CUgraphExec* exec, CUgraph handle, unsigned long long flags) {
  const std::shared_ptr<Graph> graph = graph_of(handle);
  constexpr unsigned long long kKnown =
      CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  require(exec != nullptr, CUDA_ERROR_INVALID_VALUE);
  require((flags & ~kKnown) == 0, CUDA_ERROR_NOT_SUPPORTED);
  *exec = Objects::instance().graph_execs.add(std::make_shared<GraphExec>(*graph));
  return CUDA_SUCCESS;
}

CUresult GraphExecDestroy(CUgraphExec handle) {
  enter();
  const bool known = Objects::instance().graph_execs.remove(handle) != nullptr;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// The node keeps its attributes, and a launch that is under way keeps what it was launched with.
CUresult GraphExecKernelNodeSetParams(CUgraphExec handle, CUgraphNode node,
                                      const CUDA_KERNEL_NODE_PARAMS* params) {
  const std::shared_ptr<GraphExec> exec = exec_of(handle);
  std::vector<CUlaunchAttribute> attributes;
  {
    std::lock_guard lock(Scheduler::instance().mutex);
    GraphExec::Step* step = exec->step_of(node);
    require(step != nullptr, CUDA_ERROR_INVALID_VALUE);
    attributes = kernel_work(step->work).attributes;
  }
  KernelWork work = kernel_of(params, std::move(attributes));
  std::lock_guard lock(Scheduler::instance().mutex);
  std::swap(kernel_work(exec->step_of(node)->work), work);
  return CUDA_SUCCESS;
}

CUresult GraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  const std::shared_ptr<GraphExec> exec = exec_of(handle);
  const std::shared_ptr<Stream> stream = usable_stream(stream_handle);
  stream->context->launch(*stream, *exec);
  return CUDA_SUCCESS;
}

}  // namespace baton::sim::api
