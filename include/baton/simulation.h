#pragma once

#include <memory>
#include <string>
#include <vector>

#include "baton/device.h"
#include "baton/finding.h"
#include "baton/forward.h"
#include "baton/races.h"
#include "baton/schedule.h"

namespace baton {

struct SimulationOptions {
  Schedule schedule = {};
  Races races = Races::kUsual;
  bool trace = false;  // whether a timeline is recorded
};

// The work that the calling thread submits to the simulated GPU while this object lives: its order,
// the races that are looked for, and its findings. Executable::run makes one of its own; this one
// is for launches that a program makes itself. Movable. Begin and end it in the thread that
// submits; any thread may call the rest.
//
// Waits of the thread throw faults, and no findings: `take_findings` returns those. Findings that
// were not taken at the end go to Device::findings.
class BATON_API Simulation {
 public:
  // Waits for earlier work where the schedule changes. Throws kInvalidInput for a GPU, and where
  // another thread's work has another schedule.
  explicit Simulation(const Device& device, const SimulationOptions& options = {});
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;
  ~Simulation();

  const Device& device() const;
  // Returns the findings so far, in the order first seen, and forgets them. Does not wait.
  std::vector<FindingReport> take_findings();
  // Returns the timeline so far, as JSON in the Trace Event Format; empty without
  // SimulationOptions::trace.
  std::string trace() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace baton
