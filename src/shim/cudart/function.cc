// Kernels: their attributes and occupancy, libraries, and entries of the driver.

#include <cstring>

#include "shim/cudart/fat_binaries.h"
#include "shim/cudart/thread_state.h"

namespace {

using baton::cudart::answer;
using baton::cudart::FatBinaries;
using baton::cudart::function_of;

struct FunctionFact {
  int cudaFuncAttributes::*number;
  size_t cudaFuncAttributes::*size;  // where `number` is null
  CUfunction_attribute attribute;
};

constexpr FunctionFact kFacts[] = {
    {nullptr, &cudaFuncAttributes::sharedSizeBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES},
    {nullptr, &cudaFuncAttributes::constSizeBytes, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES},
    {nullptr, &cudaFuncAttributes::localSizeBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES},
    {&cudaFuncAttributes::maxThreadsPerBlock, nullptr, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {&cudaFuncAttributes::numRegs, nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS},
    {&cudaFuncAttributes::ptxVersion, nullptr, CU_FUNC_ATTRIBUTE_PTX_VERSION},
    {&cudaFuncAttributes::binaryVersion, nullptr, CU_FUNC_ATTRIBUTE_BINARY_VERSION},
    {&cudaFuncAttributes::cacheModeCA, nullptr, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA},
    {&cudaFuncAttributes::maxDynamicSharedSizeBytes, nullptr,
     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES},
    {&cudaFuncAttributes::preferredShmemCarveout, nullptr,
     CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT},
    {&cudaFuncAttributes::clusterDimMustBeSet, nullptr, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET},
    {&cudaFuncAttributes::requiredClusterWidth, nullptr, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH},
    {&cudaFuncAttributes::requiredClusterHeight, nullptr,
     CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT},
    {&cudaFuncAttributes::requiredClusterDepth, nullptr, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH},
    {&cudaFuncAttributes::clusterSchedulingPolicyPreference, nullptr,
     CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE},
    {&cudaFuncAttributes::nonPortableClusterSizeAllowed, nullptr,
     CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED},
};

// Calls `use` with the kernel that the host's function stands for.
template <typename Use>
cudaError_t with_kernel(const void* host, Use use) {
  BATON_RUNTIME_BEGIN();
  CUkernel kernel = nullptr;
  if (const cudaError_t error = FatBinaries::instance().kernel(host, &kernel)) return answer(error);
  return answer(use(kernel));
}

CUlaunchConfig driver_config(const cudaLaunchConfig_t& given) {
  CUlaunchConfig config{};
  config.gridDimX = given.gridDim.x;
  config.gridDimY = given.gridDim.y;
  config.gridDimZ = given.gridDim.z;
  config.blockDimX = given.blockDim.x;
  config.blockDimY = given.blockDim.y;
  config.blockDimZ = given.blockDim.z;
  config.sharedMemBytes = static_cast<unsigned>(given.dynamicSmemBytes);
  config.hStream = given.stream;
  config.attrs = reinterpret_cast<CUlaunchAttribute*>(given.attrs);
  config.numAttrs = given.numAttrs;
  return config;
}

}  // namespace

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return with_kernel(function, [&](CUkernel kernel) {
    if (attributes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::memset(attributes, 0, sizeof *attributes);
    for (const FunctionFact& fact : kFacts) {
      int value = 0;
      const CUresult result = cuKernelGetAttribute(&value, fact.attribute, kernel, 0);
      if (result != CUDA_SUCCESS) return result;
      if (fact.number != nullptr) {
        attributes->*fact.number = value;
      } else {
        attributes->*fact.size = static_cast<size_t>(value);
      }
    }
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return with_kernel(function, [&](CUkernel kernel) {
    return cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value, kernel, 0);
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return with_kernel(function, [&](CUkernel kernel) {
    return cuKernelSetCacheConfig(kernel, static_cast<CUfunc_cache>(config), 0);
  });
}

// It asks for what does not change results.
cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return with_kernel(function, [](CUkernel) { return CUDA_SUCCESS; });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return with_kernel(function, [&](CUkernel kernel) { return cuKernelGetName(name, kernel); });
}

cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* size) {
  return with_kernel(
      function, [&](CUkernel kernel) { return cuKernelGetParamInfo(kernel, index, offset, size); });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* found, const void* function) {
  return with_kernel(function, [&](CUkernel kernel) { return cuKernelGetFunction(found, kernel); });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_size, size_t shared) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                                shared, cudaOccupancyDefault);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void* function,
                                                                   int block_size, size_t shared,
                                                                   unsigned flags) {
  return with_kernel(function, [&](CUkernel kernel) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function_of(kernel),
                                                                block_size, shared, flags);
  });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                      int blocks, int block_size) {
  return with_kernel(function, [&](CUkernel kernel) {
    return cuOccupancyAvailableDynamicSMemPerBlock(bytes, function_of(kernel), blocks, block_size);
  });
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config) {
  return with_kernel(function, [&](CUkernel kernel) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUlaunchConfig same = driver_config(*config);
    return cuOccupancyMaxActiveClusters(clusters, function_of(kernel), &same);
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function,
                                                 const cudaLaunchConfig_t* config) {
  return with_kernel(function, [&](CUkernel kernel) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUlaunchConfig same = driver_config(*config);
    return cuOccupancyMaxPotentialClusterSize(size, function_of(kernel), &same);
  });
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* image, cudaJitOption* options,
                                void** values, unsigned count, cudaLibraryOption* library_options,
                                void** library_values, unsigned library_count) {
  BATON_RUNTIME_BEGIN();
  return answer(cuLibraryLoadData(library, image, reinterpret_cast<CUjit_option*>(options), values,
                                  count, reinterpret_cast<CUlibraryOption*>(library_options),
                                  library_values, library_count));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* file,
                                    cudaJitOption* options, void** values, unsigned count,
                                    cudaLibraryOption* library_options, void** library_values,
                                    unsigned library_count) {
  BATON_RUNTIME_BEGIN();
  return answer(cuLibraryLoadFromFile(
      library, file, reinterpret_cast<CUjit_option*>(options), values, count,
      reinterpret_cast<CUlibraryOption*>(library_options), library_values, library_count));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  BATON_RUNTIME_BEGIN();
  return answer(cuLibraryUnload(library));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  BATON_RUNTIME_BEGIN();
  return answer(cuLibraryGetKernel(kernel, library, name));
}

cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  BATON_RUNTIME_BEGIN();
  return answer(cuLibraryGetGlobal(reinterpret_cast<CUdeviceptr*>(pointer), bytes, library, name));
}

cudaError_t cudaLibraryGetManaged(void** pointer, size_t* bytes, cudaLibrary_t library,
                                  const char* name) {
  BATON_RUNTIME_BEGIN();
  return answer(cuLibraryGetManaged(reinterpret_cast<CUdeviceptr*>(pointer), bytes, library, name));
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  BATON_RUNTIME_BEGIN();
  CUdriverProcAddressQueryResult found{};
  const CUresult result =
      cuGetProcAddress(name, function, static_cast<int>(version), flags, &found);
  if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(found);
  return answer(result);
}

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(name, function, CUDART_VERSION, flags, status);
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  BATON_RUNTIME_BEGIN();
  return answer(cuLibraryGetKernelCount(count, library));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count,
                                        cudaLibrary_t library) {
  BATON_RUNTIME_BEGIN();
  return answer(cuLibraryEnumerateKernels(kernels, count, library));
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int device) {
  BATON_RUNTIME_BEGIN();
  return answer(
      cuKernelSetAttribute(static_cast<CUfunction_attribute>(attribute), value, kernel, device));
}

// The private tables of NVIDIA's runtime are not there.
cudaError_t cudaGetExportTable(const void** table, const cudaUUID_t*) {
  if (table != nullptr) *table = nullptr;
  return answer(cudaErrorInvalidValue);
}

cudaError_t cudaProfilerStart() {
  return cudaSuccess;
}

cudaError_t cudaProfilerStop() {
  return cudaSuccess;
}
