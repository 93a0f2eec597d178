// Kernels of the findings corpus about global memory inside one grid, right and wrong. They run in 4
// blocks of 64 threads. `i` is the thread's number in the grid, `t` in its block, `b` its block's;
// `flags`, `s` and `y` hold zeros at first.

#include <cooperative_groups.h>

#include <cuda/atomic>
#include <cuda/barrier>

#define KERNEL(name) \
  extern "C" __global__ void name(float* y, const float* x, float* flags, float* s)
#define INDEX                                          \
  const int t = threadIdx.x;                           \
  const int b = blockIdx.x;                            \
  const int i = blockIdx.x * blockDim.x + threadIdx.x; \
  unsigned* const f = reinterpret_cast<unsigned*>(flags); \
  (void)t;                                             \
  (void)b;                                             \
  (void)i;                                             \
  (void)f

constexpr int kBlocks = 4;
constexpr int kThreads = 64;

#define FLAG_STORE(name, op)                                              \
  __device__ void name(unsigned* flag, unsigned value) {                  \
    asm volatile(op " [%0], %1;" ::"l"(flag), "r"(value) : "memory");     \
  }
#define FLAG_LOAD(name, op)                                               \
  __device__ unsigned name(const unsigned* flag) {                        \
    unsigned value;                                                       \
    asm volatile(op " %0, [%1];" : "=r"(value) : "l"(flag) : "memory");   \
    return value;                                                         \
  }
FLAG_STORE(store_weak, "st.global.u32")
FLAG_STORE(store_relaxed, "st.relaxed.gpu.global.u32")
FLAG_STORE(store_release, "st.release.gpu.global.u32")
FLAG_STORE(store_release_sys, "st.release.sys.global.u32")
FLAG_STORE(store_release_block, "st.release.cta.global.u32")
FLAG_STORE(store_release_cluster, "st.release.cluster.global.u32")
FLAG_STORE(store_volatile, "st.volatile.global.u32")
FLAG_STORE(add_relaxed, "red.relaxed.gpu.global.add.u32")
FLAG_STORE(add_release, "red.release.gpu.global.add.u32")
FLAG_STORE(add_release_block, "red.release.cta.global.add.u32")
FLAG_LOAD(load_weak, "ld.global.u32")
FLAG_LOAD(load_relaxed, "ld.relaxed.gpu.global.u32")
FLAG_LOAD(load_acquire, "ld.acquire.gpu.global.u32")
FLAG_LOAD(load_acquire_sys, "ld.acquire.sys.global.u32")
FLAG_LOAD(load_acquire_block, "ld.acquire.cta.global.u32")
FLAG_LOAD(load_acquire_cluster, "ld.acquire.cluster.global.u32")
FLAG_LOAD(load_volatile, "ld.volatile.global.u32")
#define FENCE(order) asm volatile("fence." order ";" ::: "memory")

#include "grid_flag_patterns.cuh"
#include "grid_right_kernels.cuh"
#include "grid_wrong_kernels.cuh"
#include "grid_pattern_kernels.cuh"
#include "grid_protocol_kernels.cuh"
#include "discard_kernels.cuh"
#include "role_kernels.cuh"
