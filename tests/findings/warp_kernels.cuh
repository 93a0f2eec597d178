// Shared memory, the lanes of one warp, what CUB and cooperative groups make of them, and warps that take turns.

// --- Shared memory ---
KERNEL swaps_unordered(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = 0;
  __syncthreads();
  s[t] = x[i];
  y[i] = s[t ^ 64];
}
// --- Lanes of one warp ---
template <class Sync>
__device__ void swap_in_warp(float* y, const float* x, Sync sync) {
  INDEX;
  __shared__ float s[128];
  s[t] = x[i];
  sync();
  y[i] = s[t ^ 1];
}
KERNEL lanes_swap_unordered(float* y, const float* x) {
  swap_in_warp(y, x, [] { asm volatile("" ::: "memory"); });
}
KERNEL lanes_swap_by_shuffle(float* y, const float* x) {
  swap_in_warp(y, x, [] { asm volatile("" ::"r"(__shfl_sync(~0u, threadIdx.x, 0)) : "memory"); });
}
KERNEL lanes_swap(float* y, const float* x) {
  swap_in_warp(y, x, [] { __syncwarp(); });
}
// A sum by halves, as warps do it in shared memory.
template <bool kSyncs>
__device__ void sum_in_warp(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  const int lane = t % 32;
  s[t] = x[i];
  __syncwarp();
  for (int k = 16; k > 0; k /= 2) {
    const float other = lane < k ? s[t + k] : 0;
    if (lane < k) s[t] += other;
    if (kSyncs) __syncwarp();
  }
  __syncwarp();
  y[i] = s[t - lane];
}
KERNEL lanes_sum_unordered(float* y, const float* x) { sum_in_warp<false>(y, x); }
KERNEL lanes_sum(float* y, const float* x) { sum_in_warp<true>(y, x); }
KERNEL reuses_unordered(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    s[t] = x[i] + static_cast<float>(k);
    __syncthreads();
    sum += s[127 - t];  // and no barrier before the next turn
  }
  y[i] = sum;
}
KERNEL reuses_once_unordered(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  float sum = 0;
  for (int k = 0; k < 6; ++k) {
    s[t] = x[i] + static_cast<float>(k);
    __syncthreads();
    sum += s[127 - t];
    if (k != 4) __syncthreads();  // one turn is not like the others
  }
  y[i] = sum;
}
KERNEL reduces_unordered(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = x[i];
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
  }
  __syncthreads();
  y[i] = s[0];
}
KERNEL all_write(float* y, const float* x) {
  INDEX;
  __shared__ float last;
  last = x[i];
  __syncthreads();
  y[i] = last;
}
KERNEL bytes_overlap(float* y, const float* x) {
  INDEX;
  __shared__ unsigned char s[129];
  s[t] = static_cast<unsigned char>(i);
  s[t + 1] = static_cast<unsigned char>(i + 1);
  __syncthreads();
  y[i] = x[i] + s[t];
}
KERNEL updates_beside_reads(float* y, const float* x) {
  INDEX;
  __shared__ int sum;
  if (t == 0) sum = 0;
  __syncthreads();
  if (t < 64) atomicAdd(&sum, 1);
  y[i] = x[i] + static_cast<float>(sum);
}
KERNEL swaps(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = x[i];
  __syncthreads();
  y[i] = s[t ^ 64];
}
KERNEL reuses(float* y, const float* x) {
  INDEX;
  __shared__ float s[2][128];
  float sum = 0;
  for (int k = 0; k < 6; ++k) {  // two buffers: one barrier a turn is enough
    s[k & 1][t] = x[i] + static_cast<float>(k);
    __syncthreads();
    sum += s[k & 1][127 - t];
  }
  y[i] = sum;
}
KERNEL reduces(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = x[i];
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  y[i] = s[0];
}
KERNEL bytes_beside(float* y, const float* x) {
  INDEX;
  __shared__ unsigned char s[130];  // neighbours in one word belong to different warps
  s[t + 1] = static_cast<unsigned char>(x[i] * 10 + 20);
  __syncthreads();
  y[i] = s[128 - t];
}
KERNEL counts(float* y, const float* x) {
  INDEX;
  __shared__ int bins[4];
  if (t < 4) bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[(t + (x[i] > 0)) % 4], 1);
  __syncthreads();
  y[i] = static_cast<float>(bins[t % 4]);
}
KERNEL pipelines(float* y, const float* x) {
  // Warp 0 fills two stages in turn, the others empty them; barriers 1, 2: full, 3, 4: empty.
  INDEX;
  __shared__ float s[2][96];
  float sum = 0;
  for (int k = 0; k < 6; ++k) {
    const int stage = k & 1;
    if (t < 32) {
      if (k >= 2) asm volatile("bar.sync %0, 128;" ::"r"(3 + stage) : "memory");
      for (int e = t; e < 96; e += 32) s[stage][e] = x[e] + static_cast<float>(k);
      asm volatile("bar.arrive %0, 128;" ::"r"(1 + stage) : "memory");
    } else {
      asm volatile("bar.sync %0, 128;" ::"r"(1 + stage) : "memory");
      sum += s[stage][127 - t];
      if (k < 4) asm volatile("bar.arrive %0, 128;" ::"r"(3 + stage) : "memory");
    }
  }
  y[i] = sum;
}
KERNEL pipelines_too_far(float* y, const float* x) {
  // The same, and the filling warp does not wait until a stage is empty.
  INDEX;
  __shared__ float s[2][96];
  if (t < 96) s[0][t] = s[1][t] = 0;
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 6; ++k) {
    const int stage = k & 1;
    if (t < 32) {
      for (int e = t; e < 96; e += 32) s[stage][e] = x[e] + static_cast<float>(k);
      asm volatile("bar.arrive %0, 128;" ::"r"(1 + stage) : "memory");
      asm volatile("bar.sync %0, 128;" ::"r"(5 + stage) : "memory");
    } else {
      asm volatile("bar.arrive %0, 128;" ::"r"(5 + stage) : "memory");
      asm volatile("bar.sync %0, 128;" ::"r"(1 + stage) : "memory");
      sum += s[stage][127 - t];
    }
  }
  y[i] = sum;
}
KERNEL locks(float* y, const float* x) {
  INDEX;
  __shared__ int lock;
  __shared__ float sum;
  if (t == 0) {
    lock = 0;
    sum = 0;
  }
  __syncthreads();
  if (t % 32 == 0) {
    while (atomicCAS(&lock, 0, 1) != 0) {
    }
    sum += x[i];
    __threadfence_block();
    atomicExch(&lock, 0);
  }
  __syncthreads();
  y[i] = sum;
}

KERNEL all_write_the_same(float* y, const float* x) {
  INDEX;
  __shared__ int any;
  __shared__ float s[128];
  if (t == 0) any = 0;
  __syncthreads();
  if (x[i] > 3) any = 1;  // from several warps
  s[t] = x[i];
  __syncthreads();
  y[i] = any != 0 ? s[t ^ 96] : 0;
}
KERNEL all_write_the_same_pair(float* y, const float* x) {
  INDEX;
  __shared__ float2 pair;
  pair = make_float2(x[0], -1);  // one store of a vector, from every warp
  __syncthreads();
  y[i] = pair.x + static_cast<float>(t);
}
KERNEL reduces_by_shuffles(float* y, const float* x) {
  INDEX;
  __shared__ float sums[4];
  float v = x[i];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (t % 32 == 0) sums[t / 32] = v;
  __syncthreads();
  y[i] = sums[0] + sums[1] + sums[2] + sums[3];
}
KERNEL transposes_in_warps(float* y, const float* x) {
  INDEX;
  __shared__ float s[4][33];  // a row a warp: no barrier of the block is needed
  s[t / 32][t % 32] = x[i];
  __syncwarp();
  y[i] = s[t / 32][31 - t % 32];
}
__device__ unsigned blocks_done;
__device__ float partial[64];
KERNEL last_block_sums(float* y, const float* x) {
  INDEX;
  __shared__ bool is_last;
  if (t == 0) {
    partial[blockIdx.x] = x[i];
    __threadfence();
    is_last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && t < 32) y[t] = partial[0] + partial[1];
}
__device__ volatile int state[64];
__device__ volatile float prefix[64];
KERNEL looks_back(float* y, const float* x) {
  INDEX;
  __shared__ float before;
  if (t == 0) {
    if (blockIdx.x != 0) {
      while (state[blockIdx.x - 1] == 0) {
      }
      __threadfence();
    }
    before = blockIdx.x == 0 ? 0 : prefix[blockIdx.x - 1];
    prefix[blockIdx.x] = before + x[i];
    __threadfence();
    state[blockIdx.x] = 1;
  }
  __syncthreads();
  y[i] = before;
}
KERNEL reduces_by_groups(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  __shared__ float sums[8];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const float sum = cg::reduce(tile, x[i], cg::plus<float>());
  if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;
  cg::this_thread_block().sync();
  y[i] = sums[t / 16] + sums[(t / 16 + 1) % 8];
}
KERNEL barriers_on_paths(float* y, const float* x) {
  INDEX;  // without .aligned each thread may come to the barrier on a path of its own
  __shared__ float s[128];
  s[t] = x[i];
  if (t % 2 != 0) {
    asm volatile("barrier.sync 0; // odd" ::: "memory");
    y[i] = s[t ^ 64];
  } else {
    asm volatile("barrier.sync 0; // even" ::: "memory");
    y[i] = 2 * s[t ^ 64];
  }
}

// --- Kernels made of what CUB and cooperative groups offer ---
KERNEL cub_reduces(float* y, const float* x) {
  INDEX;
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ Reduce::TempStorage storage;
  __shared__ float all;
  const float sum = Reduce(storage).Sum(x[i]);
  if (t == 0) all = sum;
  __syncthreads();
  y[i] = all;
}
KERNEL cub_reduces_early(float* y, const float* x) {
  INDEX;
  using Reduce = cub::BlockReduce<float, 128, cub::BLOCK_REDUCE_RAKING>;
  __shared__ Reduce::TempStorage storage;
  TRIGGER;
  WAIT;
  const float sum = Reduce(storage).Sum(x[i]);
  if (t == 0) y[blockIdx.x] = sum;
}
KERNEL cub_scans(float* y, const float* x) {
  INDEX;
  using Scan = cub::BlockScan<float, 128, cub::BLOCK_SCAN_RAKING>;
  __shared__ Scan::TempStorage storage;
  float v = x[i];
  Scan(storage).InclusiveSum(v, v);
  __syncthreads();
  Scan(storage).ExclusiveSum(v, v);
  y[i] = v;
}
KERNEL cub_sorts(float* y, const float* x) {
  INDEX;
  using Sort = cub::BlockRadixSort<float, 128, 2>;
  __shared__ Sort::TempStorage storage;
  float keys[2] = {x[i], -x[i]};
  Sort(storage).Sort(keys);
  y[i] = keys[0] + keys[1];
}
KERNEL cub_exchanges(float* y, const float* x) {
  INDEX;
  using Exchange = cub::BlockExchange<float, 128, 2>;
  __shared__ Exchange::TempStorage storage;
  float items[2] = {x[i], 2 * x[i]};
  Exchange(storage).StripedToBlocked(items, items);
  y[i] = items[0] + items[1];
}
KERNEL cub_histogram(float* y, const float* x) {
  INDEX;
  using Histogram = cub::BlockHistogram<unsigned char, 128, 2, 64, cub::BLOCK_HISTO_ATOMIC>;
  __shared__ Histogram::TempStorage storage;
  __shared__ unsigned bins[64];
  unsigned char samples[2] = {static_cast<unsigned char>(x[i]), static_cast<unsigned char>(t % 64)};
  Histogram(storage).Histogram(samples, bins);
  __syncthreads();
  y[i] = static_cast<float>(bins[t % 64]);
}
KERNEL groups_scan(float* y, const float* x) {
  INDEX;
  namespace cg = cooperative_groups;
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  y[i] = cg::inclusive_scan(tile, x[i]);
}

// --- Warps that take turns ---
__device__ void meet(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ void leave_at(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
// Two groups of two warps share one buffer by turns: barriers 4 and 5 say whose turn it is.
template <bool ReleasesEarly>
__device__ void play_ping_pong(float* y, const float* x) {
  INDEX;
  __shared__ float s[64];
  const int group = t / 64, e = t % 64;
  float sum = 0;
  if (group == 1) leave_at(4, 128);
  for (int k = 0; k < 3; ++k) {
    const bool is_last = group == 1 && k == 2;
    meet(4 + group, 128);
    s[e] = x[(i + k) % 256];
    meet(1 + group, 64);
    if (ReleasesEarly && !is_last) leave_at(4 + (group ^ 1), 128);
    sum += s[63 - e];
    meet(1 + group, 64);
    if (!ReleasesEarly && !is_last) leave_at(4 + (group ^ 1), 128);
  }
  y[i] = sum;
}
KERNEL plays_ping_pong(float* y, const float* x) { play_ping_pong<false>(y, x); }
KERNEL plays_ping_pong_too_early(float* y, const float* x) { play_ping_pong<true>(y, x); }
// A sum over the block, twice with the same shared memory.
template <bool Ends>
__device__ float block_sum(float v, float* s) {
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  const float sum = s[0] + s[1] + s[2] + s[3];
  if (Ends) __syncthreads();
  return sum;
}
template <bool Ends>
__device__ void normalize(float* y, const float* x) {
  INDEX;
  __shared__ float s[4];
  const float v = x[i];
  const float mean = block_sum<Ends>(v, s) / 128;
  y[i] = (v - mean) / block_sum<Ends>((v - mean) * (v - mean), s);
}
KERNEL normalizes(float* y, const float* x) { normalize<true>(y, x); }
KERNEL normalizes_unordered(float* y, const float* x) { normalize<false>(y, x); }
