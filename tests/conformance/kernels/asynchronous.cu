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
