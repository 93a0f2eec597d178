// Memory on the stacks of threads, whose size only the run shows. With an argument, a read of what is
// gone.
#include <cstdio>

// The sum of the squares below n, by way of an array.
__device__ __noinline__ int squares(int n) {
  int* words = static_cast<int*>(__builtin_alloca(n * sizeof(int)));
  for (int k = 0; k < n; ++k) words[k] = k * k;
  int sum = 0;
  for (int k = n - 1; k >= 0; --k) sum += words[k];
  return sum;
}

// Each call has an array of its own while the deeper ones run.
__device__ __noinline__ int nested(int depth, int n) {
  if (depth == 0) return 0;
  char* bytes = static_cast<char*>(__builtin_alloca(n));
  for (int k = 0; k < n; ++k) bytes[k] = static_cast<char>(depth);
  int sum = nested(depth - 1, n + 3);
  for (int k = 0; k < n; ++k) sum += bytes[k];
  return sum;
}

__global__ void kernel(int* out) {
  const int t = threadIdx.x;
  out[t] = squares(t + 1) + nested(t % 5, t + 1);
}

__global__ void beyond(int* out, int n) {
  volatile int* words = static_cast<int*>(__builtin_alloca(n * sizeof(int)));
  words[0] = 1;
  *out = words[threadIdx.x + n];
}

int main(int argc, char**) {
  int* out = nullptr;
  cudaMallocManaged(&out, 64 * sizeof(int));
  if (argc > 1) {
    beyond<<<1, 1>>>(out, 5);
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
  }
  kernel<<<1, 64>>>(out);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int t = 0; t < 64; ++t) {
    int want = t * (t + 1) * (2 * t + 1) / 6;
    for (int depth = t % 5, n = t + 1; depth > 0; --depth, n += 3) want += depth * n;
    if (out[t] != want) return 2;
  }
  std::puts("right");
  return 0;
}
