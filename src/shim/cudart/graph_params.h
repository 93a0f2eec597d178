#pragma once

#include "shim/cudart/api.h"

namespace baton::cudart {

// What a kernel node launches, for the driver. The driver must have begun.
cudaError_t node_params(const cudaKernelNodeParams* given, CUDA_KERNEL_NODE_PARAMS* params);

}  // namespace baton::cudart
