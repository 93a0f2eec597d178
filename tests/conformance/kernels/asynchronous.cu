// What libcu++ and cooperative groups make of mbarriers and asynchronous copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>

#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>

namespace cg = cooperative_groups;
#pragma nv_diag_suppress static_var_with_dynamic_init

constexpr int kTile = 128;  // elements, and threads of a block

using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

// Each element is copied by the thread that needs it, two tiles ahead.
extern "C" __global__ void thread_pipeline(int* out, const int* in, int tiles) {
  __shared__ alignas(16) int stage[2][kTile];
  auto pipeline = cuda::make_pipeline();
  const auto fetch = [&](int tile) {
    pipeline.producer_acquire();
    if (tile < tiles) {
      cuda::memcpy_async(&stage[tile % 2][threadIdx.x], in + tile * kTile + threadIdx.x,
                         sizeof(int), pipeline);
    }
    pipeline.producer_commit();
  };
  fetch(0);
  fetch(1);
  int sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    cuda::pipeline_consumer_wait_prior<1>(pipeline);
    sum = sum * 3 + stage[tile % 2][threadIdx.x];
    pipeline.consumer_release();
    fetch(tile + 2);
  }
  out[threadIdx.x] = sum;
}

// The first warp copies tiles, the others add up what they read of them.
extern "C" __global__ void block_pipeline(int* out, const int* in, int tiles) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  __shared__ alignas(16) int stage[2][kTile];
  const auto block = cg::this_thread_block();
  const bool produces = threadIdx.x < 32;
  auto pipeline = cuda::make_pipeline(
      block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int sum = 0;
  for (int tile = 0; tile < tiles; ++tile) {
    if (produces) {
      pipeline.producer_acquire();
      cuda::memcpy_async(cg::tiled_partition<32>(block), stage[tile % 2], in + tile * kTile,
                         cuda::aligned_size_t<16>(sizeof(stage[0])), pipeline);
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
      for (int i = threadIdx.x - 32; i < kTile; i += blockDim.x - 32) {
        sum = sum * 3 + stage[tile % 2][i];
      }
      pipeline.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}

// Threads arrive, do something else, and wait; one drops out in the middle.
extern "C" __global__ void split_barrier(int* out) {
  __shared__ BlockBarrier barrier;
  __shared__ int words[kTile];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < 5; ++round) {
    words[threadIdx.x] = round * 1000 + threadIdx.x;
    if (round == 2 && threadIdx.x == 7) {
      barrier.arrive_and_drop();
      break;
    }
    auto token = barrier.arrive();
    sum += 1;
    barrier.wait(std::move(token));
    sum += words[(threadIdx.x + 1) % blockDim.x];
    barrier.arrive_and_wait();
  }
  out[threadIdx.x] = sum;
}

// A block's copy that its barrier awaits, and cooperative groups' own.
extern "C" __global__ void block_copies(int* out, const int* in) {
  __shared__ BlockBarrier barrier;
  __shared__ alignas(16) int tile[2][kTile];
  const auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  block.sync();
  cuda::memcpy_async(block, tile[0], in, cuda::aligned_size_t<16>(sizeof(tile[0])), barrier);
  barrier.arrive_and_wait();
  cg::memcpy_async(block, tile[1], in + kTile, sizeof(tile[1]));
  cg::wait(block);
  out[threadIdx.x] = 2 * tile[0][kTile - 1 - threadIdx.x] + tile[1][kTile - 1 - threadIdx.x];
}

// A bulk copy there and back (compute capability 9.0).
extern "C" __global__ void bulk_copies(int* out, const int* in) {
  __shared__ BlockBarrier barrier;
  __shared__ alignas(128) int tile[kTile];
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  }
  __syncthreads();
  BlockBarrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, tile, in,
                             sizeof(tile), cuda::device::barrier_native_handle(barrier));
    token = cuda::device::barrier_arrive_tx(barrier, 1, sizeof(tile));
  } else {
    token = barrier.arrive();
  }
  barrier.wait(std::move(token));
  tile[threadIdx.x] += threadIdx.x;
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, out, tile,
                             sizeof(tile));
    cuda::ptx::cp_async_bulk_commit_group();
    cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
  }
}

// Groups of several warps meet in shared memory that the system has for them.
extern "C" __global__ void large_tiles(int* out, const int* in) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<64>(block);
  const int sum = cg::reduce(tile, in[threadIdx.x], cg::plus<int>());
  tile.sync();
  out[threadIdx.x] = sum;
}

// Groups within a warp, by a label.
extern "C" __global__ void labeled_groups(int* out, const int* in) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto group = cg::labeled_partition(warp, in[threadIdx.x] % 3);
  out[threadIdx.x] = cg::reduce(group, in[threadIdx.x], cg::greater<int>());
}

constexpr int kRanks = 4;
constexpr int kPart = 32;  // elements

// An mbarrier of each block that awaits `bytes`, known to the whole cluster.
__device__ void expect_in_cluster(std::uint64_t* bar, unsigned bytes) {
  namespace ptx = cuda::ptx;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(bar, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    if (bytes != 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, bar,
                                     bytes);
    }
  }
  ptx::fence_proxy_async();
  cg::this_cluster().sync();
}
__device__ void wait_in_cluster(std::uint64_t* bar) {
  namespace ptx = cuda::ptx;
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, bar, 0)) {
  }
}

// Each block copies its part of `in` to all blocks of the cluster but the one after it.
extern "C" __global__ void __cluster_dims__(kRanks) multicast(int* out, const int* in) {
  namespace ptx = cuda::ptx;
  __shared__ alignas(128) int tile[kRanks * kPart];
  __shared__ std::uint64_t bar;
  const unsigned rank = cg::this_cluster().block_rank();
  tile[threadIdx.x] = -1;
  expect_in_cluster(&bar, sizeof(tile) / kRanks * (kRanks - 1));
  if (threadIdx.x == 0) {
    const auto others = static_cast<std::uint16_t>(0xf ^ 1 << (rank + 1) % kRanks);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile + rank * kPart,
                       in + blockIdx.x * kPart, kPart * sizeof(int), &bar, others);
  }
  wait_in_cluster(&bar);
  out[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x];
  cg::this_cluster().sync();
}

// Each thread sends a word to the next block; thread 0 adds the block's part to block 0's sums, and
// a word more to each of them.
extern "C" __global__ void __cluster_dims__(kRanks) send(int* out, const int* in) {
  namespace ptx = cuda::ptx;
  __shared__ alignas(128) int received[kPart], sums[kPart], own[kPart];
  __shared__ std::uint64_t arrived, added;
  const auto cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank();
  const unsigned thread = threadIdx.x;
  own[thread] = in[blockIdx.x * kPart + thread];
  sums[thread] = 0;
  expect_in_cluster(&arrived, sizeof(received));
  expect_in_cluster(&added, rank == 0 ? kRanks * 2 * sizeof(sums) : 0);
  const unsigned next = (rank + 1) % kRanks;
  ptx::st_async(cluster.map_shared_rank(received + thread, next), own[thread],
                cluster.map_shared_rank(&arrived, next));
  int* const sums_there = cluster.map_shared_rank(sums, 0);
  std::uint64_t* const added_there = cluster.map_shared_rank(&added, 0);
  if (thread == 0) {
    ptx::cp_reduce_async_bulk(ptx::space_cluster, ptx::space_shared, ptx::op_add, sums_there, own,
                              sizeof(own), added_there);
  }
  ptx::red_async(ptx::op_add, sums_there + thread, static_cast<int>(rank), added_there);
  wait_in_cluster(&arrived);
  if (rank == 0) wait_in_cluster(&added);
  out[2 * (blockIdx.x * kPart + thread)] = received[thread];
  out[2 * (blockIdx.x * kPart + thread) + 1] = sums[thread];
  cluster.sync();
}
