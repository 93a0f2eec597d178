#pragma once

// Flags and slots that ranks write for each other.
//
// Each rank has memory that all ranks write (peer_memory.h): flags, and slots for the elements of
// others. A block works with the blocks of its own number on the other ranks, in rounds. Of each
// round the epoch is one more, and the flags of a round are its epoch.
//
// Why a slot is free when it is written. Slots of odd and even epochs lie apart. A rank writes
// slots of epoch e + 2 after it acquired the other rank's flag of epoch e + 1, and that rank
// released it behind its reads of epoch e. Results of two shots need but one slot: a rank writes
// those of epoch e + 1 after it acquired the first flag of epoch e + 1.

#include "peer_memory.h"

namespace baton::peer {

using Bytes = unsigned char;

struct Ranks {
  Bytes* memory[kMostRanks];  // by rank
};

__device__ inline unsigned* flag_of(const Ranks& ranks, int whose, unsigned phase, int writer) {
  return reinterpret_cast<unsigned*>(ranks.memory[whose] +
                                     flag_offset(phase, static_cast<unsigned>(writer), blockIdx.x));
}
__device__ inline Bytes* slot_of(const Ranks& ranks, int whose, unsigned epoch, int writer) {
  return ranks.memory[whose] + slot_offset(epoch & 1, static_cast<unsigned>(writer), blockIdx.x);
}
__device__ inline Bytes* result_of(const Ranks& ranks, int whose, int writer) {
  return ranks.memory[whose] + slot_offset(2, static_cast<unsigned>(writer), blockIdx.x);
}

// Nothing before it may touch memory that an earlier launch writes: the launch before it may still
// run (programmatic dependent launch).
__device__ inline void wait_for_earlier_launches() {
#ifdef BATON_WAITS  // for compute_90
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
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

}  // namespace baton::peer
