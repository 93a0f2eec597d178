// Writes every index where its linear number says, so that a wrong or missing thread shows.
extern "C" __global__ void indices(unsigned* out) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  unsigned* const mine = out + 6 * (block * threads + thread);
  mine[0] = blockIdx.x, mine[1] = blockIdx.y, mine[2] = blockIdx.z;
  mine[3] = threadIdx.x, mine[4] = threadIdx.y, mine[5] = threadIdx.z;
}

extern "C" __global__ void count_blocks(unsigned long long* sum) {
  atomicAdd(sum, static_cast<unsigned long long>(blockIdx.x) + 1);
}

extern "C" __global__ void saxpy(float* y, const float* x, float a, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// A loop over the grid: any grid serves any size.
extern "C" __global__ void strided(float* y, const float4* x, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 v = x[i];
    y[i] = v.x + 2 * v.y + 3 * v.z + 4 * v.w;
  }
}

// Bytes, halves and pairs: every access width.
template <typename T>
__global__ void reverse(T* out, const T* in, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[n - 1 - i] = in[i];
}
