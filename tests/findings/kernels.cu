// Kernels of the findings corpus (corpus.cc): small programs, right and wrong. `i` is the thread's
// number in the grid, `t` in its block; every array has N elements, one a thread.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_device_runtime_api.h>

#include <cassert>

#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#define WAIT cudaGridDependencySynchronize()
#define TRIGGER cudaTriggerProgrammaticLaunchCompletion()
#define KERNEL extern "C" __global__ void
#define INDEX                                          \
  const int t = threadIdx.x;                           \
  const int i = blockIdx.x * blockDim.x + threadIdx.x; \
  (void)t;                                             \
  (void)i

// --- Primaries: y = 2 x ---
KERNEL produce(float* y, const float* x) { INDEX; TRIGGER; y[i] = 2 * x[i]; }
KERNEL produce_late(float* y, const float* x) { INDEX; y[i] = 2 * x[i]; TRIGGER; }
KERNEL produce_plain(float* y, const float* x) { INDEX; y[i] = 2 * x[i]; }
KERNEL produce4(float4* y, const float4* x) {
  INDEX;
  TRIGGER;
  if (i % 4 == 0) y[i / 4] = x[i / 4];
}
KERNEL produce_half(unsigned short* y, const float* x) {
  INDEX;
  TRIGGER;
  y[i] = static_cast<unsigned short>(x[i] * 100.0f + 200.0f);
}

// --- Secondaries that are right ---
KERNEL consume(float* y, const float* x) { INDEX; WAIT; y[i] = x[i] + 1; }
KERNEL consume_late(float* y, const float* x) {
  INDEX;
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += static_cast<float>(k * i);
  WAIT;
  y[i] = x[i] + sum;
}
KERNEL consume_weight(float* y, const float* x, const float* w) {
  INDEX;
  const float weight = w[i];  // no launch writes it: before the wait
  WAIT;
  y[i] = x[i] * weight;
}
KERNEL consume_staged(float* y, const float* x, const float* w) {
  INDEX;
  __shared__ float stage[128];
  stage[t] = w[i];
  WAIT;
  __syncthreads();
  y[i] = x[i] * stage[t ^ 64];
}
// One warp waits, a barrier orders the rest after it.
KERNEL one_warp_waits(float* y, const float* x) {
  INDEX;
  if (t < 32) WAIT;
  __syncthreads();
  y[i] = x[i] + 1;
}
KERNEL one_thread_waits(float* y, const float* x) {
  INDEX;
  if (t == 77) WAIT;
  __syncthreads();
  y[i] = x[i] + 1;
}
KERNEL producer_warp_waits(float* y, const float* x) {
  INDEX;
  __shared__ float stage[128];
  if (t < 32) {
    WAIT;
    for (int k = t; k < 128; k += 32) stage[k] = x[blockIdx.x * 128 + k];
    asm volatile("bar.arrive 1, 128;" ::: "memory");
    if (t < 32) y[i] = stage[t] + 1;
  } else {
    asm volatile("bar.sync 1, 128;" ::: "memory");
    y[i] = stage[t] + 1;
  }
}
KERNEL flag_waits(float* y, const float* x) {
  INDEX;
  __shared__ volatile int ready;
  if (t == 0) ready = 0;
  __syncthreads();
  if (t == 0) {
    WAIT;
    __threadfence_block();
    ready = 1;
  }
  while (ready == 0) {
  }
  __threadfence_block();
  y[i] = x[i] + 1;
}
KERNEL lane_waits(float* y, const float* x) {
  INDEX;
  if (t % 32 == 0) WAIT;
  __syncwarp();
  y[i] = x[i] + 1;
}
KERNEL early_exit(float* y, const float* x, int n) {
  INDEX;
  if (i >= n) return;
  WAIT;
  y[i] = x[i] + 1;
}
KERNEL relay(float* y, const float* x) { INDEX; TRIGGER; WAIT; y[i] = x[i] + 1; }
KERNEL relay_late(float* y, const float* x) { INDEX; WAIT; y[i] = x[i] + 1; TRIGGER; }
KERNEL accumulate(float* y, const float* x) { INDEX; WAIT; atomicAdd(y, x[i]); }
KERNEL pass() { TRIGGER; WAIT; }

KERNEL consume_half(float* y, const unsigned short* x) { INDEX; WAIT; y[i] = x[i]; }
KERNEL shuffle_waits(float* y, const float* x) {
  INDEX;
  if (t % 32 == 0) WAIT;
  const float none = __shfl_sync(0xffffffff, 0.0f, 0);  // after it all lanes are ordered
  y[i] = x[i] + none;
}
KERNEL writes_one(float* y) {
  INDEX;
  if (i == 200) y[i] = 1;
}
KERNEL count_up(float* y) { INDEX; atomicAdd(y, 1.0f); }

// --- Reads before the wait ---
KERNEL reads_first(float* y, const float* x) { INDEX; const float v = x[i]; WAIT; y[i] = v; }
KERNEL stages_first(float* y, const float* x) {
  INDEX;
  __shared__ float stage[128];
  stage[t] = x[i];
  WAIT;
  __syncthreads();
  y[i] = stage[t ^ 1];
}
KERNEL reads_scale_first(float* y, const float* x) {
  INDEX;
  __shared__ float scale;
  if (t == 0) scale = x[0];
  WAIT;
  __syncthreads();
  y[i] = x[i] * scale;
}
KERNEL reads_vector_first(float* y, const float4* x) {
  INDEX;
  const float4 v = x[i / 4];
  WAIT;
  y[i] = v.x + v.y + v.z + v.w;
}
KERNEL reads_half_first(float* y, const unsigned short* x) {
  INDEX;
  const float v = x[i];
  WAIT;
  y[i] = v;
}

__device__ __noinline__ float element_of(const float* x, int i) { return __ldg(x + i); }
KERNEL reads_in_function_first(float* y, const float* x) {
  INDEX;  // the wait comes after the call, in the caller
  float v = 0;
  if (t % 8 == 3) v = element_of(x, i);
  WAIT;
  y[i] = v + element_of(x, i);
}
// A scheduler that every thread makes, before one warp waits.
struct Tiles {
  int count;
  __device__ explicit Tiles(const float* sizes) : count(sizes[0] > 1e9f ? 3 : 2) {}
};
KERNEL schedules_first(float* y, const float* x) {
  INDEX;
  const Tiles tiles(x);
  if (t < 32) WAIT;
  __syncthreads();
  for (int tile = blockIdx.x; tile < tiles.count; tile += gridDim.x) {
    y[tile * 128 + t] = x[tile * 128 + t];
  }
}

// --- Writes before the wait ---
KERNEL clears_first(float* y, const float* x) { INDEX; y[i] = 0; WAIT; y[i] += x[i]; }
KERNEL counts_first(float* y) {
  INDEX;
  if (t == 0) atomicAdd(y + blockIdx.x, 1.0f);
  WAIT;
}
KERNEL heads_first(float* y) {
  INDEX;
  if (i == 0) y[0] = 1;
  WAIT;
}

// --- A wait that is missing ---
KERNEL half_waits(float* y, const float* x) {
  INDEX;
  if (t < 32) WAIT;
  y[i] = x[i] + 1;
}
KERNEL barrier_too_early(float* y, const float* x) {
  INDEX;
  __syncthreads();
  if (t < 32) WAIT;
  y[i] = x[i] + 1;
}
KERNEL other_barrier(float* y, const float* x) {
  INDEX;
  if (t < 32) {
    WAIT;
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else if (t < 64) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
  y[i] = x[i] + 1;
}
KERNEL one_path_waits(float* y, const float* x, int n) {
  INDEX;
  if (i < n) WAIT;
  y[i] = x[i] + 1;
}
// Blocks after the first do not enter the loop.
KERNEL waits_in_loop(float* y, const float* x, int n) {
  INDEX;
  for (int k = blockIdx.x; k < n; ++k) WAIT;
  y[i] = x[i] + 1;
}
// The rest that does not fill the tile has a way of its own.
KERNEL tail_does_not_wait(float* y, const float* x, int n) {
  INDEX;
  if (i >= n) {
    y[i] = x[i] - 1;
    return;
  }
  WAIT;
  y[i] = x[i] + 1;
}
KERNEL lane_waits_alone(float* y, const float* x) {
  INDEX;
  if (t % 32 == 0) WAIT;
  y[i] = x[i] + 1;
}
KERNEL waits_never(float* y, const float* x) { INDEX; y[i] = x[i] + 1; }
KERNEL triggers_only(float* y, const float* x) { INDEX; TRIGGER; y[i] = x[i] + 1; }
KERNEL compiled_out(float* y, const float* x) {
  INDEX;
#ifdef GDC_ENABLED_SOMEWHERE_ELSE
  WAIT;
#endif
  y[i] = x[i] + 1;
}
KERNEL waits_if(int n) {
  TRIGGER;
  if (n < 0) WAIT;
}

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

// --- Asynchronous copies ---
__device__ unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
__device__ void copy_async(float* to, const float* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address_of(to)), "l"(from)
               : "memory");
}
__device__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int Left>
__device__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Left) : "memory");
}
__device__ void init_mbarrier(unsigned long long* mbarrier, unsigned count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address_of(mbarrier)), "r"(count)
               : "memory");
}
__device__ void arrive_at(unsigned long long* mbarrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address_of(mbarrier)) : "memory");
}
__device__ void wait_for(unsigned long long* mbarrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" ::
          "r"(address_of(mbarrier)),
      "r"(parity)
      : "memory");
}
__device__ void expect_bytes(unsigned long long* mbarrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address_of(mbarrier)),
               "r"(bytes)
               : "memory");
}
__device__ void send_bulk(float* to, const float* from, unsigned bytes,
                          unsigned long long* mbarrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(address_of(to)),
      "l"(from), "r"(bytes), "r"(address_of(mbarrier))
      : "memory");
}
__device__ void copy_bulk(float* to, const float* from, unsigned bytes,
                          unsigned long long* mbarrier) {
  expect_bytes(mbarrier, bytes);
  send_bulk(to, from, bytes, mbarrier);
}
__device__ void store_bulk(float* to, const float* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(address_of(from)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
KERNEL copies(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  copy_async(s + t, x + i);
  commit_copies();
  wait_copies<0>();
  __syncthreads();
  y[i] = s[t ^ 64];
}
KERNEL copies_never_waited_for(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = 0;
  __syncthreads();
  copy_async(s + t, x + i);
  commit_copies();
  __syncthreads();
  y[i] = s[t ^ 64];
}
KERNEL copies_waited_for_too_late(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = 0;
  __syncthreads();
  copy_async(s + t, x + i);
  commit_copies();
  __syncthreads();  // and only then each thread waits, for its own copy alone
  wait_copies<0>();
  y[i] = s[t ^ 64];
}
template <int Left>
__device__ void copy_stages(float* y, const float* x) {
  INDEX;
  __shared__ float s[2][128];
  s[0][t] = s[1][t] = 0;
  __syncthreads();
  copy_async(&s[0][t], x + i);
  commit_copies();
  float sum = 0;
  for (int k = 0; k < 6; ++k) {
    copy_async(&s[(k + 1) & 1][t], x + i);
    commit_copies();
    wait_copies<Left>();
    __syncthreads();
    sum += s[k & 1][t ^ 64];
    __syncthreads();
  }
  wait_copies<0>();
  y[i] = sum;
}
KERNEL copies_stages(float* y, const float* x) { copy_stages<1>(y, x); }
KERNEL copies_one_group_short(float* y, const float* x) { copy_stages<2>(y, x); }
KERNEL copies_bulk(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  __syncthreads();
  if (t == 0) copy_bulk(s, x + blockIdx.x * 128, 512, &full);
  wait_for(&full, 0);
  y[i] = s[t ^ 64];
}
KERNEL copies_bulk_unwaited(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  s[t] = 0;
  if (t == 0) init_mbarrier(&full, 1);
  __syncthreads();
  if (t == 0) copy_bulk(s, x + blockIdx.x * 128, 512, &full);
  if (t < 64) wait_for(&full, 0);
  y[i] = s[t ^ 64];
  __syncthreads();
}
// One thread fills two stages in turn, all others empty them.
KERNEL copies_bulk_stages(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[2][128];
  __shared__ unsigned long long full[2], empty[2];
  if (t == 0) {
    for (int k = 0; k < 2; ++k) {
      init_mbarrier(&full[k], 1);
      init_mbarrier(&empty[k], 96);
    }
  }
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 6; ++k) {
    const int stage = k & 1;
    const unsigned parity = (k / 2) & 1;
    if (t == 0) {
      if (k >= 2) wait_for(&empty[stage], parity ^ 1);
      copy_bulk(s[stage], x + blockIdx.x * 128, 512, &full[stage]);
    } else if (t >= 32) {
      wait_for(&full[stage], parity);
      sum += s[stage][t];
      arrive_at(&empty[stage]);
    }
  }
  y[i] = sum;
}
KERNEL copies_bulk_over_readers(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full[2];
  if (t < 2) init_mbarrier(&full[t], 1);
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < 2; ++k) {  // the second copy comes while others may still read the first
    if (t == 0) copy_bulk(s, x + blockIdx.x * 128, 512, &full[k]);
    wait_for(&full[k], 0);
    sum += s[t ^ 64];
  }
  y[i] = sum;
}
KERNEL copies_bulk_out(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  for (int k = 0; k < 2; ++k) {
    s[t] = x[i] + static_cast<float>(k);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(
                       y + blockIdx.x * 128),
                   "r"(address_of(s))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
KERNEL copies_bulk_out_overwritten(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  for (int k = 0; k < 2; ++k) {
    s[t] = x[i] + static_cast<float>(k);  // the copy out may still read it
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(
                       y + blockIdx.x * 128),
                   "r"(address_of(s))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
    __syncthreads();
  }
  if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
KERNEL copies_early(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  __syncthreads();
  if (t == 0) {
    WAIT;
    copy_bulk(s, x + blockIdx.x * 128, 512, &full);
  }
  wait_for(&full, 0);
  y[i] = s[t ^ 64] + x[i];  // the mbarrier orders it after the wait
}
KERNEL copies_first(float* y, const float* x) {
  INDEX;
  __shared__ alignas(16) float s[128];
  __shared__ unsigned long long full;
  if (t == 0) init_mbarrier(&full, 1);
  __syncthreads();
  if (t == 0) copy_bulk(s, x + blockIdx.x * 128, 512, &full);
  WAIT;
  wait_for(&full, 0);
  y[i] = s[t ^ 64];
}
KERNEL copies_thread_first(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  copy_async(s + t, x + i);
  commit_copies();
  WAIT;
  wait_copies<0>();
  __syncthreads();
  y[i] = s[t ^ 64];
}

// Warp 0 waits and fills a ring of three stages by bulk copies, warps 1 and 2 add them up, warp 3
// writes what they found: as pipelines in CUTLASS do. What each has to wait for can be left out.
enum class Ring { kRight, kReleasesEarly, kOneReleases, kReadsBiasFirst };
template <Ring Kind>
__device__ void run_ring(float* y, const float* x, const float* bias) {
  constexpr int kStages = 3, kTurns = 8, kFloats = 32;
  INDEX;
  __shared__ alignas(128) float s[kStages][kFloats];
  __shared__ unsigned long long full[kStages], empty[kStages];
  __shared__ float sums[2][kFloats];
  const int warp = t / 32, lane = t % 32;
  if (t == 0) {
    for (int k = 0; k < kStages; ++k) {
      init_mbarrier(&full[k], 1);
      init_mbarrier(&empty[k], Kind == Ring::kOneReleases ? 1 : 2);
    }
  }
  __syncthreads();
  if (warp == 0) {
    if (lane != 0) return;
    WAIT;
    for (int k = 0; k < kTurns; ++k) {
      if (k >= kStages) wait_for(&empty[k % kStages], (k / kStages - 1) & 1);
      copy_bulk(s[k % kStages], x + k * kFloats, kFloats * 4, &full[k % kStages]);
    }
  } else if (warp < 3) {
    float sum = 0;
    for (int k = 0; k < kTurns; ++k) {
      const int stage = k % kStages;
      wait_for(&full[stage], (k / kStages) & 1);
      const bool releases = lane == 0 && (Kind != Ring::kOneReleases || warp == 1);
      if (Kind == Ring::kReleasesEarly && releases) arrive_at(&empty[stage]);
      sum += s[stage][lane] * static_cast<float>(warp);
      __syncwarp();
      if (Kind != Ring::kReleasesEarly && releases) arrive_at(&empty[stage]);
    }
    sums[warp - 1][lane] = sum;
    leave_at(3, 96);
  } else {
    const float first = Kind == Ring::kReadsBiasFirst ? bias[lane] : 0;
    meet(3, 96);
    y[blockIdx.x * 32 + lane] = sums[0][lane] + sums[1][lane] + bias[lane] + first;
  }
}
#define RING(name, kind) \
  KERNEL name(float* y, const float* x, const float* bias) { run_ring<kind>(y, x, bias); }
RING(ring, Ring::kRight)
RING(ring_releases_early, Ring::kReleasesEarly)
RING(ring_one_releases, Ring::kOneReleases)
RING(ring_reads_bias_first, Ring::kReadsBiasFirst)

// --- Barriers ---
KERNEL parts_in_warp(float* y, const float* x) {
  INDEX;
  if (t % 2 != 0) {
    asm volatile("bar.sync 0; // odd" ::: "memory");
    y[i] = x[i];
  } else {
    asm volatile("bar.sync 0; // even" ::: "memory");
    y[i] = 2 * x[i];
  }
}
KERNEL parts_in_three(float* y, const float* x) {
  INDEX;
  float v = x[i];
  if (t % 32 == 0) {
    asm volatile("bar.sync 0; // first" ::: "memory");
    v += 1;
  } else if (t % 32 == 31) {
    asm volatile("bar.sync 0; // last" ::: "memory");
    v += 2;
  } else {
    asm volatile("bar.sync 0; // others" ::: "memory");
    v += 3;
  }
  y[i] = v;
}
KERNEL counts_differ(float* y, const float* x) {
  INDEX;
  if (t < 64) {
    asm volatile("bar.sync 1, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 96;" ::: "memory");
  }
  y[i] = x[i];
}
KERNEL exits_before_barrier(float* y, const float* x, int n) {
  INDEX;
  if (i >= n) return;  // whole and part of a warp: exited threads are not waited for
  __syncthreads();
  y[i] = x[i];
}

// --- No thread goes on ---
KERNEL waits_alone(float* y, const float* x) {
  INDEX;
  if (t < 32) asm volatile("bar.sync 1, 64;" ::: "memory");
  y[i] = x[i];
}
KERNEL waits_crosswise(float* y, const float* x) {
  INDEX;
  if (t < 64) {
    asm volatile("bar.sync 1, 128; bar.sync 2, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 128; bar.sync 1, 128;" ::: "memory");
  }
  y[i] = x[i];
}
KERNEL waits_elsewhere(float* y, const float* x) {
  INDEX;
  if (t < 32) {
    asm volatile("bar.sync 1, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 0, 128;" ::: "memory");
  }
  y[i] = x[i];
}
KERNEL polls_nobody(float* y, const volatile float* x) {
  INDEX;
  while (t % 32 == 0 && x[i] != 1000.0f) {
  }
  y[i] = 1;
}
__device__ float load_plainly(const float* place) {
  float value;
  asm volatile("ld.f32 %0, [%1];" : "=f"(value) : "l"(place) : "memory");
  return value;
}
KERNEL polls_nobody_plainly(float* y, const float* x) {
  INDEX;
  while (t % 32 == 0 && load_plainly(x + i) != 1000.0f) {
  }
  y[i] = 1;
}
KERNEL polls_two_places_plainly(float* y, const float* x) {
  INDEX;
  __shared__ float told;
  if (t == 0) told = 0;
  __syncthreads();
  for (int place = 0; place < 2 && load_plainly(&told) != 1000.0f;) {
    for (int k = 0; k < 7; ++k) {
      if (load_plainly(x + k) == 1000.0f) place = k;
    }
  }
  y[i] = 1;
}
KERNEL locks_for_good(float* y) {
  INDEX;
  if (t == 0) {
    while (atomicCAS(reinterpret_cast<int*>(y), 0, 1) != 0) {
    }
  }
}
KERNEL polls_each_other(float* y) {
  volatile float* flags = y;
  if (threadIdx.x == 0) {
    while (flags[1 - blockIdx.x] != 1.0f) {
    }
    flags[blockIdx.x] = 1;
  }
}

// --- Weights ---
KERNEL writes_weight(float* y, float* w) { INDEX; y[i] = w[i]; w[i] = 0; }
KERNEL counts_in_weight(float* y, float* w) {
  INDEX;
  y[i] = w[i];
  if (t == 0) atomicAdd(w, 1.0f);
}
KERNEL writes_one_weight(float* y, float* w) {
  INDEX;
  y[i] = w[i];
  if (i == 5) w[200] = 1;
}

KERNEL publishes_in_weight(float* y, float* w) {
  INDEX;
  y[i] = w[i];
  if (i == 0) *static_cast<volatile float*>(w) = 1;
}

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

// --- Memory ---
KERNEL past_the_end(float* y, const float* x) { INDEX; y[i + 1] = x[i]; }
KERNEL before_the_start(float* y, const float* x) { INDEX; y[i] = x[i - 1]; }
KERNEL far_away(float* y, const float* x) { INDEX; y[i] = x[i * 1000]; }
KERNEL past_shared(float* y, const float* x) {
  INDEX;
  __shared__ float s[128];
  s[t] = x[i];
  __syncthreads();
  y[i] = s[t + 8 * static_cast<int>(gridDim.x)];
}
KERNEL unaligned(float* y, const char* x) {
  INDEX;
  y[i] = *reinterpret_cast<const float*>(x + (i * 4 + 1) % 512);
}
KERNEL unaligned_vector(float* y, const float* x) {
  INDEX;
  const float4 v = reinterpret_cast<const float4*>(x + 1)[i % 32];
  y[i] = v.x + v.y + v.z + v.w;
}
KERNEL unaligned_store(char* y) { *reinterpret_cast<short*>(y + 2 * threadIdx.x + 1) = 1; }
KERNEL reads_unwritten(float* y, const float* z) { INDEX; y[i] = z[i]; }
KERNEL reads_half_written(float* y, float* z) {
  INDEX;
  if (i < 128) z[i] = 1;
  y[i] = z[i];
}
KERNEL reads_unwritten_shared(float* y) {
  INDEX;
  __shared__ float s[128];
  if (t < 64) s[t] = 1;
  __syncthreads();
  y[i] = s[t];
}

// --- Faults ---
KERNEL traps() { asm volatile("trap;"); }
KERNEL asserts(const float* x) { assert(x[threadIdx.x] < 0); }
KERNEL meets_at(int barrier, int threads) { meet(barrier, threads); }
KERNEL counts_in_registers(float* y) {
  INDEX;
  int mine[2] = {t, i}, old;
  asm volatile("atom.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(mine + t % 2) : "memory");
  y[i] = old + mine[0];
}
KERNEL branches_to(float* y, int way) {
  INDEX;
  int taken = 0;
  asm volatile(
      "{ ways: .branchtargets left, right;\n"
      "brx.idx %1, ways;\n"
      "left: mov.u32 %0, 1; bra done;\n"
      "right: mov.u32 %0, 2;\n"
      "done: }"
      : "=r"(taken)
      : "r"(way));
  y[i] = taken;
}
KERNEL calls_address(unsigned long long address) {
  reinterpret_cast<void (*)()>(address)();
}
KERNEL votes_among(unsigned* y, unsigned members) {
  INDEX;
  y[i] = __ballot_sync(members, t % 2);
}
__device__ __noinline__ float descend(const float* x, int depth) {
  float room[64];
  for (int k = 0; k < 64; ++k) room[k] = x[(k * depth) % 256];
  const float below = depth == 0 ? 0 : descend(x, depth - 1);
  return below + room[depth % 64];
}
KERNEL descends(float* y, const float* x, int depth) {
  INDEX;
  y[i] = descend(x, depth);
}
KERNEL waits_at_nothing() {
  __shared__ unsigned long long never;
  wait_for(&never, 0);
}
KERNEL copies_odd_bytes(float* y, const float* x, unsigned bytes) {
  INDEX;
  __shared__ __align__(16) float s[128];
  __shared__ unsigned long long full;
  if (t != 0) return;
  init_mbarrier(&full, 1);
  copy_bulk(s, x, bytes, &full);
  wait_for(&full, 0);
  y[i] = s[0];
}
KERNEL fetches_texture(float* y, cudaTextureObject_t texture) {
  INDEX;
  y[i] = tex1Dfetch<float>(texture, t);
}
KERNEL adds_as_video(float* y) {
  INDEX;
  int sum;
  asm volatile("vadd.s32.s32.s32 %0, %1, %2;" : "=r"(sum) : "r"(t), "r"(i));
  y[i] = static_cast<float>(sum);
}

// --- Memory that kernels allocate ---
__device__ float* block_of(const float* x, int count) {
  float* block = static_cast<float*>(malloc(count * sizeof(float)));
  for (int k = 0; k < count; ++k) block[k] = x[k];
  return block;
}
KERNEL frees_twice(float* y, const float* x) {
  INDEX;
  float* block = block_of(x, 4);
  y[i] = block[t % 4];
  free(block);
  free(block);
}
KERNEL frees_memory_of_the_host(float* y) {
  INDEX;
  free(y);
}
KERNEL reads_past_its_block(float* y, const float* x) {
  INDEX;
  float* block = block_of(x, 4);
  y[i] = block[t % 4 + 1];
  free(block);
}
KERNEL reads_its_block_once_freed(float* y, const float* x) {
  INDEX;
  volatile float* block = block_of(x, 4);
  free(const_cast<float*>(block));
  y[i] = block[t % 4];
}
KERNEL allocates_and_frees(float* y, const float* x) {
  INDEX;
  float* block = block_of(x, 4);
  y[i] = block[t % 4];
  free(block);
}
__shared__ float* common_block;
KERNEL shares_a_block(float* y, const float* x) {
  INDEX;
  if (t == 0) common_block = block_of(x, 4);
  __syncthreads();
  y[i] = common_block[t % 4];
  __syncthreads();
  if (t == 0) free(common_block);
}
struct alignas(128) Map {
  char bytes[128];
};
__device__ void reduce_by_map(const Map* map, const float* from) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%0, {240}], [%1];" ::"l"(
          map),
      "r"(address_of(from))
      : "memory");
  asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
KERNEL reduces_by_map(const __grid_constant__ Map map) {
  __shared__ __align__(128) float s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x != 0) return;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  reduce_by_map(&map, s);
}
KERNEL writes_map(const __grid_constant__ Map map, Map* live) {
  TRIGGER;
  if (threadIdx.x == 0 && blockIdx.x == 0) *live = map;
}
__device__ void acquire_map(const Map* map) {
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
// Every thread acquires, one copies.
KERNEL reduces_by_map_in_memory(const Map* live, bool acquires) {
  __shared__ __align__(128) float s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 1;
  WAIT;
  if (acquires) acquire_map(live);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0 && blockIdx.x == 0) reduce_by_map(live, s);
}
// Writes `first` to global memory and copies by it, then `second`. Acquires so many of the two.
KERNEL reduces_by_live_map(const __grid_constant__ Map first, const __grid_constant__ Map second,
                           Map* live, int acquired) {
  __shared__ __align__(128) float s[16];
  if (threadIdx.x < 16) s[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x != 0 || blockIdx.x != 0) return;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  for (int k = 0; k < 2; ++k) {
    *live = k == 0 ? first : second;
    if (k < acquired) {
      asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
      acquire_map(live);
    }
    reduce_by_map(live, s);
  }
}

#include "async_kernels.cuh"
#include "flag_kernels.cuh"
#include "grid_flag_kernels.cuh"
#include "lane_kernels.cuh"
#include "pattern_kernels.cuh"
#include "peer_kernels.cuh"
#include "stage_pattern_kernels.cuh"
#include "chain_kernels.cuh"
#include "wgmma_kernels.cuh"
