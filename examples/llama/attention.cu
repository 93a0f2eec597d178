// Attention of one token over the rows of its caches, 0 to `position`.
//
// A cluster's blocks divide the rows of one key-value head, and a block's warps take tiles of 16
// rows. The tensor cores multiply them. The rows below `position` are frozen, so that a warp loads
// those of its first tile before the wait. Each warp then has a part of the result, and writes it
// into the shared memory of the blocks that put the parts together, in their order: every block
// does so for some of the columns. After that no block needs another one, so that none waits for
// others before it ends.
#include <cooperative_groups.h>
#include <cuda_bf16.h>

#include <baton/device/pdl.cuh>

#include "cluster.cuh"
#include "softmax.cuh"

using namespace llama;

constexpr unsigned kWarps = 8;  // of a block
constexpr unsigned kThreads = kWarp * kWarps;
constexpr unsigned kMostSplits = 16;
constexpr unsigned kStep = kWarps * kTile;  // rows of a block at a time

// What a block gets of all warps of the cluster.
template <unsigned kWidth>
struct Parts {
  // Of the block's columns, the parts one after the other. Rows are padded, so that few threads
  // which add up one column meet in a bank.
  float columns[kWarps * (kGroup * kWidth + kMostSplits * 8)];
  float2 most_and_sum[kMostSplits * kWarps][kGroup];
  unsigned long long arrived;  // an mbarrier
};

// Of heads of kWidth columns. The width is a constant, and loops are not unrolled where that only
// makes the code longer: it runs once, so that a multiprocessor fetches every instruction of it.
template <unsigned kWidth>
__device__ __forceinline__ void attend_rows(const float* q, const __nv_bfloat16* keys,
                                            const __nv_bfloat16* values, unsigned newest,
                                            __nv_bfloat16* out, unsigned kv_heads, float scale) {
  __shared__ __align__(16) Parts<kWidth> parts;

  const auto cluster = cooperative_groups::this_cluster();
  const unsigned splits = cluster.num_blocks(), split = cluster.block_rank();
  const unsigned own = kGroup * kWidth / splits;  // columns of a block, a multiple of eight
  if (threadIdx.x == 0) {
    const unsigned queries = own < kWidth ? 1 : own / kWidth;
    expect(&parts.arrived, splits * kWarps * (own * sizeof(float) + queries * sizeof(float2)));
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  const unsigned head = blockIdx.x / splits;
  const unsigned warp = threadIdx.x / kWarp;
  const unsigned share = newest / splits + 1;  // rows of a block, at most
  const unsigned begin = split * share;
  const unsigned end = min(newest + 1, begin + share);
  unsigned first = begin + warp * kTile;
  Softmax<kWidth> softmax(keys + head * kWidth, values + head * kWidth, kv_heads * kWidth);
  const unsigned early_end = min(end, newest);
  softmax.load_keys(first, 0, early_end);
  softmax.load_values(first, 0, early_end);
  // All blocks of the cluster are ready to receive after this.
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

  baton::device::pdl_wait();
  softmax.load_keys(first, newest, end, true);
  softmax.load_values(first, newest, end, true);
  softmax.load_queries(q + head * kGroup * kWidth, scale);
#pragma unroll 1
  for (; first < end; first += kStep) softmax.add(first, first + kStep, end);

  const unsigned row_floats = own + 8;
  const unsigned part = split * kWarps + warp;
  const auto result = softmax.result();
  const unsigned g = result.query;
#pragma unroll
  for (unsigned h = 0; h < Softmax<kWidth>::kHalves; ++h) {
    const unsigned column = h * 64 + threadIdx.x % kWarp / 4 * 8;
    const unsigned at = (g * kWidth + column) % own;
    const Receiver receiver((g * kWidth + column) / own, &parts.arrived);
    const float* const columns = result.columns[h];
    float* const to = &parts.columns[part * row_floats + at];
    receiver.send(to, float4{columns[0], columns[1], columns[2], columns[3]});
    receiver.send(to + 4, float4{columns[4], columns[5], columns[6], columns[7]});
    // A block that has columns of the query hears of it once.
    if (at != 0 && column != 0) continue;
    receiver.send(&parts.most_and_sum[part][g], float2{result.most, result.sum});
  }
  await(&parts.arrived);

  // Some threads add up a column. All lanes of a warp have a column, or none.
  constexpr unsigned kShare = 8;
  const unsigned count = splits * kWarps, first_part = threadIdx.x % kShare;
#pragma unroll 1
  for (unsigned i = threadIdx.x / kShare; i < own; i += kThreads / kShare) {
    const unsigned g = (split * own + i) / kWidth, c = (split * own + i) % kWidth;
    float most = -INFINITY;
#pragma unroll 8
    for (unsigned p = first_part; p < count; p += kShare) {
      most = fmaxf(most, parts.most_and_sum[p][g].x);
    }
#pragma unroll
    for (unsigned lanes = 1; lanes < kShare; lanes *= 2) {
      most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, lanes));
    }
    float sum = 0, total = 0;
#pragma unroll 4
    for (unsigned p = first_part; p < count; p += kShare) {
      // A warp without rows has no largest score, and a weight of 0.
      const float2 most_and_sum = parts.most_and_sum[p][g];
      const float weight = scaled(most_and_sum.x, most);
      sum += most_and_sum.y * weight;
      total += parts.columns[p * row_floats + i] * weight;
    }
#pragma unroll
    for (unsigned lanes = 1; lanes < kShare; lanes *= 2) {
      sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
      total += __shfl_xor_sync(0xffffffffu, total, lanes);
    }
    if (first_part == 0) out[(head * kGroup + g) * kWidth + c] = __float2bfloat16(total / sum);
  }
}

// One cluster for each key-value head.
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    attend(const float* q, const __nv_bfloat16* keys, const __nv_bfloat16* values,
           const int* position, __nv_bfloat16* out, unsigned kv_heads, unsigned width,
           float scale) {
  baton::device::pdl_trigger();
  const unsigned newest = static_cast<unsigned>(*position);
  if (width == 64) {
    attend_rows<64>(q, keys, values, newest, out, kv_heads, scale);
  } else {
    attend_rows<128>(q, keys, values, newest, out, kv_heads, scale);
  }
}
