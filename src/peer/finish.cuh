#pragma once

// Stores what a block has reduced, and executes the epilogue of it. Every thread has the same packs
// of each row, wherever they come from, so that all ranks and all transports get the same bits.

#include "epilogue.h"
#include "packs.cuh"
#include "peer_memory.h"
#include "ranks.cuh"

namespace baton::peer {

// One addition waits for log2(kCount) others.
template <unsigned kCount>
__device__ float sum_as_tree(const float* values) {
  if constexpr (kCount == 1) {
    return *values;
  } else {
    static_assert(kCount % 2 == 0, "a power of two");
    return __fadd_rn(sum_as_tree<kCount / 2>(values), sum_as_tree<kCount / 2>(values + kCount / 2));
  }
}

// The sum over the threads of a block, in one order. All threads get it. `is_odd` alternates from call
// to call: the sums of the last call may still be read.
__device__ inline float sum_of_block(float value, bool is_odd) {
  constexpr unsigned kWarps = kThreads / kLanes;
  __shared__ __align__(16) float all_sums[2][kWarps];
  float* const sums = all_sums[is_odd];
#pragma unroll
  for (unsigned distance = 16; distance != 0; distance /= 2) {
    value = __fadd_rn(value, __shfl_xor_sync(~0u, value, distance));
  }
  if (threadIdx.x % kLanes == 0) sums[threadIdx.x / kLanes] = value;
  __syncthreads();
  return sum_as_tree<kWarps>(sums);
}

template <class T, bool kEven>
class Finisher {
 public:
  __device__ Finisher(const Epilogue& epilogue, T* result)
      : epilogue_(epilogue),
        result_(result),
        share_(__frcp_rn(static_cast<float>(epilogue.row))) {
    compute_now(share_);
  }

  // Begins to load what the thread's pack of the `count` elements from `begin` on needs beside
  // itself. They are a row, or a part of one: `at` is its place there.
  __device__ void load(unsigned long long begin, unsigned long long at, unsigned count) {
    if (threadIdx.x >= packs_of<T>(count)) return;
    if (epilogue_.add != 0) added_ = load_pack<kEven>(add() + begin, threadIdx.x, count);
    if (epilogue_.row != 0) weights_ = load_pack<kEven>(weight() + at, threadIdx.x, count);
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
      store_pack<kEven>(result_ + begin, threadIdx.x, count, pack);
#pragma unroll
      for (unsigned i = 0; i < kEach<T>; ++i) squares_ = __fmaf_rn(pack[i], pack[i], squares_);
    }
    if (epilogue_.row == 0 || at + count != epilogue_.row) return;
    const float mean = __fmul_rn(sum_of_block(squares_, is_odd_), share_);
    is_odd_ = !is_odd_;
    const float scale = __frcp_rn(__fsqrt_rn(__fadd_rn(mean, epilogue_.epsilon)));
    squares_ = 0;
    if (has_pack) store_norm(pack, weights_, scale, begin, threadIdx.x, count);
    // All parts but the last one are stored.
#pragma unroll 1
    for (unsigned long long part = 0; part < at; part += kThreads * kEach<T>) {
      store_norm(load_pack<kEven, T>(result_ + begin - at + part, threadIdx.x, ~0u),
                 load_pack<kEven>(weight() + part, threadIdx.x, ~0u), scale, begin - at + part,
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
    store_pack<kEven>(reinterpret_cast<T*>(epilogue_.normed) + begin, k, count, pack);
  }

  const Epilogue& epilogue_;
  T* const result_;
  float share_;  // of an element in the mean of a row
  Pack<T> added_, weights_;
  float squares_ = 0;  // of the thread's elements of a row
  bool is_odd_ = false;  // of the rows that the block has finished
};

// Of integers, which have no epilogues.
template <class T, bool kEven>
class Storer {
 public:
  __device__ Storer(const Epilogue&, T* result) : result_(result) {}

  __device__ void load(unsigned long long, unsigned long long, unsigned) const {}
  __device__ void finish(const Pack<T>& pack, unsigned long long begin, unsigned long long,
                         unsigned count) const {
    if (threadIdx.x < packs_of<T>(count)) {
      store_pack<kEven>(result_ + begin, threadIdx.x, count, pack);
    }
  }

 private:
  T* const result_;
};

// Whether there are epilogues of the type.
template <class T>
constexpr bool kIsFloat = false;
template <>
inline constexpr bool kIsFloat<float> = true;
template <>
inline constexpr bool kIsFloat<__half> = true;
template <>
inline constexpr bool kIsFloat<__nv_bfloat16> = true;

template <class T, bool kEven>
struct ChosenFinisher {
  using Type = Storer<T, kEven>;
};
template <class T, bool kEven>
  requires kIsFloat<T>
struct ChosenFinisher<T, kEven> {
  using Type = Finisher<T, kEven>;
};
template <class T, bool kEven>
using FinisherOf = typename ChosenFinisher<T, kEven>::Type;

}  // namespace baton::peer
