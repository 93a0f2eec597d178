// A kernel writes before the first allocation of its device.
#include "check.cuh"

__global__ void write(int* x) {
  x[static_cast<int>(threadIdx.x) - 1] = 0;  // line 5
}

int main() {
  int* x;
  CHECK(cudaMalloc(&x, 256));
  write<<<1, 1>>>(x);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
