#pragma once

#include <cuda.h>

#include <cstdint>
#include <memory>

#include "sim/api/copy.h"
#include "sim/device/array.h"

namespace baton::sim::api {

// The array of a handle. Throws Refusal(CUDA_ERROR_INVALID_HANDLE).
std::shared_ptr<const SimArray> array_of(CUarray handle);

// Frees it, as cuMemFree does memory: after waiting for the device.
CUresult free_array(CUarray handle);

// The mipmap of a handle. Throws Refusal(CUDA_ERROR_INVALID_HANDLE).
std::shared_ptr<const SimMipmap> mipmap_of(CUmipmappedArray handle);

// A part of an array: `x` and `bytes` count bytes of a row.
struct ArrayPlace {
  CUarray handle = nullptr;
  std::uint64_t x = 0, y = 0, z = 0;
  std::uint64_t bytes = 0, rows = 1, slices = 1;
};

// That part as one side of a copy. Throws Refusal(CUDA_ERROR_INVALID_VALUE) where it does not lie
// in the array.
PitchedSide side_of_array(const ArrayPlace& place);

}  // namespace baton::sim::api
