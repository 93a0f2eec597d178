#pragma once

// Stores what a block has reduced, and executes the epilogue of it. Every thread has the same packs
// of each row, wherever they come from, so that all ranks and all transports get the same bits.

#include "epilogue.h"
#include "packs.cuh"
#include "peer_memory.h"

namespace baton::peer {

// The sum over the threads of a block, in one order. All threads get it.
__device__ inline float sum_of_block(float value) {
  constexpr unsigned kWarps = kThreads / 32;
  __shared__ float sums[kWarps];
#pragma unroll
  for (unsigned distance = 16; distance != 0; distance /= 2) {
    value = __fadd_rn(value, __shfl_xor_sync(~0u, value, distance));
  }
  __syncthreads();  // the last row's sums are read
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = sums[0];
#pragma unroll
  for (unsigned warp = 1; warp < kWarps; ++warp) sum = __fadd_rn(sum, sums[warp]);
  return sum;
}

template <class T>
class Finisher {
 public:
  // `kept`: of the block, for the packs of kSlotBytes.
  __device__ Finisher(const Epilogue& epilogue, T* result, bool is_even, Vector* kept)
      : epilogue_(epilogue),
        result_(result),
        is_even_(is_even),
        kept_(reinterpret_cast<Pack<T>*>(kept)) {}

  __device__ bool has_work() const { return epilogue_.add != 0 || epilogue_.row != 0; }

  // Asks L2 for what elements need beside themselves.
  __device__ void prefetch(unsigned long long begin, unsigned count) const {
    if (epilogue_.add != 0) prefetch(add() + begin, count);
    if (epilogue_.row != 0 && count >= epilogue_.row) {
      prefetch(weight(), static_cast<unsigned>(epilogue_.row));
    } else if (epilogue_.row != 0) {
      prefetch(weight() + begin % epilogue_.row, count);
    }
  }

  // `reduced(at, k, n)` is pack k of the n elements from `at` on, among the `count` from `begin`
  // on. These are whole rows, or a part of one, of whole turns of the block up to the last part. A
  // row's parts follow one another.
  template <class Reduced>
  __device__ void finish(const Reduced& reduced, unsigned long long begin, unsigned count) {
    const bool is_whole = epilogue_.row != 0 && epilogue_.row <= count;
    const unsigned each = is_whole ? static_cast<unsigned>(epilogue_.row) : count;
#pragma unroll 1
    for (unsigned at = 0; at < count; at += each) {
      part(reduced, at, begin + at, each);
      const unsigned long long end = begin + at + each;
      if (epilogue_.row != 0 && end % epilogue_.row == 0) norm(end - epilogue_.row, each);
    }
  }

 private:
  __device__ const T* add() const {
    return reinterpret_cast<const T*>(epilogue_.add);
  }
  __device__ const T* weight() const {
    return reinterpret_cast<const T*>(epilogue_.weight);
  }

  __device__ static void prefetch(const T* from, unsigned count) {
    constexpr unsigned kLine = 128 / sizeof(T);
#pragma unroll 1
    for (unsigned k = threadIdx.x * kLine; k < count; k += blockDim.x * kLine) {
      asm volatile("prefetch.global.L2 [%0];" ::"l"(from + k));
    }
  }

  // `at`: where the part begins among the reduced ones.
  template <class Reduced>
  __device__ void part(const Reduced& reduced, unsigned at, unsigned long long begin,
                       unsigned count) {
    const T* const add = this->add() + begin;
#pragma unroll 1
    for (unsigned k = threadIdx.x; k < packs_of<T>(count); k += blockDim.x) {
      Pack<T> pack = reduced(at, k, count);
      if (epilogue_.add != 0) {
        const Pack<T> more = load_pack(add, k, count, is_even_);
#pragma unroll
        for (unsigned j = 0; j < kEach<T>; ++j) pack.set(j, __fadd_rn(pack[j], more[j]));
      }
      store_pack(result_ + begin, k, count, is_even_, pack);
      if (epilogue_.row == 0) continue;
      kept_[k] = pack;
#pragma unroll
      for (unsigned j = 0; j < kEach<T>; ++j) squares_ = __fmaf_rn(pack[j], pack[j], squares_);
    }
  }

  // The row from `begin` on, of which the threads keep the last `kept` elements.
  __device__ void norm(unsigned long long begin, unsigned kept) {
    const unsigned row = static_cast<unsigned>(epilogue_.row);
    const float mean = __fdiv_rn(sum_of_block(squares_), static_cast<float>(epilogue_.row));
    const float scale = __frcp_rn(__fsqrt_rn(__fadd_rn(mean, epilogue_.epsilon)));
    squares_ = 0;
    T* const normed = reinterpret_cast<T*>(epilogue_.normed) + begin;
#pragma unroll 1
    for (unsigned k = threadIdx.x; k < packs_of<T>(row); k += blockDim.x) {
      Pack<T> pack = kept == row ? kept_[k] : load_pack<T>(result_ + begin, k, row, is_even_);
      const Pack<T> weights = load_pack(weight(), k, row, is_even_);
#pragma unroll
      for (unsigned j = 0; j < kEach<T>; ++j) {
        pack.set(j, __fmul_rn(__fmul_rn(pack[j], scale), weights[j]));
      }
      store_pack(normed, k, row, is_even_, pack);
    }
  }

  const Epilogue& epilogue_;
  T* const result_;
  const bool is_even_;  // rows, and all places, are multiples of a pack
  Pack<T>* const kept_;
  float squares_ = 0;  // of the thread's elements of a row
};

// Of integers, which have no epilogues.
template <class T>
class Storer {
 public:
  __device__ Storer(const Epilogue&, T* result, bool is_even, Vector*)
      : result_(result), is_even_(is_even) {}

  __device__ bool has_work() const { return false; }
  __device__ void prefetch(unsigned long long, unsigned) const {}
  template <class Reduced>
  __device__ void finish(const Reduced& reduced, unsigned long long begin, unsigned count) const {
#pragma unroll 1
    for (unsigned k = threadIdx.x; k < packs_of<T>(count); k += blockDim.x) {
      store_pack(result_ + begin, k, count, is_even_, reduced(0, k, count));
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
