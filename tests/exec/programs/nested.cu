// A kernel that launches a kernel (nvcc -rdc=true).
#include <cstdio>

__global__ void inner() {}

__global__ void outer() {
  inner<<<1, 1>>>();
}

int main() {
  outer<<<1, 1>>>();
  std::puts(cudaGetErrorName(cudaGetLastError()));
}
