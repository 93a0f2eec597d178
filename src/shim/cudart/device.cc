// Devices and what is known of them.

#include <cstring>

#include "shim/cudart/thread_state.h"

namespace {

using baton::cudart::answer;
using baton::cudart::check_device;

// The attribute that gives a member of cudaDeviceProp its value.
template <typename T>
struct PropertyRow {
  T cudaDeviceProp::*field;
  CUdevice_attribute attribute;
};

#define BATON_PROPERTY(field, attribute) \
  { &cudaDeviceProp::field, CU_DEVICE_ATTRIBUTE_##attribute }

constexpr PropertyRow<int> kNumbers[] = {
    BATON_PROPERTY(regsPerBlock, MAX_REGISTERS_PER_BLOCK),
    BATON_PROPERTY(warpSize, WARP_SIZE),
    BATON_PROPERTY(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK),
    BATON_PROPERTY(major, COMPUTE_CAPABILITY_MAJOR),
    BATON_PROPERTY(minor, COMPUTE_CAPABILITY_MINOR),
    BATON_PROPERTY(multiProcessorCount, MULTIPROCESSOR_COUNT),
    BATON_PROPERTY(integrated, INTEGRATED),
    BATON_PROPERTY(canMapHostMemory, CAN_MAP_HOST_MEMORY),
    BATON_PROPERTY(maxTexture1D, MAXIMUM_TEXTURE1D_WIDTH),
    BATON_PROPERTY(maxTexture1DMipmap, MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH),
    BATON_PROPERTY(maxTextureCubemap, MAXIMUM_TEXTURECUBEMAP_WIDTH),
    BATON_PROPERTY(maxSurface1D, MAXIMUM_SURFACE1D_WIDTH),
    BATON_PROPERTY(maxSurfaceCubemap, MAXIMUM_SURFACECUBEMAP_WIDTH),
    BATON_PROPERTY(concurrentKernels, CONCURRENT_KERNELS),
    BATON_PROPERTY(ECCEnabled, ECC_ENABLED),
    BATON_PROPERTY(pciBusID, PCI_BUS_ID),
    BATON_PROPERTY(pciDeviceID, PCI_DEVICE_ID),
    BATON_PROPERTY(pciDomainID, PCI_DOMAIN_ID),
    BATON_PROPERTY(tccDriver, TCC_DRIVER),
    BATON_PROPERTY(asyncEngineCount, ASYNC_ENGINE_COUNT),
    BATON_PROPERTY(unifiedAddressing, UNIFIED_ADDRESSING),
    BATON_PROPERTY(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH),
    BATON_PROPERTY(l2CacheSize, L2_CACHE_SIZE),
    BATON_PROPERTY(persistingL2CacheMaxSize, MAX_PERSISTING_L2_CACHE_SIZE),
    BATON_PROPERTY(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR),
    BATON_PROPERTY(streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED),
    BATON_PROPERTY(globalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED),
    BATON_PROPERTY(localL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED),
    BATON_PROPERTY(regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR),
    BATON_PROPERTY(managedMemory, MANAGED_MEMORY),
    BATON_PROPERTY(isMultiGpuBoard, MULTI_GPU_BOARD),
    BATON_PROPERTY(multiGpuBoardGroupID, MULTI_GPU_BOARD_GROUP_ID),
    BATON_PROPERTY(hostNativeAtomicSupported, HOST_NATIVE_ATOMIC_SUPPORTED),
    BATON_PROPERTY(pageableMemoryAccess, PAGEABLE_MEMORY_ACCESS),
    BATON_PROPERTY(concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS),
    BATON_PROPERTY(computePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED),
    BATON_PROPERTY(canUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM),
    BATON_PROPERTY(cooperativeLaunch, COOPERATIVE_LAUNCH),
    BATON_PROPERTY(pageableMemoryAccessUsesHostPageTables,
                   PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES),
    BATON_PROPERTY(directManagedMemAccessFromHost, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST),
    BATON_PROPERTY(maxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR),
    BATON_PROPERTY(accessPolicyMaxWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE),
    BATON_PROPERTY(hostRegisterSupported, HOST_REGISTER_SUPPORTED),
    BATON_PROPERTY(sparseCudaArraySupported, SPARSE_CUDA_ARRAY_SUPPORTED),
    BATON_PROPERTY(hostRegisterReadOnlySupported, READ_ONLY_HOST_REGISTER_SUPPORTED),
    BATON_PROPERTY(timelineSemaphoreInteropSupported, TIMELINE_SEMAPHORE_INTEROP_SUPPORTED),
    BATON_PROPERTY(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED),
    BATON_PROPERTY(gpuDirectRDMASupported, GPU_DIRECT_RDMA_SUPPORTED),
    BATON_PROPERTY(gpuDirectRDMAWritesOrdering, GPU_DIRECT_RDMA_WRITES_ORDERING),
    BATON_PROPERTY(deferredMappingCudaArraySupported, DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED),
    BATON_PROPERTY(ipcEventSupported, IPC_EVENT_SUPPORTED),
    BATON_PROPERTY(clusterLaunch, CLUSTER_LAUNCH),
    BATON_PROPERTY(unifiedFunctionPointers, UNIFIED_FUNCTION_POINTERS),
    BATON_PROPERTY(deviceNumaConfig, NUMA_CONFIG),
    BATON_PROPERTY(deviceNumaId, NUMA_ID),
    BATON_PROPERTY(mpsEnabled, MPS_ENABLED),
    BATON_PROPERTY(hostNumaId, HOST_NUMA_ID),
    BATON_PROPERTY(hostNumaMultinodeIpcSupported, HOST_NUMA_MULTINODE_IPC_SUPPORTED),
};

constexpr PropertyRow<unsigned> kMasks[] = {
    BATON_PROPERTY(gpuDirectRDMAFlushWritesOptions, GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS),
    BATON_PROPERTY(memoryPoolSupportedHandleTypes, MEMPOOL_SUPPORTED_HANDLE_TYPES),
    BATON_PROPERTY(gpuPciDeviceID, GPU_PCI_DEVICE_ID),
    BATON_PROPERTY(gpuPciSubsystemID, GPU_PCI_SUBSYSTEM_ID),
};

constexpr PropertyRow<size_t> kSizes[] = {
    BATON_PROPERTY(sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK),
    BATON_PROPERTY(memPitch, MAX_PITCH),
    BATON_PROPERTY(totalConstMem, TOTAL_CONSTANT_MEMORY),
    BATON_PROPERTY(textureAlignment, TEXTURE_ALIGNMENT),
    BATON_PROPERTY(texturePitchAlignment, TEXTURE_PITCH_ALIGNMENT),
    BATON_PROPERTY(surfaceAlignment, SURFACE_ALIGNMENT),
    BATON_PROPERTY(sharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    BATON_PROPERTY(sharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
    BATON_PROPERTY(reservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK),
};

#undef BATON_PROPERTY

// The fields that hold several numbers, in their order.
struct PropertyListRow {
  int* (*first)(cudaDeviceProp& properties);
  CUdevice_attribute attributes[3];
  int count;
};

#define BATON_LIST(field, ...)                             \
  {                                                        \
    [](cudaDeviceProp& p) { return p.field; }, __VA_ARGS__ \
  }

constexpr PropertyListRow kLists[] = {
    BATON_LIST(maxThreadsDim,
               {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
                CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
               3),
    BATON_LIST(maxGridSize,
               {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
                CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
               3),
    BATON_LIST(
        maxTexture2D,
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT},
        2),
    BATON_LIST(maxTexture2DLinear,
               {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH,
                CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT,
                CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH},
               3),
    BATON_LIST(
        maxTexture3D,
        {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
         CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH},
        3),
};

#undef BATON_LIST

}  // namespace

cudaError_t baton::cudart::check_device(int device) {
  int count = 0;
  const CUresult result = cuDeviceGetCount(&count);
  if (result != CUDA_SUCCESS) return static_cast<cudaError_t>(result);
  return device >= 0 && device < count ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaGetDeviceCount(int* count) {
  BATON_RUNTIME_BEGIN();
  return answer(cuDeviceGetCount(count));
}

cudaError_t cudaGetDevice(int* device) {
  BATON_RUNTIME_BEGIN();
  return answer(cuCtxGetDevice(device));
}

// One device is visible.
cudaError_t cudaSetDevice(int device) {
  BATON_RUNTIME_BEGIN();
  return answer(check_device(device));
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return cudaSetDevice(device);
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  BATON_RUNTIME_BEGIN();
  if (device == nullptr) return answer(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuDevicePrimaryCtxSetFlags(0, flags & CU_CTX_FLAGS_MASK));
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  BATON_RUNTIME_BEGIN();
  return answer(cuCtxGetFlags(flags));
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  BATON_RUNTIME_BEGIN();
  if (const cudaError_t error = check_device(device)) return answer(error);
  return answer(cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(attribute), device));
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  BATON_RUNTIME_BEGIN();
  if (properties == nullptr) return answer(cudaErrorInvalidValue);
  if (const cudaError_t error = check_device(device)) return answer(error);
  std::memset(properties, 0, sizeof *properties);
  const auto ask = [device](CUdevice_attribute attribute) {
    int value = 0;
    cuDeviceGetAttribute(&value, attribute, device);
    return value;
  };
  cuDeviceGetName(properties->name, sizeof properties->name, device);
  cuDeviceGetUuid(reinterpret_cast<CUuuid*>(&properties->uuid), device);
  cuDeviceTotalMem(&properties->totalGlobalMem, device);
  for (const auto& row : kNumbers) properties->*row.field = ask(row.attribute);
  for (const auto& row : kMasks) {
    properties->*row.field = static_cast<unsigned>(ask(row.attribute));
  }
  for (const auto& row : kSizes) properties->*row.field = static_cast<size_t>(ask(row.attribute));
  for (const auto& row : kLists) {
    for (int k = 0; k < row.count; ++k) row.first(*properties)[k] = ask(row.attributes[k]);
  }
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  BATON_RUNTIME_BEGIN();
  return answer(cuCtxSynchronize());
}

cudaError_t cudaDeviceReset() {
  BATON_RUNTIME_BEGIN();
  const CUresult result = cuDevicePrimaryCtxReset(0);
  baton::cudart::begin_anew();
  return answer(result);
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  BATON_RUNTIME_BEGIN();
  return answer(cuCtxSetLimit(static_cast<CUlimit>(limit), value));
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  BATON_RUNTIME_BEGIN();
  return answer(cuCtxGetLimit(value, static_cast<CUlimit>(limit)));
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  BATON_RUNTIME_BEGIN();
  return answer(cuCtxGetCacheConfig(reinterpret_cast<CUfunc_cache*>(config)));
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  BATON_RUNTIME_BEGIN();
  return answer(cuCtxSetCacheConfig(static_cast<CUfunc_cache>(config)));
}

// Shared memory has banks of four bytes alone.
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  BATON_RUNTIME_BEGIN();
  if (config == nullptr) return answer(cudaErrorInvalidValue);
  *config = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  BATON_RUNTIME_BEGIN();
  return answer(cuCtxSetSharedMemConfig(static_cast<CUsharedconfig>(config)));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  BATON_RUNTIME_BEGIN();
  return answer(cuCtxGetStreamPriorityRange(least, greatest));
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  BATON_RUNTIME_BEGIN();
  return answer(cuDeviceGetPCIBusId(text, length, device));
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  BATON_RUNTIME_BEGIN();
  return answer(cuDeviceGetByPCIBusId(device, text));
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  BATON_RUNTIME_BEGIN();
  return answer(cuDeviceCanAccessPeer(can, device, peer));
}

// The peer's primary context lives from here on, as with NVIDIA's runtime.
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  BATON_RUNTIME_BEGIN();
  if (const cudaError_t error = check_device(peer)) return answer(error);
  CUcontext context = nullptr;
  CUresult result = cuDevicePrimaryCtxRetain(&context, peer);
  if (result == CUDA_SUCCESS) result = cuCtxEnablePeerAccess(context, flags);
  // The runtime says so of a device that cudaDeviceCanAccessPeer denies.
  if (result == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED) return answer(cudaErrorInvalidDevice);
  return answer(result);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  BATON_RUNTIME_BEGIN();
  if (const cudaError_t error = check_device(peer)) return answer(error);
  CUcontext context = nullptr;
  const CUresult result = cuDevicePrimaryCtxRetain(&context, peer);
  if (result != CUDA_SUCCESS) return answer(result);
  const CUresult disabled = cuCtxDisablePeerAccess(context);
  cuDevicePrimaryCtxRelease(peer);
  return answer(disabled);
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int source,
                                      int target) {
  BATON_RUNTIME_BEGIN();
  return answer(cuDeviceGetP2PAttribute(value, static_cast<CUdevice_P2PAttribute>(attribute),
                                        source, target));
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  BATON_RUNTIME_BEGIN();
  return answer(cuCtxResetPersistingL2Cache());
}

cudaError_t cudaDriverGetVersion(int* version) {
  return answer(cuDriverGetVersion(version));
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return answer(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}
