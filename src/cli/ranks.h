#pragma once

#include <optional>
#include <string_view>

#include "baton/executable.h"
#include "baton/program.h"
#include "baton/world.h"
#include "cli/options.h"
#include "cli/output.h"

namespace baton::cli {

// The run of one rank: rank 0 prints and writes files, the others print nothing.
class RankOfRun {
 public:
  RankOfRun() = default;
  // A thread of this process.
  explicit RankOfRun(World world) : world_(std::move(world)) {}

  // Joins the ranks that a launcher started, if the program has a world.
  void enter(const Program& program, Output& output);
  // The world, if the program has one.
  const std::optional<World>& world() const { return world_; }
  bool is_first() const { return !world_ || world_->rank() == 0; }
  // Throws kInvalidInput for several ranks.
  void require_alone(std::string_view option) const;
  // Called after the run of this rank. Rank 0 gets the outputs and the reports of all, as "ranks"
  // of the JSON object and as a table.
  void finish(Executable& executable, Output& output);
  // Ends the run of all ranks. Returns the error to print, and mutes the output of all ranks except
  // one. A rank that failed before it read the program joins the others first.
  Error fail(const Error& failure, Output& output);

 private:
  std::optional<World> world_;
  bool has_joined_ = false;  // or tried to
  bool is_told_ = false;     // rank 0 prints why this one could not join
  bool is_finished_ = false;
};

}  // namespace baton::cli
