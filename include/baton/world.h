#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/error.h"
#include "baton/export.h"
#include "baton/forward.h"

namespace baton {

namespace world {
class Communicator;
}

// How a collective reduces the elements of all ranks to one.
enum class ReduceOp : std::uint8_t { kSum, kMax, kMin };

// The executor of the collectives of a program.
enum class CollectiveExecutor : std::uint8_t {
  // NCCL where all ranks have CUDA devices of their own and find it. Otherwise kernels between
  // peers, if the host cannot exchange (GPUs of one process) and these kernels have all steps.
  // Otherwise the host.
  kAuto,
  kNccl,
  kHost,  // copies to the host, and connections between the ranks
  kPeer,  // kernels of Baton's own on devices that access each other's memory; else the host
};

// "auto", "nccl", "host", "peer".
BATON_API std::string_view to_string(CollectiveExecutor executor);

// One rank's view of all ranks that run one program together, each on a device of its own. A cheap
// value that refers to a shared state. Thread-safe, but a rank may execute only one run at a time.
//
// A rank that fails, ends or sends nothing ends the run of all ranks. Each rank then throws the
// same error, which names that rank and the step.
class BATON_API World {
 public:
  // One rank alone.
  World();
  // The world of this process. The first call joins the other ranks if a launcher started the
  // process: torchrun, mpirun, mpiexec or srun, known by their environment. Otherwise it is one
  // rank alone. Throws kInvalidInput for an environment with wrong values, kNoDevice if ranks do
  // not connect within `seconds`, or BATON_WORLD_JOIN seconds (60).
  static World of_process(std::optional<int> seconds = {});
  // Whether a launcher started this process as one of several ranks.
  static bool is_launched();
  // Worlds of threads of this process, by rank.
  static std::vector<World> of_threads(std::uint32_t ranks);

  std::uint32_t rank() const noexcept { return rank_; }
  std::uint32_t ranks() const noexcept { return ranks_; }
  // Whether all ranks are threads of this process.
  bool is_of_threads() const noexcept { return is_of_threads_; }
  // The rank's number among those of this machine.
  std::uint32_t local_rank() const noexcept { return local_rank_; }

  // Ends the run of all ranks with this error of this rank, unless it has ended already. Returns
  // the error that ended it. No later run of the world succeeds.
  Error fail(const Error& error) const;
  // Throws the error that ended the run, if it has ended.
  void check() const;
  // Returns when all ranks have called it with the same `what`. Throws the error that ended the
  // run.
  void meet(std::string_view what) const;
  // Collects the texts of all ranks, in their order, at rank 0; the others get none. Throws as
  // `meet`.
  std::vector<std::string> gather(std::string_view what, std::string_view own) const;
  // Whether this rank prints the error of all ranks: rank 0, unless rank 0 is lost.
  bool speaks() const;
  // After a failure: waits some seconds for the end of the rank that prints the error. Launchers
  // end all ranks as soon as one has failed.
  void let_speak() const;

  const std::shared_ptr<world::Communicator>& communicator() const noexcept { return state_; }

 private:
  World(std::shared_ptr<world::Communicator> state, std::uint32_t local_rank, bool is_of_threads);

  std::shared_ptr<world::Communicator> state_;
  std::uint32_t rank_ = 0, ranks_ = 1, local_rank_ = 0;
  bool is_of_threads_ = true;
};

}  // namespace baton
