#pragma once

#include "shim/cudart/api.h"

namespace baton::cudart {

// A place in an array; x counts bytes.
struct ArrayPart {
  cudaArray_const_t array = nullptr;
  size_t x = 0, y = 0, z = 0;
};

// A copy of rows, as the runtime's calls describe it. A side is an array's, where that is given, or
// linear memory. The extent's width counts bytes.
struct RowCopy {
  cudaPitchedPtr target{};
  cudaPitchedPtr source{};
  ArrayPart target_array, source_array;
  cudaExtent extent{};
  cudaMemcpyKind kind = cudaMemcpyDefault;
};

RowCopy flat_copy(void* target, const void* source, size_t bytes, cudaMemcpyKind kind);
// With the positions of both sides applied. The driver must have begun.
cudaError_t row_copy(const cudaMemcpy3DParms& params, RowCopy* copy);

// To and from a variable of the device, by the host's address for it. Give cudaErrorInvalidSymbol
// and cudaErrorInvalidMemcpyDirection. The driver must have begun.
cudaError_t to_symbol(const void* symbol, const void* source, size_t bytes, size_t offset,
                      cudaMemcpyKind kind, RowCopy* copy);
cudaError_t from_symbol(void* target, const void* symbol, size_t bytes, size_t offset,
                        cudaMemcpyKind kind, RowCopy* copy);

// The same for the driver. cudaErrorInvalidMemcpyDirection and cudaErrorInvalidPitchValue are the
// runtime's own. The driver must have begun.
cudaError_t params_of(const RowCopy& copy, CUDA_MEMCPY3D* params);

// Begins a call of the runtime with the copy, and answers it.
cudaError_t submit(const RowCopy& copy, cudaStream_t stream);
cudaError_t submit_and_wait(const RowCopy& copy);

}  // namespace baton::cudart
