#pragma once

// Slots that ranks write for each other.
//
// Each rank has memory that all ranks write (peer_memory.h). A block works with the blocks of its
// own number on the other ranks, in rounds. Each round has the next epoch. Every rank sends at least
// one packet of a round to each other rank (packets.cuh).
//
// Why a slot is free when it is written. Slots of odd and even epochs lie apart. A rank writes slots
// of epoch e + 2 after it received a packet of epoch e + 1 from the other rank. That rank sent it
// after a barrier behind its reads of epoch e. Results of two shots need but one slot: a rank writes
// those of epoch e + 1 after it received a first packet of epoch e + 1. Each of these stores depends
// on the load that it comes after, and no fence is needed: a packet has its epoch and its data in
// one access. Only the stores that clear slots need one, as below.
//
// Why no old packet is taken for a new one. Epochs are numbers of 32 bits, which start again. Then a
// packet of the same number could lie where no packet has been sent since. So a block clears what it
// received in the last two epochs, at that time. The number 0 is left out: it is in cleared slots.

#include "packets.cuh"
#include "peer_memory.h"

namespace baton::peer {

struct Ranks {
  Bytes* memory[kMostRanks];  // by rank
};

// Nothing before it may touch memory that an earlier launch writes: the launch before it may still
// run (programmatic dependent launch). The next launch may start then, and fetch what no launch
// writes while this one waits for other ranks.
__device__ inline void wait_for_earlier_launches() {
#ifdef BATON_WAITS  // for compute_90
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// An even one follows an odd one.
__device__ inline unsigned next_epoch(unsigned epoch) {
  return epoch == ~0u ? 2 : epoch + 1;
}

// Has the value computed here, and not later: what comes before the wait costs nothing while an
// earlier launch runs.
template <class V>
__device__ void compute_now(V& value) {
  static_assert(sizeof(V) == 4 || sizeof(V) == 8, "a register");
  if constexpr (sizeof(V) == 4) {
    asm volatile("" : "+r"(value));
  } else {
    asm volatile("" : "+l"(value));
  }
}
__device__ inline void compute_now(float& value) {
  asm volatile("" : "+f"(value));
}

// A block's part of one all-reduce.
struct Block {
  const Ranks& ranks;
  int rank;
  int count;             // of ranks
  Stop stop;
  unsigned place;        // of the lane's packets in the slots of one kind and writer

  __device__ Block(const Ranks& ranks_, int rank_, int count_, const unsigned* stop_)
      : ranks(ranks_),
        rank(rank_),
        count(count_),
        stop{stop_},
        place(kSlotsOffset + blockIdx.x * kSlotBytes + place_of_lane()) {
    compute_now(place);
  }

  // The lane's place there.
  __device__ Bytes* slot(int whose, unsigned epoch, int writer) const {
    return slots(whose, epoch & 1, writer) + place;
  }
  __device__ Bytes* result(int whose, int writer) const { return slots(whose, 2, writer) + place; }
  template <class Body>
  __device__ void for_others(const Body& body) const {
#pragma unroll 1
    for (int other = 0; other < count; ++other) {
      if (other != rank) body(other);
    }
  }
  __device__ unsigned* last_epoch() const {
    return reinterpret_cast<unsigned*>(ranks.memory[rank]) + blockIdx.x;
  }

  // All threads, at the end of the round.
  __device__ void clear_near_the_end(unsigned epoch) const {
    if (epoch < ~0u - 1) return;
    __syncthreads();  // all of it is read
    for_others([&](int other) {
      clear(slots(rank, epoch & 1, other));
      if (epoch == ~0u) clear(slots(rank, 2, other));
    });
    // Another thread's next packet lets the other rank write here again.
    __threadfence_system();
  }

 private:
  __device__ Bytes* slots(int whose, unsigned kind, int writer) const {
    const unsigned number = kind * static_cast<unsigned>(count) + static_cast<unsigned>(writer);
    return ranks.memory[whose] + number * static_cast<unsigned long long>(kSlotsOfWriter);
  }
  __device__ static void clear(Bytes* slots) {
    Bytes* const slot = slots + kSlotsOffset + blockIdx.x * kSlotBytes;
#pragma unroll 1
    for (unsigned at = threadIdx.x * kPacketBytes; at < kSlotBytes;
         at += blockDim.x * kPacketBytes) {
      store_packet(slot + at, 0, 0, 0, 0);
    }
  }
};

}  // namespace baton::peer
