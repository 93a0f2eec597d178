// Kernels that nvcc compiled into the program itself, launched through Baton beside the CUDA runtime
// API: baton/cuda_runtime.h. Needs a GPU.

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
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

// The runtime's config, and Baton's own with the same attributes, come to the same bytes. Needs no
// GPU.
void encodes_as_the_runtime_does() {
  cudaLaunchAttribute given[3] = {};
  given[0].id = cudaLaunchAttributeClusterDimension;
  given[0].val.clusterDim.x = 4;
  given[0].val.clusterDim.y = given[0].val.clusterDim.z = 1;
  given[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  given[1].val.programmaticStreamSerializationAllowed = 1;
  given[2].id = cudaLaunchAttributePriority;
  given[2].val.priority = -2;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(8, 2, 3);
  config.blockDim = dim3(64, 4, 2);
  config.dynamicSmemBytes = 100 * 1024;
  config.stream = reinterpret_cast<cudaStream_t>(0x1234);
  config.attrs = given;
  config.numAttrs = 3;
  const CUlaunchConfig native = baton::as_driver_config(config);
  EXPECT(native.gridDimX == 8 && native.gridDimY == 2 && native.gridDimZ == 3);
  EXPECT(native.blockDimX == 64 && native.blockDimY == 4 && native.blockDimZ == 2);
  EXPECT(native.sharedMemBytes == 100 * 1024);
  EXPECT(native.hStream == reinterpret_cast<CUstream>(0x1234));
  EXPECT(native.numAttrs == 3);
  int compared = 0;
  const baton::LaunchAttributes own = {baton::cluster(4), baton::pdl(), baton::priority(-2)};
  for (unsigned i = 0; i < 3; ++i) {
    for (const baton::LaunchAttribute& attribute : own.all()) {
      const auto& theirs = reinterpret_cast<const baton::LaunchAttribute&>(native.attrs[i]);
      if (attribute.id() != theirs.id()) continue;
      EXPECT(std::memcmp(&attribute, &theirs, sizeof(attribute)) == 0);
      ++compared;
    }
  }
  EXPECT(compared == 3);
}

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
  encodes_as_the_runtime_does();
  if (failures != 0) return 1;
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
