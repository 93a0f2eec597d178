#pragma once

// Stores what a block has reduced, and executes the epilogue of it. Every thread has the same packs
// of each row, wherever they come from, so that all ranks and all transports get the same bits.

#include "epilogue.h"
#include "packs.cuh"
#include "peer_memory.h"

namespace baton::peer {

// The sum over the threads of a block, in one order. All threads get it.
__device__ inline float sum_of_block(float value) {
  constexpr unsigned kWarps = kThreads / kLanes;
  __shared__ float sums[kWarps];
#pragma unroll
  for (unsigned distance = 16; distance != 0; distance /= 2) {
    value = __fadd_rn(value, __shfl_xor_sync(~0u, value, distance));
  }
  __syncthreads();  // the last row's sums are read
  if (threadIdx.x % kLanes == 0) sums[threadIdx.x / kLanes] = value;
  __syncthreads();
  float sum = sums[0];
#pragma unroll
  for (unsigned warp = 1; warp < kWarps; ++warp) sum = __fadd_rn(sum, sums[warp]);
  return sum;
}

template <class T>
class Finisher {
 public:
  __device__ Finisher(const Epilogue& epilogue, T* result, bool is_even)
      : epilogue_(epilogue), result_(result), is_even_(is_even) {}

  // Begins to load what the thread's pack of the `count` elements from `begin` on needs beside
  // itself. They are a row, or a part of one: `at` is its place there.
  __device__ void load(unsigned long long begin, unsigned long long at, unsigned count) {
    if (threadIdx.x >= packs_of<T>(count)) return;
    if (epilogue_.add != 0) added_ = load_pack(add() + begin, threadIdx.x, count, is_even_);
    if (epilogue_.row != 0) weights_ = load_pack(weight() + at, threadIdx.x, count, is_even_);
  }

  // `pack`: the thread's, of the elements that were loaded last. A part of a row has as many
  // elements as a round, up to the last one. A row's parts follow one another.
  __device__ void finish(Pack<T> pack, unsigned long long begin, unsigned long long at,
                         unsigned count) {
    const bool has_pack = threadIdx.x < packs_of<T>(count);
    if (has_pack) {
      if (epilogue_.add != 0) {
#pragma unroll
        for (unsigned i = 0; i < kEach<T>; ++i) pack.set(i, __fadd_rn(pack[i], added_[i]));
      }
      store_pack(result_ + begin, threadIdx.x, count, is_even_, pack);
#pragma unroll
      for (unsigned i = 0; i < kEach<T>; ++i) squares_ = __fmaf_rn(pack[i], pack[i], squares_);
    }
    if (epilogue_.row == 0 || at + count != epilogue_.row) return;
    const float mean = __fdiv_rn(sum_of_block(squares_), static_cast<float>(epilogue_.row));
    const float scale = __frcp_rn(__fsqrt_rn(__fadd_rn(mean, epilogue_.epsilon)));
    squares_ = 0;
    if (has_pack) store_norm(pack, weights_, scale, begin, threadIdx.x, count);
    // All parts but the last one are stored.
#pragma unroll 1
    for (unsigned long long part = 0; part < at; part += kThreads * kEach<T>) {
      store_norm(load_pack<T>(result_ + begin - at + part, threadIdx.x, ~0u, is_even_),
                 load_pack(weight() + part, threadIdx.x, ~0u, is_even_), scale, begin - at + part,
                 threadIdx.x, ~0u);
    }
  }

 private:
  __device__ const T* add() const { return reinterpret_cast<const T*>(epilogue_.add); }
  __device__ const T* weight() const { return reinterpret_cast<const T*>(epilogue_.weight); }

  __device__ void store_norm(Pack<T> pack, const Pack<T>& weights, float scale,
                             unsigned long long begin, unsigned k, unsigned count) const {
#pragma unroll
    for (unsigned i = 0; i < kEach<T>; ++i) {
      pack.set(i, __fmul_rn(__fmul_rn(pack[i], scale), weights[i]));
    }
    store_pack(reinterpret_cast<T*>(epilogue_.normed) + begin, k, count, is_even_, pack);
  }

  const Epilogue& epilogue_;
  T* const result_;
  const bool is_even_;  // rows, and all places, are multiples of a pack
  Pack<T> added_, weights_;
  float squares_ = 0;  // of the thread's elements of a row
};

// Of integers, which have no epilogues.
template <class T>
class Storer {
 public:
  __device__ Storer(const Epilogue&, T* result, bool is_even)
      : result_(result), is_even_(is_even) {}

  __device__ void load(unsigned long long, unsigned long long, unsigned) const {}
  __device__ void finish(const Pack<T>& pack, unsigned long long begin, unsigned long long,
                         unsigned count) const {
    if (threadIdx.x < packs_of<T>(count)) {
      store_pack(result_ + begin, threadIdx.x, count, is_even_, pack);
    }
  }

 private:
  T* const result_;
  const bool is_even_;
};

template <class T>
struct ChosenFinisher {
  using Type = Storer<T>;
};
template <>
struct ChosenFinisher<float> {
  using Type = Finisher<float>;
};
template <>
struct ChosenFinisher<__half> {
  using Type = Finisher<__half>;
};
template <>
struct ChosenFinisher<__nv_bfloat16> {
  using Type = Finisher<__nv_bfloat16>;
};
template <class T>
using FinisherOf = typename ChosenFinisher<T>::Type;

}  // namespace baton::peer
