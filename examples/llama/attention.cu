// Attention of one token over the rows of its caches, 0 to `position`.
//
// A cluster's blocks divide the rows of one key-value head. The rows below `position` are frozen,
// so that a block may load its first ones before the wait. Then the blocks put their parts
// together, in their order, through each other's shared memory.
#include <cooperative_groups.h>
#include <cuda_bf16.h>

#include <baton/device/pdl.cuh>

constexpr unsigned kWarp = 32;
constexpr unsigned kWarps = 8;  // of a block
constexpr unsigned kThreads = kWarp * kWarps;
constexpr unsigned kGroup = 4;  // queries for each head of keys and values
constexpr unsigned kEarly = 2;  // rows of each lane before the wait
constexpr unsigned kMostWidth = 128;

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

  __device__ void add(float score, const float (&value)[8]) {
    if (score == -INFINITY) return;
    const float larger = fmaxf(most, score);
    const float keep = __expf(most - larger), weight = __expf(score - larger);
    sum = sum * keep + weight;
#pragma unroll
    for (int i = 0; i < 8; ++i) columns[i] = columns[i] * keep + weight * value[i];
    most = larger;
  }
  // With the same columns of the lane at distance `lanes`.
  __device__ void merge(unsigned lanes) {
    const float other = __shfl_xor_sync(0xffffffffu, most, lanes);
    const float larger = fmaxf(most, other);
    const float keep = larger == -INFINITY ? 0.0f : __expf(most - larger);
    const float take = larger == -INFINITY ? 0.0f : __expf(other - larger);
    sum = sum * keep + __shfl_xor_sync(0xffffffffu, sum, lanes) * take;
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      columns[i] = columns[i] * keep + __shfl_xor_sync(0xffffffffu, columns[i], lanes) * take;
    }
    most = larger;
  }
};

// One cluster for each key-value head.
extern "C" __global__ void __launch_bounds__(kThreads)
    attend(const float* q, const __nv_bfloat16* keys, const __nv_bfloat16* values,
           const int* position, __nv_bfloat16* out, unsigned kv_heads, unsigned width,
           float scale) {
  __shared__ float shared_most[kWarps][kGroup], shared_sum[kWarps][kGroup];
  __shared__ float shared_columns[kWarps][kGroup][kMostWidth];
  __shared__ float part_most[kGroup], part_sum[kGroup], part_columns[kGroup][kMostWidth];
  baton::device::pdl_trigger();

  const auto cluster = cooperative_groups::this_cluster();
  const unsigned splits = cluster.num_blocks(), split = cluster.block_rank();
  const unsigned head = blockIdx.x / splits;
  const unsigned warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
  const unsigned row_lanes = width / 8;  // lanes that share a row
  const unsigned warp_rows = kWarp / row_lanes;
  const unsigned newest = static_cast<unsigned>(*position);
  const unsigned share = newest / splits + 1;  // rows of a block, at most
  const unsigned begin = split * share;
  const unsigned end = min(newest + 1, begin + share);
  const unsigned first = begin + warp * warp_rows + lane / row_lanes;
  const unsigned step = kWarps * warp_rows;
  const unsigned column = lane % row_lanes * 8;
  const auto at = [&](const __nv_bfloat16* cache, unsigned row) {
    return reinterpret_cast<const uint4*>(
        cache + (static_cast<unsigned long long>(row) * kv_heads + head) * width + column);
  };

  uint4 early_keys[kEarly] = {}, early_values[kEarly] = {};
#pragma unroll
  for (unsigned i = 0; i < kEarly; ++i) {
    const unsigned row = first + i * step;
    if (row < end && row < newest) {
      early_keys[i] = *at(keys, row);
      early_values[i] = *at(values, row);
    }
  }

  baton::device::pdl_wait();
  float query[kGroup][8];
#pragma unroll
  for (unsigned g = 0; g < kGroup; ++g) {
    const auto* from = reinterpret_cast<const float4*>(q + (head * kGroup + g) * width + column);
    const float4 low = from[0], high = from[1];
    query[g][0] = low.x * scale, query[g][1] = low.y * scale;
    query[g][2] = low.z * scale, query[g][3] = low.w * scale;
    query[g][4] = high.x * scale, query[g][5] = high.y * scale;
    query[g][6] = high.z * scale, query[g][7] = high.w * scale;
  }
  Softmax softmax[kGroup];
  const auto take = [&](bool valid, const uint4& key_bits, const uint4& value_bits) {
    float key[8], value[8];
    widen(key_bits, key);
    widen(value_bits, value);
#pragma unroll
    for (unsigned g = 0; g < kGroup; ++g) {
      float score = 0;
#pragma unroll
      for (int i = 0; i < 8; ++i) score = fmaf(query[g][i], key[i], score);
      for (unsigned lanes = row_lanes / 2; lanes > 0; lanes /= 2) {
        score += __shfl_xor_sync(0xffffffffu, score, lanes);
      }
      softmax[g].add(valid ? score : -INFINITY, value);
    }
  };
#pragma unroll
  for (unsigned i = 0; i < kEarly; ++i) {
    const unsigned row = first + i * step;
    if (row < end && row >= newest) {
      early_keys[i] = *at(keys, row);
      early_values[i] = *at(values, row);
    }
    take(row < end, early_keys[i], early_values[i]);
  }
  // All lanes of a warp go on as long as its first row is one of the block's.
  for (unsigned i = kEarly; begin + warp * warp_rows + i * step < end; ++i) {
    const unsigned row = first + i * step;
    const unsigned valid = min(row, end - 1);
    take(row < end, *at(keys, valid), *at(values, valid));
  }

#pragma unroll
  for (unsigned g = 0; g < kGroup; ++g) {
    for (unsigned lanes = row_lanes; lanes < kWarp; lanes *= 2) softmax[g].merge(lanes);
    if (lane >= row_lanes) continue;
    if (lane == 0) {
      shared_most[warp][g] = softmax[g].most;
      shared_sum[warp][g] = softmax[g].sum;
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) shared_columns[warp][g][column + i] = softmax[g].columns[i];
  }
  __syncthreads();

  // Together of all warps, then of all blocks.
  for (unsigned i = threadIdx.x; i < kGroup * width; i += kThreads) {
    const unsigned g = i / width, c = i % width;
    float most = -INFINITY;
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w) most = fmaxf(most, shared_most[w][g]);
    float sum = 0, total = 0;
#pragma unroll
    for (unsigned w = 0; w < kWarps; ++w) {
      if (shared_most[w][g] == -INFINITY) continue;
      const float weight = __expf(shared_most[w][g] - most);
      sum += shared_sum[w][g] * weight;
      total += shared_columns[w][g][c] * weight;
    }
    if (c == 0) {
      part_most[g] = most;
      part_sum[g] = sum;
    }
    part_columns[g][c] = total;
  }
  cluster.sync();
  for (unsigned i = split * kThreads + threadIdx.x; i < kGroup * width; i += splits * kThreads) {
    const unsigned g = i / width, c = i % width;
    float most = -INFINITY;
    for (unsigned s = 0; s < splits; ++s) {
      most = fmaxf(most, *cluster.map_shared_rank(&part_most[g], s));
    }
    float sum = 0, total = 0;
    for (unsigned s = 0; s < splits; ++s) {
      const float its = *cluster.map_shared_rank(&part_most[g], s);
      if (its == -INFINITY) continue;
      const float weight = __expf(its - most);
      sum += *cluster.map_shared_rank(&part_sum[g], s) * weight;
      total += *cluster.map_shared_rank(&part_columns[g][c], s) * weight;
    }
    out[(head * kGroup + g) * width + c] = __float2bfloat16(total / sum);
  }
  cluster.sync();  // no block ends while another one reads its part
}
