#pragma once

// What each rank's memory holds that the other ranks write, for the host and for all_reduce.cu:
//   the last epoch of each block, by block
//   flags: of two phases, by the writer's rank and the block, in words of 32 bits
//   slots: of even epochs, of odd epochs, and of results, each by the writer's rank and the block

namespace baton::peer {

constexpr unsigned kMostRanks = 8;
constexpr unsigned kMostBlocks = 32;
constexpr unsigned kThreads = 256;       // of a block
constexpr unsigned kSlotBytes = 16384;   // what a block sends to another rank in one round
constexpr unsigned kFlagBytes = 4096;    // of one phase
constexpr unsigned kFlagsOffset = 4096;  // behind the epochs
constexpr unsigned kSlotsOffset = kFlagsOffset + 2 * kFlagBytes;

static_assert(kMostRanks * kMostBlocks * 4 <= kFlagBytes);

constexpr unsigned flag_offset(unsigned phase, unsigned writer, unsigned block) {
  return kFlagsOffset + phase * kFlagBytes + (writer * kMostBlocks + block) * 4;
}
// `kind`: 0 and 1 for the parity of the epoch, 2 for results.
constexpr unsigned long long slot_offset(unsigned kind, unsigned writer, unsigned block) {
  return kSlotsOffset +
         ((kind * kMostRanks + writer) * static_cast<unsigned long long>(kMostBlocks) + block) *
             kSlotBytes;
}
constexpr unsigned long long kMemoryBytes = slot_offset(3, 0, 0);

// The kernel's parameter `op`.
enum Reduction : int { kSum, kMax, kMin };

}  // namespace baton::peer
