#pragma once

// The softmax of scores, and the sum of values that it weighs, for a warp's rows of the caches.
#include <cuda_bf16.h>

#include "fragments.cuh"

namespace llama {

constexpr unsigned kWarp = 32;
constexpr unsigned kGroup = 4;  // queries for each head of keys and values
constexpr unsigned kTile = 16;  // rows of a warp at a time

// The weight of a score beside the largest one.
__device__ __forceinline__ float scaled(float score, float largest) {
  return score == -INFINITY ? 0.0f : __expf(score - largest);
}

// The softmax of a warp's rows in progress, for all queries of a head of keys and values. Lane
// 4*i + j has queries 2*j and 2*j + 1, modulo kGroup. Numbers of 16 bits multiply what is rounded
// to them (j < 2), and what that leaves (j >= 2): so float's precision is kept.
template <unsigned kWidth>
class Softmax {
 public:
  static constexpr unsigned kPieces = kWidth / 32;  // of 8 elements, of a lane's part of a key
  static constexpr unsigned kHalves = kWidth / 64;  // of 8 columns of a lane

  // Takes the rows of one head of the caches, each `stride` elements after the one before.
  __device__ Softmax(const __nv_bfloat16* keys, const __nv_bfloat16* values, unsigned stride)
      : keys_(keys), values_(values), stride_(stride) {}

  // Loads the rows of the tile at `first` that are from `begin` to `end`. The others become zeros,
  // or stay as they are.
  __device__ __forceinline__ void load_keys(unsigned first, unsigned begin, unsigned end,
                                            bool others_stay = false) {
#pragma unroll
    for (unsigned r = 0; r < 2; ++r) {
      const unsigned row = first + i() + 8 * r;
      const auto* from = keys_ + row * stride_ + j() * 8;
      const bool is_wanted = row >= begin && row < end;
#pragma unroll
      for (unsigned m = 0; m < kPieces; ++m) {
        if (!others_stay) key_[r][m] = uint4{};
        if (is_wanted) key_[r][m] = *reinterpret_cast<const uint4*>(from + m * 32);
      }
    }
  }
  __device__ __forceinline__ void load_values(unsigned first, unsigned begin, unsigned end,
                                              bool others_stay = false) {
#pragma unroll
    for (unsigned r = 0; r < 4; ++r) {
      const unsigned row = first + 2 * j() + r % 2 + r / 2 * 8;
      const auto* from = values_ + row * stride_ + i() * 8;
      const bool is_wanted = row >= begin && row < end;
#pragma unroll
      for (unsigned h = 0; h < kHalves; ++h) {
        if (!others_stay) value_[r][h] = uint4{};
        if (is_wanted) value_[r][h] = *reinterpret_cast<const uint4*>(from + h * 64);
      }
    }
  }
  __device__ __forceinline__ void load_queries(const float* queries, float scale) {
    const auto* from = reinterpret_cast<const float4*>(queries + i() % kGroup * kWidth + j() * 8);
#pragma unroll
    for (unsigned m = 0; m < kPieces; ++m) {
#pragma unroll
      for (unsigned half = 0; half < 2; ++half) {
        float4 four = from[m * 8 + half];
        four.x *= scale, four.y *= scale, four.z *= scale, four.w *= scale;
        query_[m][2 * half] = part(four.x, four.y, i() >= kGroup);
        query_[m][2 * half + 1] = part(four.z, four.w, i() >= kGroup);
      }
    }
  }

  // Adds the tile at `first`, of which rows from `end` on do not count. Loads the warp's next one,
  // at `next`, meanwhile.
  __device__ __forceinline__ void add(unsigned first, unsigned next, unsigned end) {
    float score[4] = {};  // of rows i and i + 8, two queries each
#pragma unroll
    for (unsigned m = 0; m < kPieces; ++m) {
      const uint4 &low = key_[0][m], &high = key_[1][m];
      multiply_add(score, low.x, high.x, low.y, high.y, query_[m][0], query_[m][1]);
      multiply_add(score, low.z, high.z, low.w, high.w, query_[m][2], query_[m][3]);
    }
    load_keys(next, 0, end);
    unsigned weights[2];  // of the rows, as two of 16 bits
    float weight[4];
#pragma unroll
    for (unsigned e = 0; e < 4; ++e) {
      score[e] += __shfl_xor_sync(0xffffffffu, score[e], 2);
      if (first + i() + e / 2 * 8 >= end) score[e] = -INFINITY;
    }
#pragma unroll
    for (unsigned u = 0; u < 2; ++u) {
      float larger = fmaxf(score[u], score[u + 2]);
#pragma unroll
      for (unsigned lanes = 4; lanes < kWarp; lanes *= 2) {
        larger = fmaxf(larger, __shfl_xor_sync(0xffffffffu, larger, lanes));
      }
      larger = fmaxf(larger, most_[u]);
      const float keep = scaled(most_[u], larger);
      most_[u] = larger;
      weight[u] = scaled(score[u], larger);
      weight[u + 2] = scaled(score[u + 2], larger);
      sum_[u] = sum_[u] * keep + weight[u] + weight[u + 2];
#pragma unroll
      for (auto& tile : columns_) tile[u] *= keep, tile[u + 2] *= keep;
    }
#pragma unroll
    for (unsigned r = 0; r < 2; ++r) {
      weights[r] = transposed(part(weight[2 * r], weight[2 * r + 1], j() >= 2));
    }
#pragma unroll
    for (unsigned h = 0; h < kHalves; ++h) {
#pragma unroll
      for (unsigned t = 0; t < 4; ++t) {
        const auto pair = [&](unsigned r) { return (&value_[r][h].x)[t]; };
        multiply_add(columns_[h * 4 + t], low_halves(pair(0), pair(1)),
                     high_halves(pair(0), pair(1)), low_halves(pair(2), pair(3)),
                     high_halves(pair(2), pair(3)), weights[0], weights[1]);
      }
    }
    load_values(next, 0, end);
  }

  // What a lane has in the end: eight columns of each half of the width, of one query.
  struct Result {
    unsigned query;
    float most, sum;
    float columns[kHalves][8];
  };
  __device__ __forceinline__ Result result() const {
    const bool keeps_second = j() >= 2;
    Result all;
    all.query = 2 * (j() % 2) + j() / 2;
    all.most = keeps_second ? most_[1] : most_[0];
    all.sum = keeps_second ? sum_[1] : sum_[0];
#pragma unroll
    for (unsigned lanes = 4; lanes < kWarp; lanes *= 2) {
      all.sum += __shfl_xor_sync(0xffffffffu, all.sum, lanes);
    }
#pragma unroll
    for (unsigned c = 0; c < kWidth / 8; ++c) {
      const auto& tile = columns_[c / 2];
      const float first = tile[c % 2 * 2], second = tile[c % 2 * 2 + 1];
      const float other = __shfl_xor_sync(0xffffffffu, keeps_second ? first : second, 2);
      all.columns[c / 8][c % 8] = (keeps_second ? second : first) + other;
    }
    return all;
  }

 private:
  static __device__ unsigned i() {
    return threadIdx.x % kWarp / 4;
  }
  static __device__ unsigned j() {
    return threadIdx.x % 4;
  }
  // Two numbers rounded to bf16, or what the rounding leaves of them.
  static __device__ unsigned part(float low, float high, bool is_rest) {
    const float low_rest = low - round_to_bf16(low), high_rest = high - round_to_bf16(high);
    return is_rest ? pack(low_rest, high_rest) : pack(low, high);
  }

  const __nv_bfloat16 *keys_, *values_;
  unsigned long long stride_;
  uint4 key_[2][kPieces];
  uint4 value_[4][kHalves];
  unsigned query_[kPieces][4];
  float most_[2] = {-INFINITY, -INFINITY}, sum_[2] = {};
  // Tile t of a half has columns 8*i + 2*t (elements 0 and 1, a query each) and 8*i + 2*t + 1.
  float columns_[kWidth / 16][4] = {};
};

}  // namespace llama
