#pragma once

// For code that uses Baton beside the CUDA driver API: Baton's native handles are the driver's own
// types, so they pass from one to the other without a cast. This header holds that.

#include <cuda.h>

#include <type_traits>

#include "baton/native.h"

namespace baton {

static_assert(std::is_same_v<NativeDevice, CUdevice>);
static_assert(std::is_same_v<NativeContext, CUcontext>);
static_assert(std::is_same_v<NativeStream, CUstream>);
static_assert(std::is_same_v<NativeEvent, CUevent>);
static_assert(std::is_same_v<NativeFunction, CUfunction>);
static_assert(std::is_same_v<NativeKernel, CUkernel>);
static_assert(std::is_same_v<NativeLibrary, CUlibrary>);
static_assert(std::is_same_v<DeviceAddress, CUdeviceptr>);

}  // namespace baton
