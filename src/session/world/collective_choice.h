#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "baton/report.h"
#include "baton/world.h"
#include "nccl/nccl_rank.h"
#include "peer/peer_rank.h"
#include "session/loaded_program.h"

namespace baton {

// What executes the collectives of a program on this rank, and on all others.
struct CollectiveChoice {
  // The host executes what neither takes.
  // Communicators by the number of the group, as play::NcclSteps takes them.
  std::vector<std::shared_ptr<nccl::NcclRank>> nccl;
  std::shared_ptr<peer::PeerRank> peer;
  // As play::Collectives takes them.
  std::uint64_t peer_bytes = 0;
  bool by_nccl = false;
  std::string why_host;  // why NCCL does not exchange what the host does, for messages
  CollectivesReport report;
};

// Called by all ranks of a world with the same wish. They tell each other what they have, and
// choose alike. Throws kUnsupported and kNotFound where NCCL or peers are wanted and cannot be had;
// the same for a BATON_NCCL that is of no use.
CollectiveChoice choose_collectives(const World& world, const LoadedProgramState& state,
                                    const std::vector<BoundSymbol>& symbols,
                                    CollectiveExecutor wanted);

// Whether something else than kernels between peers executes an all_reduce with an epilogue.
bool needs_epilogue_kernels(const World& world, const LoadedProgramState& state,
                            const std::vector<BoundSymbol>& symbols, const bind::PeerChoice& peers);

// What can execute an all_reduce of all ranks: never kAuto, and equal on all ranks. Called by all
// of them.
std::vector<CollectiveExecutor> usable_executors(const Device& device, const World& world);

// Whether a program has collectives.
bool has_collectives(const LoadedProgramState& state);

}  // namespace baton
