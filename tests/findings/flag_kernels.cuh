// Kernels about flags, atomics and fences in shared memory, and who comes after whom by them.

__device__ void release_flag(unsigned* flag) {
  asm volatile("st.release.cta.u32 [%0], 1;" ::"l"(flag) : "memory");
}
__device__ bool acquire_flag(const unsigned* flag) {
  unsigned set;
  asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(set) : "l"(flag) : "memory");
  return set != 0;
}
__device__ void relax_flag(unsigned* flag) {
  asm volatile("st.relaxed.cta.u32 [%0], 1;" ::"l"(flag) : "memory");
}
__device__ bool look_at_flag(const unsigned* flag) {
  unsigned set;
  asm volatile("ld.relaxed.cta.u32 %0, [%1];" : "=r"(set) : "l"(flag) : "memory");
  return set != 0;
}

// --- Atomics on what is written beside them ---
template <int Writer, bool Syncs>
__device__ void count_from_zero(float* y, const float* x) {
  INDEX;
  __shared__ unsigned h;
  h = 0;
  __syncthreads();
  if (t == Writer) h = 0;
  if (Syncs) __syncthreads();
  atomicAdd(&h, 1);
  __syncthreads();
  y[i] = x[i] + static_cast<float>(h);
}
KERNEL counts_from_zero(float* y, const float* x) { count_from_zero<0, true>(y, x); }
KERNEL counts_unordered(float* y, const float* x) { count_from_zero<0, false>(y, x); }
KERNEL counts_unordered_by_last(float* y, const float* x) { count_from_zero<96, false>(y, x); }
KERNEL polls_unwritten_flag(float* y, const float* x) {
  INDEX;
  __shared__ unsigned flag;
  if (t == 0) flag = 0;  // and no barrier before others look
  if (t == 64) relax_flag(&flag);
  if (t == 0) look_at_flag(&flag);
  __syncthreads();
  y[i] = x[i];
}
template <bool Syncs>
__device__ void initialize_mbarrier(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 128);
  if (Syncs) __syncthreads();
  s[t] = x[i];
  arrive_at(&full);
  wait_for(&full, 0);
  y[i] = s[t ^ 64];
}
KERNEL initializes_mbarrier(float* y, const float* x) { initialize_mbarrier<true>(y, x); }
KERNEL initializes_mbarrier_unordered(float* y, const float* x) {
  initialize_mbarrier<false>(y, x);
}

// --- Flags ---
// Warp 0 writes and tells, warp 1 is told and reads.
enum class Tells {
  kReleases, kFences, kAdds, kRelaxed, kNoAcquire, kNoFenceBefore, kNoFenceBehind, kElsewhere,
  kElsewhereGlobal, kExchanges, kThroughAnother
};
__device__ unsigned global_counts[2];
template <Tells Kind>
__device__ void tell(float* y, const float* x) {
  INDEX;
  __shared__ float s[32];
  __shared__ unsigned flag, other;
  if (t == 0) flag = other = 0;
  if (t < 32) s[t] = 0;
  __syncthreads();
  if (t < 32) {
    s[t] = x[i];
    __syncwarp();
    if (t == 0) {
      switch (Kind) {
        case Tells::kReleases:
        case Tells::kNoAcquire:
        case Tells::kThroughAnother:
          release_flag(&flag);
          break;
        case Tells::kFences:
        case Tells::kNoFenceBehind:
          __threadfence_block();
          relax_flag(&flag);
          break;
        case Tells::kAdds:
          __threadfence_block();
          atomicAdd(&flag, 1);
          break;
        case Tells::kExchanges:
          asm volatile("{.reg .b32 o; atom.release.cta.exch.b32 o, [%0], 1;}" ::"l"(&flag)
                       : "memory");
          break;
        case Tells::kRelaxed:
        case Tells::kNoFenceBefore:
          relax_flag(&flag);
          break;
        case Tells::kElsewhere:
          __threadfence_block();
          atomicAdd(&other, 1);
          break;
        case Tells::kElsewhereGlobal:
          __threadfence();
          atomicAdd(&global_counts[0], 1);
          break;
      }
    }
  } else if (t < 64) {
    if (t == 32) {
      switch (Kind) {
        case Tells::kReleases:
          while (!acquire_flag(&flag)) {
          }
          break;
        case Tells::kFences:
        case Tells::kAdds:
        case Tells::kExchanges:
        case Tells::kNoFenceBefore:
          while (!look_at_flag(&flag)) {
          }
          __threadfence_block();
          break;
        case Tells::kRelaxed:
        case Tells::kNoAcquire:
        case Tells::kNoFenceBehind:
          while (!look_at_flag(&flag)) {
          }
          break;
        case Tells::kElsewhere:
          atomicAdd(&flag, 1);
          __threadfence_block();
          break;
        case Tells::kElsewhereGlobal:
          atomicAdd(&global_counts[1], 1);
          __threadfence();
          break;
        case Tells::kThroughAnother:  // warp 2 hears of it first
          while (!acquire_flag(&other)) {
          }
          break;
      }
    }
    __syncwarp();
    y[i] = s[t - 32];
  } else if (Kind == Tells::kThroughAnother && t == 64) {
    while (!acquire_flag(&flag)) {
    }
    release_flag(&other);
  }
}
#define TELLS(name, kind) \
  KERNEL name(float* y, const float* x) { tell<Tells::kind>(y, x); }
TELLS(tells_by_release, kReleases)
TELLS(tells_by_fences, kFences)
TELLS(tells_by_count, kAdds)
TELLS(tells_by_exchange, kExchanges)
TELLS(tells_through_another, kThroughAnother)
TELLS(tells_relaxed, kRelaxed)
TELLS(tells_without_acquire, kNoAcquire)
TELLS(tells_without_fence_before, kNoFenceBefore)
TELLS(tells_without_fence_behind, kNoFenceBehind)
TELLS(tells_elsewhere, kElsewhere)
TELLS(tells_elsewhere_global, kElsewhereGlobal)

// --- Two atomics that have nothing to do with each other, and no fence ---
KERNEL counts_apart(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  __shared__ unsigned mine, yours;
  if (t == 0) mine = yours = 0;
  s[t] = 0;
  __syncthreads();
  if (t < 32) {
    s[t] = x[i];
    atomicAdd(&mine, 1);
  } else if (t < 64) {
    atomicAdd(&yours, 1);
    y[i] = s[t - 32];
  }
}
KERNEL counts_apart_global(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = 0;
  __syncthreads();
  if (t < 32) {
    s[t] = x[i];
    atomicAdd(&global_counts[0], 1);
  } else if (t < 64) {
    atomicAdd(&global_counts[1], 1);
    y[i] = s[t - 32];
  }
}

// --- Clusters ---
// What an arrival that is relaxed leaves to a fence.
template <bool Releases, bool Fences>
__device__ void swap_by_arrival(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  cluster.sync();
  s[t] = x[i];
  if (Fences) asm volatile("fence.acq_rel.cluster;" ::: "memory");
  if (Releases) {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  } else {
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  }
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  const float v = *cluster.map_shared_rank(s + t, cluster.block_rank() ^ 1);
  cluster.sync();
  y[i] = v;
}
KERNEL cluster_arrives_releasing(float* y, const float* x) { swap_by_arrival<true, false>(y, x); }
KERNEL cluster_arrives_behind_fence(float* y, const float* x) { swap_by_arrival<false, true>(y, x); }
KERNEL cluster_arrives_relaxed(float* y, const float* x) { swap_by_arrival<false, false>(y, x); }
// An mbarrier for others of the cluster, made visible by its own fence and a relaxed arrival.
template <bool Fences>
__device__ void make_mbarrier_for_cluster(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  __shared__ unsigned long long full;
  if (t == 0) {
    init_mbarrier(&full, 128);
    if (Fences) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncwarp();
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  const unsigned other = cluster.block_rank() ^ 1;
  *cluster.map_shared_rank(s + t, other) = x[i];
  arrive_at_other(&full, other);
  wait_for(&full, 0);
  y[i] = s[t ^ 64];
  cluster.sync();
}
KERNEL cluster_makes_mbarrier(float* y, const float* x) { make_mbarrier_for_cluster<true>(y, x); }
KERNEL cluster_makes_mbarrier_unfenced(float* y, const float* x) {
  make_mbarrier_for_cluster<false>(y, x);
}

// --- Whether the other block has begun ---
__device__ void arrive_relaxed_at_cluster() {
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
__device__ void wait_for_cluster() {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
KERNEL cluster_stores_first(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  *cluster.map_shared_rank(s + t, cluster.block_rank() ^ 1) = x[i];
  cluster.sync();
  y[i] = s[t];
}
KERNEL cluster_reads_first(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  const float v = *cluster.map_shared_rank(s + t, cluster.block_rank() ^ 1);
  cluster.sync();
  s[t] = x[i];
  y[i] = v + s[t];
}
// The first warp alone waits at the cluster's barrier before all store.
template <bool Syncs>
__device__ void store_behind_one_warp(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  arrive_relaxed_at_cluster();
  if (t < 32) wait_for_cluster();
  if (Syncs) __syncthreads();
  *cluster.map_shared_rank(s + t, cluster.block_rank() ^ 1) = x[i];
  if (t >= 32) wait_for_cluster();
  cluster.sync();
  y[i] = s[t];
}
KERNEL cluster_stores_behind_one_warp(float* y, const float* x) {
  store_behind_one_warp<true>(y, x);
}
KERNEL cluster_stores_beside_one_warp(float* y, const float* x) {
  store_behind_one_warp<false>(y, x);
}
KERNEL cluster_stores_behind_barrier(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  arrive_relaxed_at_cluster();
  wait_for_cluster();
  *cluster.map_shared_rank(s + t, cluster.block_rank() ^ 1) = x[i];
  cluster.sync();
  y[i] = s[t];
}
