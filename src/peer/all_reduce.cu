// All-reduce between GPUs that access each other's memory. all_reduce.ptx is this file, compiled as
// README.md says.
//
// Each rank has memory that all ranks write (peer_memory.h): flags, and slots for the elements of
// others. A block works with the blocks of its own number on the other ranks, in rounds. Of each
// round the epoch is one more, and the flags of a round are its epoch.
//
// Why a slot is free when it is written. Slots of odd and even epochs lie apart. A rank writes
// slots of epoch e + 2 after it acquired the other rank's flag of epoch e + 1, and that rank
// released it behind its reads of epoch e. Results of two shots need but one slot: a rank writes
// those of epoch e + 1 after it acquired the first flag of epoch e + 1.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "peer_memory.h"

namespace baton::peer {
namespace {

using Bytes = unsigned char;
using Vector = uint4;

struct Ranks {
  Bytes* memory[kMostRanks];  // by rank
};

__device__ unsigned* flag_of(const Ranks& ranks, int whose, unsigned phase, int writer) {
  return reinterpret_cast<unsigned*>(ranks.memory[whose] +
                                     flag_offset(phase, static_cast<unsigned>(writer), blockIdx.x));
}
__device__ Bytes* slot_of(const Ranks& ranks, int whose, unsigned epoch, int writer) {
  return ranks.memory[whose] + slot_offset(epoch & 1, static_cast<unsigned>(writer), blockIdx.x);
}
__device__ Bytes* result_of(const Ranks& ranks, int whose, int writer) {
  return ranks.memory[whose] + slot_offset(2, static_cast<unsigned>(writer), blockIdx.x);
}

// A block's part of one all-reduce.
struct Block {
  const Ranks& ranks;
  int rank;
  int count;             // of ranks
  const unsigned* stop;  // of the host: not zero once the run has failed

  // Tells the others that all threads of the block have written for them in this phase.
  __device__ void tell(unsigned phase, unsigned epoch) const {
    __syncthreads();
    const int other = static_cast<int>(threadIdx.x);
    if (other >= count || other == rank) return;
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag_of(ranks, other, phase, rank)),
                 "r"(epoch)
                 : "memory");
  }

  // Waits for all others. False where the run has failed meanwhile.
  __device__ bool await(unsigned phase, unsigned epoch) const {
    const int other = static_cast<int>(threadIdx.x);
    bool is_lost = false;
    if (other < count && other != rank) {
      const unsigned* const flag = flag_of(ranks, rank, phase, other);
      for (unsigned polls = 1;; ++polls) {
        unsigned seen = 0;
        asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        if (static_cast<int>(seen - epoch) >= 0) break;
        if (polls % 64 != 0) continue;
        unsigned stopped = 0;
        asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(stopped) : "l"(stop) : "memory");
        is_lost = stopped != 0;
        if (is_lost) break;
      }
    }
    return __syncthreads_or(is_lost) == 0;
  }
};

// Copies elements; `is_even`: both places are multiples of a vector.
template <class T>
__device__ void copy(T* to, const T* from, unsigned count, bool is_even) {
  constexpr unsigned kEach = sizeof(Vector) / sizeof(T);
  const unsigned vectors = is_even ? count / kEach : 0;
  for (unsigned k = threadIdx.x; k < vectors; k += blockDim.x) {
    reinterpret_cast<Vector*>(to)[k] = reinterpret_cast<const Vector*>(from)[k];
  }
#pragma unroll 1
  for (unsigned k = vectors * kEach + threadIdx.x; k < count; k += blockDim.x) to[k] = from[k];
}

__device__ float load(float value) {
  return value;
}
__device__ float load(__half value) {
  return __half2float(value);
}
__device__ float load(__nv_bfloat16 value) {
  return __bfloat162float(value);
}
__device__ void store(float* to, float value) {
  *to = value;
}
__device__ void store(__half* to, float value) {
  *to = __float2half_rn(value);
}
__device__ void store(__nv_bfloat16* to, float value) {
  *to = __float2bfloat16_rn(value);
}

__device__ float combine(int op, float a, float b) {
  if (op == kSum) return a + b;
  if (a != a || b != b) return __int_as_float(0x7fc00000);
  if (op == kMax) return a < b ? b : a;
  return b < a ? b : a;
}

// What the ranks gave for the same elements: the own ones, and others' in the slots of an epoch.
template <class T>
struct Parts {
  const T* own;
  const Bytes* slots;  // of rank 0
  int rank, ranks;
  __device__ Parts(const Block& block, unsigned epoch, const T* elements)
      : own(elements),
        slots(slot_of(block.ranks, block.rank, epoch, 0)),
        rank(block.rank),
        ranks(block.count) {}
  __device__ const T* of(int other) const {
    constexpr auto kApart = slot_offset(0, 1, 0) - slot_offset(0, 0, 0);
    return other == rank ? own
                         : reinterpret_cast<const T*>(
                               slots + static_cast<unsigned long long>(other) * kApart);
  }
};

// In the order of the ranks, so that all of them get the same bits.
template <class T, class Store>
__device__ void reduce(const Parts<T>& parts, int op, unsigned count, bool is_even,
                       Store store_at) {
  constexpr unsigned kEach = sizeof(Vector) / sizeof(T);
  const unsigned vectors = is_even ? count / kEach : 0;
  for (unsigned k = threadIdx.x; k < vectors; k += blockDim.x) {
    float sum[kEach];
#pragma unroll 1
    for (int rank = 0; rank < parts.ranks; ++rank) {
      const Vector bits = reinterpret_cast<const Vector*>(parts.of(rank))[k];
      const T* const values = reinterpret_cast<const T*>(&bits);
#pragma unroll
      for (unsigned j = 0; j < kEach; ++j) {
        sum[j] = rank == 0 ? load(values[j]) : combine(op, sum[j], load(values[j]));
      }
    }
    Vector bits;
#pragma unroll
    for (unsigned j = 0; j < kEach; ++j) store(reinterpret_cast<T*>(&bits) + j, sum[j]);
    store_at.vector(k, bits);
  }
#pragma unroll 1
  for (unsigned k = vectors * kEach + threadIdx.x; k < count; k += blockDim.x) {
    float sum = load(parts.of(0)[k]);
#pragma unroll 1
    for (int rank = 1; rank < parts.ranks; ++rank) sum = combine(op, sum, load(parts.of(rank)[k]));
    T value;
    store(&value, sum);
    store_at.element(k, value);
  }
}

template <class T>
struct StoreOnce {
  T* to;
  __device__ void vector(unsigned k, const Vector& bits) const {
    reinterpret_cast<Vector*>(to)[k] = bits;
  }
  __device__ void element(unsigned k, T value) const { to[k] = value; }
};

// To the own elements, and to the results' slots of all others.
template <class T>
struct StoreForAll {
  const Block& block;
  T* to;
  __device__ void vector(unsigned k, const Vector& bits) const {
    reinterpret_cast<Vector*>(to)[k] = bits;
#pragma unroll 1
    for (int other = 0; other < block.count; ++other) {
      if (other == block.rank) continue;
      reinterpret_cast<Vector*>(result_of(block.ranks, other, block.rank))[k] = bits;
    }
  }
  __device__ void element(unsigned k, T value) const {
    to[k] = value;
#pragma unroll 1
    for (int other = 0; other < block.count; ++other) {
      if (other == block.rank) continue;
      reinterpret_cast<T*>(result_of(block.ranks, other, block.rank))[k] = value;
    }
  }
};

// Every rank sends all of its elements to all others, and reduces all.
template <class T>
__device__ bool one_shot(const Block& block, const T* from, T* to, unsigned count, int op,
                         unsigned epoch, bool is_even) {
#pragma unroll 1
  for (int other = 0; other < block.count; ++other) {
    if (other == block.rank) continue;
    copy(reinterpret_cast<T*>(slot_of(block.ranks, other, epoch, block.rank)), from, count,
         is_even);
  }
  block.tell(0, epoch);
  if (!block.await(0, epoch)) return false;
  reduce(Parts<T>(block, epoch, from), op, count, is_even, StoreOnce<T>{to});
  return true;
}

// Every rank reduces one part of the elements, and sends its result to all others.
template <class T>
__device__ bool two_shots(const Block& block, const T* from, T* to, unsigned count, int op,
                          unsigned epoch, bool is_even) {
  constexpr unsigned kEach = sizeof(Vector) / sizeof(T);
  const unsigned ranks = static_cast<unsigned>(block.count);
  const unsigned part = (count / ranks + kEach) / kEach * kEach;  // whole vectors
  const auto begin_of = [&](int rank) { return min(static_cast<unsigned>(rank) * part, count); };
  const auto size_of_part = [&](int rank) { return begin_of(rank + 1) - begin_of(rank); };
#pragma unroll 1
  for (int other = 0; other < block.count; ++other) {
    if (other == block.rank) continue;
    copy(reinterpret_cast<T*>(slot_of(block.ranks, other, epoch, block.rank)),
         from + begin_of(other), size_of_part(other), is_even);
  }
  block.tell(0, epoch);
  if (!block.await(0, epoch)) return false;
  const unsigned own = begin_of(block.rank);
  reduce(Parts<T>(block, epoch, from + own), op, size_of_part(block.rank), is_even,
         StoreForAll<T>{block, to + own});
  block.tell(1, epoch);
  if (!block.await(1, epoch)) return false;
#pragma unroll 1
  for (int other = 0; other < block.count; ++other) {
    if (other == block.rank) continue;
    copy(to + begin_of(other),
         reinterpret_cast<const T*>(result_of(block.ranks, block.rank, other)), size_of_part(other),
         is_even);
  }
  return true;
}

template <class T>
__device__ void all_reduce(const Ranks& ranks, int rank, int count, const T* from, T* to,
                           unsigned long long elements, unsigned of_round, int op, int shots,
                           const unsigned* stop) {
  const Block block{ranks, rank, count, stop};
  const bool is_even =
      (reinterpret_cast<unsigned long long>(from) | reinterpret_cast<unsigned long long>(to)) %
          sizeof(Vector) ==
      0;
  unsigned* const last = reinterpret_cast<unsigned*>(ranks.memory[rank]) + blockIdx.x;
  unsigned epoch = *last;
  for (unsigned long long begin = blockIdx.x * static_cast<unsigned long long>(of_round);
       begin < elements; begin += gridDim.x * static_cast<unsigned long long>(of_round)) {
    const unsigned long long left = elements - begin;
    const unsigned size = left < of_round ? static_cast<unsigned>(left) : of_round;
    ++epoch;
    const bool is_done = shots == 1
                             ? one_shot(block, from + begin, to + begin, size, op, epoch, is_even)
                             : two_shots(block, from + begin, to + begin, size, op, epoch, is_even);
    if (!is_done) return;
  }
  __syncthreads();  // all threads have read the last epoch
  if (threadIdx.x == 0) *last = epoch;
}

}  // namespace
}  // namespace baton::peer

// `of_round`: elements of a block in one round, whole vectors, at most a slot's; `stop`: see Block.
#define BATON_ALL_REDUCE(name, T)                                                                  \
  extern "C" __global__ void __launch_bounds__(baton::peer::kThreads) name(                        \
      const __grid_constant__ baton::peer::Ranks ranks, int rank, int count, const T* from, T* to, \
      unsigned long long elements, unsigned of_round, int op, int shots, const unsigned* stop) {   \
    baton::peer::all_reduce(ranks, rank, count, from, to, elements, of_round, op, shots, stop);    \
  }
BATON_ALL_REDUCE(baton_all_reduce_f32, float)
BATON_ALL_REDUCE(baton_all_reduce_f16, __half)
BATON_ALL_REDUCE(baton_all_reduce_bf16, __nv_bfloat16)
