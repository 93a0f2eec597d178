// Atomic operations on vectors and on 128 bits, and memory that they order.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cuda/atomic>

#if __CUDA_ARCH__ >= 900
// Each thread adds small whole numbers, which are exact in any order.
extern "C" __global__ void add_vectors(float2* two, float4* four, __half2* halves,
                                       __nv_bfloat162* bfloats, unsigned* greatest) {
  const float own = static_cast<float>(threadIdx.x % 4);
  const float2 before = atomicAdd(two, make_float2(own, -own));
  atomicMax(greatest, static_cast<unsigned>(before.x));
  atomicAdd(four, make_float4(1, own, 2 * own, -1));
  atomicAdd(halves, __floats2half2_rn(threadIdx.x % 8 == 0, -0.5f * (threadIdx.x % 8 == 1)));
  atomicAdd(bfloats, __floats2bfloat162_rn(threadIdx.x % 32 == 0, threadIdx.x % 32 == 1));
}

struct alignas(16) Pair {
  unsigned long long low, high;
};

// Counts in both halves at once by compare and swap; the last thread to leave takes the word out.
extern "C" __global__ void count_pairs(Pair* word, Pair* taken, unsigned* left, unsigned threads) {
  Pair seen = {0, 0}, want;
  do {
    want = seen;
    seen = atomicCAS(word, want, Pair{want.low + 1, want.high + 3});
  } while (seen.low != want.low || seen.high != want.high);
  __threadfence();
  if (atomicAdd(left, 1u) == threads - 1) *taken = atomicExch(word, Pair{7, 8});
}
#endif

// Blocks take turns by a flag: each reads what the one before it wrote without any atomic operation.
template <cuda::thread_scope Scope>
__device__ void take_turn(unsigned turn, unsigned* flag, unsigned* values) {
  cuda::atomic_ref<unsigned, Scope> turns(*flag);
  if (threadIdx.x == 0) {
    while (turns.load(cuda::memory_order_acquire) != turn) {
    }
    values[turn + 1] = values[turn] * 3 + turn;
    turns.store(turn + 1, cuda::memory_order_release);
  }
}
extern "C" __global__ void turns_of_device(unsigned* flag, unsigned* values) {
  take_turn<cuda::thread_scope_device>(blockIdx.x, flag, values);
}
extern "C" __global__ void turns_of_system(unsigned* flag, unsigned* values) {
  take_turn<cuda::thread_scope_system>(blockIdx.x, flag, values);
}

// Warps of a block hand a word around in shared memory, by fences around relaxed operations.
extern "C" __global__ void turns_of_warps(unsigned* out, unsigned rounds) {
  __shared__ unsigned flag, word;
  if (threadIdx.x == 0) flag = word = 0;
  __syncthreads();
  const unsigned warps = blockDim.x / 32, warp = threadIdx.x / 32;
  cuda::atomic_ref<unsigned, cuda::thread_scope_block> turns(flag);
  for (unsigned round = 0; round < rounds && threadIdx.x % 32 == 0; ++round) {
    while (turns.load(cuda::memory_order_relaxed) != round * warps + warp) {
    }
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block);
    word = word * 5 + warp;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_block);
    turns.fetch_add(1, cuda::memory_order_relaxed);
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = word;
}
