#include "world/launcher.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"

namespace baton::world {
namespace {

// The variables by which a launcher tells a process which rank it is.
struct Launcher {
  std::string_view name;
  const char* rank;
  const char* ranks;
  const char* local_rank;
  const char* local_ranks;  // null: it does not say
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
     {"TORCHELASTIC_RUN_ID", nullptr}},
    {"mpirun",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     {"OMPI_MCA_ess_base_jobid", "PMIX_NAMESPACE"}},
    {"mpiexec",
     "PMI_RANK",
     "PMI_SIZE",
     "MPI_LOCALRANKID",
     "MPI_LOCALNRANKS",
     {"PMI_PORT", "PMI_JOBID"}},
    {"srun",
     "SLURM_PROCID",
     "SLURM_STEP_NUM_TASKS",
     "SLURM_LOCALID",
     nullptr,
     {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
};

// Ports that neither services nor, usually, outgoing connections use.
constexpr std::uint32_t kFirstPort = 20000, kPorts = 10000;

std::uint32_t number_of(const char* name, const std::string& text, std::uint32_t most) {
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || stopped != end || value > most) {
    throw error(ErrorCode::kInvalidInput,
                "the environment has {} = \"{}\"; it must be a number from 0 to {}", name,
                printable(text), most);
  }
  return value;
}

std::uint32_t number_of(const Variables& variables, const char* name, std::uint32_t otherwise) {
  const auto text = name == nullptr ? std::nullopt : variables(name);
  return text ? number_of(name, *text, kMostRanks) : otherwise;
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
  const bool taken = variables("TORCHELASTIC_RUN_ID").has_value();
  rank.port = static_cast<std::uint16_t>(number_of("MASTER_PORT", *port, 65534) + (taken ? 1 : 0));
}

}  // namespace

std::optional<LaunchedRank> launched_rank(const Variables& variables) {
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = variables(launcher.rank);
    const auto ranks = variables(launcher.ranks);
    if (!rank || !ranks) continue;
    LaunchedRank found;
    found.launcher = launcher.name;
    found.ranks = number_of(launcher.ranks, *ranks, kMostRanks);
    found.rank = number_of(launcher.rank, *rank, kMostRanks);
    if (found.rank >= found.ranks) {
      throw error(
          ErrorCode::kInvalidInput,
          "the environment has {} = {} and {} = {}; ranks count from 0, so the rank must be "
          "less than their number",
          launcher.rank, found.rank, launcher.ranks, found.ranks);
    }
    found.local_rank = number_of(variables, launcher.local_rank, found.rank);
    found.local_ranks = number_of(variables, launcher.local_ranks, found.ranks);
    found.job = job_of(variables, launcher);
    if (found.ranks > 1) set_address(variables, found);
    return found;
  }
  return std::nullopt;
}

}  // namespace baton::world
