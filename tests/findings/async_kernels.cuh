// Kernels about copies under way, phases of mbarriers, and blocks of one warp.

// --- Blocks of one warp ---
KERNEL one_warp_copies(float* y, const float* x) {
  INDEX;
  __shared__ float s[32];
  copy_async(s + t, x + i);
  commit_copies();
  wait_copies<0>();
  __syncwarp();
  y[i] = s[t ^ 1];
}
KERNEL one_warp_copies_never_waited_for(float* y, const float* x) {
  INDEX;
  __shared__ float s[32];
  s[t] = 0;
  copy_async(s + t, x + i);
  commit_copies();
  y[i] = s[t];
}
KERNEL one_warp_copies_one_group_short(float* y, const float* x) {
  INDEX;
  __shared__ float s[32];
  s[t] = 0;
  copy_async(s + t, x + i);
  commit_copies();
  wait_copies<1>();
  y[i] = s[t];
}
KERNEL one_warp_writes_under_copy(float* y, const float* x) {
  INDEX;
  __shared__ float s[32];
  copy_async(s + t, x + i);
  commit_copies();
  s[t] = 1;
  wait_copies<0>();
  y[i] = s[t];
}
template <bool Waits>
__device__ void load_bulk_by_one_warp(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[32];
  __shared__ unsigned long long full;
  s[t] = 0;
  if (t == 0) init_mbarrier(&full, 1);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (t == 0) copy_bulk(s, x, 128, &full);
  __syncwarp();
  if (Waits) wait_for(&full, 0);
  y[i] = s[t];
  if (!Waits) wait_for(&full, 0);
}
KERNEL one_warp_loads_bulk(float* y, const float* x) { load_bulk_by_one_warp<true>(y, x); }
KERNEL one_warp_reads_under_bulk(float* y, const float* x) { load_bulk_by_one_warp<false>(y, x); }
template <bool Waits>
__device__ void store_bulk_by_one_warp(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[32];
  s[t] = x[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (t == 0) {
    store_bulk(y + blockIdx.x * 32, s, 128);
    if (Waits) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
  __syncwarp();
  s[t] = 0;
}
KERNEL one_warp_stores_bulk(float* y, const float* x) { store_bulk_by_one_warp<true>(y, x); }
KERNEL one_warp_writes_under_bulk_store(float* y, const float* x) {
  store_bulk_by_one_warp<false>(y, x);
}
template <bool Syncs>
__device__ void swap_in_cluster_of_warps(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[32];
  s[t] = 0;
  cluster.sync();
  s[t] = x[i];
  if (Syncs) cluster.sync();
  const float v = *cluster.map_shared_rank(s + t, cluster.block_rank() ^ 1);
  cluster.sync();
  y[i] = v;
}
KERNEL one_warp_swaps_in_cluster(float* y, const float* x) {
  swap_in_cluster_of_warps<true>(y, x);
}
KERNEL one_warp_swaps_in_cluster_unordered(float* y, const float* x) {
  swap_in_cluster_of_warps<false>(y, x);
}

// --- Warps that exited ---
// The first warp fills the tile and leaves. Who waits for it, and how?
enum class Leaves { kUnasked, kAsksBefore, kAsksMbarrier, kMeetsAll };
template <Leaves Kind>
__device__ void fill_and_leave(float* y, const float* x) {
  INDEX;
  __shared__ float tile[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 32);
  tile[t] = 0;
  __syncthreads();
  if (t < 32) {
    for (int k = 0; k < 4; ++k) tile[t + 32 * k] = x[t + 32 * k];
    if (Kind == Leaves::kAsksBefore) leave_at(2, 128);
    if (Kind == Leaves::kAsksMbarrier) arrive_at(&full);
    return;
  }
  if (Kind == Leaves::kAsksBefore) meet(2, 128);
  if (Kind == Leaves::kAsksMbarrier) wait_for(&full, 0);
  if (Kind == Leaves::kMeetsAll) __syncthreads();
  meet(1, 96);
  y[i] = tile[t];
}
KERNEL leaves_unasked(float* y, const float* x) { fill_and_leave<Leaves::kUnasked>(y, x); }
KERNEL leaves_behind_arrival(float* y, const float* x) { fill_and_leave<Leaves::kAsksBefore>(y, x); }
KERNEL leaves_behind_mbarrier(float* y, const float* x) {
  fill_and_leave<Leaves::kAsksMbarrier>(y, x);
}
KERNEL leaves_and_others_meet(float* y, const float* x) { fill_and_leave<Leaves::kMeetsAll>(y, x); }
// A reader leaves, and the others write what it may still read.
KERNEL leaves_reading(float* y, const float* x) {
  INDEX;
  __shared__ float tile[128];
  tile[t] = x[i];
  __syncthreads();
  if (t < 32) {
    y[i] = tile[t + 96];
    return;
  }
  meet(1, 96);
  tile[t] = 0;
  meet(1, 96);
  y[i] = tile[t];
}

// --- Bytes that a phase awaits ---
// Two copies to one mbarrier, of which so many bytes were announced.
template <int Announced, bool First = true>
__device__ void announce(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  s[t] = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    if (First) expect_bytes(&full, Announced);
    send_bulk(s, x + blockIdx.x * 128, 256, &full);
    send_bulk(s + 64, x + blockIdx.x * 128 + 64, 256, &full);
    if (!First && Announced != 0) expect_bytes(&full, Announced);
    if (!First && Announced == 0) arrive_at(&full);
  }
  wait_for(&full, 0);
  y[i] = s[t];
}
KERNEL announces_all(float* y, const float* x) { announce<512>(y, x); }
KERNEL announces_all_afterwards(float* y, const float* x) { announce<512, false>(y, x); }
KERNEL announces_half(float* y, const float* x) { announce<256>(y, x); }
KERNEL announces_half_afterwards(float* y, const float* x) { announce<256, false>(y, x); }
KERNEL announces_nothing(float* y, const float* x) { announce<0, false>(y, x); }
// The copy of the second phase is announced in time, that of the first is not.
KERNEL announces_one_phase_late(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[2][128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  s[0][t] = s[1][t] = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 2; ++k) {
    if (t == 0) {
      if (k == 0) arrive_at(&full);
      send_bulk(s[k], x + blockIdx.x * 128, 512, &full);
      if (k == 1) expect_bytes(&full, 1024);
    }
    wait_for(&full, k);
    sum += s[k][t];
    __syncthreads();
  }
  y[i] = sum;
}

// --- Copies that overlap ---
KERNEL copies_twice(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  copy_async(s + t, x + i);
  copy_async(s + t, x + (i + 128) % 256);
  commit_copies();
  wait_copies<0>();
  __syncthreads();
  y[i] = s[t];
}
KERNEL copies_twice_in_groups(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  copy_async(s + t, x + i);
  commit_copies();
  copy_async(s + t, x + (i + 128) % 256);
  commit_copies();
  wait_copies<0>();
  __syncthreads();
  y[i] = s[t];
}
KERNEL copies_twice_waiting(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  copy_async(s + t, x + i);
  commit_copies();
  wait_copies<0>();
  copy_async(s + t, x + (i + 128) % 256);
  commit_copies();
  wait_copies<0>();
  __syncthreads();
  y[i] = s[t];
}
KERNEL copies_side_by_side(float* y, const float* x) {
  INDEX;
  __shared__ float s[2][128];
  for (int k = 0; k < 2; ++k) copy_async(&s[k][t], x + (i + 128 * k) % 256);
  commit_copies();
  wait_copies<0>();
  __syncthreads();
  y[i] = s[0][t ^ 64] + s[1][t];
}
template <int Apart>
__device__ void copy_bulk_twice(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[256];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  __syncthreads();
  if (t == 0) {
    expect_bytes(&full, 1024);
    send_bulk(s, x, 512, &full);
    send_bulk(s + Apart, x + 128, 512, &full);
  }
  wait_for(&full, 0);
  y[i] = s[t];
}
KERNEL copies_bulk_twice(float* y, const float* x) { copy_bulk_twice<0>(y, x); }
KERNEL copies_bulk_overlapping(float* y, const float* x) { copy_bulk_twice<124>(y, x); }
KERNEL copies_bulk_side_by_side(float* y, const float* x) { copy_bulk_twice<128>(y, x); }
KERNEL copies_bulk_twice_waiting(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  __syncthreads();
  for (int k = 0; k < 2; ++k) {
    if (t == 0) copy_bulk(s, x + 128 * k, 512, &full);
    wait_for(&full, k);
    __syncthreads();
  }
  y[i] = s[t];
}

// --- What threads write and the async proxy reads ---
__device__ void fence_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
enum class ProxyFence { kNone, kBeforeWrite, kByWriters, kByIssuer, kByOneWarp, kOnce };
template <ProxyFence Kind>
__device__ void store_out(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  for (int k = 0; k < 2; ++k) {
    if (Kind == ProxyFence::kBeforeWrite) fence_proxy();
    s[t] = x[i] + static_cast<float>(k);
    if (Kind == ProxyFence::kByWriters) fence_proxy();
    if (Kind == ProxyFence::kByOneWarp && t < 32) fence_proxy();
    if (Kind == ProxyFence::kOnce && k == 0) fence_proxy();
    __syncthreads();
    if (t == 0) {
      if (Kind == ProxyFence::kByIssuer) fence_proxy();
      store_bulk(y + blockIdx.x * 128, s, 512);
      asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
}
#define STORES_OUT(name, kind) \
  KERNEL name(float* y, const float* x) { store_out<ProxyFence::kind>(y, x); }
STORES_OUT(stores_out_unfenced, kNone)
STORES_OUT(stores_out_fenced_before_write, kBeforeWrite)
STORES_OUT(stores_out_fenced_by_one_warp, kByOneWarp)
STORES_OUT(stores_out_fenced_once, kOnce)
STORES_OUT(stores_out_fenced, kByWriters)
STORES_OUT(stores_out_fenced_by_issuer, kByIssuer)
template <bool Fences>
__device__ void store_out_by_one_warp(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[32];
  s[t] = x[i];
  if (Fences) fence_proxy();
  __syncwarp();
  if (t == 0) {
    store_bulk(y + blockIdx.x * 32, s, 128);
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
KERNEL one_warp_stores_out(float* y, const float* x) { store_out_by_one_warp<true>(y, x); }
KERNEL one_warp_stores_out_unfenced(float* y, const float* x) {
  store_out_by_one_warp<false>(y, x);
}
// What a copy brought, a copy takes away: both are of the async proxy.
KERNEL copies_in_and_out(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  __syncthreads();
  if (t == 0) {
    copy_bulk(s, x + blockIdx.x * 128, 512, &full);
    wait_for(&full, 0);
    store_bulk(y + blockIdx.x * 128, s, 512);
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
template <bool Fences>
__device__ void copy_to_other_block(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ alignas(16) float from[128];
  __shared__ alignas(16) float to[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  from[t] = x[i];
  if (Fences) fence_proxy();
  cluster.sync();
  if (t == 0) {
    expect_bytes(&full, 512);
    asm volatile(
        "{ .reg .b32 a, m; mapa.shared::cluster.u32 a, %0, %3; mapa.shared::cluster.u32 m, %2, %3;"
        " cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
        " [a], [%1], 512, [m]; }" ::"r"(address_of(to)),
        "r"(address_of(from)), "r"(address_of(&full)), "r"(cluster.block_rank() ^ 1)
        : "memory");
  }
  wait_for(&full, 0);
  y[i] = to[t];
  cluster.sync();
}
KERNEL cluster_copies(float* y, const float* x) { copy_to_other_block<true>(y, x); }
KERNEL cluster_copies_unfenced(float* y, const float* x) { copy_to_other_block<false>(y, x); }

// The phase ends with one of two copies, and may do so with the other one.
KERNEL announces_half_and_reads_it(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  s[t] = 0;
  fence_proxy();
  __syncthreads();
  if (t == 0) {
    expect_bytes(&full, 256);
    send_bulk(s, x + blockIdx.x * 128, 256, &full);
    send_bulk(s + 64, x + blockIdx.x * 128 + 64, 256, &full);
  }
  wait_for(&full, 0);
  y[i] = s[t % 64];
}

// --- What discard destroys ---
__device__ void discard_line(float* line) {
  asm volatile("discard.global.L2 [%0], 128;" ::"l"(line) : "memory");
}
KERNEL discards(float* y) {
  INDEX;
  if (t % 32 == 0) discard_line(y + i);
}
KERNEL discards_first(float* y) {
  INDEX;
  if (t % 32 == 0) discard_line(y + i);
  WAIT;
  __syncthreads();
  y[i] = 1;
}
KERNEL discards_behind_wait(float* y) {
  INDEX;
  WAIT;
  if (t % 32 == 0) discard_line(y + i);
  __syncthreads();
  y[i] = 1;
}
KERNEL discards_weight(float* y, float* w) {
  INDEX;
  y[i] = w[i];
  __syncthreads();
  if (t % 32 == 0) discard_line(w + i);
}
