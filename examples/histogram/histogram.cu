// How often each value of 0 … 255 occurs. Every block counts in shared memory first, where atomics
// are cheap, and adds its counts to the result once at its end. The result must start as zeros.
constexpr int kBins = 256;

extern "C" __global__ void histogram(const unsigned char* __restrict__ values,
                                     unsigned int* __restrict__ counts, long long n) {
  __shared__ unsigned int local[kBins];
  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) local[bin] = 0;
  __syncthreads();

  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += stride) {
    atomicAdd(&local[values[i]], 1u);
  }
  __syncthreads();

  for (int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    if (local[bin] != 0) atomicAdd(&counts[bin], local[bin]);
  }
}
