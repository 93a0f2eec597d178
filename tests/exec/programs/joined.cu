// A kernel whose functions and variables are in another object (nvcc -rdc=true).
#include <cstdio>

extern __device__ int triple(int x);
extern __device__ int added;
extern __constant__ int thousand;
__managed__ int sums[32];

__global__ void work() {
  sums[threadIdx.x] = triple(static_cast<int>(threadIdx.x)) + added + thousand;
}

void set_added(int value);

int main() {
  set_added(100);
  work<<<1, 32>>>();
  if (cudaDeviceSynchronize() != cudaSuccess || cudaGetLastError() != cudaSuccess) return 1;
  for (int i = 0; i < 32; ++i) {
    if (sums[i] != 3 * i + 1100) return 1;
  }
  std::puts("right");
}
