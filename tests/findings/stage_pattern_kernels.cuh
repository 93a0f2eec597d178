// Patterns of staged copies, phases, matrices and clusters, each right and with one order missing.
// PAIR is that of pattern_kernels.cuh.

__device__ unsigned address_in_block(const void* shared, unsigned rank) {
  unsigned address;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(address_of(shared)), "r"(rank));
  return address;
}
__device__ void arrive_in_block(unsigned long long* mbarrier, unsigned rank) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                   address_in_block(mbarrier, rank))
               : "memory");
}
__device__ void wait_for_cluster(unsigned long long* mbarrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; "
      "@!p bra again; }" ::"r"(address_of(mbarrier)),
      "r"(parity)
      : "memory");
}

// --- Phases of mbarriers ---
// A fresh mbarrier lets go at once who waits for the phase before its first one.
template <bool Right>
__device__ void wait_for_first_phase(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  s[t] = 0;
  if (t == 0) init_mbarrier(&full, 1);
  fence_proxy();
  __syncthreads();
  if (t == 0) copy_bulk(s, x + blockIdx.x * 128, 512, &full);
  wait_for(&full, Right ? 0 : 1);
  y[i] = s[127 - t];
  __syncthreads();
  wait_for(&full, 0);
}
PAIR(waits_for_first_phase, waits_for_phase_before_first, wait_for_first_phase)
// Three warps arrive where two are expected: the phase ends without the last one.
template <bool Right>
__device__ void expect_arrivals(float* y, const float* x) {
  INDEX;
  __shared__ float s[96];
  __shared__ unsigned long long full;
  if (t < 96) s[t] = 0;
  if (t == 0) init_mbarrier(&full, Right ? 96 : 64);
  __syncthreads();
  if (t < 96) {
    s[t] = x[i];
    arrive_at(&full);
  } else {
    wait_for(&full, 0);
    y[i] = s[t - 96] + s[t - 64] + s[t - 32];
  }
}
PAIR(expects_all_arrivals, expects_too_few_arrivals, expect_arrivals)
// A warp that drops out of an mbarrier has to be done with the data.
template <bool Right>
__device__ void drop_out(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  __shared__ unsigned long long full;
  s[t] = 0;
  if (t == 0) init_mbarrier(&full, 128);
  __syncthreads();
  if (t < 96) {
    arrive_at(&full);
    wait_for(&full, 0);
    y[i] = s[t + 32] + s[96 + t % 32];
  } else {
    if (Right) s[t] = x[i];
    unsigned long long state;
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
                 : "=l"(state)
                 : "r"(address_of(&full))
                 : "memory");
    if (!Right) s[t] = x[i];
  }
}
PAIR(drops_out, drops_out_before_it_writes, drop_out)

// --- Matrices, and parts of warps ---
// A warp loads the matrix that the next warp wrote.
template <bool Right>
__device__ void load_matrix(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[4][32];
  s[t / 32][t % 32] = 0;
  __syncthreads();
  s[t / 32][t % 32] = x[i];
  Right ? __syncthreads() : __syncwarp();
  unsigned v;
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(v)
               : "r"(address_of(&s[(t / 32 + 1) % 4][t % 8 * 4]))
               : "memory");
  y[i] = __uint_as_float(v);
}
PAIR(loads_matrix, loads_matrix_of_other_warp, load_matrix)
template <bool Right>
__device__ void store_matrix(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[4][32];
  s[t / 32][t % 32] = 0;
  __syncthreads();
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(
                   address_of(&s[t / 32][t % 8 * 4])),
               "r"(__float_as_uint(x[i] + 1))
               : "memory");
  Right ? __syncthreads() : __syncwarp();
  y[i] = s[(t / 32 + 3) % 4][t % 32];
}
PAIR(stores_matrix, stores_matrix_for_other_warp, store_matrix)
// The lower half of a warp tells the upper one nothing by a barrier of its own.
template <bool Right>
__device__ void sync_part_of_warp(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = 0;
  __syncthreads();
  if (t % 32 < 16) {
    s[t] = x[i] + 1;
    if (!Right) __syncwarp(0xffff);
  }
  if (Right) __syncwarp();
  y[i] = t % 32 < 16 ? 0 : s[t - 16];
}
PAIR(syncs_whole_warp, syncs_half_of_warp, sync_part_of_warp)
// Tiles of 16 lanes exchange with the tile beside them.
template <bool Right>
__device__ void exchange_between_tiles(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  __shared__ float s[128];
  s[t] = x[i];
  cg::tiled_partition<Right ? 32 : 16>(cg::this_thread_block()).sync();
  y[i] = s[t ^ 16];
}
PAIR(exchanges_in_tiles, exchanges_between_tiles, exchange_between_tiles)
// A vote of the block is a barrier, a vote of a warp is none.
template <bool Right>
__device__ void vote(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = 0;
  __syncthreads();
  s[t] = x[i];
  const int any = Right ? __syncthreads_or(x[i] > 3) : __any_sync(~0u, x[i] > 3);
  y[i] = s[t ^ 64] + static_cast<float>(any);
}
PAIR(votes_in_block, votes_in_warps, vote)
// The first warp to come makes a table for all.
template <bool Right>
__device__ void make_once_in_block(float* y, const float* x) {
  INDEX;
  __shared__ unsigned claimed, made;
  __shared__ float table;
  if (t == 0) claimed = made = 0;
  __syncthreads();
  if (t % 32 != 0) return;
  if (atomicCAS(&claimed, 0, 1) == 0) {
    table = x[5] + 1;
    Right ? release_flag(&made) : relax_flag(&made);
  } else {
    while (!acquire_flag(&made)) {
    }
  }
  y[i] = table;
}
PAIR(warps_make_once, warps_make_once_relaxed, make_once_in_block)

// --- Copies ---
// Who waits for a copy orders others by a barrier after that wait, not before it.
template <bool Right>
__device__ void wait_and_meet(float* y, const float* x) {
  INDEX;
  __shared__ float s[2][128];
  s[0][t] = s[1][t] = 0;
  __syncthreads();
  float sum = 0;
  copy_async(&s[0][t], x + i);
  commit_copies();
  for (int k = 0; k < 3; ++k) {
    if (!Right) __syncthreads();
    wait_copies<0>();
    if (Right) __syncthreads();
    sum += s[k & 1][127 - t];
    __syncthreads();
    copy_async(&s[(k + 1) & 1][t], x + i);
    commit_copies();
  }
  wait_copies<0>();
  y[i] = sum;
}
PAIR(waits_and_meets, meets_and_waits, wait_and_meet)
// A bulk copy adds to global memory, and its source is used again.
template <bool Right>
__device__ void add_in_bulk(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  for (int k = 0; k < 2; ++k) {
    s[t] = x[i];
    fence_proxy();
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 512;" ::
                       "l"(y + blockIdx.x * 128),
                   "r"(address_of(s))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      if (Right) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
PAIR(adds_in_bulk, adds_in_bulk_and_overwrites, add_in_bulk)

// --- Clusters of two blocks ---
// A block sends words to the other one, whose mbarrier tells that they are there.
template <bool Right>
__device__ void send_words(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ alignas(16) float in[128];
  __shared__ unsigned long long full;
  in[t] = 0;
  if (t == 0) {
    init_mbarrier(&full, 1);
    expect_bytes(&full, 512);
  }
  cluster.sync();
  const unsigned other = cluster.block_rank() ^ 1;
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::
                   "r"(address_in_block(in + t, other)),
               "r"(__float_as_uint(x[i])), "r"(address_in_block(&full, other))
               : "memory");
  if (Right) wait_for(&full, 0);
  y[i] = in[127 - t];
  wait_for(&full, 0);
  cluster.sync();
}
PAIR(cluster_sends_words, cluster_reads_words_under_way, send_words)
template <bool Right>
__device__ void count_at_distance(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ unsigned sum;
  __shared__ unsigned long long full;
  if (t == 0) {
    sum = 0;
    init_mbarrier(&full, 1);
    expect_bytes(&full, 512);
  }
  cluster.sync();
  const unsigned other = cluster.block_rank() ^ 1;
  asm volatile(
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, "
      "[%2];" ::"r"(address_in_block(&sum, other)),
      "r"(static_cast<unsigned>(x[i]) + 1), "r"(address_in_block(&full, other))
      : "memory");
  if (Right) wait_for(&full, 0);
  y[i] = static_cast<float>(sum);
  wait_for(&full, 0);
  cluster.sync();
}
PAIR(cluster_counts_at_distance, cluster_reads_count_under_way, count_at_distance)
// The first block loads for both, into a buffer that both have to be done with.
template <bool Right>
__device__ void load_for_both(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  __shared__ alignas(128) float s[128];
  __shared__ unsigned long long full[3], empty;
  if (t == 0) {
    init_mbarrier(&empty, Right ? 2 : 1);
    for (unsigned long long& one : full) {
      init_mbarrier(&one, 1);
      expect_bytes(&one, 512);
    }
  }
  cluster.sync();
  float sum = 0;
  for (int k = 0; k < 3; ++k) {
    if (rank == 0 && t == 0) {
      if (k != 0) wait_for_cluster(&empty, (k - 1) & 1);
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
          "[%0], [%1], 512, [%2], 3;" ::"r"(address_of(s)),
          "l"(x + k * 32), "r"(address_of(&full[k]))
          : "memory");
    }
    wait_for(&full[k], 0);
    sum += s[127 - t];
    __syncthreads();
    if (t == 0 && (Right || rank == 0)) arrive_in_block(&empty, 0);
  }
  y[i] = sum;
  cluster.sync();
}
PAIR(cluster_loads_for_both, cluster_loads_over_other, load_for_both)
// A bulk copy into the other block reads its source until that block has it.
template <bool Right>
__device__ void send_in_bulk(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ alignas(16) float s[128], in[128];
  __shared__ unsigned long long full;
  s[t] = x[i];
  if (t == 0) {
    init_mbarrier(&full, 1);
    expect_bytes(&full, 512);
  }
  fence_proxy();
  cluster.sync();
  const unsigned other = cluster.block_rank() ^ 1;
  if (t == 0) {
    asm volatile(
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 512, "
        "[%2];" ::"r"(address_in_block(in, other)),
        "r"(address_of(s)), "r"(address_in_block(&full, other))
        : "memory");
  }
  wait_for(&full, 0);
  if (Right) cluster.sync();
  s[t] = 0;
  y[i] = in[127 - t] + s[t];
  cluster.sync();
}
PAIR(cluster_sends_in_bulk, cluster_overwrites_what_is_sent, send_in_bulk)
// What is written between the arrival at the cluster's barrier and the wait belongs to the next turn.
template <bool Right>
__device__ void split_cluster_barrier(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  s[t] = 0;
  cluster.sync();
  if (Right) s[t] = x[i];
  asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
  if (!Right) s[t] = x[i];
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  y[i] = *cluster.map_shared_rank(s + t, cluster.block_rank() ^ 1);
  cluster.sync();
}
PAIR(cluster_writes_and_arrives, cluster_arrives_and_writes, split_cluster_barrier)
// A flag in the other block's memory needs the scope of the cluster.
template <bool Right>
__device__ void tell_other_block(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float value;
  __shared__ unsigned told;
  if (t == 0) {
    value = 0;
    told = 0;
  }
  cluster.sync();
  if (t == 0 && cluster.block_rank() == 0) {
    *cluster.map_shared_rank(&value, 1) = x[5] + 1;
    unsigned* const flag = cluster.map_shared_rank(&told, 1);
    if (Right) asm volatile("st.release.cluster.u32 [%0], 1;" ::"l"(flag) : "memory");
    if (!Right) {
      __threadfence_block();
      asm volatile("st.relaxed.cluster.u32 [%0], 1;" ::"l"(flag) : "memory");
    }
  } else if (t == 0) {
    unsigned set = 0;
    while (set == 0) {
      asm volatile("ld.acquire.cluster.u32 %0, [%1];" : "=r"(set) : "l"(&told) : "memory");
    }
    y[i] = value;
  }
  cluster.sync();
}
PAIR(cluster_tells_other_block, cluster_tells_with_block_fence, tell_other_block)
