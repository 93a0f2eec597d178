#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "baton/executable.h"
#include "baton/stream.h"

namespace baton::tuning {

// One variant of a program, loaded, with memory of its own: what a search measures. One thread.
class Arm {
 public:
  // Binds it. `weights`: another arm of the same program, which outlives this one and whose weights
  // it uses; or null. Throws what loading and binding throw.
  Arm(LoadedProgram loaded, ExecutorKind executor, Bindings bindings, const Arm* weights,
      const RunOptions& limits);

  Executable& executable() { return executable_; }
  const Executable& executable() const { return executable_; }

  // The results of a run from the first contents.
  std::map<std::string, Array> results();
  // The cost of a run, the second after the first contents: seconds on a GPU, warp instructions on
  // the simulated GPU, where it is the only run.
  double measure();

 private:
  void reset();
  double seconds();
  double seconds_of_run();
  double instructions();

  Executable executable_;
  const RunOptions limits_;  // time-out and interrupt
  const bool is_simulated_;
  const bool is_enqueued_;  // else a run waits between its steps, to test their conditions
  Stream stream_;
  Event begin_, end_;
};

// Whether the device has no time of its own, so that the cost is exact.
bool is_exact(const Device& device);

}  // namespace baton::tuning
