#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "baton/executable.h"
#include "baton/stream.h"
#include "baton/tune.h"

namespace baton::tuning {

// What a run costs. Warp instructions are counted by the simulated GPU alone, and are exact.
enum class CostKind : std::uint8_t { kSeconds, kWarpInstructions };
// The cost that says something of the device.
CostKind cost_on(const Device& device);

// One variant of a program: what a search measures. One thread.
class Arm {
 public:
  virtual ~Arm() = default;
  // The results of a run from the first contents; none where Baton does not see them.
  virtual std::map<std::string, Array> results() = 0;
  virtual double measure() = 0;
  // Null where Baton does not run the variant.
  virtual const Executable* executable() const { return nullptr; }
};

// A variant that is loaded, with memory of its own.
class ExecutedArm : public Arm {
 public:
  // Binds it. `weights`: another arm of the same program, which outlives this one and whose weights
  // it uses; or null. Throws what loading and binding throw.
  ExecutedArm(LoadedProgram loaded, ExecutorKind executor, Bindings bindings, const Arm* weights,
              const RunOptions& limits, CostKind cost);

  std::map<std::string, Array> results() override;
  // The cost of a run, the second after the first contents; of warp instructions, the first.
  double measure() override;
  const Executable* executable() const override { return &executable_; }

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

// A variant that the caller runs and measures.
class CallersArm : public Arm {
 public:
  // `program`: with the choices of the variant. Throws what is wrong with its symbols.
  CallersArm(const TuneVariant& variant, const Program& program, const TuneOptions& options);

  // A run that shows whether the variant works.
  std::map<std::string, Array> results() override;
  double measure() override;

 private:
  const TuneVariant variant_;
  const std::vector<BoundSymbol> symbols_;
  const TuneOptions& options_;
};

}  // namespace baton::tuning
