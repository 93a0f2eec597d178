// Graphs that change, are cloned, are put into others, and tell what they consist of.

#include "shim/cudart/thread_state.h"

namespace {

using baton::cudart::answer;

static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));

}  // namespace

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, size_t count,
                                       cudaGraph_t child) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphAddChildGraphNode(node, graph, after, count, child));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphChildGraphNodeGetGraph(node, graph));
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphClone(clone, graph));
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphNodeFindInClone(node, original, clone));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphDestroyNode(node));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                        size_t count) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphRemoveDependencies(graph, from, to,
                                          reinterpret_cast<const CUgraphEdgeData*>(edges), count));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* edges, size_t* count) {
  BATON_RUNTIME_BEGIN();
  return answer(
      cuGraphNodeGetDependencies(node, nodes, reinterpret_cast<CUgraphEdgeData*>(edges), count));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData* edges, size_t* count) {
  BATON_RUNTIME_BEGIN();
  return answer(
      cuGraphNodeGetDependentNodes(node, nodes, reinterpret_cast<CUgraphEdgeData*>(edges), count));
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphDebugDotPrint(graph, path, flags));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, size_t count,
                                        cudaEvent_t event) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphAddEventRecordNode(node, graph, after, count, event));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* after, size_t count,
                                      cudaEvent_t event) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphAddEventWaitNode(node, graph, after, count, event));
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphEventRecordNodeGetEvent(node, event));
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphEventWaitNodeGetEvent(node, event));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* params) {
  static_assert(sizeof(cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS));
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphHostNodeGetParams(node, reinterpret_cast<CUDA_HOST_NODE_PARAMS*>(params)));
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* params) {
  BATON_RUNTIME_BEGIN();
  if (params == nullptr) return answer(cudaErrorInvalidValue);
  CUDA_MEMSET_NODE_PARAMS told;
  if (const CUresult result = cuGraphMemsetNodeGetParams(node, &told)) return answer(result);
  *params = {};
  params->dst = reinterpret_cast<void*>(told.dst);
  params->pitch = told.pitch;
  params->value = told.value;
  params->elementSize = told.elementSize;
  params->width = told.width;
  params->height = told.height;
  return cudaSuccess;
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            cudaLaunchAttributeValue* value) {
  static_assert(sizeof(cudaLaunchAttributeValue) == sizeof(CUlaunchAttributeValue));
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphKernelNodeGetAttribute(node, static_cast<CUlaunchAttributeID>(attribute),
                                              reinterpret_cast<CUlaunchAttributeValue*>(value)));
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID attribute,
                                            const cudaLaunchAttributeValue* value) {
  BATON_RUNTIME_BEGIN();
  return answer(
      cuGraphKernelNodeSetAttribute(node, static_cast<CUlaunchAttributeID>(attribute),
                                    reinterpret_cast<const CUlaunchAttributeValue*>(value)));
}
