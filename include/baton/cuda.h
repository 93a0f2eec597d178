#pragma once

// For code that uses Baton together with the CUDA driver API. Baton's native handles are the
// driver's own types, so they pass without a cast; this header asserts that. It also converts the
// driver's attributes to Baton's.

#include <cuda.h>

#include <type_traits>

#include "baton/attributes.h"
#include "baton/native.h"
#include "baton/span.h"

namespace baton {

static_assert(std::is_same_v<NativeDevice, CUdevice>);
static_assert(std::is_same_v<NativeContext, CUcontext>);
static_assert(std::is_same_v<NativeStream, CUstream>);
static_assert(std::is_same_v<NativeEvent, CUevent>);
static_assert(std::is_same_v<NativeFunction, CUfunction>);
static_assert(std::is_same_v<NativeKernel, CUkernel>);
static_assert(std::is_same_v<NativeLibrary, CUlibrary>);
static_assert(std::is_same_v<DeviceAddress, CUdeviceptr>);
static_assert(std::is_same_v<NativeDeviceNode, CUgraphDeviceNode>);
static_assert(std::is_same_v<NativeLaunchConfig, CUlaunchConfig>);
static_assert(sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute) &&
              alignof(LaunchAttribute) == alignof(CUlaunchAttribute));

// Returns the driver's attributes as Baton's, which have the same layout: for `Kernel::launch_raw`.
// The result refers to the argument's memory.
inline Span<const LaunchAttribute> as_attributes(Span<const CUlaunchAttribute> attributes) {
  return {reinterpret_cast<const LaunchAttribute*>(attributes.data()), attributes.size()};
}

}  // namespace baton
