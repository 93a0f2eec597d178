#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "baton/executable.h"
#include "cli/command_line/options.h"
#include "cli/output/output.h"
#include "tools/file/run_dump.h"
#include "tools/step_choice.h"

namespace baton::cli {

// What --dump and --until do with the steps of a run. One thread at a time.
class SeenSteps {
 public:
  // Throws what is wrong with the folder and the step before anything runs.
  SeenSteps(const RunCommand& command, const Program& program);

  // The program is bound. Throws what is wrong with the step for these symbols.
  void check(const Program& program, const std::vector<BoundSymbol>& symbols) const;

  static bool is_wanted(const RunCommand& command) { return command.dump || command.until; }

  // Returns whether the run goes on.
  bool add(const CompletedStep& step);

  // The run is over. Throws kNotFound if it came to no such step as --until names.
  void finish(Output& output);
  // The run failed.
  void fail(const Executable& executable, const Error& failure, Output& output);

 private:
  void finish_dump(Output& output);

  const std::optional<tools::StepChoice> until_;
  std::optional<tools::RunDump> dump_;
  bool met_ = false;
  std::uint64_t steps_ = 0;
};

}  // namespace baton::cli
