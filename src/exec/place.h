#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "baton/error.h"
#include "exec/plan.h"

namespace baton::exec {

class ReportBuilder;

// One step of a run as an executor enqueues it, with the edge that leads to it.
struct Place {
  const PlannedStep* step = nullptr;
  const PlannedStep* before = nullptr;  // the launch right before it; null: another step, or none
  std::uint32_t row = 0;                // of the report
  bool programmatic = false;            // the edge from `before`: it may start early
};

// Says in the error where a run stands that does not go on: at the first of these steps, which are
// not known to have completed and follow one another, and over which programmatic edges others of
// them may have started beside it. Nothing for no steps.
void note_standing(Error& failure, std::span<const Place> open, const ReportBuilder& report);

// A GPU says that a kernel failed, not which: the call that met the fault is no more than the
// messenger. The same error with the first step in it that may be behind it; `alone`: no other may.
Error blame(const Error& failure, const Place& first, bool alone);

}  // namespace baton::exec
