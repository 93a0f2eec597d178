// One kernel for each thing an image says about kernels.
#include <cstdint>

struct alignas(64) Wide {
  int values[32];
};
struct Packed {
  char a;
  short b;
  double c;
};

extern "C" {
__constant__ float weights[13];
__constant__ int limit = 7;
__device__ double results[5];
__device__ unsigned counter = 3;

__global__ void plain(int* out) { out[threadIdx.x] = static_cast<int>(threadIdx.x); }

__global__ void parameters(bool a, char b, short c, int d, Packed e, long long f, float g,
                           double* out) {
  *out = a + b + c + d + e.a + e.b + e.c + static_cast<double>(f) + static_cast<double>(g);
}

__global__ void aligned(int n, Wide wide, int* out) { *out = wide.values[n & 31]; }

__global__ void __launch_bounds__(96) bounded(int* out) { out[threadIdx.x] = 1; }

__global__ void __launch_bounds__(256, 4) bounded_twice(int* out) { out[threadIdx.x] = 1; }

__global__ void shared_memory(int* out) {
  __shared__ int tile[300];
  __shared__ char flag;
  tile[threadIdx.x] = out[threadIdx.x];
  if (threadIdx.x == 0) flag = 1;
  __syncthreads();
  out[threadIdx.x] = tile[299 - threadIdx.x] + flag;
}

__global__ void dynamic_memory(int* out) {
  extern __shared__ int dynamic_tile[];
  __shared__ int tile[32];
  dynamic_tile[threadIdx.x] = tile[threadIdx.x % 32] = out[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = dynamic_tile[blockDim.x - 1 - threadIdx.x] + tile[0];
}

// Its array is indexed by what only the caller knows: it lies in local memory.
__global__ void stack(int* out, int n) {
  int values[64];
  for (int i = 0; i < 64; ++i) values[i] = out[i];
  for (int i = 0; i < n; ++i) values[(i * n) & 63] += values[out[i] & 63];
  out[0] = values[n & 63];
}

__global__ void variables(double* out) {
  results[threadIdx.x % 5] += weights[threadIdx.x % 13] + limit;
  out[threadIdx.x] = results[0] + atomicAdd(&counter, 1u);
}

#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) clustered(int* out) { out[blockIdx.x] = 1; }

__global__ void __launch_bounds__(128, 1, 4) up_to_four(int* out) { out[blockIdx.x] = 1; }

__global__ void waits(int* out) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  out[threadIdx.x] = 1;
}
#endif
}

template <typename T>
__global__ void typed(T* out, const T* in, uint64_t n) {
  for (uint64_t i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i];
}
template __global__ void typed<float>(float*, const float*, uint64_t);
