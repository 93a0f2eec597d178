#include "session/collective_choice.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/error.h"
#include "bind/binding.h"
#include "driver/driver.h"
#include "world/exchange.h"

namespace baton {
namespace {

// What a rank tells the others.
struct Offer {
  std::int32_t version = 0;  // of NCCL; 0: it cannot use it
  char uuid[16] = {};        // of its GPU
};

// Why this rank cannot use NCCL, or null; and NCCL.
std::optional<Error> own_obstacle(const Device& device, const nccl::Nccl*& nccl) {
  if (device.driver().simulator != nullptr) {
    return error(ErrorCode::kUnsupported, "NCCL works between GPUs, and the device is simulated");
  }
  try {
    nccl = &nccl::find_nccl();
    return std::nullopt;
  } catch (const Error& failure) {
    if (read_environment("BATON_NCCL")) throw;
    return failure;
  }
}

Offer offer_of(const Device& device, const nccl::Nccl* nccl) {
  Offer offer;
  if (nccl == nullptr) return offer;
  offer.version = nccl->number;
  CUuuid uuid = {};
  BATON_DRIVER_CALL(device.driver(), cuDeviceGetUuid, &uuid, device.native());
  static_assert(sizeof(uuid.bytes) == sizeof(offer.uuid));
  std::memcpy(offer.uuid, uuid.bytes, sizeof(offer.uuid));
  return offer;
}

// What keeps the ranks together from NCCL.
std::optional<Error> common_obstacle(const std::vector<Offer>& offers) {
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    if (offers[rank].version == 0) {
      return error(ErrorCode::kUnsupported, "rank {} cannot use NCCL", rank);
    }
    if (offers[rank].version != offers[0].version) {
      return error(ErrorCode::kUnsupported,
                   "rank 0 has NCCL {} and rank {} has NCCL {}; give all ranks the same",
                   nccl::version_text(offers[0].version), rank,
                   nccl::version_text(offers[rank].version));
    }
    for (std::size_t other = 0; other < rank; ++other) {
      if (std::memcmp(offers[other].uuid, offers[rank].uuid, sizeof(Offer::uuid)) != 0) continue;
      return error(ErrorCode::kUnsupported,
                   "ranks {} and {} have the same GPU, and NCCL needs one for each rank", other,
                   rank);
    }
  }
  return std::nullopt;
}

template <typename Visit>
void each_collective(const std::vector<bind::PlannedStep>& steps, const Visit& visit) {
  for (const bind::PlannedStep& step : steps) {
    if (const auto* found = std::get_if<bind::PlannedCollective>(&step.action)) visit(step, *found);
    if (const auto* inner = bind::inner_steps(step)) each_collective(*inner, visit);
  }
}

// The steps that the host exchanges, where `takes` says of a collective that it need not.
template <typename Takes>
std::vector<std::string> host_steps(const LoadedProgramState& state, const Takes& takes) {
  std::vector<std::string> labels;
  each_collective(state.plan.steps, [&](const bind::PlannedStep& step,
                                        const bind::PlannedCollective& collective) {
    if (takes(collective)) return;
    labels.push_back(fmt::format("{} ({})", step.label, to_string(collective.dtype)));
  });
  return labels;
}

// The communicators of all ranks and of each group that collectives name. Messages go over that of
// all ranks.
std::vector<std::shared_ptr<nccl::NcclRank>> communicators(
    const nccl::Nccl& nccl, const World& world, const LoadedProgramState& state,
    const std::vector<BoundSymbol>& symbols) {
  const ProgramWorld& program = *state.program.world();
  std::vector<bool> is_used(program.groups.size() + 1);
  each_collective(state.plan.steps, [&](const auto&, const bind::PlannedCollective& collective) {
    if (!bind::is_message(collective.kind)) is_used[collective.group] = true;
  });
  const auto make = [&](std::string_view name) {
    return nccl::NcclRank::make(nccl, state.device, world,
                                bind::bind_group(state.program, name, symbols));
  };
  std::vector<std::shared_ptr<nccl::NcclRank>> all = {make({})};
  for (std::size_t i = 0; i < program.groups.size(); ++i) {
    const std::string& name = program.groups[i].name;
    const std::uint32_t ranks = bind::bind_group(state.program, name, symbols).ranks;
    const bool is_made = is_used[i + 1] && ranks > 1 && ranks < world.ranks();
    all.push_back(is_made ? make(name) : ranks == world.ranks() ? all.front() : nullptr);
  }
  return all;
}

CollectiveChoice host(std::string reason) {
  CollectiveChoice choice;
  choice.report.executor = "host";
  choice.report.reason = choice.why_host = std::move(reason);
  return choice;
}

// By the number of the group, whether it is all ranks. Group 0 is the world.
std::vector<bool> groups_of_all(const World& world, const LoadedProgramState& state,
                                const std::vector<BoundSymbol>& symbols) {
  std::vector<bool> is_of_all = {true};
  for (const WorldGroup& group : state.program.world()->groups) {
    const std::uint32_t ranks = bind::bind_group(state.program, group.name, symbols).ranks;
    is_of_all.push_back(ranks == world.ranks());
  }
  return is_of_all;
}

// Peers take the all-reduces of all ranks.
CollectiveChoice peers(const World& world, const LoadedProgramState& state,
                       const std::vector<BoundSymbol>& symbols) {
  const std::vector<bool> is_of_all = groups_of_all(world, state, symbols);
  CollectiveChoice choice;
  choice.peer = peer::PeerRank::make(state.device, world);
  choice.report.executor = "peer";
  choice.why_host = "--collectives peer was asked for";
  choice.report.host_steps = host_steps(state, [&](const bind::PlannedCollective& step) {
    return step.kind == CollectiveKind::kAllReduce && peer::PeerRank::takes(step.dtype) &&
           is_of_all[step.group];
  });
  return choice;
}

}  // namespace

bool has_collectives(const LoadedProgramState& state) {
  bool has = false;
  each_collective(state.plan.steps, [&](const auto&, const auto&) { has = true; });
  return has;
}

bool needs_epilogue_kernels(const World& world, const LoadedProgramState& state,
                            const std::vector<BoundSymbol>& symbols, bool by_peers) {
  if (!state.program.world()) return false;
  const std::vector<bool> is_of_all = groups_of_all(world, state, symbols);
  bool needs = false;
  each_collective(state.plan.steps, [&](const auto&, const bind::PlannedCollective& step) {
    needs |= !step.epilogue.is_none() && !(by_peers && is_of_all[step.group]);
  });
  return needs;
}

std::string_view to_string(CollectiveExecutor executor) {
  switch (executor) {
    case CollectiveExecutor::kAuto:
      return "auto";
    case CollectiveExecutor::kNccl:
      return "nccl";
    case CollectiveExecutor::kHost:
      return "host";
    case CollectiveExecutor::kPeer:
      return "peer";
  }
  throw error(ErrorCode::kInvalidInput, "unknown executor of collectives {}",
              static_cast<int>(executor));
}

CollectiveChoice choose_collectives(const World& world, const LoadedProgramState& state,
                                    const std::vector<BoundSymbol>& symbols,
                                    CollectiveExecutor wanted) {
  if (wanted == CollectiveExecutor::kHost) return host("it was asked for");
  if (wanted == CollectiveExecutor::kPeer) return peers(world, state, symbols);
  const nccl::Nccl* nccl = nullptr;
  std::optional<Error> obstacle = own_obstacle(state.device, nccl);
  if (obstacle && wanted == CollectiveExecutor::kNccl) throw std::move(*obstacle);
  const Offer offer = offer_of(state.device, nccl);
  std::vector<Offer> offers(world.ranks());
  world::all_gather(*world.communicator(), {"offers of NCCL", "the choice of collectives"},
                    sizeof(Offer), reinterpret_cast<const char*>(&offer),
                    reinterpret_cast<char*>(offers.data()));
  std::optional<Error> common = common_obstacle(offers);
  if (common && wanted == CollectiveExecutor::kNccl) throw std::move(*common);
  if (obstacle) return host(obstacle->message());
  if (common) return host(common->message());
  CollectiveChoice choice;
  choice.nccl = communicators(*nccl, world, state, symbols);
  choice.report = {.executor = "nccl",
                   .version = nccl::version_text(nccl->number),
                   .library = nccl->path,
                   .reason = {},
                   .host_steps = host_steps(state, [&](const bind::PlannedCollective& step) {
                     return !step.facts().reduces ||
                            nccl::type_of(step.dtype, state.device.architecture());
                   })};
  return choice;
}

}  // namespace baton
