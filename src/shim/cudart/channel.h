#pragma once

#include "shim/cudart/api.h"

namespace baton::cudart {

// What a channel descriptor means to the driver. False for descriptors of no texel.
bool format_of(const cudaChannelFormatDesc& description, CUarray_format* format,
               unsigned* channels);
cudaChannelFormatDesc description_of(CUarray_format format, unsigned channels);

// The texels of an array. The driver must have begun.
cudaError_t describe(cudaArray_const_t array, CUDA_ARRAY3D_DESCRIPTOR* description);
// Bytes of one texel.
cudaError_t texel_bytes(cudaArray_const_t array, size_t* bytes);

}  // namespace baton::cudart
