// Graphs.

#include "shim/cudart/copy.h"
#include "shim/cudart/fat_binaries.h"
#include "shim/cudart/graph_params.h"
#include "shim/cudart/thread_state.h"

namespace baton::cudart {

cudaError_t node_params(const cudaKernelNodeParams* given, CUDA_KERNEL_NODE_PARAMS* params) {
  if (given == nullptr) return cudaErrorInvalidValue;
  *params = {};
  params->gridDimX = given->gridDim.x;
  params->gridDimY = given->gridDim.y;
  params->gridDimZ = given->gridDim.z;
  params->blockDimX = given->blockDim.x;
  params->blockDimY = given->blockDim.y;
  params->blockDimZ = given->blockDim.z;
  params->sharedMemBytes = given->sharedMemBytes;
  params->kernelParams = given->kernelParams;
  params->extra = given->extra;
  return FatBinaries::instance().kernel(given->func, &params->kern);
}

cudaError_t node_params(const cudaMemcpy3DParms* given, CUDA_MEMCPY3D* params) {
  if (given == nullptr) return cudaErrorInvalidValue;
  RowCopy copy;
  const cudaError_t error = row_copy(*given, &copy);
  return error != cudaSuccess ? error : params_of(copy, params);
}

cudaError_t node_params(const cudaMemsetParams* given, CUDA_MEMSET_NODE_PARAMS* params) {
  if (given == nullptr) return cudaErrorInvalidValue;
  *params = {};
  params->dst = reinterpret_cast<CUdeviceptr>(given->dst);
  params->pitch = given->pitch;
  params->value = given->value;
  params->elementSize = given->elementSize;
  params->width = given->width;
  params->height = given->height;
  return cudaSuccess;
}

cudaError_t node_params(const cudaHostNodeParams* given, CUDA_HOST_NODE_PARAMS* params) {
  if (given == nullptr) return cudaErrorInvalidValue;
  *params = {given->fn, given->userData};
  return cudaSuccess;
}

CUcontext current_context() {
  CUcontext context = nullptr;
  cuCtxGetCurrent(&context);
  return context;
}

}  // namespace baton::cudart

namespace {

using baton::cudart::answer;
using baton::cudart::current_context;
using baton::cudart::flat_copy;
using baton::cudart::from_symbol;
using baton::cudart::node_params;
using baton::cudart::params_of;
using baton::cudart::RowCopy;
using baton::cudart::stream_of;
using baton::cudart::to_symbol;

cudaError_t add_copy(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                     size_t count, const RowCopy& copy) {
  CUDA_MEMCPY3D params;
  if (const cudaError_t error = params_of(copy, &params)) return answer(error);
  return answer(cuGraphAddMemcpyNode(node, graph, after, count, &params, current_context()));
}

}  // namespace

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphCreate(graph, flags));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphDestroy(graph));
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* given) {
  BATON_RUNTIME_BEGIN();
  CUDA_KERNEL_NODE_PARAMS params;
  if (const cudaError_t error = node_params(given, &params)) return answer(error);
  return answer(cuGraphAddKernelNode(node, graph, after, count, &params));
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* given) {
  BATON_RUNTIME_BEGIN();
  CUDA_MEMCPY3D params;
  if (const cudaError_t error = node_params(given, &params)) return answer(error);
  return answer(cuGraphAddMemcpyNode(node, graph, after, count, &params, current_context()));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count, void* target,
                                     const void* source, size_t bytes, cudaMemcpyKind kind) {
  BATON_RUNTIME_BEGIN();
  return add_copy(node, graph, after, count, flat_copy(target, source, bytes, kind));
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* after, size_t count,
                                           const void* symbol, const void* source, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind) {
  BATON_RUNTIME_BEGIN();
  RowCopy copy;
  const cudaError_t error = to_symbol(symbol, source, bytes, offset, kind, &copy);
  return error != cudaSuccess ? answer(error) : add_copy(node, graph, after, count, copy);
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* after, size_t count,
                                             void* target, const void* symbol, size_t bytes,
                                             size_t offset, cudaMemcpyKind kind) {
  BATON_RUNTIME_BEGIN();
  RowCopy copy;
  const cudaError_t error = from_symbol(target, symbol, bytes, offset, kind, &copy);
  return error != cudaSuccess ? answer(error) : add_copy(node, graph, after, count, copy);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* given) {
  BATON_RUNTIME_BEGIN();
  CUDA_MEMSET_NODE_PARAMS params;
  if (const cudaError_t error = node_params(given, &params)) return answer(error);
  return answer(cuGraphAddMemsetNode(node, graph, after, count, &params, current_context()));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* given) {
  BATON_RUNTIME_BEGIN();
  CUDA_HOST_NODE_PARAMS params;
  if (const cudaError_t error = node_params(given, &params)) return answer(error);
  return answer(cuGraphAddHostNode(node, graph, after, count, &params));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphAddEmptyNode(node, graph, after, count));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                     size_t count) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphAddDependencies(graph, from, to,
                                       reinterpret_cast<const CUgraphEdgeData*>(edges), count));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphGetNodes(graph, nodes, count));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphGetRootNodes(graph, nodes, count));
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edges, size_t* count) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphGetEdges(graph, from, to, reinterpret_cast<CUgraphEdgeData*>(edges), count));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphNodeGetType(node, reinterpret_cast<CUgraphNodeType*>(type)));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphInstantiateWithFlags(exec, graph, flags));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* params) {
  static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS));
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphInstantiateWithParams(
      exec, graph, reinterpret_cast<CUDA_GRAPH_INSTANTIATE_PARAMS*>(params)));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo));
  BATON_RUNTIME_BEGIN();
  return answer(
      cuGraphExecUpdate(exec, graph, reinterpret_cast<CUgraphExecUpdateResultInfo*>(info)));
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphExecDestroy(exec));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphLaunch(exec, stream_of(stream)));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphUpload(exec, stream_of(stream)));
}
