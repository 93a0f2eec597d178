// A decoupled look-back scan: spinning, acquire and release, early exits.
// targets: sm_80 sm_90
extern "C" __global__ void scan(const int* in, int* out, unsigned long long* state, int n) {
  __shared__ int warp_sums[8];
  __shared__ int prefix;
  const int i = blockIdx.x * 256 + threadIdx.x;
  int v = i < n ? in[i] : 0;
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(0xffffffff, v, d);
    if ((threadIdx.x & 31) >= d) v += other;
  }
  if ((threadIdx.x & 31) == 31) warp_sums[threadIdx.x / 32] = v;
  __syncthreads();
  for (int w = 0; w < threadIdx.x / 32; ++w) v += warp_sums[w];
  if (threadIdx.x == 255) {
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(state + blockIdx.x),
                 "l"((1ull << 32) | (unsigned)v)
                 : "memory");
    int sum = 0;
    for (int b = blockIdx.x - 1; b >= 0; --b) {
      unsigned long long seen;
      do {
        asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(seen) : "l"(state + b) : "memory");
      } while (seen >> 32 == 0);
      sum += (int)seen;
      if (seen >> 32 == 2) break;
    }
    prefix = sum;
  }
  __syncthreads();
  if (i >= n) return;
  out[i] = v + prefix;
}
