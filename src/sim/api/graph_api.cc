// Graphs: building, asking, instantiating, launching.

#include <algorithm>
#include <cstring>

#include "sim/api/api.h"
#include "sim/api/copy.h"
#include "sim/api/current.h"
#include "sim/api/graph_nodes.h"
#include "sim/api/launch_note.h"
#include "sim/api/refusal.h"
#include "sim/device/context.h"
#include "sim/device/objects.h"
#include "sim/graph/graph.h"
#include "sim/queue/launch.h"
#include "sim/queue/place.h"

namespace baton::sim::api {
namespace {

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

// Where a kernel node runs that is given a context; null: the current one.
SmList node_sms(CUcontext handle) {
  const CurrentContext asked =
      handle != nullptr ? find_context(handle) : ContextStack::of_thread().current();
  require(asked.device != nullptr, CUDA_ERROR_INVALID_CONTEXT);
  if (asked.green == nullptr) return nullptr;
  const auto green = Objects::instance().greens.find(asked.green);
  require(green != nullptr, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  return green->sms();
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
  // As in the driver, a function brings its own context, and a kernel takes the one that is given.
  if (params->func == nullptr) request.sms = node_sms(params->ctx);
  KernelWork work;
  work.function = place_function(*context, handle);
  work.launch = make_grid(request, *work.function);
  work.attributes = std::move(attributes);
  if (params->func == nullptr) work.kernel = params->kern;
  return work;
}

// The same node with other attributes, its launch checked against kernel and device anew.
KernelWork with_attributes(const KernelWork& work, std::vector<CUlaunchAttribute> attributes) {
  const GridLaunch& launch = work.launch;
  LaunchRequest request;
  request.grid = launch.grid;
  if (launch.kernel->blocks_are_clusters) {
    const std::uint32_t* size = launch.kernel->required_cluster;
    request.grid = {launch.grid.x / size[0], launch.grid.y / size[1], launch.grid.z / size[2]};
  }
  request.block = launch.block;
  request.dynamic_shared = launch.dynamic_shared;
  std::size_t bytes = launch.params.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, const_cast<std::byte*>(launch.params.data()),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  request.extra = extra;
  request.sms = launch.sms;
  apply_attributes(attributes, *work.function->context(), request);
  KernelWork changed{make_grid(request, *work.function), work.function, std::move(attributes),
                     work.kernel};
  changed.launch.note = launch.note;
  return changed;
}

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
  return add_node(node, graph, dependencies, count, kernel_of(params, {}));
}

CUresult GraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                            size_t count, const CUDA_MEMCPY3D* params, CUcontext) {
  require(
      params != nullptr && params->WidthInBytes != 0 && params->Height != 0 && params->Depth != 0,
      CUDA_ERROR_INVALID_VALUE);
  bool pageable = false;
  CopyWork work = copy_work(pitched(params), &pageable, &pageable);
  work.asked = std::make_shared<const CUDA_MEMCPY3D>(*params);
  return add_node(node, graph, dependencies, count, std::move(work));
}

CUresult GraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                            size_t count, const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  require(params != nullptr && params->width != 0 && params->height != 0, CUDA_ERROR_INVALID_VALUE);
  const unsigned size = params->elementSize;
  require((size == 1 || size == 2 || size == 4) && params->dst % size == 0,
          CUDA_ERROR_INVALID_VALUE);
  Fill fill;
  fill.value = params->value;
  fill.width = size;
  fill.count = params->width;
  fill.rows = params->height;
  fill.pitch = fill.rows == 1 ? 0 : params->pitch;
  std::uint64_t row = 0;
  std::uint64_t bytes = 0;
  require(!__builtin_mul_overflow(fill.count, std::uint64_t{size}, &row) &&
              !__builtin_mul_overflow(fill.rows - 1, fill.pitch, &bytes) &&
              !__builtin_add_overflow(bytes, row, &bytes),
          CUDA_ERROR_INVALID_VALUE);
  require(fill.rows == 1 || (fill.pitch >= row && fill.pitch % size == 0),
          CUDA_ERROR_INVALID_VALUE);
  fill.target = device_place(params->dst, bytes);
  return add_node(node, graph, dependencies, count, std::move(fill));
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
  for (const CUlaunchAttribute& each : kernel_work(node->work).attributes) {
    if (each.id == id) *value = each.value;
  }
  return CUDA_SUCCESS;
}

CUresult GraphKernelNodeSetAttribute(CUgraphNode handle, CUlaunchAttributeID id,
                                     const CUlaunchAttributeValue* value) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  require(value != nullptr && is_kept(id), CUDA_ERROR_INVALID_VALUE);
  KernelWork& work = kernel_work(node->work);
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
  instance->frees_on_launch = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0;
  if (instance->has_conditionals() || instance->has_memory()) graph->instance = instance;
  *exec = Objects::instance().graph_execs.add(instance);
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
  work.launch.note = take_next_note();
  std::lock_guard lock(Scheduler::instance().mutex);
  KernelWork& old = kernel_work(exec->step_of(node)->work);
  require(work.launch.sms == old.launch.sms, CUDA_ERROR_INVALID_VALUE);
  if (work.launch.note == nullptr) work.launch.note = old.launch.note;
  std::swap(old, work);
  return CUDA_SUCCESS;
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
