// Pairs of launches of the CUDA runtime, the second with programmatic dependent launch.
#include <cstdio>

__global__ void produce(int* x) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  x[threadIdx.x] = 7;
}

__global__ void safe(const int* x, int* y) {
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
  y[threadIdx.x] = x[threadIdx.x];
}

__global__ void early(const int* x, int* y) {
  cudaTriggerProgrammaticLaunchCompletion();
  const int value = x[threadIdx.x];  // line 18
  cudaGridDependencySynchronize();
  y[threadIdx.x] = value;
}

__global__ void hidden(int* const* pointers, int* y) {
  cudaTriggerProgrammaticLaunchCompletion();
  *pointers[0] = 1;
  cudaGridDependencySynchronize();
  y[threadIdx.x] = 1;
}

template <typename... Params, typename... Arguments>
void launch_early(void (*kernel)(Params...), Arguments... arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 32;
  config.attrs = &attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, kernel, static_cast<Params>(arguments)...);
}

int main() {
  int *x, *y, *z;
  int** pointers;
  cudaMalloc(&x, 4096);
  cudaMalloc(&y, 4096);
  cudaMalloc(&z, 4096);
  cudaMalloc(&pointers, 4096);
  cudaMemcpy(pointers, &z, sizeof z, cudaMemcpyHostToDevice);
  for (int k = 0; k < 10; ++k) {
    produce<<<1, 32>>>(x);
    launch_early(safe, x, y);
    produce<<<1, 32>>>(x);
    launch_early(early, x, y);
    produce<<<1, 32>>>(x);
    launch_early(hidden, pointers, y);
  }
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
