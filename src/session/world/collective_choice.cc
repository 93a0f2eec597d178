#include "session/world/collective_choice.h"

#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/system/environment.h"
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

// By the number of the group, its ranks. Group 0 is the world.
std::vector<std::uint32_t> ranks_of_groups(const World& world, const LoadedProgramState& state,
                                           const std::vector<BoundSymbol>& symbols) {
  std::vector<std::uint32_t> ranks = {world.ranks()};
  for (const WorldGroup& group : state.program.world()->groups) {
    ranks.push_back(bind::bind_group(state.program, group.name, symbols).ranks);
  }
  return ranks;
}

// Up to so many bytes, kernels between peers were measured to be faster than NCCL, on two and on
// four ranks (docs/benchmarks-collectives.md). Nothing was measured on more.
constexpr std::uint64_t kMostBytesOfPeers = 4 << 20;
constexpr std::uint32_t kMostRanksOfPeers = 4;

// Which of the executors the steps of a program name, and what of the others peers can execute.
struct Wishes {
  bool nccl = false, peer = false;
  bool peers_have_all = true, peers_have_some = false;
};

// Peers take the all-reduces of all ranks, which are those of group 0.
bool is_for_peers(const bind::PlannedCollective& step, const std::vector<std::uint32_t>& ranks) {
  return step.kind == CollectiveKind::kAllReduce && peer::PeerRank::takes(step.dtype) &&
         ranks[step.group] == ranks[0];
}

// A step that names peers is not given to another executor. In a group of one rank there is nothing
// to exchange.
void check_wish(const bind::PlannedStep& at, const bind::PlannedCollective& step,
                const std::vector<std::uint32_t>& ranks) {
  if (step.by != CollectiveExecutor::kPeer || ranks[step.group] == 1) return;
  if (is_for_peers(step, ranks)) return;
  const std::string lack =
      peer::PeerRank::takes(step.dtype)
          ? fmt::format("of all {} ranks, and the group {} has {}", ranks[0], step.group_name,
                        ranks[step.group])
          : fmt::format("of f32, f16, bf16, i32, u32, i64 and u64, and the dtype is {}",
                        to_string(step.dtype));
  throw error_at(at.source->where, ErrorCode::kUnsupported,
                 "{}: kernels between peers execute an all_reduce {}; write by = \"nccl\" or "
                 "\"host\", or leave it out",
                 at.label, lack);
}

Wishes wishes_of(const LoadedProgramState& state, const std::vector<std::uint32_t>& ranks) {
  Wishes wishes;
  each_collective(
      state.plan.steps, [&](const bind::PlannedStep& at, const bind::PlannedCollective& step) {
        check_wish(at, step, ranks);
        wishes.nccl |= step.by == CollectiveExecutor::kNccl;
        wishes.peer |= step.by == CollectiveExecutor::kPeer && is_for_peers(step, ranks);
        wishes.peers_have_all &= step.by || is_for_peers(step, ranks);
        wishes.peers_have_some |= !step.by && is_for_peers(step, ranks);
      });
  return wishes;
}

// What all ranks together have of NCCL, or why they have nothing.
struct FoundNccl {
  const nccl::Nccl* nccl = nullptr;  // null: there is an obstacle
  std::optional<Error> obstacle;
};

FoundNccl find_common_nccl(const Device& device, const World& world) {
  FoundNccl found;
  found.obstacle = own_obstacle(device, found.nccl);
  const Offer offer = offer_of(device, found.nccl);
  std::vector<Offer> offers(world.ranks());
  world::all_gather(*world.communicator(), {"offers of NCCL", "the choice of collectives"},
                    sizeof(Offer), reinterpret_cast<const char*>(&offer),
                    reinterpret_cast<char*>(offers.data()));
  if (!found.obstacle) found.obstacle = common_obstacle(offers);
  if (found.obstacle) found.nccl = nullptr;
  return found;
}

// The driver of GPUs may call the host functions of all ranks of a process on one thread.
bool host_can_exchange(const Device& device, const World& world) {
  return !world.is_of_threads() || device.driver().simulator != nullptr;
}

// PeerChoice::default_bytes of `auto`, where the ranks' devices are linked.
std::uint64_t bytes_left_to_peers(const World& world, const Device& device, const Wishes& wishes,
                                  bool has_nccl) {
  if (has_nccl) {
    return wishes.peers_have_some && world.ranks() <= kMostRanksOfPeers ? kMostBytesOfPeers : 0;
  }
  // Without NCCL, peers stand in for a host that cannot.
  const bool is_needed = !host_can_exchange(device, world) && wishes.peers_have_all;
  return is_needed ? bind::PeerChoice::kAnyBytes : 0;
}

}  // namespace

bool has_collectives(const LoadedProgramState& state) {
  bool has = false;
  each_collective(state.plan.steps, [&](const auto&, const auto&) { has = true; });
  return has;
}

bool needs_epilogue_kernels(const World& world, const LoadedProgramState& state,
                            const std::vector<BoundSymbol>& symbols,
                            const bind::PeerChoice& peers) {
  if (!state.program.world()) return false;
  const std::vector<std::uint32_t> ranks = ranks_of_groups(world, state, symbols);
  bool needs = false;
  each_collective(state.plan.steps, [&](const auto&, const bind::PlannedCollective& step) {
    const bool wants_peer = step.by ? *step.by == CollectiveExecutor::kPeer
                                    : peers.default_bytes == bind::PeerChoice::kAnyBytes;
    needs |= !step.epilogue.is_none() &&
             !(peers.ranks != 0 && wants_peer && ranks[step.group] == ranks[0]);
  });
  return needs;
}

std::vector<CollectiveExecutor> usable_executors(const Device& device, const World& world) {
  std::vector<CollectiveExecutor> usable;
  if (find_common_nccl(device, world).nccl != nullptr) {
    usable.push_back(CollectiveExecutor::kNccl);
  }
  if (peer::PeerRank::can_connect(device, world)) usable.push_back(CollectiveExecutor::kPeer);
  if (host_can_exchange(device, world)) usable.push_back(CollectiveExecutor::kHost);
  return usable;
}

CollectiveChoice choose_collectives(const World& world, const LoadedProgramState& state,
                                    const std::vector<BoundSymbol>& symbols,
                                    CollectiveExecutor wanted) {
  using enum CollectiveExecutor;
  const std::vector<std::uint32_t> ranks = ranks_of_groups(world, state, symbols);
  const Wishes wishes = wishes_of(state, ranks);
  CollectiveChoice choice;
  choice.why_host = wanted == kPeer ? "kernels between peers were asked for" : "it was asked for";
  const nccl::Nccl* nccl = nullptr;
  if (wanted == kAuto || wanted == kNccl || wishes.nccl) {
    FoundNccl found = find_common_nccl(state.device, world);
    if (found.obstacle && (wanted == kNccl || wishes.nccl)) throw std::move(*found.obstacle);
    if (found.obstacle && wanted == kAuto) choice.why_host = found.obstacle->message();
    nccl = found.nccl;
  }
  if (nccl != nullptr) choice.nccl = communicators(*nccl, world, state, symbols);
  if (wanted == kPeer || wishes.peer) choice.peer = peer::PeerRank::make(state.device, world);
  if (wanted == kPeer) choice.peer_bytes = bind::PeerChoice::kAnyBytes;
  if (wanted == kAuto) {
    choice.peer_bytes = bytes_left_to_peers(world, state.device, wishes, nccl != nullptr);
    if (choice.peer_bytes != 0 && choice.peer == nullptr) {
      choice.peer = peer::PeerRank::make_if_linked(state.device, world);
    }
    if (choice.peer == nullptr) choice.peer_bytes = 0;
  }

  CollectivesReport& report = choice.report;
  choice.by_nccl = nccl != nullptr && (wanted == kAuto || wanted == kNccl);
  const bool are_by_peers = choice.peer_bytes == bind::PeerChoice::kAnyBytes;
  report.executor = are_by_peers ? "peer" : choice.by_nccl ? "nccl" : "host";
  if (!are_by_peers) report.peer_bytes = choice.peer_bytes;
  if (nccl != nullptr) {
    report.version = nccl::version_text(nccl->number);
    report.library = nccl->path;
  }
  if (report.executor == "host") report.reason = choice.why_host;
  each_collective(state.plan.steps, [&](const bind::PlannedStep& step,
                                        const bind::PlannedCollective& collective) {
    const std::string label = fmt::format("{} ({})", step.label, to_string(collective.dtype));
    const bool wants_peer = collective.by ? collective.by == kPeer : are_by_peers;
    if (wants_peer && is_for_peers(collective, ranks)) {
      if (!are_by_peers) report.peer_steps.push_back(label);
      return;
    }
    const bool is_by_nccl =
        nccl != nullptr && (collective.by ? *collective.by == kNccl : choice.by_nccl) &&
        (!collective.facts().reduces ||
         nccl::type_of(collective.dtype, state.device.architecture()).has_value());
    if (!is_by_nccl && report.executor != "host") report.host_steps.push_back(label);
  });
  return choice;
}

}  // namespace baton
