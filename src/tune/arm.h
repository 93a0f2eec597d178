#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "baton/executable.h"
#include "baton/stream.h"

namespace baton::tuning {

// What a run costs. Warp instructions are counted by the simulated GPU alone, and are exact.
enum class CostKind : std::uint8_t { kSeconds, kWarpInstructions };
// The cost that says something of the device.
CostKind cost_on(const Device& device);

// One variant of a program, loaded, with memory of its own: what a search measures. One thread.
class Arm {
 public:
  // Binds it. `weights`: another arm of the same program, which outlives this one and whose weights
  // it uses; or null. Throws what loading and binding throw.
  Arm(LoadedProgram loaded, ExecutorKind executor, Bindings bindings, const Arm* weights,
      const RunOptions& limits, CostKind cost);

  Executable& executable() { return executable_; }
  const Executable& executable() const { return executable_; }

  // The results of a run from the first contents.
  std::map<std::string, Array> results();
  // The cost of a run, the second after the first contents; of warp instructions, the first.
  double measure();

 private:
  void reset();
  double seconds();
  double seconds_of_run();
  double instructions();

  Executable executable_;
  const RunOptions limits_;  // time-out and interrupt
  const CostKind cost_;
  const bool is_enqueued_;  // else a run waits between its steps, to test their conditions
  Stream stream_;
  Event begin_, end_;
};

}  // namespace baton::tuning
