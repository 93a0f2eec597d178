#pragma once

// How packs of elements travel from one rank to another: in packets of 16 bytes, each of three words
// of data and the epoch of the round. The access of a packet is one access of 128 bits, so a packet
// with the expected epoch has its data: there are neither flags nor fences. Of each warp the first
// packets have the first three words of its packs, by lane. The others have the fourth words of
// three packs each. NCCL's protocol LL is the like, with half of a packet for data.

#include "packs.cuh"
#include "peer_memory.h"

namespace baton::peer {

using Bytes = unsigned char;

__device__ inline void store_packet(void* to, unsigned a, unsigned b, unsigned c, unsigned epoch) {
  asm volatile(
      "{\n\t.reg .b64 %%low, %%high;\n\t.reg .b128 %%packet;\n\t"
      "mov.b64 %%low, {%1, %2};\n\tmov.b64 %%high, {%3, %4};\n\t"
      "mov.b128 %%packet, {%%low, %%high};\n\t"
      "st.relaxed.sys.global.b128 [%0], %%packet;\n\t}" ::"l"(to),
      "r"(a), "r"(b), "r"(c), "r"(epoch)
      : "memory");
}

// Whether it has arrived.
__device__ inline bool load_packet(const void* from, unsigned epoch, unsigned& a, unsigned& b,
                                   unsigned& c) {
  unsigned seen;
  asm volatile(
      "{\n\t.reg .b64 %%low, %%high;\n\t.reg .b128 %%packet;\n\t"
      "ld.relaxed.sys.global.b128 %%packet, [%4];\n\t"
      "mov.b128 {%%low, %%high}, %%packet;\n\t"
      "mov.b64 {%0, %1}, %%low;\n\tmov.b64 {%2, %3}, %%high;\n\t}"
      : "=r"(a), "=r"(b), "=r"(c), "=r"(seen)
      : "l"(from)
      : "memory");
  return seen == epoch;
}

__device__ inline unsigned lane() {
  return threadIdx.x % kLanes;
}

// Where a lane's first packet lies in a slot. Its second one, if it has one, lies kToSecond behind.
__device__ inline unsigned place_of_lane() {
  return (threadIdx.x / kLanes * kPacketsOfWarp + lane()) * kPacketBytes;
}
constexpr unsigned kToSecond = kLanes * kPacketBytes;

// The packets of a warp's packs, ready to be sent to any number of ranks. By all lanes.
class Packets {
 public:
  __device__ Packets(const Vector& bits, unsigned epoch) : bits_(bits), epoch_(epoch) {
    const unsigned first = 3 * lane();
    more_[0] = __shfl_sync(~0u, bits.w, first % kLanes);
    more_[1] = __shfl_sync(~0u, bits.w, (first + 1) % kLanes);
    more_[2] = __shfl_sync(~0u, bits.w, (first + 2) % kLanes);
  }
  // `to`: the lane's place in a slot.
  __device__ void send(Bytes* to) const {
    store_packet(to, bits_.x, bits_.y, bits_.z, epoch_);
    if (lane() < kPacketsOfWarp - kLanes) {
      store_packet(to + kToSecond, more_[0], more_[1], more_[2], epoch_);
    }
  }

 private:
  const Vector bits_;
  unsigned more_[3];  // in the first lanes, fourth words of three packs
  const unsigned epoch_;
};

// A warp's polls between two looks at `stop`, some milliseconds. That is in the host's memory: with
// looks every 64 polls, those of all warps took so long that the other ranks had to look too, and so
// on, round after round.
constexpr unsigned kPollsOfStop = 4096;

// Whether the run has failed, so that nothing is worth a wait.
struct Stop {
  const unsigned* word;  // of the host: not zero once the run has failed
  bool is_seen = false;  // what a warp saw last

  // By all lanes. Looks at the word only now and then.
  __device__ bool is_set(unsigned polls) {
    if (is_seen || polls % kPollsOfStop != 0) return is_seen;
    unsigned stopped = 0;
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(stopped) : "l"(word) : "memory");
    is_seen = __any_sync(~0u, stopped != 0) != 0;
    return is_seen;
  }
};

// Waits for a warp's packs. By all lanes, each with its place in a slot. Returns anything where the
// run has failed.
__device__ inline Vector receive(const Bytes* from, unsigned epoch, Stop& stop) {
  Vector bits;
  unsigned more[3];
#pragma unroll 1
  for (unsigned polls = 1;; ++polls) {
    bool has_all = load_packet(from, epoch, bits.x, bits.y, bits.z);
    if (lane() < kPacketsOfWarp - kLanes) {
      has_all &= load_packet(from + kToSecond, epoch, more[0], more[1], more[2]);
    }
    if (__all_sync(~0u, has_all)) break;
    if (stop.is_set(polls)) break;
  }
  const unsigned sender = lane() / 3;
  const unsigned a = __shfl_sync(~0u, more[0], sender), b = __shfl_sync(~0u, more[1], sender),
                 c = __shfl_sync(~0u, more[2], sender);
  bits.w = lane() % 3 == 0 ? a : lane() % 3 == 1 ? b : c;
  return bits;
}

}  // namespace baton::peer
