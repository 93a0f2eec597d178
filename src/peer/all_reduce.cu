// All-reduce between GPUs that access each other's memory, with an epilogue; and the epilogue alone,
// for other transports. all_reduce.ptx and all_reduce_90.ptx are this file, compiled as README.md says.

#include "finish.cuh"
#include "packets.cuh"
#include "packs.cuh"
#include "peer_memory.h"
#include "ranks.cuh"

namespace baton::peer {

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
__device__ V larger(V a, V b) {
  if (is_nan(a) || is_nan(b)) return static_cast<V>(__int_as_float(0x7fc00000));
  return a < b ? b : a;
}
template <class V>
__device__ V smaller(V a, V b) {
  if (is_nan(a) || is_nan(b)) return static_cast<V>(__int_as_float(0x7fc00000));
  return b < a ? b : a;
}

// all = all op more, element by element.
template <class T>
__device__ void combine(int op, Value<T> (&all)[kEach<T>], const Pack<T>& more) {
  const auto each = [&](const auto& combined) {
#pragma unroll
    for (unsigned i = 0; i < kEach<T>; ++i) all[i] = combined(all[i], more[i]);
  };
  using V = Value<T>;
  if (op == kSum) {
    each([](V a, V b) { return sum(a, b); });
  } else if (op == kMax) {
    each([](V a, V b) { return larger(a, b); });
  } else {
    each([](V a, V b) { return smaller(a, b); });
  }
}

// What the ranks gave for the same elements, reduced: the own ones, and those that others send. In
// the order of the ranks, so that all of them get the same bits.
template <class T>
__device__ Pack<T> reduce(Block& block, unsigned epoch, const Pack<T>& own, int op) {
  Value<T> all[kEach<T>];
#pragma unroll 1
  for (int each = 0; each < block.count; ++each) {
    const Pack<T> pack =
        each == block.rank
            ? own
            : Pack<T>{receive(block.slot(block.rank, epoch, each), epoch, block.stop)};
    if (each != 0) {
      combine<T>(op, all, pack);
      continue;
    }
#pragma unroll
    for (unsigned i = 0; i < kEach<T>; ++i) all[i] = pack[i];
  }
  Pack<T> result;
#pragma unroll
  for (unsigned i = 0; i < kEach<T>; ++i) result.set(i, all[i]);
  return result;
}

// Returns the reduction of the thread's pack. By whole warps, with zeros behind the end.
//
// With one shot, every rank sends all of its packs to all others, and reduces all. With two, each
// warp's packs have one rank that reduces them: the others send them there, and get the result.
// `meanwhile()` is executed once the own packs are sent.
template <class T, class Meanwhile>
__device__ Pack<T> exchange(Block& block, unsigned epoch, const Pack<T>& own, int op,
                            bool is_of_all, int reducer, const Meanwhile& meanwhile) {
  const Packets packets(own.bits, epoch);
  block.for_others([&](int other) {
    if (is_of_all || other == reducer) packets.send(block.slot(other, epoch, block.rank));
  });
  meanwhile();
  if (!is_of_all && reducer != block.rank) {
    return {receive(block.result(block.rank, reducer), epoch, block.stop)};
  }
  const Pack<T> pack = reduce(block, epoch, own, op);
  if (!is_of_all) {
    const Packets results(pack.bits, epoch);
    block.for_others([&](int other) { results.send(block.result(other, block.rank)); });
  }
  return pack;
}

// Whether all places, and all numbers of elements, are multiples of a pack.
template <class T>
__device__ bool are_even(unsigned long long places, unsigned long long elements,
                         const Epilogue& epilogue) {
  const unsigned long long bytes = (elements | epilogue.row) * sizeof(T);
  return (places | epilogue.add | epilogue.weight | epilogue.normed | bytes) % sizeof(Vector) == 0;
}

// The rounds of a block, one after another.
struct Rounds {
  unsigned long long elements, of_block;
  unsigned of_round;
  unsigned long long first = blockIdx.x * of_block;  // of the elements that it takes at once
  unsigned long long at = 0;                         // behind these: where the round begins
  unsigned count = 0;                                // of the round's elements

  __device__ Rounds(unsigned long long elements_, unsigned long long of_block_, unsigned of_round_)
      : elements(elements_), of_block(of_block_), of_round(of_round_) {
    set_count();
  }
  __device__ bool is_over() const { return first >= elements; }
  __device__ unsigned long long begin() const { return first + at; }
  __device__ void next() {
    at += of_round;
    if (at >= of_block || first + at >= elements) {
      first += gridDim.x * of_block;
      at = 0;
    }
    set_count();
  }

 private:
  __device__ void set_count() {
    if (is_over()) return;
    const unsigned long long left = min(of_block, elements - first) - at;
    count = static_cast<unsigned>(min(left, static_cast<unsigned long long>(of_round)));
  }
};

// One all-reduce, as the kernel gets it.
template <class T>
struct Task {
  const T* from;
  T* to;
  int op, shots;
  const Epilogue& epilogue;
};

template <bool kEven, class T>
__device__ void all_reduce(Block& block, const Task<T>& task, Rounds rounds) {
  FinisherOf<T, kEven> finisher(task.epilogue, task.to);
  const unsigned warp = threadIdx.x / kLanes, count = static_cast<unsigned>(block.count);
  wait_for_earlier_launches();
  unsigned epoch = *block.last_epoch();
  for (; !rounds.is_over(); rounds.next()) {
    const unsigned packs = packs_of<T>(rounds.count), warps = (packs + kLanes - 1) / kLanes;
    Pack<T> pack = {};
    if (threadIdx.x < packs) {
      pack = load_pack<kEven>(task.from + rounds.begin(), threadIdx.x, rounds.count);
    }
    epoch = next_epoch(epoch);
    if (warp < warps) {
      // Each rank reduces something, since all send to all (ranks.cuh).
      const bool is_of_all = task.shots == 1 || warps < count;
      const int reducer = is_of_all ? 0 : static_cast<int>(warp * count / warps);
      pack = exchange(block, epoch, pack, task.op, is_of_all, reducer, [&] {
        finisher.load(rounds.begin(), rounds.at, rounds.count);
      });
    }
    finisher.finish(pack, rounds.begin(), rounds.at, rounds.count);
    block.clear_near_the_end(epoch);
    __syncthreads();  // all threads have read what this round received, and the last epoch
  }
  if (threadIdx.x == 0) *block.last_epoch() = epoch;
}

template <class T>
__device__ void all_reduce(const Ranks& ranks, int rank, int count, const T* from, T* to,
                           unsigned long long elements, unsigned long long of_block,
                           unsigned of_round, int op, int shots, const unsigned* stop,
                           const Epilogue& epilogue) {
  Block block(ranks, rank, count, stop);
  const Task<T> task{from, to, op, shots, epilogue};
  Rounds rounds(elements, of_block, of_round);
  compute_now(rounds.first);
  compute_now(rounds.count);
  const bool is_even = are_even<T>(
      reinterpret_cast<unsigned long long>(from) | reinterpret_cast<unsigned long long>(to),
      elements, epilogue);
  // Where latency counts: shorter code.
  if constexpr (kIsFloat<T>) {
    if (is_even) return all_reduce<true>(block, task, rounds);
  }
  all_reduce<false>(block, task, rounds);
}

// The same division of the elements, which are in place.
template <bool kEven, class T>
__device__ void finish(T* results, Rounds rounds, const Epilogue& epilogue) {
  Finisher<T, kEven> finisher(epilogue, results);
  for (; !rounds.is_over(); rounds.next()) {
    Pack<T> pack = {};
    if (threadIdx.x < packs_of<T>(rounds.count)) {
      pack = load_pack<kEven, T>(results + rounds.begin(), threadIdx.x, rounds.count);
    }
    finisher.load(rounds.begin(), rounds.at, rounds.count);
    finisher.finish(pack, rounds.begin(), rounds.at, rounds.count);
  }
}

template <class T>
__device__ void finish(T* results, unsigned long long elements, unsigned long long of_block,
                       unsigned of_round, const Epilogue& epilogue) {
  const Rounds rounds(elements, of_block, of_round);
  if (are_even<T>(reinterpret_cast<unsigned long long>(results), elements, epilogue)) {
    return finish<true>(results, rounds, epilogue);
  }
  finish<false>(results, rounds, epilogue);
}

}  // namespace baton::peer

// `of_block`: elements that a block takes at once, whole rows; `of_round`: those of one round, at
// most kRoundBytes: a row, or a part of one, of kRoundBytes unless it is the last; without rows, any,
// in whole packs unless that is `of_block`; `stop`: see Stop. The 2 of the bounds: with more registers,
// the next launch's block could not start beside this one.
#define BATON_ALL_REDUCE(name, T)                                                                  \
  extern "C" __global__ void __launch_bounds__(baton::peer::kThreads, 2) baton_all_reduce_##name(  \
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
