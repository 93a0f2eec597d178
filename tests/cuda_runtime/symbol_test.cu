// Kernels that nvcc compiled into the program itself, launched through Baton beside the CUDA runtime
// API: baton/cuda_runtime.h. Needs a GPU.

#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "baton/baton.h"
#include "baton/cuda_runtime.h"
#include "baton/device/pdl.cuh"

template <typename T>
__global__ void scale(T* data, T by, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  baton::device::pdl_wait();
  if (i < n) data[i] = baton::device::pdl_load(data + i) * by;
}

namespace {

int failures = 0;
#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      ++failures;                                                     \
      std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                 \
  } while (false)

void launches_symbols(const baton::Device& device) {
  const baton::Kernel kernel = baton::kernel_of(device, scale<float>);
  baton::Stream stream(device);
  const auto data = baton::Buffer<float>::of(device, std::vector<float>(100, 2.0f));
  kernel.launch({.block = 128, .stream = stream}, data, 3.0f, 100u);
  stream.synchronize();
  EXPECT(data.download()[99] == 6.0f);
  try {
    kernel.launch({.block = 128, .stream = stream}, data, 3.0, 100u);
    EXPECT(false);
  } catch (const baton::Error& failure) {
    EXPECT(failure.code() == baton::ErrorCode::kInvalidInput);
  }
}

void takes_the_runtimes_config(const baton::Device& device) {
  const baton::Kernel kernel = baton::kernel_of(device, scale<int>);
  cudaStream_t stream = nullptr;
  EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
  int* data = nullptr;
  EXPECT(cudaMalloc(&data, 400) == cudaSuccess);
  std::vector<int> host(100, 7);
  cudaMemcpy(data, host.data(), 400, cudaMemcpyHostToDevice);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributePriority;
  attribute.val.priority = -1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(128);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  int by = 6;
  unsigned n = 100;
  void* arguments[] = {&data, &by, &n};
  EXPECT(kernel.launch_raw(baton::as_driver_config(config), arguments) == 0);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  cudaMemcpy(host.data(), data, 400, cudaMemcpyDeviceToHost);
  EXPECT(host[99] == 42);
  // The same through a foreign stream.
  const baton::Stream adopted = baton::Stream::adopt(device, stream);
  kernel.launch({.block = 128, .stream = adopted}, reinterpret_cast<baton::DeviceAddress>(data), 2,
                100u);
  adopted.synchronize();
  cudaMemcpy(host.data(), data, 400, cudaMemcpyDeviceToHost);
  EXPECT(host[0] == 84);
  cudaFree(data);
  cudaStreamDestroy(stream);
}

}  // namespace

int main() try {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    std::puts("skipped: there is no GPU");
    return 77;
  }
  const baton::Device device = baton::Device::open("cuda:0");
  launches_symbols(device);
  takes_the_runtimes_config(device);
  std::puts(failures == 0 ? "passed" : "failed");
  return failures == 0 ? 0 : 1;
} catch (const baton::Error& failure) {
  std::printf("error: %s\n", failure.what());
  return 1;
}
