// A planted error of programmatic dependent launch: the second kernel reads before it waits.
#include <cstdio>

__global__ void produce(int* x) {
  x[threadIdx.x] = 7;  // line 5
}

__global__ void consume(const int* x, int* y) {
  const int early = x[threadIdx.x];  // line 9
  cudaGridDependencySynchronize();
  y[threadIdx.x] = early;
}

int main() {
  int *x, *y, result = 0;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMalloc(&y, 32 * sizeof(int));
  produce<<<1, 32>>>(x);
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 32;
  config.attrs = &early;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, consume, static_cast<const int*>(x), y);
  cudaMemcpy(&result, y, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%d\n", result);
}
