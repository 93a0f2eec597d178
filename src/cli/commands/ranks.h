#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "baton/executable.h"
#include "baton/program.h"
#include "baton/world.h"
#include "cli/command_line/options.h"
#include "cli/output/output.h"
#include "tools/ranks.h"

namespace baton::cli {

// The run of one rank: rank 0 prints and writes files, the others print nothing.
class RankOfRun {
 public:
  RankOfRun() = default;
  // A thread of this process.
  explicit RankOfRun(World world) : world_(std::move(world)) {}

  // Joins the ranks that a launcher started, if the program has a world. All of them must have the
  // same command, and the same values of these options.
  using NamedValues = std::vector<std::pair<std::string, std::string>>;
  void enter(const Program& program, Output& output, NamedValues options);
  // The world, if the program has one.
  const std::optional<World>& world() const { return world_; }
  bool is_first() const { return !world_ || world_->rank() == 0; }
  // Throws kInvalidInput for several ranks.
  void require_alone(std::string_view option) const;
  // Called after the run of this rank, before its findings and warnings are shown. Rank 0 gets the
  // outputs and the reports of all, as "ranks" of the JSON object and as a table. `times`: those of
  // this rank's runs, if it was measured.
  void finish(Executable& executable, Output& output,
              const std::optional<TimeStatistics>& times = {});
  // Ends the run of all ranks. Returns the error to print, and mutes the output of all ranks except
  // one. A rank that failed before it read the program joins the others first.
  Error fail(const Error& failure, Output& output);

 private:
  std::optional<World> world_;
  bool has_joined_ = false;  // or tried to
  bool is_told_ = false;     // rank 0 prints why this one could not join
  bool is_finished_ = false;
};

// Runs the ranks of a program on the devices of `command`, each in a thread of this process:
// `run(command, rank, output)` with the device of that rank. Rank 0 writes to `output`. It throws
// the one error of all ranks.
template <typename Command, typename Run>
void on_devices(const Command& command, Output& output, const Run& run) {
  const std::vector<std::string> devices = tools::devices_of_ranks(command.devices);
  const std::vector<World> worlds = World::of_threads(static_cast<std::uint32_t>(devices.size()));
  const auto run_rank = [&](std::size_t rank, Output& to) {
    Command own = command;
    own.device = devices[rank];
    run(own, RankOfRun(worlds[rank]), to);
  };
  std::vector<std::thread> others;
  for (std::size_t rank = 1; rank < devices.size(); ++rank) {
    others.emplace_back([&, rank] {
      Output mute(false, {});
      mute.mute();
      try {
        run_rank(rank, mute);
      } catch (const Error&) {
        // Rank 0 prints it.
      }
    });
  }
  std::optional<Error> failure;
  try {
    run_rank(0, output);
  } catch (const Error& told) {
    failure.emplace(told);
  }
  for (std::thread& other : others) other.join();
  if (failure) throw Error(*failure);
}

}  // namespace baton::cli
