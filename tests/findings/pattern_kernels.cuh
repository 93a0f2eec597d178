// Patterns of real kernels, each right and with one order missing.

#define PAIR(right, wrong, pattern)                                 \
  KERNEL right(float* y, const float* x) { pattern<true>(y, x); }   \
  KERNEL wrong(float* y, const float* x) { pattern<false>(y, x); }

template <bool Right>
__device__ void block_sync() {
  if (Right) __syncthreads();
}

// --- Scans, sorts and sums ---
// Hillis and Steele: each step reads what the step before wrote.
template <bool Right>
__device__ void scan_in_steps(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = x[i];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    const float before = t >= d ? s[t - d] : 0;
    block_sync<Right>();
    s[t] += before;
    __syncthreads();
  }
  y[i] = s[t];
}
PAIR(scans_in_steps, scans_in_steps_at_once, scan_in_steps)
// Blelloch: up the tree and down again.
template <bool Right>
__device__ void scan_by_tree(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = x[i];
  for (int d = 1; d < 128; d *= 2) {
    __syncthreads();
    const int at = (t + 1) * 2 * d - 1;
    if (at < 128) s[at] += s[at - d];
  }
  block_sync<Right>();
  if (t == 127) s[127] = 0;
  for (int d = 64; d > 0; d /= 2) {
    __syncthreads();
    const int at = (t + 1) * 2 * d - 1;
    if (at < 128) {
      const float left = s[at - d];
      s[at - d] = s[at];
      s[at] += left;
    }
  }
  __syncthreads();
  y[i] = s[t];
}
PAIR(scans_by_tree, scans_by_tree_clearing_early, scan_by_tree)
template <bool Right>
__device__ void sort_bitonic(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = -x[i];
  __syncthreads();
  for (int k = 2; k <= 128; k *= 2) {
    for (int j = k / 2; j > 0; j /= 2) {
      const int other = t ^ j;
      if (other > t && ((s[t] > s[other]) == ((t & k) == 0))) {
        const float mine = s[t];
        s[t] = s[other];
        s[other] = mine;
      }
      if (Right || j != 64) __syncthreads();
    }
  }
  __syncthreads();
  y[i] = s[t];
}
PAIR(sorts_bitonic, sorts_bitonic_without_last_barrier, sort_bitonic)
// Positions by a vote in each warp and the counts of the warps before.
template <bool Right>
__device__ void compact(float* y, const float* x) {
  INDEX;
  __shared__ int counts[4];
  if (t < 4) counts[t] = 0;
  __syncthreads();
  const unsigned votes = __ballot_sync(~0u, x[i] > 5);
  if (t % 32 == 0) counts[t / 32] = __popc(votes) + 100;
  block_sync<Right>();
  int at = __popc(votes & ((1u << t % 32) - 1));
  for (int k = 0; k < t / 32; ++k) at += counts[k];
  y[i] = static_cast<float>(at);
}
PAIR(compacts, compacts_unordered, compact)
// Digits of two passes are counted in the same bins.
template <bool Right>
__device__ void count_digits(float* y, const float* x) {
  INDEX;
  __shared__ int bins[16];
  float sum = 0;
  for (int pass = 0; pass < 2; ++pass) {
    if (t < 16) bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[(static_cast<int>(x[i]) >> pass) % 16], 1);
    __syncthreads();
    sum += static_cast<float>(bins[t % 16]);
    block_sync<Right>();
  }
  y[i] = sum;
}
PAIR(counts_digits, counts_digits_clearing_early, count_digits)
// A histogram for each warp, merged by the first warp.
template <bool Right>
__device__ void merge_histograms(float* y, const float* x) {
  INDEX;
  __shared__ int bins[4][32];
  bins[t / 32][t % 32] = 0;
  __syncthreads();
  atomicAdd(&bins[t / 32][static_cast<int>(x[i]) % 32], 1);
  block_sync<Right>();
  if (t < 32) y[i] = static_cast<float>(bins[0][t] + bins[1][t] + bins[2][t] + bins[3][t]);
}
PAIR(merges_histograms, merges_histograms_early, merge_histograms)
// The first warp sums what each warp left.
template <bool Right>
__device__ void sum_by_first_warp(float* y, const float* x) {
  INDEX;
  __shared__ float sums[4];
  float v = x[i] + 1;
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
  if (t < 4) sums[t] = 0;
  __syncthreads();
  if (t % 32 == 0) sums[t / 32] = v;
  block_sync<Right>();
  if (t < 32) {
    float all = t < 4 ? sums[t] : 0;
    for (int d = 2; d > 0; d /= 2) all += __shfl_xor_sync(~0u, all, d);
    if (t == 0) y[blockIdx.x] = all;
  }
}
PAIR(sums_by_first_warp, sums_by_first_warp_early, sum_by_first_warp)
// The maximum and the sum of a softmax pass through one word.
template <bool Right>
__device__ void soften(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  __shared__ float result;
  s[t] = x[i];
  __syncthreads();
  if (t == 0) {
    float most = s[0];
    for (int k = 1; k < 128; ++k) most = max(most, s[k]);
    result = most;
  }
  __syncthreads();
  const float e = __expf(x[i] - result);
  block_sync<Right>();
  s[t] = e;
  __syncthreads();
  if (t == 0) {
    float sum = 0;
    for (int k = 0; k < 128; ++k) sum += s[k];
    if (!Right) result = sum;
    s[0] = sum;
  }
  if (Right) __syncthreads();
  y[i] = Right ? e / s[0] : e / result;
}
PAIR(softens, softens_in_one_word, soften)

// --- Tiles ---
template <bool Right>
__device__ void transpose(float* y, const float* x) {
  INDEX;
  __shared__ float tile[8][17];
  tile[t / 16][t % 16] = 0;
  __syncthreads();
  tile[t / 16][t % 16] = x[i];
  block_sync<Right>();
  y[i] = tile[t % 8][t / 8];
}
PAIR(transposes, transposes_unordered, transpose)
// A stencil, whose halo the last warp loads.
template <bool Right>
__device__ void blur(float* y, const float* x) {
  INDEX;
  __shared__ float s[130];
  s[t + 1] = 0;
  if (t == 127) s[0] = s[129] = 0;
  __syncthreads();
  s[t + 1] = x[i];
  if (t == 127) s[0] = s[129] = x[0];
  block_sync<Right>();
  y[i] = s[t] + s[t + 1] + s[t + 2];
}
PAIR(blurs, blurs_unordered, blur)
// A product's tiles along k: the barrier after the use of a tile.
template <bool Right>
__device__ void multiply_tiles(float* y, const float* x) {
  INDEX;
  __shared__ float a[128], b[128];
  float sum = 0;
  for (int k = 0; k < 3; ++k) {
    a[t] = x[(i + k) % 256];
    b[t] = x[(i + 2 * k) % 256];
    __syncthreads();
    for (int j = 0; j < 8; ++j) sum += a[t / 8 * 8 + j] * b[j * 16 + t % 16];
    block_sync<Right>();
  }
  y[i] = sum;
}
PAIR(multiplies_tiles, multiplies_tiles_over_readers, multiply_tiles)
// A row is subtracted from all others, and then the next one.
template <bool Right>
__device__ void eliminate(float* y, const float* x) {
  INDEX;
  __shared__ float m[8][16];
  const int row = t / 16, column = t % 16;
  m[row][column] = x[i] + 1;
  for (int pivot = 0; pivot < 3; ++pivot) {
    __syncthreads();
    const float change = m[pivot][column] / m[pivot][pivot] * m[row][pivot];
    block_sync<Right>();
    if (row != pivot) m[row][column] -= change;
  }
  __syncthreads();
  y[i] = m[row][column];
}
PAIR(eliminates, eliminates_under_readers, eliminate)
// Two arrays of different phases share their memory.
template <bool Right>
__device__ void reuse_memory(float* y, const float* x) {
  INDEX;
  __shared__ union {
    float words[128];
    float4 vectors[32];
  } s;
  s.words[t] = x[i];
  __syncthreads();
  const float v = s.words[t ^ 32];
  block_sync<Right>();
  if (t < 32) s.vectors[t] = make_float4(v, v, v, 1);
  __syncthreads();
  y[i] = v + s.vectors[t % 32].w;
}
PAIR(reuses_memory, reuses_memory_too_early, reuse_memory)
// Three buffers in turn need a barrier a turn; two after one of them do not suffice.
template <bool Right>
__device__ void turn_buffers(float* y, const float* x) {
  INDEX;
  constexpr int kBuffers = Right ? 3 : 1;
  __shared__ float s[kBuffers][128];
  s[0][t] = x[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 5; ++k) {
    s[(k + 1) % kBuffers][t] = x[(i + k) % 256];
    sum += s[k % kBuffers][127 - t];
    __syncthreads();
  }
  y[i] = sum;
}
PAIR(turns_buffers, turns_too_few_buffers, turn_buffers)

// --- Work handed out in the block ---
// Thread 0 takes the next tile for all.
template <bool Right>
__device__ void hand_out_tiles(float* y, const float* x) {
  INDEX;
  __shared__ int next;
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    if (t == 0) next = k * 5 + 1;
    __syncthreads();
    sum += x[(i + next) % 256];
    block_sync<Right>();
  }
  y[i] = sum;
}
PAIR(hands_out_tiles, hands_out_tiles_too_early, hand_out_tiles)
// All ask whether any one has more to do.
template <bool Right>
__device__ void repeat_until_done(float* y, const float* x) {
  INDEX;
  __shared__ int goes_on;
  int left = static_cast<int>(x[i]) % 4, turns = 0;
  for (;;) {
    if (t == 0) goes_on = 0;
    __syncthreads();
    if (left > 0) goes_on = 1;
    __syncthreads();
    if (goes_on == 0) break;
    --left;
    ++turns;
    block_sync<Right>();
  }
  y[i] = static_cast<float>(turns);
}
PAIR(repeats_until_done, repeats_and_clears_early, repeat_until_done)
// A stack whose top is atomic: what was pushed is popped after a barrier.
template <bool Right>
__device__ void push_and_pop(float* y, const float* x) {
  INDEX;
  __shared__ int top;
  __shared__ float items[128];
  if (t == 0) top = 0;
  items[t] = 0;
  __syncthreads();
  items[atomicAdd(&top, 1)] = x[i] + 1;
  block_sync<Right>();
  y[i] = items[127 - t];
}
PAIR(pushes_and_pops, pops_what_is_pushed, push_and_pop)
// A warp's lanes turn a small matrix, several times.
template <bool Right>
__device__ void turn_in_warp(float* y, const float* x) {
  INDEX;
  __shared__ float s[4][32];
  float v = x[i];
  float* const mine = s[t / 32];
  for (int k = 0; k < 3; ++k) {
    mine[t % 32] = v;
    __syncwarp();
    v = mine[t % 32 * 5 % 32] + 1;
    if (Right) __syncwarp();
  }
  y[i] = v;
}
PAIR(turns_in_warp, turns_in_warp_over_readers, turn_in_warp)
// The producers' barrier has to count the consumers, too.
template <bool Right>
__device__ void pass_halves(float* y, const float* x) {
  INDEX;
  __shared__ float s[64];
  if (t < 64) s[t] = 0;
  __syncthreads();
  if (t < 64) {
    s[t] = x[i];
    if (Right) leave_at(1, 128);
    if (!Right) meet(2, 64);
  } else {
    meet(1, Right ? 128 : 64);
    y[i] = s[127 - t];
  }
}
PAIR(passes_halves, passes_halves_apart, pass_halves)

// --- mbarriers ---
// A ring of two stages that threads fill themselves.
template <bool Right>
__device__ void fill_ring(float* y, const float* x) {
  INDEX;
  __shared__ float s[2][64];
  __shared__ unsigned long long full[2], empty[2];
  if (t < 2) {
    init_mbarrier(&full[t], 64);
    init_mbarrier(&empty[t], 64);
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 6; ++k) {
    const int stage = k & 1;
    const unsigned parity = (k / 2) & 1;
    if (t < 64) {
      if (k >= 2) wait_for(&empty[stage], parity ^ 1);
      s[stage][t] = x[(i + k) % 256];
      arrive_at(&full[stage]);
    } else {
      wait_for(&full[stage], parity);
      if (!Right) arrive_at(&empty[stage]);
      sum += s[stage][127 - t];
      if (Right) arrive_at(&empty[stage]);
    }
  }
  y[i] = sum;
}
PAIR(fills_ring, fills_ring_released_early, fill_ring)
// cp.async three stages deep.
template <bool Right>
__device__ void copy_three_stages(float* y, const float* x) {
  INDEX;
  __shared__ float s[3][128];
  for (int k = 0; k < 3; ++k) s[k][t] = 0;
  __syncthreads();
  for (int k = 0; k < 2; ++k) {
    copy_async(&s[k][t], x + i);
    commit_copies();
  }
  float sum = 0;
  for (int k = 0; k < 6; ++k) {
    wait_copies<Right ? 1 : 2>();
    __syncthreads();
    copy_async(&s[(k + 2) % 3][t], x + i);
    commit_copies();
    sum += s[k % 3][t ^ 64];
  }
  wait_copies<0>();
  y[i] = sum;
}
PAIR(copies_three_stages, copies_three_stages_short, copy_three_stages)
// Bulk stores out of two buffers, of which at most one may still be read.
template <bool Right>
__device__ void store_two_stages(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[2][128];
  for (int k = 0; k < 4; ++k) {
    s[k & 1][t] = x[i] + static_cast<float>(k);
    fence_proxy();
    __syncthreads();
    if (t == 0) {
      store_bulk(y + blockIdx.x * 128 + k * 32, s[k & 1], 128);
      asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Right ? 1 : 2) : "memory");
    }
    __syncthreads();
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
PAIR(stores_two_stages, stores_two_stages_short, store_two_stages)
// The rest of a tile that a copy does not fill is cleared by threads.
template <bool Right>
__device__ void fill_the_rest(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  __syncthreads();
  if (t == 0) copy_bulk(s, x + blockIdx.x * 128, 256, &full);
  if (t >= (Right ? 64 : 60)) s[t] = 0;
  wait_for(&full, 0);
  __syncthreads();
  y[i] = s[127 - t];
}
PAIR(fills_the_rest, fills_more_than_the_rest, fill_the_rest)

// --- Clusters of two blocks ---
template <bool Right>
__device__ void sum_in_cluster(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float sum;
  if (t == 0) sum = 0;
  cluster.sync();
  atomicAdd(cluster.map_shared_rank(&sum, 0), x[i]);
  if (Right) cluster.sync();
  y[i] = *cluster.map_shared_rank(&sum, 0);
  cluster.sync();
}
PAIR(cluster_sums, cluster_sums_early, sum_in_cluster)
template <bool Right>
__device__ void exchange_halos(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float s[128];
  s[t] = x[i];
  cluster.sync();
  float* const other = cluster.map_shared_rank(s, cluster.block_rank() ^ 1);
  const float halo = t < 8 ? other[120 + t] : s[t - 8];
  if (Right) cluster.sync();
  s[t] = halo + 1;
  cluster.sync();
  y[i] = s[127 - t];
}
PAIR(cluster_exchanges_halos, cluster_exchanges_halos_in_place, exchange_halos)

// --- Roles, queues and loops of one block ---
// A loader warp and three that compute, by two named barriers.
template <bool Right>
__device__ void load_by_role(float* y, const float* x) {
  INDEX;
  __shared__ float s[96];
  float sum = 0;
  for (int k = 0; k < 3; ++k) {
    if (t < 32) {
      if (k != 0 && Right) meet(2, 128);
      for (int e = t; e < 96; e += 32) s[e] = x[(e + k) % 256];
      meet(1, 128);
    } else {
      meet(1, 128);
      sum += s[127 - t];
      if (k != 2 && Right) leave_at(2, 128);
    }
  }
  y[i] = sum;
}
PAIR(loads_by_role, loads_by_role_unasked, load_by_role)
// Attention: the running maximum and sum of a row are rescaled by one warp for all.
template <bool Right>
__device__ void rescale(float* y, const float* x) {
  INDEX;
  __shared__ float most[4], sum[4];
  if (t < 4) most[t] = sum[t] = 0;
  __syncthreads();
  float all = 0;
  for (int k = 0; k < 3; ++k) {
    if (t < 4) {
      most[t] = max(most[t], x[(i + k) % 256]);
      sum[t] += most[t] + 1;
    }
    block_sync<Right>();
    all += most[t % 4] * sum[t % 4];
    __syncthreads();
  }
  y[i] = all;
}
PAIR(rescales, rescales_beside_readers, rescale)
// Warps take tickets, and work through a list that the block made.
template <bool Right>
__device__ void take_from_list(float* y, const float* x) {
  INDEX;
  __shared__ int ticket;
  __shared__ float list[32];
  if (t == 0) ticket = 0;
  if (t < 32) list[t] = 0;
  __syncthreads();
  if (t >= 96) list[t - 96] = x[i] + 1;
  block_sync<Right>();
  for (;;) {
    int mine = t % 32 == 0 ? atomicAdd(&ticket, 1) : 0;
    mine = __shfl_sync(~0u, mine, 0);
    if (mine >= 4) break;
    y[blockIdx.x * 128 + mine * 32 + t % 32] = list[mine];
  }
}
PAIR(takes_from_list, takes_from_list_unmade, take_from_list)
// A flag for each warp: a warp reads what the warp before it told.
template <bool Right>
__device__ void pass_through_warps(float* y, const float* x) {
  INDEX;
  __shared__ float sums[4];
  __shared__ unsigned told[4];
  if (t < 4) {
    sums[t] = 0;
    told[t] = 0;
  }
  __syncthreads();
  if (t % 32 == 0) {
    const int warp = t / 32;
    float before = 0;
    if (warp != 0) {
      while (!acquire_flag(&told[warp - 1])) {
      }
      before = sums[warp - 1];
    }
    sums[warp] = before + x[i] + 1;
    if (Right || warp != 1) release_flag(&told[warp]);
    if (!Right && warp == 1) relax_flag(&told[warp]);
    y[i] = before;
  }
}
PAIR(passes_through_warps, passes_through_warps_relaxed, pass_through_warps)
// A lock around a linked list's head.
template <bool Right>
__device__ void lock_list(float* y, const float* x) {
  INDEX;
  __shared__ unsigned lock;
  __shared__ float head, next[4];
  if (t == 0) {
    lock = 0;
    head = -1;
  }
  __syncthreads();
  if (t % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    next[t / 32] = head;
    head = static_cast<float>(t / 32);
    if (Right) __threadfence_block();
    atomicExch(&lock, 0);
    y[i] = next[t / 32];
  }
}
PAIR(locks_list, unlocks_list_without_fence, lock_list)
// A polynomial's coefficients are loaded by one warp, which then waits for no other.
template <bool Right>
__device__ void load_table(float* y, const float* x) {
  INDEX;
  __shared__ float table[32];
  if (t < 32) table[t] = 0;
  __syncthreads();
  if (t < 32) table[t] = x[t];
  Right ? __syncthreads() : __syncwarp();
  y[i] = table[t % 8] + x[i] * table[t % 8 + 8];
}
PAIR(loads_table, loads_table_for_one_warp, load_table)
// A transform by butterflies between warps.
template <bool Right>
__device__ void transform(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  float v = x[i];
  for (int d = 32; d < 128; d *= 2) {
    s[t] = v;
    __syncthreads();
    v = (t & d) != 0 ? s[t ^ d] - v : s[t ^ d] + v;
    block_sync<Right>();
  }
  y[i] = v;
}
PAIR(transforms, transforms_over_readers, transform)
// Bytes of one word belong to different warps; words are read.
template <bool Right>
__device__ void pack_bytes(float* y, const float* x) {
  INDEX;
  __shared__ unsigned words[32];
  if (t < 32) words[t] = 0;
  __syncthreads();
  reinterpret_cast<unsigned char*>(words)[t % 32 * 4 + t / 32] =
      static_cast<unsigned char>(t + 1);
  block_sync<Right>();
  y[i] = x[i] + static_cast<float>(words[t % 32]);
}
PAIR(packs_bytes, packs_bytes_and_reads_words, pack_bytes)
// A moving window: the oldest row makes room for the next.
template <bool Right>
__device__ void move_window(float* y, const float* x) {
  INDEX;
  __shared__ float rows[4][128];
  for (int k = 0; k < 4; ++k) rows[k][t] = x[(i + k) % 256];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    // Right: the row that no one reads in this turn.
    rows[(k + (Right ? 3 : 2)) % 4][t] = x[(i + k + 3) % 256] + 1;
    sum += rows[k % 4][127 - t] + rows[(k + 1) % 4][127 - t] + rows[(k + 2) % 4][127 - t];
    __syncthreads();
  }
  y[i] = sum;
}
PAIR(moves_window, moves_window_too_far, move_window)
// Each of two groups of warps has a barrier; the last step needs that of all.
template <bool Right>
__device__ void work_in_groups(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  const int group = t / 64;
  s[t] = x[i];
  meet(1 + group, 64);
  const float v = s[t ^ 32];
  meet(1 + group, 64);
  s[t] = v + 1;
  Right ? __syncthreads() : meet(1 + group, 64);
  y[i] = s[t ^ 64];
}
PAIR(works_in_groups, works_in_groups_alone, work_in_groups)
// A bulk load, its use in place, and a bulk store of the same buffer.
template <bool Right>
__device__ void scale_in_buffer(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  __syncthreads();
  if (t == 0) copy_bulk(s, x + blockIdx.x * 128, 512, &full);
  wait_for(&full, 0);
  s[t] = 2 * s[t];
  if (Right) fence_proxy();
  __syncthreads();
  if (t == 0) {
    store_bulk(y + blockIdx.x * 128, s, 512);
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
PAIR(scales_in_buffer, scales_in_buffer_unfenced, scale_in_buffer)
// An mbarrier for two phases: the second wait has to be for the second one.
template <bool Right>
__device__ void wait_for_phases(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[2][128];
  __shared__ unsigned long long full;
  s[0][t] = s[1][t] = 0;
  if (t == 0) init_mbarrier(&full, 1);
  fence_proxy();
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 2; ++k) {
    if (t == 0) copy_bulk(s[k], x + blockIdx.x * 128, 512, &full);
    wait_for(&full, Right ? k : 0);
    sum += s[k][127 - t];
    __syncthreads();
  }
  if (!Right) wait_for(&full, 1);
  y[i] = sum;
}
PAIR(waits_for_phases, waits_for_one_phase_twice, wait_for_phases)
// Asynchronous copies of one warp for another one.
template <bool Right>
__device__ void copy_for_others(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = 0;
  __syncthreads();
  copy_async(s + t, x + i);
  commit_copies();
  if (Right || t < 64) wait_copies<0>();
  __syncthreads();
  y[i] = s[t ^ 64];
  wait_copies<0>();
}
PAIR(copies_for_others, copies_for_others_unwaited, copy_for_others)
// Each block of a cluster counts in the other one's bins, then clears its own.
template <bool Right>
__device__ void count_in_other_block(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ unsigned bins[16];
  if (t < 16) bins[t] = 0;
  cluster.sync();
  unsigned* const theirs = cluster.map_shared_rank(bins, cluster.block_rank() ^ 1);
  atomicAdd(theirs + static_cast<int>(x[i]) % 16, 1);
  if (Right) cluster.sync();
  if (!Right) __syncthreads();
  y[i] = static_cast<float>(bins[t % 16]);
  cluster.sync();
}
PAIR(cluster_counts_for_other, cluster_counts_and_reads_early, count_in_other_block)
// Rank 0 shares a value with all by their own memory.
template <bool Right>
__device__ void broadcast_in_cluster(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  cg::cluster_group cluster = cg::this_cluster();
  __shared__ float value;
  if (t == 0) value = 0;
  cluster.sync();
  if (cluster.block_rank() == 0 && t < 2) *cluster.map_shared_rank(&value, t) = x[5] + 1;
  Right ? cluster.sync() : __syncthreads();
  y[i] = value;
  cluster.sync();
}
PAIR(cluster_broadcasts, cluster_broadcasts_unordered, broadcast_in_cluster)
