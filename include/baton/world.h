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

// How a collective makes one element of those of all ranks.
enum class ReduceOp : std::uint8_t { kSum, kMax, kMin };

// The executor of the collectives of a program.
enum class CollectiveExecutor : std::uint8_t {
  kAuto,  // NCCL where all ranks have CUDA devices of their own and find it; else the host
  kNccl,
  kHost,  // copies to the host, and connections between the ranks
};

// The ranks that run one program together, each on a device of its own, as one of them sees it.
// A cheap value that refers to a shared state. Thread-safe, but the collectives of one rank belong
// to one run at a time.
//
// A rank that fails, ends or falls silent ends the run of all: each rank then throws the same
// error, which names that rank and the step.
class BATON_API World {
 public:
  // One rank alone.
  World();
  // The world of this process. The first call joins the other ranks if a launcher started the
  // process: torchrun, mpirun, mpiexec or srun, known by their environment. Otherwise it is one
  // rank alone. Throws kInvalidInput for an environment that makes no sense, kNoDevice for ranks
  // that do not come within `seconds`, or BATON_WORLD_JOIN seconds (60).
  static World of_process(std::optional<int> seconds = {});
  // Whether a launcher started this process as one of several ranks.
  static bool is_launched();
  // Worlds of threads of this process, by rank.
  static std::vector<World> of_threads(std::uint32_t ranks);

  std::uint32_t rank() const noexcept { return rank_; }
  std::uint32_t ranks() const noexcept { return ranks_; }
  // Whether all ranks are threads of this process.
  bool is_of_threads() const noexcept { return is_of_threads_; }
  // Among the ranks of this machine, where each has a device of its own.
  std::uint32_t local_rank() const noexcept { return local_rank_; }

  // Ends the run of all ranks with this error of this rank, unless it was ended before. Returns the
  // error that ended it. No later run of the world succeeds.
  Error fail(const Error& error) const;
  // Throws what ended the run.
  void check() const;
  // Returns when all ranks have come to it. Ranks that meet name the same thing. Throws what ended
  // the run.
  void meet(std::string_view what) const;
  // Collects the texts of all ranks, in their order, at rank 0; the others get none. Throws as
  // `meet`.
  std::vector<std::string> gather(std::string_view what, std::string_view own) const;
  // Whether this rank tells what happened to all: rank 0, unless it is the one that is lost.
  bool speaks() const;
  // After a failure: waits until the rank that tells of it has ended, or some seconds. Launchers
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
