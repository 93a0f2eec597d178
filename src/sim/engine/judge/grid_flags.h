#pragma once

#include <cstdint>
#include <unordered_map>

#include "sim/engine/judge/cluster_times.h"

namespace baton::sim {

// The flags in global memory of one grid, by address: what their writers released, for threads of
// other clusters (PTX ISA 9.0, "Release and Acquire Patterns"). One thread at a time.
struct GridFlag {
  ClusterClock released;
  std::uint64_t cluster = 0;  // whose warp wrote it last
  std::uint32_t warp = 0;
  std::uint32_t lanes = 0;
};
using GridFlags = std::unordered_map<std::uint64_t, GridFlag>;

}  // namespace baton::sim
