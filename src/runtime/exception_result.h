#pragma once

#include <cuda.h>

namespace baton {

// What a function that gives a driver's result and throws nothing gives where something is thrown.
// To be called in a handler (`catch (...)`): the driver's result of an Error that has one, else
// CUDA_ERROR_INVALID_VALUE; CUDA_ERROR_OUT_OF_MEMORY without host memory; CUDA_ERROR_UNKNOWN for
// anything else. Never CUDA_SUCCESS.
CUresult result_of_exception() noexcept;

}  // namespace baton
