#pragma once

#include <cstdint>

#include "exec/evaluate.h"
#include "exec/executor.h"
#include "exec/place.h"
#include "exec/walker.h"

namespace baton::exec {

// Goes through a run's steps in their order, with the values that they have then. What every
// executor does with a step is done here: it is counted, evaluated, packed and noted in the report.
// How it comes to be executed is the derived class's matter.
class Pass : public Walker {
 protected:
  explicit Pass(const RunContext& context)
      : Walker(context.plan, context.symbols), context_(context) {}

  // The launch's arguments and config are packed in `launch.sent`, with pdl() where its edge is
  // programmatic.
  virtual void launch(const Place& place, PlannedLaunch& launch) = 0;
  // At least one byte is copied, or filled with the value's stored bits.
  virtual void copy(const Place& place, const PlannedCopy& copy, const CopyValues& values) = 0;
  virtual void fill(const Place& place, const PlannedFill& fill, std::uint64_t bits) = 0;
  // A step for which there is nothing to do: an empty grid, no bytes.
  virtual void nothing(const Place& place) = 0;

  const RunContext& context_;

 private:
  void visit(PlannedStep& step) final;
  void enqueue(Place& place, PlannedLaunch& launch);
  void enqueue(Place& place, PlannedCopy& copy);
  void enqueue(Place& place, PlannedFill& fill);
  void enqueue(Place&, PlannedRepeat&) {}  // is no leaf
  // What the launch's arguments come to, an estimate.
  std::uint64_t bytes_passed(const PlannedLaunch& launch) const;

  const PlannedStep* last_ = nullptr;  // of all that was not skipped, where it was a launch
};

}  // namespace baton::exec
