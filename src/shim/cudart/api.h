#pragma once

// The functions that libcudart.so.13 exports, as CUDA's own header declares them, the old ones too.
#define CUDA_ENABLE_DEPRECATED
#pragma GCC visibility push(default)
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

extern "C" {
// What nvcc's code for hosts calls (crt/host_runtime.h).
void** __cudaRegisterFatBinary(void* image);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
char __cudaInitModule(void** handle);
void __cudaRegisterFunction(void** handle, const char* host, char* device, const char* name,
                            int thread_limit, uint3* thread, uint3* block, dim3* block_size,
                            dim3* grid_size, int* warp_size);
void __cudaRegisterVar(void** handle, char* host, char* device, const char* name, int is_extern,
                       size_t size, int is_constant, int is_global);
void __cudaRegisterManagedVar(void** handle, void** host, char* device, const char* name,
                              int is_extern, size_t size, int is_constant, int is_global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream);
}
#pragma GCC visibility pop

#include <cuda.h>
