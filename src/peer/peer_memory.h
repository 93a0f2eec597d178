#pragma once

// What each rank's memory holds that the other ranks write, for the host and for all_reduce.cu:
//   the last epoch of each block, by block
//   slots: of even epochs, of odd epochs, and of results, each by the writer's rank and the block

namespace baton::peer {

constexpr unsigned kMostRanks = 8;
constexpr unsigned kMostBlocks = 128;
constexpr unsigned kThreads = 512;   // of a block
constexpr unsigned kLanes = 32;      // of a warp
constexpr unsigned kPackBytes = 16;  // of elements, which a thread takes in one round
constexpr unsigned kRoundBytes = kThreads * kPackBytes;

// The elements of a warp travel in packets of 16 bytes: three words of data, and the epoch.
constexpr unsigned kPacketBytes = 16;
constexpr unsigned kPacketsOfWarp = kLanes + (kLanes + 2) / 3;
constexpr unsigned kSlotBytes = kThreads / kLanes * kPacketsOfWarp * kPacketBytes;

constexpr unsigned kSlotsOffset = 4096;  // after the epochs
static_assert(kMostBlocks * 4 <= kSlotsOffset);

// The first epoch. Epochs start again after 7 rounds, so that tests see it.
constexpr unsigned kFirstEpoch = 0xfffffff8;

// Slots of one kind and writer: those of all blocks. Kinds are 0 and 1 for the parity of the epoch,
// and 2 for results. Each has the slots of all writers, by rank.
constexpr unsigned kKinds = 3;
constexpr unsigned kSlotsOfWriter = kMostBlocks * kSlotBytes;
constexpr unsigned long long memory_bytes(unsigned ranks) {
  return kSlotsOffset + kKinds * static_cast<unsigned long long>(ranks) * kSlotsOfWriter;
}

// The kernel's parameter `op`.
enum Reduction : int { kSum, kMax, kMin };

}  // namespace baton::peer
