#pragma once
// The functions of CUDA's runtime that the host parts of a .cu file call. Arguments may be of any
// class, so they are templates.
#ifdef BATON_HOST_CODE

// Declares what the compiler makes of <<<>>>, the functions of PDL, and some of those below for
// device code; of these templates nvcc has the bodies in a header of its own.
#include <cuda_device_runtime_api.h>
template <typename _T>
static inline __device__ cudaError_t cudaMalloc(_T** pointer, size_t size) {
  return cudaMalloc((void**)pointer, size);
}
template <typename _T>
static inline __device__ cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                                           _T* entry) {
  return cudaFuncGetAttributes(attributes, (const void*)entry);
}
template <typename _T>
static inline __device__ cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                                   _T function,
                                                                                   int block_size,
                                                                                   size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void*)function, block_size,
                                                       shared);
}
template <typename _T>
static inline __device__ cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, _T function, int block_size, size_t shared, unsigned flags) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void*)function,
                                                                block_size, shared, flags);
}

#define BATON_CUDA(type, name) \
  template <typename... _A>     \
  __host__ type name(_A...);
#define BATON_STATUS(name) BATON_CUDA(cudaError_t, name)

BATON_STATUS(cudaMalloc)
BATON_STATUS(cudaMallocAsync)
BATON_STATUS(cudaMallocHost)
BATON_STATUS(cudaMallocManaged)
BATON_STATUS(cudaMallocPitch)
BATON_STATUS(cudaMalloc3D)
BATON_STATUS(cudaMallocArray)
BATON_STATUS(cudaMalloc3DArray)
BATON_STATUS(cudaMallocFromPoolAsync)
BATON_STATUS(cudaFree)
BATON_STATUS(cudaFreeAsync)
BATON_STATUS(cudaFreeHost)
BATON_STATUS(cudaFreeArray)
BATON_STATUS(cudaHostAlloc)
BATON_STATUS(cudaHostRegister)
BATON_STATUS(cudaHostUnregister)
BATON_STATUS(cudaHostGetDevicePointer)
BATON_STATUS(cudaMemcpy)
BATON_STATUS(cudaMemcpyAsync)
BATON_STATUS(cudaMemcpyToSymbol)
BATON_STATUS(cudaMemcpyToSymbolAsync)
BATON_STATUS(cudaMemcpyFromSymbol)
BATON_STATUS(cudaMemcpyFromSymbolAsync)
BATON_STATUS(cudaMemcpyPeer)
BATON_STATUS(cudaMemcpyPeerAsync)
BATON_STATUS(cudaMemcpy2D)
BATON_STATUS(cudaMemcpy2DAsync)
BATON_STATUS(cudaMemcpy2DToArray)
BATON_STATUS(cudaMemcpy3D)
BATON_STATUS(cudaMemcpy3DAsync)
BATON_STATUS(cudaMemcpyToArray)
BATON_STATUS(cudaMemcpyFromArray)
BATON_STATUS(cudaMemset)
BATON_STATUS(cudaMemsetAsync)
BATON_STATUS(cudaMemset2D)
BATON_STATUS(cudaMemset2DAsync)
BATON_STATUS(cudaMemset3D)
BATON_STATUS(cudaMemGetInfo)
BATON_STATUS(cudaMemAdvise)
BATON_STATUS(cudaMemPrefetchAsync)
BATON_STATUS(cudaMemPoolCreate)
BATON_STATUS(cudaMemPoolDestroy)
BATON_STATUS(cudaMemPoolSetAttribute)
BATON_STATUS(cudaMemPoolTrimTo)
BATON_STATUS(cudaDeviceGetDefaultMemPool)
BATON_STATUS(cudaGetSymbolAddress)
BATON_STATUS(cudaGetSymbolSize)
BATON_STATUS(cudaPointerGetAttributes)
BATON_STATUS(cudaGetDevice)
BATON_STATUS(cudaSetDevice)
BATON_STATUS(cudaGetDeviceCount)
BATON_STATUS(cudaGetDeviceProperties)
BATON_STATUS(cudaChooseDevice)
BATON_STATUS(cudaSetDeviceFlags)
BATON_STATUS(cudaInitDevice)
BATON_STATUS(cudaDeviceSynchronize)
BATON_STATUS(cudaDeviceReset)
BATON_STATUS(cudaDeviceGetAttribute)
BATON_STATUS(cudaDeviceSetLimit)
BATON_STATUS(cudaDeviceGetLimit)
BATON_STATUS(cudaDeviceSetCacheConfig)
BATON_STATUS(cudaDeviceSetSharedMemConfig)
BATON_STATUS(cudaDeviceCanAccessPeer)
BATON_STATUS(cudaDeviceEnablePeerAccess)
BATON_STATUS(cudaDeviceDisablePeerAccess)
BATON_STATUS(cudaDeviceGetStreamPriorityRange)
BATON_STATUS(cudaCtxResetPersistingL2Cache)
BATON_STATUS(cudaThreadSynchronize)
BATON_STATUS(cudaThreadExit)
BATON_STATUS(cudaDriverGetVersion)
BATON_STATUS(cudaRuntimeGetVersion)
BATON_STATUS(cudaGetLastError)
BATON_STATUS(cudaPeekAtLastError)
BATON_STATUS(cudaProfilerStart)
BATON_STATUS(cudaProfilerStop)
BATON_STATUS(cudaEventCreate)
BATON_STATUS(cudaEventCreateWithFlags)
BATON_STATUS(cudaEventRecord)
BATON_STATUS(cudaEventRecordWithFlags)
BATON_STATUS(cudaEventSynchronize)
BATON_STATUS(cudaEventQuery)
BATON_STATUS(cudaEventElapsedTime)
BATON_STATUS(cudaEventDestroy)
BATON_STATUS(cudaStreamCreate)
BATON_STATUS(cudaStreamCreateWithFlags)
BATON_STATUS(cudaStreamCreateWithPriority)
BATON_STATUS(cudaStreamDestroy)
BATON_STATUS(cudaStreamSynchronize)
BATON_STATUS(cudaStreamQuery)
BATON_STATUS(cudaStreamWaitEvent)
BATON_STATUS(cudaStreamAddCallback)
BATON_STATUS(cudaStreamAttachMemAsync)
BATON_STATUS(cudaStreamSetAttribute)
BATON_STATUS(cudaStreamGetAttribute)
BATON_STATUS(cudaStreamBeginCapture)
BATON_STATUS(cudaStreamEndCapture)
BATON_STATUS(cudaStreamIsCapturing)
BATON_STATUS(cudaLaunchHostFunc)
BATON_STATUS(cudaFuncSetAttribute)
BATON_STATUS(cudaFuncGetAttributes)
BATON_STATUS(cudaFuncSetCacheConfig)
BATON_STATUS(cudaFuncSetSharedMemConfig)
BATON_STATUS(cudaLaunchKernel)
BATON_STATUS(cudaLaunchKernelEx)
BATON_STATUS(cudaLaunchKernelExC)
BATON_STATUS(cudaLaunchCooperativeKernel)
BATON_STATUS(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
BATON_STATUS(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
BATON_STATUS(cudaOccupancyMaxPotentialBlockSize)
BATON_STATUS(cudaOccupancyMaxPotentialBlockSizeVariableSMem)
BATON_STATUS(cudaOccupancyAvailableDynamicSMemPerBlock)
BATON_STATUS(cudaOccupancyMaxPotentialClusterSize)
BATON_STATUS(cudaOccupancyMaxActiveClusters)
BATON_STATUS(cudaGraphCreate)
BATON_STATUS(cudaGraphDestroy)
BATON_STATUS(cudaGraphInstantiate)
BATON_STATUS(cudaGraphLaunch)
BATON_STATUS(cudaGraphUpload)
BATON_STATUS(cudaGraphClone)
BATON_STATUS(cudaGraphGetNodes)
BATON_STATUS(cudaGraphGetEdges)
BATON_STATUS(cudaGraphAddDependencies)
BATON_STATUS(cudaGraphAddKernelNode)
BATON_STATUS(cudaGraphAddMemcpyNode)
BATON_STATUS(cudaGraphAddMemsetNode)
BATON_STATUS(cudaGraphAddHostNode)
BATON_STATUS(cudaGraphAddEmptyNode)
BATON_STATUS(cudaGraphAddNode)
BATON_STATUS(cudaGraphKernelNodeSetParams)
BATON_STATUS(cudaGraphKernelNodeGetParams)
BATON_STATUS(cudaGraphExecKernelNodeSetParams)
BATON_STATUS(cudaGraphExecUpdate)
BATON_STATUS(cudaGraphExecDestroy)
BATON_STATUS(cudaCreateTextureObject)
BATON_STATUS(cudaDestroyTextureObject)
BATON_STATUS(cudaCreateSurfaceObject)
BATON_STATUS(cudaDestroySurfaceObject)
BATON_STATUS(cudaBindTexture)
BATON_STATUS(cudaBindTexture2D)
BATON_STATUS(cudaBindTextureToArray)
BATON_STATUS(cudaUnbindTexture)
BATON_STATUS(cudaGraphicsMapResources)
BATON_STATUS(cudaGraphicsUnmapResources)
BATON_STATUS(cudaGraphicsResourceGetMappedPointer)
BATON_STATUS(cudaGraphicsResourceSetMapFlags)
BATON_STATUS(cudaGraphicsUnregisterResource)
BATON_STATUS(cudaIpcGetMemHandle)
BATON_STATUS(cudaIpcOpenMemHandle)
BATON_STATUS(cudaIpcCloseMemHandle)
BATON_CUDA(const char*, cudaGetErrorString)
BATON_CUDA(const char*, cudaGetErrorName)
BATON_CUDA(cudaChannelFormatDesc, cudaCreateChannelDesc)
BATON_CUDA(cudaPos, make_cudaPos)
BATON_CUDA(cudaExtent, make_cudaExtent)
BATON_CUDA(cudaPitchedPtr, make_cudaPitchedPtr)
#undef BATON_STATUS
#undef BATON_CUDA

// NVTX's headers declare then, and implement nothing.
#define NVTX_NO_IMPL

// Enumerations of CUDA 13 that cuBLAS's functions take and that the compiler's own library_types.h,
// which stands in front of every source, lacks.
#define cudaEmulationStrategy int
#define cudaEmulationMantissaControl int
#define cudaEmulationSpecialValuesSupport int
#define cudaEmulationStrategy_t int
#define cudaEmulationMantissaControl_t int
#define cudaEmulationSpecialValuesSupport_t int

#endif
