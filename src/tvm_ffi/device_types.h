#pragma once

#include <cstdint>

namespace baton::tvm_ffi {

// DLPack's DLDeviceType, as far as it concerns CUDA.
enum DeviceType : std::int32_t { kHost = 1, kCuda = 2, kCudaHost = 3, kCudaManaged = 13 };

}  // namespace baton::tvm_ffi
