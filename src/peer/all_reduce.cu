// All-reduce between GPUs that access each other's memory, with an epilogue; and the epilogue alone,
// for other transports. all_reduce.ptx and all_reduce_90.ptx are this file, compiled as README.md says.

#include "finish.cuh"
#include "packs.cuh"
#include "peer_memory.h"
#include "ranks.cuh"

namespace baton::peer {

template <class T>
__device__ void copy(T* to, const T* from, unsigned count, bool is_even) {
#pragma unroll 1
  for (unsigned k = threadIdx.x; k < packs_of<T>(count); k += blockDim.x) {
    store_pack(to, k, count, is_even, load_pack(from, k, count, is_even));
  }
}

// Integers wrap around.
__device__ inline float sum(float a, float b) {
  return a + b;
}
__device__ inline int sum(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
__device__ inline unsigned sum(unsigned a, unsigned b) {
  return a + b;
}
__device__ inline long long sum(long long a, long long b) {
  return static_cast<long long>(static_cast<unsigned long long>(a) +
                                static_cast<unsigned long long>(b));
}
__device__ inline unsigned long long sum(unsigned long long a, unsigned long long b) {
  return a + b;
}

// Of integers there is none.
template <class V>
__device__ bool is_nan(V) {
  return false;
}
__device__ inline bool is_nan(float value) {
  return value != value;
}

template <class V>
__device__ V combine(int op, V a, V b) {
  if (op == kSum) return sum(a, b);
  if (is_nan(a) || is_nan(b)) return static_cast<V>(__int_as_float(0x7fc00000));
  if (op == kMax) return a < b ? b : a;
  return b < a ? b : a;
}

// What the ranks gave for the same elements: the own ones, and others' in the slots of an epoch.
template <class T>
struct Parts {
  const T* own;
  const Bytes* slots;  // of rank 0
  int rank, ranks;
  int op;
  bool is_even;

  // Of one rank: elements that are reduced already.
  __device__ Parts(const T* elements, bool is_even_)
      : own(elements), slots(nullptr), rank(0), ranks(1), op(kSum), is_even(is_even_) {}
  __device__ Parts(const Block& block, unsigned epoch, const T* elements, int op_, bool is_even_)
      : own(elements),
        slots(slot_of(block.ranks, block.rank, epoch, 0)),
        rank(block.rank),
        ranks(block.count),
        op(op_),
        is_even(is_even_) {}

  __device__ const T* of(int other) const {
    constexpr auto kApart = slot_offset(0, 1, 0) - slot_offset(0, 0, 0);
    return other == rank ? own
                         : reinterpret_cast<const T*>(
                               slots + static_cast<unsigned long long>(other) * kApart);
  }

  // The reduction of pack k of the `count` elements from `at` on. In the order of the ranks, so that
  // all of them get the same bits.
  __device__ Pack<T> operator()(unsigned at, unsigned k, unsigned count) const {
    Value<T> all[kEach<T>];
#pragma unroll 1
    for (int each = 0; each < ranks; ++each) {
      const Pack<T> pack = load_pack(of(each) + at, k, count, is_even);
#pragma unroll
      for (unsigned j = 0; j < kEach<T>; ++j) {
        all[j] = each == 0 ? pack[j] : combine(op, all[j], pack[j]);
      }
    }
    Pack<T> result;
#pragma unroll
    for (unsigned j = 0; j < kEach<T>; ++j) result.set(j, all[j]);
    return result;
  }
};

// The elements of one round.
template <class T>
struct Round {
  const T* from;
  T* to;
  unsigned long long begin;  // of all elements
  unsigned count;
  unsigned epoch;
  int op;
  bool is_even;
};

// The second of two shots: the rank reduces its own part of the elements, sends that to all others,
// and gets theirs. False where the run has failed meanwhile.
template <class T, class BeginOf>
__device__ bool second_shot(const Block& block, const Round<T>& round, const FinisherOf<T>& finisher,
                            const BeginOf& begin_of) {
  const unsigned own = begin_of(block.rank);
  const unsigned count = begin_of(block.rank + 1) - own;
  const Parts<T> parts(block, round.epoch, round.from + own, round.op, round.is_even);
#pragma unroll 1
  for (unsigned k = threadIdx.x; k < packs_of<T>(count); k += blockDim.x) {
    const Pack<T> pack = parts(0, k, count);
    store_pack(round.to + own, k, count, round.is_even, pack);
#pragma unroll 1
    for (int other = 0; other < block.count; ++other) {
      if (other == block.rank) continue;
      store_pack(reinterpret_cast<T*>(result_of(block.ranks, other, block.rank)), k, count,
                 round.is_even, pack);
    }
  }
  block.tell(1, round.epoch);
  finisher.prefetch(round.begin, round.count);
  if (!block.await(1, round.epoch)) return false;
#pragma unroll 1
  for (int other = 0; other < block.count; ++other) {
    if (other == block.rank) continue;
    copy(round.to + begin_of(other),
         reinterpret_cast<const T*>(result_of(block.ranks, block.rank, other)),
         begin_of(other + 1) - begin_of(other), round.is_even);
  }
  return true;
}

// With one shot, every rank sends all of its elements to all others, and reduces all. With two, it
// sends each other rank the part that that one reduces.
template <class T>
__device__ bool execute(const Block& block, const Round<T>& round, int shots,
                        FinisherOf<T>& finisher) {
  const unsigned ranks = static_cast<unsigned>(block.count);
  // Whole packs.
  const unsigned part = (round.count / ranks + kEach<T>) / kEach<T> * kEach<T>;
  const auto begin_of = [&](int rank) {
    return min(static_cast<unsigned>(rank) * part, round.count);
  };
#pragma unroll 1
  for (int other = 0; other < block.count; ++other) {
    if (other == block.rank) continue;
    const unsigned begin = shots == 1 ? 0 : begin_of(other);
    const unsigned end = shots == 1 ? round.count : begin_of(other + 1);
    copy(reinterpret_cast<T*>(slot_of(block.ranks, other, round.epoch, block.rank)),
         round.from + begin, end - begin, round.is_even);
  }
  block.tell(0, round.epoch);
  if (shots == 1) finisher.prefetch(round.begin, round.count);
  if (!block.await(0, round.epoch)) return false;
  Parts<T> parts(block, round.epoch, round.from, round.op, round.is_even);
  if (shots != 1) {
    if (!second_shot(block, round, finisher, begin_of)) return false;
    if (!finisher.has_work()) return true;
    __syncthreads();  // the epilogue divides the elements otherwise
    parts = Parts<T>(round.to, round.is_even);
  }
  finisher.finish(parts, round.begin, round.count);
  return true;
}

__device__ inline bool are_even(unsigned long long places, const Epilogue& epilogue, unsigned size) {
  return (places | epilogue.add | epilogue.weight | epilogue.normed | epilogue.row * size) %
             sizeof(Vector) ==
         0;
}

template <class T>
__device__ void all_reduce(const Ranks& ranks, int rank, int count, const T* from, T* to,
                           unsigned long long elements, unsigned long long of_block,
                           unsigned of_round, int op, int shots, const unsigned* stop,
                           const Epilogue& epilogue) {
  __shared__ Vector kept[kSlotBytes / sizeof(Vector)];
  const Block block{ranks, rank, count, stop};
  const bool is_even =
      are_even(reinterpret_cast<unsigned long long>(from) | reinterpret_cast<unsigned long long>(to),
               epilogue, sizeof(T));
  FinisherOf<T> finisher(epilogue, to, is_even, kept);
  wait_for_earlier_launches();
  unsigned* const last = reinterpret_cast<unsigned*>(ranks.memory[rank]) + blockIdx.x;
  unsigned epoch = *last;
#pragma unroll 1
  for (unsigned long long first = blockIdx.x * of_block; first < elements;
       first += gridDim.x * of_block) {
    const unsigned long long end = min(first + of_block, elements);
#pragma unroll 1
    for (unsigned long long begin = first; begin < end; begin += of_round) {
      const unsigned size = static_cast<unsigned>(min(end - begin, (unsigned long long)of_round));
      const Round<T> round{from + begin, to + begin, begin, size, ++epoch, op, is_even};
      if (!execute(block, round, shots, finisher)) return;
    }
  }
  __syncthreads();  // all threads have read the last epoch
  if (threadIdx.x == 0) *last = epoch;
}

// The same division of the elements, which are in place.
template <class T>
__device__ void finish(T* results, unsigned long long elements, unsigned long long of_block,
                       unsigned of_round, const Epilogue& epilogue) {
  __shared__ Vector kept[kSlotBytes / sizeof(Vector)];
  const bool is_even =
      are_even(reinterpret_cast<unsigned long long>(results), epilogue, sizeof(T));
  Finisher<T> finisher(epilogue, results, is_even, kept);
#pragma unroll 1
  for (unsigned long long first = blockIdx.x * of_block; first < elements;
       first += gridDim.x * of_block) {
    const unsigned long long end = min(first + of_block, elements);
#pragma unroll 1
    for (unsigned long long begin = first; begin < end; begin += of_round) {
      const unsigned size = static_cast<unsigned>(min(end - begin, (unsigned long long)of_round));
      finisher.finish(Parts<T>(results + begin, is_even), begin, size);
    }
  }
}

}  // namespace baton::peer

// `of_block`: elements that a block takes at once, whole rows; `of_round`: those of one round, at
// most a slot's, whole rows or a part of one, in whole packs unless that is `of_block`;
// `stop`: see Block.
#define BATON_ALL_REDUCE(name, T)                                                                  \
  extern "C" __global__ void __launch_bounds__(baton::peer::kThreads) baton_all_reduce_##name(     \
      const __grid_constant__ baton::peer::Ranks ranks, int rank, int count, const T* from, T* to, \
      unsigned long long elements, unsigned long long of_block, unsigned of_round, int op,         \
      int shots, const unsigned* stop, const __grid_constant__ baton::peer::Epilogue epilogue) {   \
    baton::peer::all_reduce(ranks, rank, count, from, to, elements, of_block, of_round, op, shots, \
                            stop, epilogue);                                                       \
  }
BATON_ALL_REDUCE(f32, float)
BATON_ALL_REDUCE(f16, __half)
BATON_ALL_REDUCE(bf16, __nv_bfloat16)
BATON_ALL_REDUCE(i32, int)
BATON_ALL_REDUCE(u32, unsigned)
BATON_ALL_REDUCE(i64, long long)
BATON_ALL_REDUCE(u64, unsigned long long)

#ifndef BATON_WAITS
#define BATON_FINISH(name, T)                                                                  \
  extern "C" __global__ void __launch_bounds__(baton::peer::kThreads) baton_finish_##name(     \
      T* results, unsigned long long elements, unsigned long long of_block, unsigned of_round, \
      const __grid_constant__ baton::peer::Epilogue epilogue) {                                \
    baton::peer::finish(results, elements, of_block, of_round, epilogue);                      \
  }
BATON_FINISH(f32, float)
BATON_FINISH(f16, __half)
BATON_FINISH(bf16, __nv_bfloat16)
#endif
