// One block tells another one by a flag, in every spelling. Block 0 writes s, the others read it.

template <class Tell, class Hear>
__device__ void pass_on(float* y, const float* x, float* s, Tell tell, Hear hear) {
  const int t = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + t;
  if (blockIdx.x == 0) {
    s[t] = x[t] + 1;
    __syncthreads();
    if (t == 0) tell();
  } else {
    if (t == 0) hear();
    __syncthreads();
    y[i] = s[t];
  }
}
#define PASSES_ON(name, tells, hears)            \
  KERNEL(name) {                                 \
    INDEX;                                       \
    pass_on(y, x, s, [&] { tells; }, [&] { hears; }); \
  }
using AtomicRef = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
using BlockAtomicRef = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;

// --- Right ones ---
PASSES_ON(tells_release_acquire, store_release(f, 1), while (load_acquire(f) == 0))
PASSES_ON(tells_release_acquire_sys, store_release_sys(f, 1), while (load_acquire_sys(f) == 0))
PASSES_ON(tells_fence_volatile, __threadfence(); store_volatile(f, 1),
          while (load_volatile(f) == 0) {} __threadfence())
PASSES_ON(tells_system_fences, __threadfence_system(); store_volatile(f, 1),
          while (load_volatile(f) == 0) {} __threadfence_system())
PASSES_ON(tells_fence_relaxed, FENCE("acq_rel.gpu"); store_relaxed(f, 1),
          while (load_relaxed(f) == 0) {} FENCE("acq_rel.gpu"))
PASSES_ON(tells_fence_sc, FENCE("sc.gpu"); store_relaxed(f, 1),
          while (load_relaxed(f) == 0) {} FENCE("sc.gpu"))
PASSES_ON(tells_fence_and_acquire, __threadfence(); atomicExch(f, 1), while (load_acquire(f) == 0))
PASSES_ON(tells_release_and_fence, add_release(f, 1), while (load_relaxed(f) == 0) {} __threadfence())
PASSES_ON(tells_by_adding_nothing, __threadfence(); atomicAdd(f, 1),
          while (atomicAdd(f, 0) == 0) {} __threadfence())
PASSES_ON(tells_by_swaps, __threadfence(); atomicCAS(f, 0, 1),
          while (atomicCAS(f, 2, 2) == 0) {} __threadfence())
PASSES_ON(tells_by_maximum, __threadfence(); atomicMax(f, 5), while (load_acquire(f) != 5))
PASSES_ON(tells_by_atomic_ref, AtomicRef(*f).store(1, cuda::memory_order_release),
          while (AtomicRef(*f).load(cuda::memory_order_acquire) == 0))
PASSES_ON(tells_by_default_order, AtomicRef(*f).store(1), while (AtomicRef(*f).load() == 0))
PASSES_ON(tells_by_wait_and_notify, AtomicRef(*f).store(1); AtomicRef(*f).notify_all(),
          AtomicRef(*f).wait(0))
PASSES_ON(tells_by_thread_fences,
          cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
          AtomicRef(*f).store(1, cuda::memory_order_relaxed),
          while (AtomicRef(*f).load(cuda::memory_order_relaxed) == 0) {}
          cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device))
PASSES_ON(tells_by_fetch_add, AtomicRef(*f).fetch_add(1, cuda::memory_order_acq_rel),
          while (AtomicRef(*f).load(cuda::memory_order_acquire) == 0))
PASSES_ON(tells_and_tells_again, store_release(f, 1); store_relaxed(f, 2),
          while (load_acquire(f) != 2))
PASSES_ON(tells_and_others_count, store_release(f, 1); atomicAdd(f, 1),
          while (load_acquire(f) < 2))
// A 64-bit flag beside its value needs no order.
KERNEL(tells_in_one_word) {
  INDEX;
  auto* pair = reinterpret_cast<unsigned long long*>(flags);
  if (b == 0) {
    if (t == 0) {
      const unsigned long long value = 1ull << 32 | __float_as_uint(x[5]);
      asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(pair), "l"(value) : "memory");
    }
    return;
  }
  unsigned long long value = 0;
  while (value >> 32 == 0) {
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(value) : "l"(pair) : "memory");
  }
  y[i] = __uint_as_float(static_cast<unsigned>(value));
}
// All threads execute the fence, and thread 0 alone writes the flag.
KERNEL(tells_behind_fences_of_all) {
  INDEX;
  if (b == 0) {
    s[t] = x[t] + 1;
    __threadfence();
    __syncthreads();
    if (t == 0) store_volatile(f, 1);
  } else {
    if (t == 0) {
      while (load_volatile(f) == 0) {
      }
    }
    __syncthreads();
    __threadfence();
    y[i] = s[t];
  }
}

// --- Wrong ones ---
PASSES_ON(tells_without_fence, store_volatile(f, 1), while (load_volatile(f) == 0) {} __threadfence())
PASSES_ON(hears_without_fence, __threadfence(); store_volatile(f, 1), while (load_volatile(f) == 0))
PASSES_ON(tells_with_block_fences, __threadfence_block(); store_volatile(f, 1),
          while (load_volatile(f) == 0) {} __threadfence())
PASSES_ON(hears_with_block_fence, __threadfence(); store_volatile(f, 1),
          while (load_volatile(f) == 0) {} __threadfence_block())
PASSES_ON(tells_relaxed, store_relaxed(f, 1), while (load_acquire(f) == 0))
PASSES_ON(hears_relaxed, store_release(f, 1), while (load_relaxed(f) == 0))
PASSES_ON(tells_by_plain_store, __threadfence(); store_weak(f, 1),
          while (load_volatile(f) == 0) {} __threadfence())
PASSES_ON(hears_by_plain_load, __threadfence(); store_volatile(f, 1),
          for (int k = 0; k < 64 && load_weak(f) == 0; ++k) {} __threadfence())
PASSES_ON(tells_for_block, store_release_block(f, 1), while (load_acquire(f) == 0))
PASSES_ON(hears_for_block, store_release(f, 1), while (load_acquire_block(f) == 0))
PASSES_ON(tells_for_cluster, store_release_cluster(f, 1), while (load_acquire_cluster(f) == 0))
PASSES_ON(tells_by_block_atomic, BlockAtomicRef(*f).store(1, cuda::memory_order_release),
          while (BlockAtomicRef(*f).load(cuda::memory_order_acquire) == 0))
PASSES_ON(tells_by_relaxed_atomic, AtomicRef(*f).store(1, cuda::memory_order_relaxed),
          while (AtomicRef(*f).load(cuda::memory_order_acquire) == 0))
PASSES_ON(tells_by_relaxed_count, atomicAdd(f, 1), while (load_acquire(f) == 0))
PASSES_ON(fences_behind_the_flag, store_volatile(f, 1); __threadfence(),
          while (load_volatile(f) == 0) {} __threadfence())
// Block 1 hears, and tells block 2 without having acquired or released anything.
KERNEL(overwrites_the_release) {
  INDEX;
  if (b == 0) {
    s[t] = x[t] + 1;
    __syncthreads();
    if (t == 0) store_release(f, 1);
  } else if (b == 1 && t == 0) {
    while (load_relaxed(f) != 1) {
    }
    store_relaxed(f, 2);
  } else if (b == 2) {
    if (t == 0) {
      while (load_relaxed(f) != 2) {
      }
      load_acquire(f);
    }
    __syncthreads();
    y[i] = s[t];
  }
}
KERNEL(tells_before_others_wrote) {
  INDEX;
  if (b == 0) {
    s[t] = x[t] + 1;  // and no barrier before thread 0 tells
    if (t == 0) store_release(f, 1);
  } else {
    if (t == 0) {
      while (load_acquire(f) == 0) {
      }
    }
    __syncthreads();
    y[i] = s[t];
  }
}
KERNEL(hears_in_one_warp) {
  INDEX;
  if (b == 0) {
    s[t] = x[t] + 1;
    __syncthreads();
    if (t == 0) store_release(f, 1);
  } else {
    if (t == 0) {
      while (load_acquire(f) == 0) {
      }
    }
    __syncwarp();  // and no barrier of the block
    y[i] = s[t];
  }
}
