// Clusters of two blocks.

// --- Clusters of two blocks ---
KERNEL cluster_swaps(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  s[t] = x[i];
  cluster.sync();
  y[i] = *cluster.map_shared_rank(s + t, cluster.block_rank() ^ 1);
  cluster.sync();
}
KERNEL cluster_exits(float* y, const float* x, int rank) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  s[t] = x[i];
  cluster.sync();
  if (static_cast<int>(cluster.block_rank()) == rank) return;
  float sum = 0;
  for (int k = 0; k < 2000; ++k) sum += x[(i + k) % 256];
  __syncthreads();
  y[i] = sum + *cluster.map_shared_rank(s + t, rank);
}
KERNEL cluster_writes_late(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  s[t] = x[i];
  cluster.sync();
  y[i] = x[i];
  if (cluster.block_rank() == 1) return;
  float sum = 0;
  for (int k = 0; k < 2000; ++k) sum += x[(i + k) % 256];
  __syncthreads();
  *cluster.map_shared_rank(s + t, 1) = sum;
}

KERNEL cluster_swaps_and_leaves(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  s[t] = x[i];
  cluster.sync();
  y[i] = *cluster.map_shared_rank(s + t, cluster.block_rank() ^ 1);
}
KERNEL cluster_counts(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ int bins[16];
  if (t < 16) bins[t] = 0;
  cluster.sync();
  const int bin = static_cast<int>(x[i]) % 32;
  atomicAdd(cluster.map_shared_rank(bins + bin % 16, bin / 16), 1);
  cluster.sync();
  if (t < 16) y[blockIdx.x * 16 + t] = static_cast<float>(bins[t]);
}
KERNEL cluster_tells_when_done(float* y, const float* x) {
  // The reader tells the owner by an atomic that it is done; a second barrier is not needed.
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  __shared__ int done;
  if (t == 0) done = 0;
  s[t] = x[i];
  cluster.sync();
  const unsigned other = cluster.block_rank() ^ 1;
  y[i] = *cluster.map_shared_rank(s + t, other);
  __threadfence();
  atomicAdd(cluster.map_shared_rank(&done, other), 1);
  if (t == 0) {
    while (atomicAdd(&done, 0) != 128) {
    }
  }
  __syncthreads();
}

KERNEL cluster_swaps_unordered(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  s[t] = 0;
  cluster.sync();
  s[t] = x[i];
  __syncthreads();  // orders this block alone
  y[i] = *cluster.map_shared_rank(s + t, cluster.block_rank() ^ 1);
  cluster.sync();
}
KERNEL cluster_all_write(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  s[t] = 0;
  cluster.sync();
  *cluster.map_shared_rank(s + t, 0) = x[i];
  cluster.sync();
  y[i] = s[t];
}
template <bool Syncs>
__device__ void cluster_reuse(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    s[t] = x[i] + static_cast<float>(k);
    cluster.sync();
    sum += *cluster.map_shared_rank(s + t, cluster.block_rank() ^ 1);
    if (Syncs) cluster.sync();
  }
  cluster.sync();
  y[i] = sum;
}
KERNEL cluster_reuses(float* y, const float* x) { cluster_reuse<true>(y, x); }
KERNEL cluster_reuses_unordered(float* y, const float* x) { cluster_reuse<false>(y, x); }
KERNEL cluster_sends(float* y, const float* x) {
  INDEX;  // each writes into the other block's memory, and tells its mbarrier
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 128);
  cluster.sync();
  const unsigned other = cluster.block_rank() ^ 1;
  *cluster.map_shared_rank(s + t, other) = x[i];
  asm volatile(
      "{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1;"
      " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a]; }" ::"r"(address_of(&full)),
      "r"(other)
      : "memory");
  wait_for(&full, 0);
  y[i] = s[t ^ 64];
  cluster.sync();
}

// Values go round through the other block's memory. With one stage the sender may overwrite what is
// still read; with two it asks whether the stage is free.
__device__ void arrive_at_other(unsigned long long* mbarrier, unsigned rank) {
  asm volatile(
      "{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1;"
      " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a]; }" ::"r"(address_of(mbarrier)),
      "r"(rank)
      : "memory");
}
template <int Stages>
__device__ void send_round(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[Stages][128];
  __shared__ unsigned long long full[2], empty[2];
  if (t < 2) {
    init_mbarrier(&full[t], 128);
    init_mbarrier(&empty[t], 128);
  }
  cluster.sync();
  const unsigned other = cluster.block_rank() ^ 1;
  float v = x[i], sum = 0;
  for (int k = 0; k < 6; ++k) {
    const int stage = k & 1;
    if (Stages == 2 && k >= 2) wait_for(&empty[stage], (k / 2 - 1) & 1);
    *cluster.map_shared_rank(&s[k % Stages][t], other) = v;
    arrive_at_other(&full[stage], other);
    wait_for(&full[stage], (k / 2) & 1);
    v = s[k % Stages][127 - t];
    sum += v;
    arrive_at_other(&empty[stage], other);
  }
  y[i] = sum;
  cluster.sync();
}
KERNEL cluster_sends_round(float* y, const float* x) { send_round<2>(y, x); }
KERNEL cluster_sends_round_unasked(float* y, const float* x) { send_round<1>(y, x); }

// --- A grid's own barrier ---
KERNEL grid_syncs(float* y, const float* x) {
  INDEX;
  y[i] = x[i];
  cooperative_groups::this_grid().sync();
  const float v = y[255 - i];
  cooperative_groups::this_grid().sync();
  y[i] = v;
}
