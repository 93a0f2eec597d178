#pragma once

#include <cuda.h>

namespace baton::sim {

// What cuGetErrorName and cuGetErrorString say of a result; null where it is none of the driver's.
const char* error_name(CUresult result);
const char* error_text(CUresult result);

}  // namespace baton::sim
