#pragma once

// For code that uses Baton together with the CUDA runtime API and links it: kernels of the program
// itself, and the runtime's launch config.

#include <cuda_runtime_api.h>

#include <string>

#include "baton/cuda.h"
#include "baton/module.h"

namespace baton {

static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));

// Returns a kernel for a `__global__` function of this program, compiled by nvcc: kernel_of(device,
// my_kernel), or a template: kernel_of(device, my_kernel<float>). The kernel serves every device.
// Its parameters have sizes without types. Throws kNotFound if the runtime does not know the
// symbol.
template <typename... Params>
Kernel kernel_of(const Device& device, void (*symbol)(Params...)) {
  cudaKernel_t kernel = nullptr;
  const cudaError_t result = cudaGetKernel(&kernel, reinterpret_cast<const void*>(symbol));
  if (result != cudaSuccess) {
    throw Error(
        ErrorCode::kNotFound,
        std::string("the CUDA runtime does not know the symbol: cudaGetKernel failed with ") +
            cudaGetErrorName(result) + ": " + cudaGetErrorString(result));
  }
  return Kernel::adopt(device, static_cast<NativeKernel>(kernel));
}

// Returns the runtime's config as the driver's, for `Kernel::launch_raw`. The result refers to the
// attributes of `config`. Throws kLimit for more dynamic shared memory than a CUlaunchConfig can
// express.
inline CUlaunchConfig as_driver_config(const cudaLaunchConfig_t& config) {
  CUlaunchConfig native{};
  native.gridDimX = config.gridDim.x;
  native.gridDimY = config.gridDim.y;
  native.gridDimZ = config.gridDim.z;
  native.blockDimX = config.blockDim.x;
  native.blockDimY = config.blockDim.y;
  native.blockDimZ = config.blockDim.z;
  native.sharedMemBytes = dynamic_shared_bytes(config.dynamicSmemBytes);
  native.hStream = config.stream;
  native.attrs = reinterpret_cast<CUlaunchAttribute*>(config.attrs);
  native.numAttrs = config.numAttrs;
  return native;
}

}  // namespace baton
