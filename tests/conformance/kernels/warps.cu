constexpr unsigned kFull = 0xffffffffu;

template <typename T>
__global__ void shuffles(T* out, const T* in, int amount, int width) {
  const unsigned lane = threadIdx.x;
  const T value = in[lane];
  out[lane] = __shfl_sync(kFull, value, amount, width);
  out[32 + lane] = __shfl_up_sync(kFull, value, amount, width);
  out[64 + lane] = __shfl_down_sync(kFull, value, amount, width);
  out[96 + lane] = __shfl_xor_sync(kFull, value, amount, width);
}

extern "C" __global__ void votes(unsigned* out, const int* flags) {
  const unsigned lane = threadIdx.x;
  const int flag = flags[lane];
  out[lane] = __ballot_sync(kFull, flag);
  out[32 + lane] = __any_sync(kFull, flag);
  out[64 + lane] = __all_sync(kFull, flag);
  out[96 + lane] = __activemask();
}

// Half of the warp votes among itself, the other half among itself.
extern "C" __global__ void partial_votes(unsigned* out, const int* flags) {
  const unsigned lane = threadIdx.x;
  if (lane % 3 == 0) {
    unsigned mask = 0;
    for (unsigned i = 0; i < 32; i += 3) mask |= 1u << i;
    out[lane] = __ballot_sync(mask, flags[lane]);
  } else {
    unsigned mask = 0;
    for (unsigned i = 0; i < 32; ++i) mask |= i % 3 != 0 ? 1u << i : 0;
    out[lane] = __ballot_sync(mask, flags[lane]);
  }
}

template <typename T>
__global__ void matches(unsigned* any, unsigned* all, int* agreed, const T* in) {
  const unsigned lane = threadIdx.x;
  any[lane] = __match_any_sync(kFull, in[lane]);
  int predicate = 0;
  all[lane] = __match_all_sync(kFull, in[lane], &predicate);
  agreed[lane] = predicate;
}

extern "C" __global__ void reductions(unsigned* out, const unsigned* in) {
  const unsigned lane = threadIdx.x, value = in[lane];
  out[lane] = __reduce_add_sync(kFull, value);
  out[32 + lane] = __reduce_min_sync(kFull, value);
  out[64 + lane] = __reduce_max_sync(kFull, value);
  out[96 + lane] = __reduce_and_sync(kFull, value);
  out[128 + lane] = __reduce_or_sync(kFull, value);
  out[160 + lane] = __reduce_xor_sync(kFull, value);
  out[192 + lane] = static_cast<unsigned>(__reduce_min_sync(kFull, static_cast<int>(value)));
  out[224 + lane] = static_cast<unsigned>(__reduce_max_sync(kFull, static_cast<int>(value)));
}

// The sum of a block by shuffles alone, over an incomplete last warp.
extern "C" __global__ void block_sum(float* out, const float* in, unsigned n) {
  __shared__ float partial[32];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = i < n ? in[i] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kFull, sum, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0.0f;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(kFull, sum, offset);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

// Inclusive scan by shuffles.
extern "C" __global__ void warp_scan(int* out, const int* in) {
  const int lane = threadIdx.x % 32, i = blockIdx.x * blockDim.x + threadIdx.x;
  int value = in[i];
  for (int offset = 1; offset < 32; offset *= 2) {
    const int below = __shfl_up_sync(kFull, value, offset);
    if (lane >= offset) value += below;
  }
  out[i] = value;
}

extern "C" __global__ void identity(unsigned* out) {
  unsigned lane, eq, lt, le, gt, ge;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm volatile("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
  asm volatile("mov.u32 %0, %%lanemask_le;" : "=r"(le));
  asm volatile("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
  asm volatile("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
  unsigned* const mine = out + 6 * threadIdx.x;
  mine[0] = lane, mine[1] = eq, mine[2] = lt, mine[3] = le, mine[4] = gt, mine[5] = ge;
}

// Data passes between lanes through shared memory, ordered by __syncwarp alone.
extern "C" __global__ void exchange(int* out) {
  __shared__ volatile int slots[32];
  int value = static_cast<int>(threadIdx.x);
  for (int round = 0; round < 10; ++round) {
    slots[threadIdx.x] = value;
    __syncwarp();
    value = slots[(threadIdx.x + 1) % 32] + 1;
    __syncwarp();
  }
  out[threadIdx.x] = value;
}
