// Kernels about flags in global memory, between grids and between the blocks of one. `f` has a flag
// a block.

__device__ unsigned* flag_in(float* f, int k) {
  return reinterpret_cast<unsigned*>(f) + k;
}
__device__ void release_for_gpu(unsigned* flag) {
  asm volatile("st.release.gpu.u32 [%0], 1;" ::"l"(flag) : "memory");
}
__device__ bool acquire_for_gpu(const unsigned* flag) {
  unsigned set;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(set) : "l"(flag) : "memory");
  return set != 0;
}

// --- A primary that tells the dependent what is done, and dependents that ask before they wait ---
enum class Passes {
  kReleases,
  kReleasesInBlock,
  kFences,
  kFencesInBlock,
  kCounts,
  kRelaxed,
  kFencesMbarriers
};
template <Passes Kind>
__device__ void tell_next(float* y, const float* x, float* f) {
  INDEX;
  TRIGGER;
  y[i] = x[i];
  __syncthreads();
  if (t != 0) return;
  unsigned* flag = flag_in(f, blockIdx.x);
  if (Kind == Passes::kReleases) release_for_gpu(flag);
  if (Kind == Passes::kFences || Kind == Passes::kCounts) __threadfence();
  if (Kind == Passes::kReleasesInBlock) release_flag(flag);
  if (Kind == Passes::kFencesInBlock) __threadfence_block();
  if (Kind == Passes::kFences || Kind == Passes::kFencesInBlock || Kind == Passes::kRelaxed) {
    *static_cast<volatile unsigned*>(flag) = 1;
  }
  if (Kind == Passes::kFencesMbarriers) {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  if (Kind == Passes::kCounts || Kind == Passes::kFencesMbarriers) atomicAdd(flag, 1);
}
enum class Hears {
  kAcquires,
  kAcquiresInBlock,
  kFences,
  kFencesInBlock,
  kRelaxed,
  kOneWarp,
  kElsewhere
};
template <Hears Kind>
__device__ void hear_previous(float* y, const float* x, float* f) {
  INDEX;
  if (t == 0) {
    unsigned* flag = flag_in(f, blockIdx.x);
    if (Kind == Hears::kAcquires || Kind == Hears::kOneWarp) {
      while (!acquire_for_gpu(flag)) {
      }
    } else if (Kind == Hears::kAcquiresInBlock) {
      while (!acquire_flag(flag)) {
      }
    } else if (Kind == Hears::kElsewhere) {
      acquire_for_gpu(flag + 64);
    } else {
      while (*static_cast<volatile unsigned*>(flag) == 0) {
      }
      if (Kind == Hears::kFences) __threadfence();
      if (Kind == Hears::kFencesInBlock) __threadfence_block();
    }
  }
  if (Kind == Hears::kOneWarp) {
    __syncwarp();
  } else {
    __syncthreads();
  }
  y[i] = x[i];
  WAIT;
}
#define TELLS_NEXT(name, kind) \
  KERNEL name(float* y, const float* x, float* f) { tell_next<Passes::kind>(y, x, f); }
TELLS_NEXT(tells_next_by_release, kReleases)
TELLS_NEXT(tells_next_in_block, kReleasesInBlock)
TELLS_NEXT(tells_next_by_fence, kFences)
TELLS_NEXT(tells_next_by_block_fence, kFencesInBlock)
TELLS_NEXT(tells_next_by_count, kCounts)
TELLS_NEXT(tells_next_relaxed, kRelaxed)
TELLS_NEXT(tells_next_by_mbarrier_fence, kFencesMbarriers)
#define HEARS_PREVIOUS(name, kind) \
  KERNEL name(float* y, const float* x, float* f) { hear_previous<Hears::kind>(y, x, f); }
HEARS_PREVIOUS(hears_by_acquire, kAcquires)
HEARS_PREVIOUS(hears_in_block, kAcquiresInBlock)
HEARS_PREVIOUS(hears_by_fence, kFences)
HEARS_PREVIOUS(hears_by_block_fence, kFencesInBlock)
HEARS_PREVIOUS(hears_relaxed, kRelaxed)
HEARS_PREVIOUS(hears_in_one_warp, kOneWarp)
HEARS_PREVIOUS(hears_elsewhere, kElsewhere)

// --- Dependents of which one block, or one warp, waits ---
KERNEL counts_behind_wait_by_block(float* y, const float* x, float* f) {
  INDEX;
  if (blockIdx.x == 0) WAIT;
  __shared__ unsigned ticket;
  if (t == 0) ticket = atomicAdd(flag_in(f, 0), 1);
  __syncthreads();
  y[i] = x[i] + 0 * static_cast<float>(ticket);
}
KERNEL counts_behind_wait_by_warp(float* y, const float* x, float* f) {
  INDEX;
  if (t < 32) WAIT;
  if (t % 32 == 0) atomicAdd(flag_in(f, 0), 1);
  __syncwarp();
  y[i] = x[i];
}
template <bool Fences>
__device__ void tell_blocks_of_wait(float* y, const float* x, float* f) {
  INDEX;
  volatile unsigned* flag = flag_in(f, 0);
  if (t == 0 && blockIdx.x == 0) {
    WAIT;
    if (Fences) __threadfence();
    *flag = 1;
  } else if (t == 0) {
    while (*flag == 0) {
    }
    if (Fences) __threadfence();
  }
  __syncthreads();
  y[i] = x[i];
}
KERNEL tells_blocks_of_wait(float* y, const float* x, float* f) {
  tell_blocks_of_wait<true>(y, x, f);
}
KERNEL tells_blocks_of_wait_relaxed(float* y, const float* x, float* f) {
  tell_blocks_of_wait<false>(y, x, f);
}

// --- Marks in the upper bits of pointers ---
KERNEL marks_pointers(float* y, const float* x) {
  INDEX;
  const auto marked = reinterpret_cast<unsigned long long>(x + i) | 7ull << 48;
  const auto bare = marked & 0xffffffffffffull;
  y[i] = *reinterpret_cast<const float*>(bare) + static_cast<float>(marked >> 48);
}
KERNEL shifts_pointers(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = x[i];
  __syncthreads();
  const void* from = t % 2 != 0 ? x + i : s + t;
  const auto marked = static_cast<long long>(reinterpret_cast<unsigned long long>(from) << 16 | 5);
  y[i] = *reinterpret_cast<const float*>(marked >> 16) + static_cast<float>(marked & 0xffff);
}
