#pragma once

// Programmatic dependent launch (PDL) for kernel authors. Such a kernel may start while the kernel
// before it in its stream still runs. The kernel itself waits before it needs that kernel's output.
// For nvcc and for NVRTC; kernels that Baton compiles include it without an include path.
//
//   #include <baton/device/pdl.cuh>
//
//   extern "C" __global__ void matvec(const float* W, const float* x, float* y, …) {
//     baton::device::prefetch_l2(W + row * K, K * sizeof(float));  // weights: never written
//     baton::device::pdl_wait();                                   // x is valid from here on
//     …
//   }
//
// Rules for a kernel that is launched so (`baton check` verifies them for a program):
//
//  * Before its wait, a thread reads nothing that an earlier kernel writes, and writes nothing that
//    an earlier kernel reads or writes. It may read early only what is constant while the program
//    runs (weights). A copy to shared memory is a read.
//  * The wait blocks only the calling thread. It covers other threads only after a barrier
//    (__syncthreads(), an mbarrier) that they pass after a thread that waited.
//  * Every path must wait, even that of a block without work. A kernel that ends without a wait may
//    end before its predecessor. Then the wait of the next kernel does not cover that predecessor.
//    Put early returns after the wait.
//  * Never use `const T* __restrict__`, __ldg() or ld.global.nc for the output of an earlier
//    kernel. Compilers make non-coherent loads from them, which the wait does not order. `pdl_load`
//    is never one.
//  * The trigger only permits the next kernel to start early. It makes no write visible. The next
//    kernel's wait is for the end of this kernel, not for its trigger. A kernel without a trigger
//    gives the permission when its blocks end.
//  * Below sm_90 there is no PDL, and the functions here do nothing. If the driver compiles PTX for
//    such a target for a later GPU, the result has no wait: launched with the attribute, it is a
//    race. Build for sm_90 or later. Baton rejects pdl = "on" for a kernel without a wait.

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define BATON_HAS_PDL 1
#else
#define BATON_HAS_PDL 0
#endif

namespace baton {
namespace device {

using Bytes = decltype(sizeof(0));

// Whether the target of this compilation has PDL. BATON_HAS_PDL is the same for the preprocessor.
__device__ constexpr bool has_pdl() {
  return BATON_HAS_PDL != 0;
}

// Blocks the calling thread until every kernel that this launch directly depends on has completed
// and its writes are visible. Returns at once if there is no such kernel. The clobber keeps the
// compiler from moving memory accesses across it, except non-coherent loads.
__device__ __forceinline__ void pdl_wait() {
#if BATON_HAS_PDL
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Permits the next kernel to start after every block has called this or ended. One thread of a
// block is enough; further calls do nothing. Early is not better: waiting blocks of the next kernel
// take registers, shared memory and block slots from this one's blocks. Begin with a trigger after
// the last load of a block, or none, and measure before moving it. CUDA's own function lacks the
// clobber, so stores may move across it.
__device__ __forceinline__ void pdl_trigger() {
#if BATON_HAS_PDL
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

namespace detail {

__device__ __forceinline__ unsigned thread_of_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

__device__ __forceinline__ unsigned threads_of_block() {
  return blockDim.x * blockDim.y * blockDim.z;
}

template <int kSize>
struct Load;
template <>
struct Load<1> {
  __device__ static void run(void* to, Bytes from) {
    unsigned value;
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    *static_cast<unsigned char*>(to) = static_cast<unsigned char>(value);
  }
};
template <>
struct Load<2> {
  __device__ static void run(void* to, Bytes from) {
    unsigned short value;
    asm volatile("ld.global.u16 %0, [%1];" : "=h"(value) : "l"(from) : "memory");
    memcpy(to, &value, 2);
  }
};
template <>
struct Load<4> {
  __device__ static void run(void* to, Bytes from) {
    unsigned value;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    memcpy(to, &value, 4);
  }
};
template <>
struct Load<8> {
  __device__ static void run(void* to, Bytes from) {
    unsigned long long value;
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    memcpy(to, &value, 8);
  }
};
template <>
struct Load<16> {
  __device__ static void run(void* to, Bytes from) {
    unsigned value[4];
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(value[0]), "=r"(value[1]), "=r"(value[2]), "=r"(value[3])
                 : "l"(from)
                 : "memory");
    memcpy(to, value, 16);
  }
};

}  // namespace detail

// Loads data of an earlier kernel from global memory. The load is never non-coherent, whatever
// `const` and `__restrict__` say, and never moves before the wait. T is copied as bytes, has 1, 2,
// 4, 8 or 16 bytes, and is aligned to its size.
template <typename T>
__device__ __forceinline__ T pdl_load(const T* from) {
  static_assert(__is_trivially_copyable(T), "pdl_load copies bytes");
  T value;
  detail::Load<static_cast<int>(sizeof(T))>::run(
      &value, static_cast<Bytes>(__cvta_generic_to_global(from)));
  return value;
}

// Requests the lines of [from, from + bytes) in global memory into the L2 cache, which all SMs
// share. It reads no value, so it is correct before the wait for any memory; it pays for weights.
// Each of `threads` threads calls it with its own number and requests its part. Without numbers,
// all threads of the block call it.
__device__ __forceinline__ void prefetch_l2(const void* from, Bytes bytes, unsigned thread,
                                            unsigned threads) {
  constexpr Bytes kLine = 128;
  const Bytes address = static_cast<Bytes>(__cvta_generic_to_global(from));
  const Bytes end = address + bytes;
  for (Bytes line = (address & ~(kLine - 1)) + kLine * thread; line < end;
       line += kLine * threads) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(line < address ? address : line));
  }
}
__device__ __forceinline__ void prefetch_l2(const void* from, Bytes bytes) {
  prefetch_l2(from, bytes, detail::thread_of_block(), detail::threads_of_block());
}

// Starts to copy `bytes` from global to shared memory. It reads the memory, so before the wait use
// it for weights only. Both addresses and `bytes` are multiples of 16. Call it as prefetch_l2. The
// copy is visible to the calling thread after prefetch_shared_wait(), and to the block after a
// further barrier. (Below sm_80 it is a plain copy.)
__device__ __forceinline__ void prefetch_shared(void* to, const void* from, Bytes bytes,
                                                unsigned thread, unsigned threads) {
  constexpr Bytes kPiece = 16;
  for (Bytes at = kPiece * thread; at < bytes; at += kPiece * threads) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to) + at)),
                 "l"(static_cast<Bytes>(__cvta_generic_to_global(from)) + at)
                 : "memory");
#else
    memcpy(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, kPiece);
#endif
  }
}
__device__ __forceinline__ void prefetch_shared(void* to, const void* from, Bytes bytes) {
  prefetch_shared(to, from, bytes, detail::thread_of_block(), detail::threads_of_block());
}

// Blocks the calling thread until the copies that it started are complete.
__device__ __forceinline__ void prefetch_shared_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace device
}  // namespace baton
