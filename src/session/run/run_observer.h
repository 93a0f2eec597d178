#pragma once

#include <optional>
#include <span>
#include <string>

#include "baton/executable.h"
#include "bind/value_place.h"
#include "play/player.h"
#include "session/memory/program_memory.h"
#include "session/run/non_finite.h"

namespace baton {

// Shows the steps of a run to what the run's options ask for: the caller, and the search for values
// that are not finite. One thread at a time.
class RunObserver : public play::StepObserver {
 public:
  // Whether a run with the options has one.
  static bool is_wanted(const RunOptions& options) {
    return options.after_step || options.find_non_finite;
  }

  // All outlive it. The buffers have their first contents.
  // Without `naming` arguments have no names.
  RunObserver(const RunOptions& options, const ProgramMemory& memory,
              const bind::ParamNaming* naming, const Stream& stream, RunReport& report);

  bool step_done(const bind::RunStep& at, bool sent, std::span<const std::int64_t> slots) override;

  // Whether a run did not get to its last step.
  bool ended() const { return ended_; }
  // Throws kMismatch if the search found a step.
  void finish() const;

 private:
  void search(const bind::PlannedStep& planned, const CompletedStep& step);

  const RunOptions& options_;
  const ProgramMemory& memory_;
  const bind::ParamNaming* const naming_;
  const Stream& stream_;
  RunReport& report_;
  std::optional<NonFiniteSearch> search_;
  std::string argument_;  // of the step that was found: see `non_finite_argument`
  bool ended_ = false;
  std::uint64_t number_ = 0;  // of the next step
};

}  // namespace baton
