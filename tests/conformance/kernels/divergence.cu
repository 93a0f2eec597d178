// Branches within a warp: what each thread does depends on its index alone, so the host can do the
// same.
#define SHARED_WITH_HOST __device__ __forceinline__
#include "divergence.h"

extern "C" __global__ void nested(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = nested_branches(i);
}
extern "C" __global__ void loops(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = uneven_loops(i);
}
extern "C" __global__ void cases(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = switch_cases(i);
}
extern "C" __global__ void jumps(int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = irreducible(i);
}

// Every lane of every warp takes one lock: the holder and those who spin share a warp.
extern "C" __global__ void spin_lock(int* lock, int* counter) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *const_cast<volatile int*>(counter) = *const_cast<volatile int*>(counter) + 1;
  __threadfence();
  atomicExch(lock, 0);
}

// A lane waits for its neighbour in the same warp, in both directions of the lane order.
extern "C" __global__ void relay(volatile int* baton, int* out, int direction) {
  const int me = static_cast<int>(threadIdx.x);
  const int mine = direction > 0 ? me : 31 - me;
  while (*baton != mine) {
  }
  out[me] = mine * 10;
  __threadfence();
  *baton = mine + 1;
}

// Threads leave at different points, some from within a loop.
extern "C" __global__ void leave_early(int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int sum = 0;
  for (int k = 0;; ++k) {
    sum += k;
    if (k == i % 19) {
      out[i] = sum;
      return;
    }
    if (i % 7 == 3 && k == 2) break;
  }
  out[i] = -sum;
}

// The lanes that diverged are together again at the shuffle.
extern "C" __global__ void reconverge(int* out) {
  int value = static_cast<int>(threadIdx.x);
  for (int k = 0; k < value % 5; ++k) value += k * 3;
  if (value % 2 != 0) {
    value *= 2;
  } else {
    value += 100;
  }
  __syncwarp();
  out[threadIdx.x] = value + __shfl_xor_sync(0xffffffffu, value, 1);
}
