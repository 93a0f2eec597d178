#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "baton/error.h"
#include "bind/tape_walk.h"

namespace baton::play {

class RunLog;

// Notes in the error where a run is that does not go on: at the first of these steps, which are not
// known to have completed and follow one another, and after which programmatic edges others of them
// may have started. Notes nothing for no steps.
void note_standing(Error& failure, std::span<const bind::RunStep> open, const RunLog& report);

// A GPU reports that a kernel failed, and not which: any later call returns the fault. Returns the
// same error with the first step in it that may be the cause; `alone`: no other step may be.
Error blame(const Error& failure, const bind::RunStep& first, bool alone);

}  // namespace baton::play
