// Nodes of graphs and of their instances that get other parameters, and nodes that are switched
// off.

#include "shim/cudart/copy.h"
#include "shim/cudart/graph_params.h"
#include "shim/cudart/thread_state.h"

namespace {

using baton::cudart::answer;
using baton::cudart::current_context;
using baton::cudart::flat_copy;
using baton::cudart::from_symbol;
using baton::cudart::node_params;
using baton::cudart::params_of;
using baton::cudart::RowCopy;
using baton::cudart::to_symbol;

// Calls the driver's function with a node's parameters in its form.
template <typename Params, typename Given, typename Set>
cudaError_t set(const Given* given, Set set_in_driver) {
  Params params;
  if (const cudaError_t error = node_params(given, &params)) return answer(error);
  return answer(set_in_driver(&params));
}

cudaError_t set_copy(cudaGraphNode_t node, const RowCopy& copy) {
  CUDA_MEMCPY3D params;
  if (const cudaError_t error = params_of(copy, &params)) return answer(error);
  return answer(cuGraphMemcpyNodeSetParams(node, &params));
}

cudaError_t set_copy(cudaGraphExec_t exec, cudaGraphNode_t node, const RowCopy& copy) {
  CUDA_MEMCPY3D params;
  if (const cudaError_t error = params_of(copy, &params)) return answer(error);
  return answer(cuGraphExecMemcpyNodeSetParams(exec, node, &params, current_context()));
}

}  // namespace

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* given) {
  BATON_RUNTIME_BEGIN();
  return set<CUDA_KERNEL_NODE_PARAMS>(
      given, [&](auto* params) { return cuGraphKernelNodeSetParams(node, params); });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* given) {
  BATON_RUNTIME_BEGIN();
  return set<CUDA_MEMCPY3D>(given,
                            [&](auto* params) { return cuGraphMemcpyNodeSetParams(node, params); });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* target, const void* source,
                                           size_t bytes, cudaMemcpyKind kind) {
  BATON_RUNTIME_BEGIN();
  return set_copy(node, flat_copy(target, source, bytes, kind));
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol,
                                                 const void* source, size_t bytes, size_t offset,
                                                 cudaMemcpyKind kind) {
  BATON_RUNTIME_BEGIN();
  RowCopy copy;
  const cudaError_t error = to_symbol(symbol, source, bytes, offset, kind, &copy);
  return error != cudaSuccess ? answer(error) : set_copy(node, copy);
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* target,
                                                   const void* symbol, size_t bytes, size_t offset,
                                                   cudaMemcpyKind kind) {
  BATON_RUNTIME_BEGIN();
  RowCopy copy;
  const cudaError_t error = from_symbol(target, symbol, bytes, offset, kind, &copy);
  return error != cudaSuccess ? answer(error) : set_copy(node, copy);
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* given) {
  BATON_RUNTIME_BEGIN();
  return set<CUDA_MEMSET_NODE_PARAMS>(
      given, [&](auto* params) { return cuGraphMemsetNodeSetParams(node, params); });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* given) {
  BATON_RUNTIME_BEGIN();
  return set<CUDA_HOST_NODE_PARAMS>(
      given, [&](auto* params) { return cuGraphHostNodeSetParams(node, params); });
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphEventRecordNodeSetEvent(node, event));
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphEventWaitNodeSetEvent(node, event));
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* given) {
  BATON_RUNTIME_BEGIN();
  return set<CUgraphNodeParams>(given,
                                [&](auto* params) { return cuGraphNodeSetParams(node, params); });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphKernelNodeCopyAttributes(to, from));
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* given) {
  BATON_RUNTIME_BEGIN();
  return set<CUDA_KERNEL_NODE_PARAMS>(
      given, [&](auto* params) { return cuGraphExecKernelNodeSetParams(exec, node, params); });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* given) {
  BATON_RUNTIME_BEGIN();
  return set<CUDA_MEMCPY3D>(given, [&](auto* params) {
    return cuGraphExecMemcpyNodeSetParams(exec, node, params, current_context());
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               void* target, const void* source, size_t bytes,
                                               cudaMemcpyKind kind) {
  BATON_RUNTIME_BEGIN();
  return set_copy(exec, node, flat_copy(target, source, bytes, kind));
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                     const void* symbol, const void* source,
                                                     size_t bytes, size_t offset,
                                                     cudaMemcpyKind kind) {
  BATON_RUNTIME_BEGIN();
  RowCopy copy;
  const cudaError_t error = to_symbol(symbol, source, bytes, offset, kind, &copy);
  return error != cudaSuccess ? answer(error) : set_copy(exec, node, copy);
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                       void* target, const void* symbol,
                                                       size_t bytes, size_t offset,
                                                       cudaMemcpyKind kind) {
  BATON_RUNTIME_BEGIN();
  RowCopy copy;
  const cudaError_t error = from_symbol(target, symbol, bytes, offset, kind, &copy);
  return error != cudaSuccess ? answer(error) : set_copy(exec, node, copy);
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaMemsetParams* given) {
  BATON_RUNTIME_BEGIN();
  return set<CUDA_MEMSET_NODE_PARAMS>(given, [&](auto* params) {
    return cuGraphExecMemsetNodeSetParams(exec, node, params, current_context());
  });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* given) {
  BATON_RUNTIME_BEGIN();
  return set<CUDA_HOST_NODE_PARAMS>(
      given, [&](auto* params) { return cuGraphExecHostNodeSetParams(exec, node, params); });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphExecEventRecordNodeSetEvent(exec, node, event));
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphExecEventWaitNodeSetEvent(exec, node, event));
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphExecChildGraphNodeSetParams(exec, node, child));
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* given) {
  BATON_RUNTIME_BEGIN();
  return set<CUgraphNodeParams>(
      given, [&](auto* params) { return cuGraphExecNodeSetParams(exec, node, params); });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphNodeSetEnabled(exec, node, enabled));
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphNodeGetEnabled(exec, node, enabled));
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  BATON_RUNTIME_BEGIN();
  cuuint64_t told = 0;
  const CUresult result =
      flags == nullptr ? CUDA_ERROR_INVALID_VALUE : cuGraphExecGetFlags(exec, &told);
  if (result == CUDA_SUCCESS) *flags = told;
  return answer(result);
}
