#include "world/launcher.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "base/error.h"
#include "base/hash/hash.h"
#include "base/text/text.h"

namespace baton::world {
namespace {

// The variables by which a launcher tells a process which rank it is.
struct Launcher {
  std::string_view name;
  const char* rank;
  const char* ranks;
  const char* local_rank;
  const char* local_ranks;  // null: it does not say
  bool sets_rank_alone;     // also in a batch script, which is not a rank
  // Different in each run, and equal in all processes of one; null ends the list.
  std::array<const char*, 2> job;
};

// The first row that matches counts. torchrun is first: one of the others may have started it.
// A Slurm batch script has SLURM_PROCID too; only processes that srun started have a number of
// tasks of a step.
constexpr Launcher kLaunchers[] = {
    {"torchrun",
     "RANK",
     "WORLD_SIZE",
     "LOCAL_RANK",
     "LOCAL_WORLD_SIZE",
     false,
     {"TORCHELASTIC_RUN_ID", nullptr}},
    {"mpirun",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     false,
     {"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE"}},
    {"mpiexec",
     "PMI_RANK",
     "PMI_SIZE",
     "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS",
     false,
     {"PMI_PORT", "PMI_JOBID"}},
    {"srun",
     "SLURM_PROCID",
     "SLURM_STEP_NUM_TASKS",
     "SLURM_LOCALID",
     nullptr,
     true,
     {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
};

// Ports that neither services nor, usually, outgoing connections use.
constexpr std::uint32_t kFirstPort = 20000, kPorts = 10000;

std::uint32_t number_of(const char* name, const std::string& text, std::uint32_t least,
                        std::uint32_t most) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || stopped != end || value < least || value > most) {
    throw error(ErrorCode::kInvalidInput,
                "the environment has {} = \"{}\"; it must be a number from {} to {}", name,
                printable(text), least, most);
  }
  return value;
}

// Nothing where the launcher has no such variable, or it is unset.
std::optional<std::uint32_t> number_in(const Variables& variables, const char* name) {
  const auto text = name == nullptr ? std::nullopt : variables(name);
  if (!text) return std::nullopt;
  return number_of(name, *text, 0, kMostRanks);
}

void require_less(const char* rank_name, std::uint32_t rank, const char* ranks_name,
                  std::uint32_t ranks) {
  if (rank < ranks) return;
  throw error(ErrorCode::kInvalidInput,
              "the environment has {} = {} and {} = {}; ranks count from 0, so the rank must be "
              "less than their number",
              rank_name, rank, ranks_name, ranks);
}

bool is_of_torchrun(const Variables& variables) {
  return variables("TORCHELASTIC_RUN_ID").has_value();
}

std::string job_of(const Variables& variables, const Launcher& launcher) {
  std::string job(launcher.name);
  for (const char* name : launcher.job) {
    if (name != nullptr) job += " " + variables(name).value_or("");
  }
  return job;
}

// torchrun's own store listens at MASTER_PORT, so rank 0 uses the next port. Without an address,
// the ranks of one machine use a port that is computed from their job.
void set_address(const Variables& variables, LaunchedRank& rank) {
  const auto host = variables("MASTER_ADDR");
  const auto port = variables("MASTER_PORT");
  if (!host && rank.local_ranks < rank.ranks) {
    throw error(ErrorCode::kInvalidInput,
                "{} started {} ranks, {} of them on this machine; set MASTER_ADDR to the address "
                "of the machine of rank 0, and MASTER_PORT to a free port there",
                rank.launcher, rank.ranks, rank.local_ranks);
  }
  rank.host = host.value_or("127.0.0.1");
  if (!port) {
    rank.port = static_cast<std::uint16_t>(kFirstPort + xxh3(rank.job) % kPorts);
    return;
  }
  const std::uint32_t beside = is_of_torchrun(variables) ? 1 : 0;
  rank.port = static_cast<std::uint16_t>(number_of("MASTER_PORT", *port, 1, 65534) + beside);
}

// The rank by one launcher's variables; nothing if they are not all there.
std::optional<LaunchedRank> rank_by(const Variables& variables, const Launcher& launcher) {
  const auto rank = number_in(variables, launcher.rank);
  const auto ranks = number_in(variables, launcher.ranks);
  if (!rank || !ranks) return std::nullopt;
  require_less(launcher.rank, *rank, launcher.ranks, *ranks);
  const auto local_rank = number_in(variables, launcher.local_rank);
  const auto local_ranks = number_in(variables, launcher.local_ranks);
  if (local_rank && local_ranks) {
    require_less(launcher.local_rank, *local_rank, launcher.local_ranks, *local_ranks);
  }
  LaunchedRank found;
  found.launcher = launcher.name;
  found.rank = *rank;
  found.ranks = *ranks;
  found.local_rank = local_rank.value_or(*rank);
  found.local_ranks = local_ranks.value_or(*ranks);
  found.job = job_of(variables, launcher);
  return found;
}

// Throws for half of what a launcher sets. Every process with that would run alone, as rank 0.
void refuse_half(const Variables& variables, const Launcher& launcher) {
  const auto rank = variables(launcher.rank);
  const auto ranks = variables(launcher.ranks);
  if (rank.has_value() == ranks.has_value() || (rank && launcher.sets_rank_alone)) return;
  throw error(ErrorCode::kInvalidInput,
              "the environment has {} = \"{}\" and no {}; set both in each of several ranks, or "
              "neither in a run of one",
              rank ? launcher.rank : launcher.ranks, printable(rank ? *rank : *ranks),
              rank ? launcher.ranks : launcher.rank);
}

// Throws if the other launcher started more processes than the first one's variables tell. Then
// these are left from an earlier run. torchrun starts ranks of its own in each process of another
// launcher.
void refuse_stale(const Variables& variables, const Launcher& launcher, const LaunchedRank& found,
                  const Launcher& other) {
  if (is_of_torchrun(variables)) return;
  const auto started = rank_by(variables, other);
  if (!started || started->ranks <= found.ranks) return;
  throw error(ErrorCode::kInvalidInput,
              "the environment has {} = {} and {} = {}; for the ranks of {}, unset {} and {}",
              launcher.ranks, found.ranks, other.ranks, started->ranks, other.name, launcher.rank,
              launcher.ranks);
}

}  // namespace

std::optional<LaunchedRank> launched_rank(const Variables& variables) {
  const Launcher& by_hand = kLaunchers[0];  // its names are those that people set
  for (const Launcher& launcher : kLaunchers) {
    auto found = rank_by(variables, launcher);
    if (!found) continue;
    if (&launcher == &by_hand) {
      for (const Launcher& other : std::span(kLaunchers).subspan(1)) {
        refuse_stale(variables, launcher, *found, other);
      }
    }
    if (found->ranks > 1) set_address(variables, *found);
    return found;
  }
  for (const Launcher& launcher : kLaunchers) refuse_half(variables, launcher);
  return std::nullopt;
}

}  // namespace baton::world
