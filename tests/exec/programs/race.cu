// A planted race: the sum lacks its barrier.
#include <cstdio>

__global__ void fill(float* x) {
  x[threadIdx.x] = 1;
}

__global__ void sum(const float* x, float* out) {
  __shared__ float part[128];
  part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];  // line 13
  }
  if (threadIdx.x == 0) *out = part[0];
}

int main() {
  float *x, *out, result = 0;
  cudaMalloc(&x, 128 * sizeof(float));
  cudaMalloc(&out, sizeof(float));
  fill<<<1, 128>>>(x);
  sum<<<1, 128>>>(x, out);
  const cudaError_t error = cudaMemcpy(&result, out, sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%s\n", cudaGetErrorString(error));
  return error != cudaSuccess;
}
