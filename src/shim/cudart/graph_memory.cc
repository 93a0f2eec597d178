// What graphs own: memory that their nodes allocate and free, and objects of users.

#include "shim/cudart/thread_state.h"

namespace {

using baton::cudart::answer;

static_assert(sizeof(cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));
static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps));

}  // namespace

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count,
                                     cudaMemAllocNodeParams* params) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphAddMemAllocNode(node, graph, after, count,
                                       reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(params)));
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* params) {
  BATON_RUNTIME_BEGIN();
  return answer(
      cuGraphMemAllocNodeGetParams(node, reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(params)));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, size_t count, void* memory) {
  BATON_RUNTIME_BEGIN();
  return answer(
      cuGraphAddMemFreeNode(node, graph, after, count, reinterpret_cast<CUdeviceptr>(memory)));
}

// The address goes where the pointer leads.
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* memory) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphMemFreeNodeGetParams(node, static_cast<CUdeviceptr*>(memory)));
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  BATON_RUNTIME_BEGIN();
  return answer(cuDeviceGraphMemTrim(device));
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  BATON_RUNTIME_BEGIN();
  return answer(
      cuDeviceGetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attribute), value));
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  BATON_RUNTIME_BEGIN();
  return answer(
      cuDeviceSetGraphMemAttribute(device, static_cast<CUgraphMem_attribute>(attribute), value));
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* data, cudaHostFn_t destroy,
                                 unsigned count, unsigned flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuUserObjectCreate(object, data, destroy, count, flags));
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  BATON_RUNTIME_BEGIN();
  return answer(cuUserObjectRetain(object, count));
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  BATON_RUNTIME_BEGIN();
  return answer(cuUserObjectRelease(object, count));
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphRetainUserObject(graph, object, count, flags));
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  BATON_RUNTIME_BEGIN();
  return answer(cuGraphReleaseUserObject(graph, object, count));
}
