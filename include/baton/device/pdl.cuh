#pragma once

// Programmatic dependent launch (PDL) for kernel authors: a kernel that is launched so may start
// while the one before it in its stream still runs, and says itself when it needs what that one
// wrote. For nvcc and for NVRTC; kernels that Baton compiles include it without an include path.
//
//   #include <baton/device/pdl.cuh>
//
//   extern "C" __global__ void matvec(const float* W, const float* x, float* y, …) {
//     baton::device::prefetch_l2(W + row * K, K * sizeof(float));  // weights: nobody writes them
//     baton::device::pdl_wait();                                   // x is there from here on
//     …
//   }
//
// What a kernel has to keep to where it is launched so (`baton check` holds programs to it):
//
//  * Before its wait, a thread reads nothing that an earlier kernel writes, and writes nothing that
//    an earlier kernel reads or writes. Only what is constant while the program runs (weights) may
//    be read early. Copying it to shared memory counts as reading it.
//  * The wait holds the calling thread alone. Other threads are covered only behind a barrier
//    (__syncthreads(), an mbarrier) that they pass after a thread which waited.
//  * Every path must wait, also that of a block with nothing to do. A kernel that ends without a
//    wait may end before its predecessor does, and then the wait of the kernel behind it does not
//    cover that predecessor: early returns go below the wait.
//  * Never `const T* __restrict__`, __ldg() or ld.global.nc for what an earlier kernel writes.
//    Compilers make non-coherent loads of them, which the wait does not order; `pdl_load` is a
//    load that stays one.
//  * The trigger is a permission to start the next kernel early, and nothing more: it makes no
//    write visible, and the next kernel's wait is for the end of this one, not for its trigger. A
//    kernel without a trigger gives that permission by ending.
//  * Below sm_90 there is no PDL, and the functions here do nothing. PTX for such a target that the
//    driver compiles for a later GPU has no wait in it: launched with the attribute, that is a
//    race. Build for sm_90 or later; Baton refuses pdl = "on" for a kernel without a wait.

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define BATON_HAS_PDL 1
#else
#define BATON_HAS_PDL 0
#endif

namespace baton {
namespace device {

using Bytes = decltype(sizeof(0));

// Whether the target of this compilation has PDL; BATON_HAS_PDL for the preprocessor.
__device__ constexpr bool has_pdl() {
  return BATON_HAS_PDL != 0;
}

// Holds the calling thread until every kernel that this launch depends on directly is done and what
// it wrote is visible. Nothing where the launch depends on none in this way. The clobber keeps the
// compiler from moving accesses of memory across it; but for the non-coherent loads above it does.
__device__ __forceinline__ void pdl_wait() {
#if BATON_HAS_PDL
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Lets the next kernel start once every block has called this or ended; one thread of a block is
// enough, and further calls do nothing. Early is not better: blocks of the next kernel that only
// wait take registers, shared memory and places from this one's blocks. After the last load of a
// block, or left out, is where to begin; measure before it goes anywhere else. CUDA's own function
// lacks the clobber, so with it stores may move across the trigger.
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

// Loads from global memory what an earlier kernel wrote: never as a non-coherent load, whatever
// `const` and `__restrict__` say, and never moved above the wait. T is copied as bytes, has 1, 2, 4,
// 8 or 16 of them and lies at a multiple of its size.
template <typename T>
__device__ __forceinline__ T pdl_load(const T* from) {
  static_assert(__is_trivially_copyable(T), "pdl_load copies bytes");
  T value;
  detail::Load<static_cast<int>(sizeof(T))>::run(
      &value, static_cast<Bytes>(__cvta_generic_to_global(from)));
  return value;
}

// Asks for the lines of [from, from + bytes) in global memory to be brought into the L2 cache,
// which every SM sees: no value is taken, so this is right before the wait for any memory, but it
// pays for weights. Each of `threads` threads calls it with its own number and asks for its share;
// without numbers, all threads of the block do.
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

// Begins to copy `bytes` from global to shared memory: for weights only before the wait, for it
// reads them. Both addresses and `bytes` are multiples of 16. Called as prefetch_l2 is. What was
// copied is there for the calling thread after prefetch_shared_wait(), for the block after a
// barrier behind that. (Below sm_80 it is a plain copy.)
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

// Holds the calling thread until the copies that it began are complete.
__device__ __forceinline__ void prefetch_shared_wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace device
}  // namespace baton
