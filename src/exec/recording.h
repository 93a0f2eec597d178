#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "baton/launch_plan.h"
#include "exec/evaluate.h"
#include "exec/place.h"

namespace baton::exec {

struct RecordedCopy {
  const PlannedCopy* copy = nullptr;
  CopyValues values;
};
struct RecordedFill {
  const PlannedFill* fill = nullptr;
  std::uint64_t bits = 0;
};
struct NoWork {};

// A step of a run as it was executed; the recording owns a launch's plan.
struct RecordedStep {
  Place place;
  std::variant<NoWork, LaunchPlan*, RecordedCopy, RecordedFill> work;
};

// The steps of a run in their order, to be executed again: nothing is left to evaluate, and every
// launch is packed for good. Holds for the values and buffers of that run, and as long as its plan.
class Recording {
 public:
  // Forgets what there is, also of a run that failed; `on`: and records the next run.
  void begin(const Plan& plan, bool on);

  void add(const Place& place, const PlannedLaunch& launch);
  void add(const Place& place, const PlannedCopy& copy, const CopyValues& values);
  void add(const Place& place, const PlannedFill& fill, std::uint64_t bits);
  void add_nothing(const Place& place);
  // The run came to its end. Until then, and where it was too long to be kept, there are no steps.
  void end();

  // Null where there is no whole run.
  const std::vector<RecordedStep>* steps() const { return whole_ ? &steps_ : nullptr; }

 private:
  void add(RecordedStep step);
  LaunchPlan* plan_of(const Place& place, const PlannedLaunch& launch);

  bool open_ = false;
  bool whole_ = false;
  std::vector<RecordedStep> steps_;
  std::deque<LaunchPlan> plans_;
  // By launch, the plan of those that do not vary: behind a full edge, and behind a programmatic
  // one.
  std::vector<std::array<LaunchPlan*, 2>> settled_;
};

// The values of the indexes in the run's step of that number, as in errors: "layer = 3, i = 0".
std::string indexes_of_step(Plan& plan, const std::vector<std::int64_t>& symbols,
                            std::uint64_t number);

}  // namespace baton::exec
