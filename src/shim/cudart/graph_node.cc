// Nodes of any type, conditions, and what a copy node was made with.

#include <algorithm>
#include <cstring>

#include "shim/cudart/channel.h"
#include "shim/cudart/copy.h"
#include "shim/cudart/fat_binaries.h"
#include "shim/cudart/graph_params.h"
#include "shim/cudart/thread_state.h"

namespace {

using baton::cudart::answer;
using baton::cudart::current_context;
using baton::cudart::node_params;
using baton::cudart::stream_of;

static_assert(sizeof(cudaConditionalNodeParams) <= sizeof(CUDA_CONDITIONAL_NODE_PARAMS));
static_assert(sizeof(cudaMemAllocNodeParamsV2) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS_v2));

cudaError_t to_driver(const cudaKernelNodeParamsV2& given, CUDA_KERNEL_NODE_PARAMS_v3* params) {
  cudaKernelNodeParams plain{};
  plain.func = given.func;
  plain.gridDim = given.gridDim;
  plain.blockDim = given.blockDim;
  plain.sharedMemBytes = given.sharedMemBytes;
  plain.kernelParams = given.kernelParams;
  plain.extra = given.extra;
  CUDA_KERNEL_NODE_PARAMS made;
  if (const cudaError_t error = node_params(&plain, &made)) return error;
  params->kern = made.kern;
  params->gridDimX = made.gridDimX;
  params->gridDimY = made.gridDimY;
  params->gridDimZ = made.gridDimZ;
  params->blockDimX = made.blockDimX;
  params->blockDimY = made.blockDimY;
  params->blockDimZ = made.blockDimZ;
  params->sharedMemBytes = made.sharedMemBytes;
  params->kernelParams = made.kernelParams;
  params->extra = made.extra;
  params->ctx = current_context();
  return cudaSuccess;
}

cudaError_t to_driver(const cudaMemcpyNodeParams& given, CUDA_MEMCPY_NODE_PARAMS* params) {
  params->copyCtx = current_context();
  return node_params(&given.copyParams, &params->copyParams);
}

void to_driver(const cudaMemsetParamsV2& given, CUDA_MEMSET_NODE_PARAMS_v2* params) {
  params->dst = reinterpret_cast<CUdeviceptr>(given.dst);
  params->pitch = given.pitch;
  params->value = given.value;
  params->elementSize = given.elementSize;
  params->width = given.width;
  params->height = given.height;
  params->ctx = current_context();
}

cudaError_t params_for_driver(const cudaGraphNodeParams& given, CUgraphNodeParams* params) {
  *params = {};
  params->type = static_cast<CUgraphNodeType>(given.type);
  switch (given.type) {
    case cudaGraphNodeTypeKernel:
      return to_driver(given.kernel, &params->kernel);
    case cudaGraphNodeTypeMemcpy:
      return to_driver(given.memcpy, &params->memcpy);
    case cudaGraphNodeTypeMemset:
      to_driver(given.memset, &params->memset);
      return cudaSuccess;
    case cudaGraphNodeTypeConditional:
      params->conditional.handle = given.conditional.handle;
      params->conditional.type = static_cast<CUgraphConditionalNodeType>(given.conditional.type);
      params->conditional.size = given.conditional.size;
      params->conditional.ctx = current_context();
      return cudaSuccess;
    default:
      // Both APIs describe the others alike.
      std::memcpy(params->reserved1, given.reserved1, sizeof given.reserved1);
      return cudaSuccess;
  }
}

// What the call gives back in the parameters.
void give_back(const CUgraphNodeParams& params, cudaGraphNodeParams* given) {
  if (given->type == cudaGraphNodeTypeMemAlloc) {
    given->alloc.dptr = reinterpret_cast<void*>(params.alloc.dptr);
  } else if (given->type == cudaGraphNodeTypeConditional) {
    given->conditional.phGraph_out = params.conditional.phGraph_out;
  }
}

// One side of a copy as the driver tells it.
struct ToldSide {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  size_t x, y, z, pitch, height;
};

// `width` counts bytes, and texels after the call where the side is an array's.
cudaError_t tell(const ToldSide& told, cudaArray_t* array, cudaPos* position, cudaPitchedPtr* side,
                 size_t* width) {
  if (told.type != CU_MEMORYTYPE_ARRAY) {
    const void* const memory =
        told.type == CU_MEMORYTYPE_HOST ? told.host : reinterpret_cast<const void*>(told.device);
    *side = {const_cast<void*>(memory), told.pitch, told.pitch, told.height};
    *position = {told.x, told.y, told.z};
    return cudaSuccess;
  }
  *array = reinterpret_cast<cudaArray_t>(told.array);
  size_t texel = 0;
  if (const cudaError_t error = baton::cudart::texel_bytes(*array, &texel)) return error;
  *position = {told.x / texel, told.y, told.z};
  *width /= texel;
  return cudaSuccess;
}

cudaMemcpyKind kind_of(CUmemorytype source, CUmemorytype target) {
  const bool from_host = source == CU_MEMORYTYPE_HOST;
  const bool to_host = target == CU_MEMORYTYPE_HOST;
  if (from_host) return to_host ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  return to_host ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

}  // namespace

cudaError_t baton::cudart::node_params(const cudaGraphNodeParams* given,
                                       CUgraphNodeParams* params) {
  return given == nullptr ? cudaErrorInvalidValue : params_for_driver(*given, params);
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* edges, size_t count,
                             cudaGraphNodeParams* given) {
  static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams));
  BATON_RUNTIME_BEGIN();
  CUgraphNodeParams params;
  if (const cudaError_t error = node_params(given, &params)) return answer(error);
  const CUresult result = cuGraphAddNode(
      node, graph, after, reinterpret_cast<const CUgraphEdgeData*>(edges), count, &params);
  if (result == CUDA_SUCCESS) give_back(params, given);
  return answer(result);
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned initial, unsigned flags) {
  BATON_RUNTIME_BEGIN();
  CUgraphConditionalHandle made = 0;
  const CUresult result =
      cuGraphConditionalHandleCreate(&made, graph, current_context(), initial, flags);
  if (result == CUDA_SUCCESS && handle != nullptr) *handle = made;
  return handle == nullptr ? answer(cudaErrorInvalidValue) : answer(result);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* after,
                                          const cudaGraphEdgeData* edges, size_t count,
                                          cudaStreamCaptureMode mode) {
  BATON_RUNTIME_BEGIN();
  return answer(cuStreamBeginCaptureToGraph(stream_of(stream), graph, after,
                                            reinterpret_cast<const CUgraphEdgeData*>(edges), count,
                                            static_cast<CUstreamCaptureMode>(mode)));
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* params) {
  BATON_RUNTIME_BEGIN();
  if (params == nullptr) return answer(cudaErrorInvalidValue);
  CUDA_KERNEL_NODE_PARAMS told;
  if (const CUresult result = cuGraphKernelNodeGetParams(node, &told)) return answer(result);
  auto& binaries = baton::cudart::FatBinaries::instance();
  const void* const function =
      told.kern != nullptr ? binaries.host_of(told.kern) : binaries.host_of(told.func);
  *params = {};
  params->func = const_cast<void*>(function);
  params->gridDim = dim3(told.gridDimX, told.gridDimY, told.gridDimZ);
  params->blockDim = dim3(told.blockDimX, told.blockDimY, told.blockDimZ);
  params->sharedMemBytes = told.sharedMemBytes;
  params->kernelParams = told.kernelParams;
  params->extra = told.extra;
  return cudaSuccess;
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* params) {
  BATON_RUNTIME_BEGIN();
  if (params == nullptr) return answer(cudaErrorInvalidValue);
  CUDA_MEMCPY3D told;
  if (const CUresult result = cuGraphMemcpyNodeGetParams(node, &told)) return answer(result);
  cudaMemcpy3DParms made{};
  size_t from_width = told.WidthInBytes;
  size_t to_width = told.WidthInBytes;
  cudaError_t error = tell({told.srcMemoryType, told.srcHost, told.srcDevice, told.srcArray,
                            told.srcXInBytes, told.srcY, told.srcZ, told.srcPitch, told.srcHeight},
                           &made.srcArray, &made.srcPos, &made.srcPtr, &from_width);
  if (error != cudaSuccess) return answer(error);
  error = tell({told.dstMemoryType, told.dstHost, told.dstDevice, told.dstArray, told.dstXInBytes,
                told.dstY, told.dstZ, told.dstPitch, told.dstHeight},
               &made.dstArray, &made.dstPos, &made.dstPtr, &to_width);
  if (error != cudaSuccess) return answer(error);
  const bool has_array = made.srcArray != nullptr || made.dstArray != nullptr;
  made.extent = {has_array ? std::min(from_width, to_width) : told.WidthInBytes, told.Height,
                 told.Depth};
  made.kind = kind_of(told.srcMemoryType, told.dstMemoryType);
  *params = made;
  return cudaSuccess;
}
