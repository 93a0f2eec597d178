#pragma once

#include "shim/cudart/api.h"

namespace baton::cudart {

// A copy of rows between two places of linear memory, as the runtime's calls describe it.
struct RowCopy {
  cudaPitchedPtr target{};
  cudaPitchedPtr source{};
  cudaExtent extent{};
  cudaMemcpyKind kind = cudaMemcpyDefault;
};

RowCopy flat_copy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind);
// With the positions of both sides applied. Of linear memory alone.
RowCopy row_copy(const cudaMemcpy3DParms& params);

// The same for the driver. cudaErrorInvalidMemcpyDirection and cudaErrorInvalidPitchValue are the
// runtime's own. The driver must have begun.
cudaError_t params_of(const RowCopy& copy, CUDA_MEMCPY3D* params);

}  // namespace baton::cudart
