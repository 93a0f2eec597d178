// Attention of one token over the rows of its caches, 0 to `position`.
//
// A cluster's blocks divide the rows of one key-value head. The rows below `position` are frozen,
// so that a block may load its first ones before the wait. Each warp then has a part of the result,
// and writes it into the shared memory of the blocks that put the parts together, in their order:
// every block does so for some of the columns. After that no block needs another one, so that none
// waits for others before it ends.
#include <cooperative_groups.h>
#include <cuda_bf16.h>

#include <baton/device/pdl.cuh>

#include "cluster.cuh"

using namespace llama;

constexpr unsigned kWarp = 32;
constexpr unsigned kWarps = 8;  // of a block
constexpr unsigned kThreads = kWarp * kWarps;
constexpr unsigned kGroup = 4;  // queries for each head of keys and values
constexpr unsigned kMostSplits = 16;
constexpr unsigned kLine = 64;       // elements of a line of L2
constexpr unsigned kStepsAhead = 4;  // whose rows are asked of L2
// What a block gets of all warps of the cluster.
template <unsigned kWidth>
struct Parts {
  // Of the block's columns, the parts one after the other. Rows are padded, so that few threads
  // which add up one column meet in a bank.
  float columns[kWarps * (kGroup * kWidth + kMostSplits * 8)];
  float2 most_and_sum[kMostSplits * kWarps][kGroup];
  unsigned long long arrived;  // an mbarrier
};

// Eight bf16 as float.
__device__ __forceinline__ void widen(const uint4& bits, float (&to)[8]) {
  const auto* pairs = reinterpret_cast<const __nv_bfloat162*>(&bits);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = __bfloat1622float2(pairs[i]);
    to[2 * i] = pair.x;
    to[2 * i + 1] = pair.y;
  }
}

// A softmax in progress: its largest score, the sum of its weights, and the weighted sum of eight
// columns of the values.
struct Softmax {
  float most = -INFINITY, sum = 0;
  float columns[8] = {};

  // The weight of a score beside the largest one.
  static __device__ float scaled(float score, float largest) {
    return score == -INFINITY ? 0.0f : __expf(score - largest);
  }

  // A score of -INFINITY adds nothing.
  __device__ void add(float score, const float (&value)[8]) {
    const float larger = fmaxf(most, score);
    const float keep = scaled(most, larger), weight = scaled(score, larger);
    sum = sum * keep + weight;
#pragma unroll
    for (int i = 0; i < 8; ++i) columns[i] = columns[i] * keep + weight * value[i];
    most = larger;
  }
  // Keeps one of two, and gives the other one to the lane at distance `lanes`, which keeps that.
  __device__ void share(Softmax& second, unsigned lanes) {
    const bool keeps_second = (threadIdx.x & lanes) != 0;
    const auto receive = [&](float& kept, float& given) {
      if (keeps_second) {
        const float other = kept;
        kept = given;
        given = other;
      }
      return __shfl_xor_sync(0xffffffffu, given, lanes);
    };
    const float other = receive(most, second.most);
    const float larger = fmaxf(most, other);
    const float keep = scaled(most, larger), take = scaled(other, larger);
    const float other_sum = receive(sum, second.sum);
    sum = sum * keep + other_sum * take;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float column = receive(columns[i], second.columns[i]);
      columns[i] = columns[i] * keep + column * take;
    }
    most = larger;
  }
};

// Of heads of kWidth columns. The width is a constant, and loops are not unrolled where that only
// makes the code longer: it runs once, so that a multiprocessor fetches every instruction of it.
template <unsigned kWidth>
__device__ __forceinline__ void attend_rows(const float* q, const __nv_bfloat16* keys,
                                            const __nv_bfloat16* values, unsigned newest,
                                            __nv_bfloat16* out, unsigned kv_heads, float scale) {
  constexpr unsigned kRowLanes = kWidth / 8;  // lanes that share a row
  constexpr unsigned kWarpRows = kWarp / kRowLanes;
  constexpr unsigned kStep = kWarps * kWarpRows;  // rows of a block at a time
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
  const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const unsigned share = newest / splits + 1;  // rows of a block, at most
  const unsigned begin = split * share;
  const unsigned end = min(newest + 1, begin + share);
  const unsigned column = lane % kRowLanes * 8;
  const unsigned long long stride = kv_heads * kWidth;
  // A lane's row, and its place in both caches.
  unsigned row = begin + warp * kWarpRows + lane / kRowLanes;
  const __nv_bfloat16 *key = keys + row * stride + head * kWidth + column,
                      *value = values + row * stride + head * kWidth + column;
  uint4 key_bits = {}, value_bits = {};
  const auto load = [&] {
    key_bits = *reinterpret_cast<const uint4*>(key);
    value_bits = *reinterpret_cast<const uint4*>(value);
  };
  // Asks L2 for the lines of a later row, so that a step finds its rows there.
  const auto ask = [&](unsigned steps) {
    if (row + steps * kStep >= end || column % kLine != 0) return;
    const unsigned long long at = steps * kStep * stride;
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(key + at)));
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(value + at)));
  };
  const bool is_early = row < end && row < newest;
  if (is_early) load();
#pragma unroll 1
  for (unsigned steps = 1; steps <= kStepsAhead; ++steps) ask(steps);
  // All blocks of the cluster are ready to receive after this.
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");

  baton::device::pdl_wait();
  if (row < end && !is_early) load();
  float query[kGroup][8];
#pragma unroll
  for (unsigned g = 0; g < kGroup; ++g) {
    const auto* from = reinterpret_cast<const float4*>(q + (head * kGroup + g) * kWidth + column);
    const float4 low = from[0], high = from[1];
    query[g][0] = low.x * scale, query[g][1] = low.y * scale;
    query[g][2] = low.z * scale, query[g][3] = low.w * scale;
    query[g][4] = high.x * scale, query[g][5] = high.y * scale;
    query[g][6] = high.z * scale, query[g][7] = high.w * scale;
  }
  Softmax softmax[kGroup];
  // All lanes of a warp go on as long as its first row is one of the block's.
#pragma unroll 1
  for (unsigned of_warp = begin + warp * kWarpRows; of_warp < end; of_warp += kStep) {
    float k[8], v[8];
    widen(key_bits, k);
    widen(value_bits, v);
    const bool is_valid = row < end;
    row += kStep;
    key += kStep * stride;
    value += kStep * stride;
    if (row < end) load();
    ask(kStepsAhead);
#pragma unroll
    for (unsigned g = 0; g < kGroup; ++g) {
      float score = 0;
#pragma unroll
      for (int i = 0; i < 8; ++i) score = fmaf(query[g][i], k[i], score);
#pragma unroll
      for (unsigned lanes = kRowLanes / 2; lanes > 0; lanes /= 2) {
        score += __shfl_xor_sync(0xffffffffu, score, lanes);
      }
      softmax[g].add(is_valid ? score : -INFINITY, v);
    }
  }

  // Lanes with the same columns add up their sums, and share out the queries.
  constexpr unsigned kKept = kGroup / kWarpRows;  // queries of a lane
  unsigned kept = kGroup;
#pragma unroll
  for (unsigned lanes = kWarp / 2; lanes >= kRowLanes; lanes /= 2) {
    kept /= 2;
#pragma unroll
    for (unsigned g = 0; g < kGroup / 2; ++g) {
      if (g < kept) softmax[g].share(softmax[g + kept], lanes);
    }
  }
  const unsigned row_floats = own + 8;
  const unsigned part = split * kWarps + warp;
#pragma unroll
  for (unsigned i = 0; i < kKept; ++i) {
    const unsigned g = lane / kRowLanes * kKept + i;
    const unsigned at = (g * kWidth + column) % own;
    const Receiver receiver((g * kWidth + column) / own, &parts.arrived);
    const float* const columns = softmax[i].columns;
    float* const to = &parts.columns[part * row_floats + at];
    receiver.send(to, float4{columns[0], columns[1], columns[2], columns[3]});
    receiver.send(to + 4, float4{columns[4], columns[5], columns[6], columns[7]});
    // A block that has columns of the query hears of it once.
    if (at != 0 && column != 0) continue;
    receiver.send(&parts.most_and_sum[part][g], float2{softmax[i].most, softmax[i].sum});
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
      const float weight = Softmax::scaled(most_and_sum.x, most);
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
extern "C" __global__ void __launch_bounds__(kThreads)
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
