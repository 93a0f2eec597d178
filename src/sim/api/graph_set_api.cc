// Nodes of graphs and of their instances that get other parameters, and nodes that are switched
// off.

#include "sim/api/api.h"
#include "sim/api/current.h"
#include "sim/api/foreign.h"
#include "sim/api/graph_nodes.h"
#include "sim/api/graph_works.h"
#include "sim/api/launch_note.h"
#include "sim/api/refusal.h"
#include "sim/device/context.h"

namespace baton::sim::api {
namespace {

// Of a kernel node, which keeps them; none of another one.
std::vector<CUlaunchAttribute> kept_attributes(const NodeWork& work) {
  const auto* const kernel = std::get_if<KernelWork>(&work);
  return kernel == nullptr ? std::vector<CUlaunchAttribute>{} : kernel->attributes;
}

CUresult set_work(CUgraphNode handle, NodeWork work) {
  const std::shared_ptr<GraphNode> node = node_of(handle);
  require(node->work.index() == work.index(), CUDA_ERROR_INVALID_VALUE);
  node->work = std::move(work);
  return CUDA_SUCCESS;
}

// A launch that is under way keeps what it was launched with.
CUresult set_exec_work(CUgraphExec handle, CUgraphNode node, NodeWork work) {
  const std::shared_ptr<GraphExec> exec = exec_of(handle);
  std::lock_guard lock(Scheduler::instance().mutex);
  require(exec->set_work(node, std::move(work)), CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

// What an instance's node does now.
NodeWork exec_work(CUgraphExec handle, CUgraphNode node) {
  const std::shared_ptr<GraphExec> exec = exec_of(handle);
  std::lock_guard lock(Scheduler::instance().mutex);
  const GraphExec::Step* const step = exec->step_of(node);
  require(step != nullptr, CUDA_ERROR_INVALID_VALUE);
  return step->work;
}

// Calls `use` with the instance's step of a node that can be switched off: what launches a kernel,
// copies or fills (cuda.h, cuGraphNodeSetEnabled).
template <typename Use>
CUresult with_switchable(CUgraphExec handle, CUgraphNode node, Use use) {
  const std::shared_ptr<GraphExec> exec = exec_of(handle);
  std::lock_guard lock(Scheduler::instance().mutex);
  GraphExec::Step* const step = exec->step_of(node);
  const bool fits = step != nullptr && (std::holds_alternative<KernelWork>(step->work) ||
                                        std::holds_alternative<CopyWork>(step->work) ||
                                        std::holds_alternative<Fill>(step->work));
  require(fits, CUDA_ERROR_INVALID_VALUE);
  use(*step);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult GraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
  return set_work(node, kernel_work(params, work_as<KernelWork>(node_of(node)->work).attributes));
}

CUresult GraphKernelNodeSetParamsOld(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  const CUDA_KERNEL_NODE_PARAMS wide = widened(params);
  return GraphKernelNodeSetParams(node, &wide);
}

CUresult GraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  KernelWork& target = work_as<KernelWork>(node_of(to)->work);
  target = with_attributes(target, work_as<KernelWork>(node_of(from)->work).attributes);
  return CUDA_SUCCESS;
}

CUresult GraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* params) {
  return set_work(node, memcpy_work(params));
}

CUresult GraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params) {
  return set_work(node, memset_work(params));
}

CUresult GraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* params) {
  return set_work(node, host_work(params));
}

CUresult GraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return set_work(node, RecordWork{usable_event(event)});
}

CUresult GraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return set_work(node, WaitWork{usable_event(event)});
}

CUresult GraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* params) {
  const std::vector<CUlaunchAttribute> attributes = kept_attributes(node_of(node)->work);
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  std::optional<NodeWork> work = any_work(*params, attributes);
  require(work.has_value(), CUDA_ERROR_NOT_SUPPORTED);
  return set_work(node, *std::move(work));
}

CUresult GraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_KERNEL_NODE_PARAMS* params) {
  NodeWork old = exec_work(exec, node);
  KernelWork& before = work_as<KernelWork>(old);
  KernelWork work = kernel_work(params, before.attributes);
  work.launch.note = take_next_note();
  if (work.launch.note == nullptr) work.launch.note = before.launch.note;
  return set_exec_work(exec, node, std::move(work));
}

CUresult GraphExecKernelNodeSetParamsOld(CUgraphExec exec, CUgraphNode node,
                                         const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  const CUDA_KERNEL_NODE_PARAMS wide = widened(params);
  return GraphExecKernelNodeSetParams(exec, node, &wide);
}

// Both copies are of one row (cuda.h).
CUresult GraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_MEMCPY3D* params, CUcontext) {
  CopyWork work = memcpy_work(params);
  NodeWork old = exec_work(exec, node);
  require(work.is_flat() && work_as<CopyWork>(old).is_flat(), CUDA_ERROR_INVALID_VALUE);
  return set_exec_work(exec, node, std::move(work));
}

CUresult GraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return set_exec_work(exec, node, memset_work(params));
}

CUresult GraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                    const CUDA_HOST_NODE_PARAMS* params) {
  return set_exec_work(exec, node, host_work(params));
}

CUresult GraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return set_exec_work(exec, node, RecordWork{usable_event(event)});
}

CUresult GraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  return set_exec_work(exec, node, WaitWork{usable_event(event)});
}

CUresult GraphExecChildGraphNodeSetParams(CUgraphExec handle, CUgraphNode node, CUgraph child) {
  const std::shared_ptr<GraphExec> exec = exec_of(handle);
  const std::shared_ptr<SimGraph> graph = graph_of(child);
  std::lock_guard lock(Scheduler::instance().mutex);
  require(exec->update_child(node, *graph), CUDA_ERROR_INVALID_VALUE);
  return CUDA_SUCCESS;
}

CUresult GraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* params) {
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  switch (params->type) {
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return GraphExecMemcpyNodeSetParams(exec, node, &params->memcpy.copyParams,
                                          params->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return GraphExecChildGraphNodeSetParams(exec, node, params->graph.graph);
    default:
      break;
  }
  std::optional<NodeWork> work = any_work(*params, kept_attributes(exec_work(exec, node)));
  require(work.has_value(), CUDA_ERROR_NOT_SUPPORTED);
  return set_exec_work(exec, node, *std::move(work));
}

CUresult GraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled) {
  return with_switchable(exec, node,
                         [&](GraphExec::Step& step) { step.is_enabled = enabled != 0; });
}

CUresult GraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned* enabled) {
  require(enabled != nullptr, CUDA_ERROR_INVALID_VALUE);
  return with_switchable(exec, node,
                         [&](const GraphExec::Step& step) { *enabled = step.is_enabled ? 1 : 0; });
}

// An upload at once leaves no trace in the instance (cuda.h).
CUresult GraphExecGetFlags(CUgraphExec handle, cuuint64_t* flags) {
  const std::shared_ptr<GraphExec> exec = exec_of(handle);
  require(flags != nullptr, CUDA_ERROR_INVALID_VALUE);
  *flags = exec->flags & ~cuuint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD};
  return CUDA_SUCCESS;
}

CUresult GraphExecUpdateOld(CUgraphExec exec, CUgraph graph, CUgraphNode* error_node,
                            CUgraphExecUpdateResult* why) {
  require(why != nullptr, CUDA_ERROR_INVALID_VALUE);
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = GraphExecUpdate(exec, graph, &info);
  *why = info.result;
  if (error_node != nullptr) *error_node = info.errorNode;
  return result;
}

CUresult GraphKernelNodeGetParamsOld(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* params) {
  require(params != nullptr, CUDA_ERROR_INVALID_VALUE);
  CUDA_KERNEL_NODE_PARAMS told;
  const CUresult result = GraphKernelNodeGetParams(node, &told);
  *params = {};
  params->func = told.func != nullptr ? told.func : reinterpret_cast<CUfunction>(told.kern);
  params->gridDimX = told.gridDimX;
  params->gridDimY = told.gridDimY;
  params->gridDimZ = told.gridDimZ;
  params->blockDimX = told.blockDimX;
  params->blockDimY = told.blockDimY;
  params->blockDimZ = told.blockDimZ;
  params->sharedMemBytes = told.sharedMemBytes;
  params->kernelParams = told.kernelParams;
  params->extra = told.extra;
  return result;
}

}  // namespace baton::sim::api
