#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "baton/executable.h"
#include "session/run/simulated_run.h"

namespace baton {

// Tells the caller of a run how far it is, a few times a second.
class RunTeller {
 public:
  // `options` and `simulated` outlive it.
  RunTeller(const RunOptions& options, std::uint64_t steps, const SimulatedRun& simulated);
  RunTeller(const RunTeller&) = delete;
  RunTeller& operator=(const RunTeller&) = delete;

  void begin(std::uint64_t run);
  // Of the run, for whoever plays it to count.
  std::uint64_t& steps_done() { return progress_.steps_done; }

  // Called again and again while the run goes on; empty where the caller wants to know nothing. The
  // teller outlives it.
  std::function<void()> tick();

 private:
  void tell();

  const RunOptions& options_;
  const SimulatedRun& simulated_;
  RunProgress progress_;
  std::uint64_t ended_before_ = 0;  // launches of earlier runs
  std::chrono::steady_clock::time_point next_;
};

}  // namespace baton
