#pragma once

#include <cstdint>

// The driver's own handle types, declared as in cuda.h, so that the public API needs no CUDA
// header. Include baton/cuda.h to use both.
struct CUctx_st;
struct CUstream_st;
struct CUevent_st;
struct CUfunc_st;
struct CUkern_st;
struct CUlib_st;
struct CUgraphDeviceUpdatableNode_st;
struct CUlaunchConfig_st;

namespace baton {

using NativeDevice = int;                                 // CUdevice
using NativeContext = CUctx_st*;                          // CUcontext
using NativeStream = CUstream_st*;                        // CUstream
using NativeEvent = CUevent_st*;                          // CUevent
using NativeFunction = CUfunc_st*;                        // CUfunction
using NativeKernel = CUkern_st*;                          // CUkernel
using NativeLibrary = CUlib_st*;                          // CUlibrary
using NativeDeviceNode = CUgraphDeviceUpdatableNode_st*;  // CUgraphDeviceNode
using NativeLaunchConfig = CUlaunchConfig_st;             // CUlaunchConfig
using NativeResult = int;                                 // CUresult: 0 is success
using DeviceAddress = unsigned long long;                 // CUdeviceptr

}  // namespace baton
