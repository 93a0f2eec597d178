#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "bind/steps/collective.h"
#include "pdl/footprint/address_binder.h"
#include "pdl/footprint/footprint.h"
#include "pdl/verdict/certain_walk.h"

namespace baton::edges {

// A kernel between peers (peer/all_reduce.cu) as the analysis of edges sees it. Its PTX is analysed
// as that of any kernel. No launch of the program makes its arguments: they are those that
// peer::PeerRank gives it.
struct PeerLaunch {
  const overlap::Footprint* footprint = nullptr;  // lives as long as the process
  std::vector<overlap::GivenArgument> arguments;
  overlap::LaunchExtents extents;
};

// Where a buffer lies: its memory, and its offset there in bytes.
struct MemoryPlace {
  overlap::MemoryId memory = 0;
  std::uint64_t offset = 0;
};

// `place`: of a buffer. `shared`: the memory of all ranks that they write for each other: slots,
// epochs and the word that stops a kernel.
PeerLaunch peer_launch(const bind::PlannedCollective& step,
                       const bind::PlannedCollective::Values& values,
                       const std::function<MemoryPlace(std::uint32_t buffer)>& place,
                       overlap::MemoryId shared);

}  // namespace baton::edges
