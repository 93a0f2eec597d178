#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "baton/error.h"
#include "bind/tape_walk.h"
#include "play/launch_tags.h"
#include "play/run_watch.h"

namespace baton::play {

class RunLog;

// Notes in the error where a run is that does not go on: at the first of these steps, which are not
// known to have completed and follow one another, and after which programmatic edges others of them
// may have started. Notes nothing for no steps.
void note_standing(Error& failure, std::span<const bind::RunStep> open, const RunLog& report);

// Stops what was enqueued of the tape, where the watch gave it up (RunWatch::stop). The error's
// notes name the launches that did not end. A device that does not tell what runs has notes of
// those that may never end.
void stop_enqueued(Error& failure, const RunWatch& watch, const Device& device, bind::Tape& tape,
                   const LaunchTags& tags);

// A GPU reports that a kernel failed, and not which: any later call returns the fault. Returns the
// same error with the first step in it that may be the cause; `alone`: no other step may be.
Error blame(const Error& failure, const bind::RunStep& first, bool alone);

}  // namespace baton::play
