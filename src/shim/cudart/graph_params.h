#pragma once

#include "shim/cudart/api.h"

namespace baton::cudart {

// The parameters of a graph's nodes, for the driver. The driver must have begun.
cudaError_t node_params(const cudaKernelNodeParams* given, CUDA_KERNEL_NODE_PARAMS* params);
cudaError_t node_params(const cudaMemcpy3DParms* given, CUDA_MEMCPY3D* params);
cudaError_t node_params(const cudaMemsetParams* given, CUDA_MEMSET_NODE_PARAMS* params);
cudaError_t node_params(const cudaHostNodeParams* given, CUDA_HOST_NODE_PARAMS* params);
cudaError_t node_params(const cudaGraphNodeParams* given, CUgraphNodeParams* params);

// Of the calling thread.
CUcontext current_context();

}  // namespace baton::cudart
