// What nvcc's code for hosts calls: registration and launches.

#include <cstddef>

#include "shim/cudart/fat_binaries.h"
#include "shim/cudart/thread_state.h"

namespace {

using baton::cudart::answer;
using baton::cudart::FatBinaries;
using baton::cudart::function_of;
using baton::cudart::stream_of;

// What <<<...>>> pushes and the stub of the kernel pops.
struct CallConfiguration {
  dim3 grid;
  dim3 block;
  size_t shared = 0;
  cudaStream_t stream = nullptr;
};
// The stack of the calling thread. It has no destructor: a function that a program registered by
// `atexit` may launch a kernel after the destructors of the thread have run.
constexpr std::size_t kMostConfigurations = 64;
thread_local CallConfiguration t_configurations[kMostConfigurations];
thread_local std::size_t t_configuration_count = 0;

// The runtime has an error of its own for extents that no launch can have.
bool is_possible(dim3 grid, dim3 block) {
  int threads = 0;
  if (cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0) !=
      CUDA_SUCCESS) {
    return true;
  }
  const unsigned long long block_threads =
      static_cast<unsigned long long>(block.x) * block.y * block.z;
  const bool has_none = grid.x == 0 || grid.y == 0 || grid.z == 0 || block_threads == 0;
  return !has_none && block_threads <= static_cast<unsigned long long>(threads) &&
         grid.y <= 65535 && grid.z <= 65535 && block.z <= 64;
}

cudaError_t launch(CUkernel kernel, const CUlaunchConfig& config, void** arguments) {
  const CUresult result = cuLaunchKernelEx(&config, function_of(kernel), arguments, nullptr);
  const dim3 grid(config.gridDimX, config.gridDimY, config.gridDimZ);
  const dim3 block(config.blockDimX, config.blockDimY, config.blockDimZ);
  if (result == CUDA_ERROR_INVALID_VALUE && !is_possible(grid, block)) {
    return answer(cudaErrorInvalidConfiguration);
  }
  return answer(result);
}

CUlaunchConfig config_of(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  CUlaunchConfig config{};
  config.gridDimX = grid.x;
  config.gridDimY = grid.y;
  config.gridDimZ = grid.z;
  config.blockDimX = block.x;
  config.blockDimY = block.y;
  config.blockDimZ = block.z;
  config.sharedMemBytes = static_cast<unsigned>(shared);
  config.hStream = stream_of(stream);
  return config;
}

cudaError_t launch_host(const void* function, CUlaunchConfig config, void** arguments) {
  CUkernel kernel = nullptr;
  if (const cudaError_t error = FatBinaries::instance().kernel(function, &kernel)) {
    return answer(error);
  }
  return launch(kernel, config, arguments);
}

}  // namespace

void** __cudaRegisterFatBinary(void* image) {
  return FatBinaries::instance().add(image);
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  FatBinaries::instance().remove(handle);
}

// Called before the host first uses a managed variable of the image.
char __cudaInitModule(void** handle) {
  if (baton::cudart::begin() == cudaSuccess) answer(FatBinaries::instance().place_managed(handle));
  return 1;
}

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  FatBinaries::instance().add_kernel(handle, host, name);
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t size, int,
                       int) {
  FatBinaries::instance().add_variable(handle, host, name, size);
}

void __cudaRegisterManagedVar(void** handle, void** host, char*, const char* name, int, size_t size,
                              int, int) {
  FatBinaries::instance().add_managed(handle, host, name, size);
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
  if (t_configuration_count == kMostConfigurations) return cudaErrorMemoryAllocation;
  t_configurations[t_configuration_count++] = {grid, block, shared, stream};
  return cudaSuccess;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (t_configuration_count == 0) return answer(cudaErrorMissingConfiguration);
  const CallConfiguration& top = t_configurations[--t_configuration_count];
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  BATON_RUNTIME_BEGIN();
  return answer(FatBinaries::instance().kernel(function, kernel));
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  return __cudaGetKernel(kernel, function);
}

// A kernel that could not be had has no handle; why was told when it was asked for.
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  if (kernel == nullptr) {
    const cudaError_t before = baton::cudart::last_error();
    return answer(before != cudaSuccess ? before : cudaErrorInvalidDeviceFunction);
  }
  return launch(kernel, config_of(grid, block, shared, stream), arguments);
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  return launch_host(function, config_of(grid, block, shared, stream), arguments);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, size_t shared, cudaStream_t stream) {
  BATON_RUNTIME_BEGIN();
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  CUlaunchConfig config = config_of(grid, block, shared, stream);
  config.attrs = &cooperative;
  config.numAttrs = 1;
  return launch_host(function, config, arguments);
}

// The attributes of both have one layout.
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* given, const void* function,
                                void** arguments) {
  static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));
  BATON_RUNTIME_BEGIN();
  if (given == nullptr) return answer(cudaErrorInvalidValue);
  CUlaunchConfig config =
      config_of(given->gridDim, given->blockDim, given->dynamicSmemBytes, given->stream);
  config.attrs = reinterpret_cast<CUlaunchAttribute*>(given->attrs);
  config.numAttrs = given->numAttrs;
  return launch_host(function, config, arguments);
}
