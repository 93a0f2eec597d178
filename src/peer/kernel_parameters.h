#pragma once

#include <cstddef>
#include <cstdint>

#include "peer/epilogue.h"
#include "peer/peer_memory.h"

namespace baton::peer {

// The parameters of an all-reduce kernel, in the order of BATON_ALL_REDUCE (all_reduce.cu), for who
// analyses the kernel before anything is connected. A number whose value only the launch knows is
// kNumber: the analysis takes every value into account.
enum class KernelParameter : std::uint8_t {
  kRanks,     // the addresses of all ranks' memory
  kRank,      // of this rank
  kCount,     // of ranks
  kFrom,      // the elements that are reduced
  kTo,        // the reduced ones
  kElements,  // how many
  kOfBlock,   // Division::of_block
  kOfRound,   // Division::of_round
  kNumber,
  kStop,  // the address of a word of the host
  kEpilogue,
};

struct KernelParameterRow {
  KernelParameter what;
  std::size_t bytes;
};

inline constexpr KernelParameterRow kAllReduceParameters[] = {
    {KernelParameter::kRanks, kMostRanks * sizeof(std::uint64_t)},
    {KernelParameter::kRank, 4},
    {KernelParameter::kCount, 4},
    {KernelParameter::kFrom, 8},
    {KernelParameter::kTo, 8},
    {KernelParameter::kElements, 8},
    {KernelParameter::kOfBlock, 8},
    {KernelParameter::kOfRound, 4},
    {KernelParameter::kNumber, 4},  // op
    {KernelParameter::kNumber, 4},  // shots
    {KernelParameter::kStop, 8},
    {KernelParameter::kEpilogue, sizeof(Epilogue)},
};

}  // namespace baton::peer
